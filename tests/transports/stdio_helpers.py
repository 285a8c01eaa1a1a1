"""What the tests of stdio share: a receiver that remembers, commands for servers that misbehave, waits with bounds."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from mcp_notebook.errors import MCPError
from mcp_notebook.jsonrpc import InvalidMessage, Message, Notification, RequestId, Response
from mcp_notebook.limits import Limits
from mcp_notebook.protocol.calls import Occurrence
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.stdio import StdioChannel

SERVER = str(Path(__file__).parent / "servers" / "misbehave.py")
BOUND = 10.0
"""Seconds after which a wait of a test fails."""
QUICK = Limits(shutdown=0.3)


class Remembering:
    """A receiver that keeps what it is told."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.invalid: list[InvalidMessage] = []
        self.ends: list[MCPError | None] = []
        self._told = asyncio.Event()

    def received(self, message: Message) -> None:
        self.messages.append(message)
        self._told.set()

    def received_invalid(self, error: InvalidMessage) -> None:
        self.invalid.append(error)
        self._told.set()

    def faulty(self, reason: str) -> None:
        raise AssertionError(reason)

    def failed(self, id: RequestId, error: MCPError) -> None:
        raise AssertionError("stdio has one way for all requests")

    def moved(self, id: RequestId, what: Occurrence) -> float:
        raise AssertionError(what)

    def disconnected(self, error: MCPError | None) -> None:
        self.ends.append(error)
        self._told.set()

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait until the condition gives something true, and give that."""
        async with asyncio.timeout(BOUND):
            while not (value := condition()):
                self._told.clear()
                await self._told.wait()
            return value

    async def result(self, id: int = 1) -> Any:
        """The result of the response under this id."""
        return await self.until(lambda: [m.result for m in self.messages if isinstance(m, Response) and m.id == id][:1])

    async def params(self, method: str) -> dict[str, Any]:
        """The params of the first notification of this name."""
        found = await self.until(
            lambda: [
                m.params or {"": None} for m in self.messages if isinstance(m, Notification) and m.method == method
            ]
        )
        return found[0]

    async def end(self) -> MCPError | None:
        """The reason why the channel ended."""
        await self.until(lambda: self.ends)
        return self.ends[0]


def misbehaving(way: str, *arguments: str, **options: Any) -> Command:
    """The command of a server of `servers/misbehave.py`."""
    return Command([sys.executable, "-I", "-S", SERVER, way, *arguments], **options)


@contextlib.asynccontextmanager
async def opened(command: Command, limits: Limits = QUICK) -> AsyncIterator[tuple[StdioChannel, Remembering]]:
    """A channel to a command, closed in the end."""
    channel, receiver = StdioChannel(command, limits), Remembering()
    await channel.open(receiver)
    try:
        yield channel, receiver
    finally:
        await channel.close()


def lives(pid: int) -> bool:
    """Whether a process runs (one that has ended but is not waited for does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        if sys.platform == "linux":
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    return state not in "ZX"


def wait_until(condition: Callable[[], Any], bound: float = BOUND) -> Any:
    """Wait until the condition gives something true, and give that; fail after `bound` seconds."""
    deadline = time.monotonic() + bound
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {bound} s"
        time.sleep(0.01)
    return value


def all_gone(*pids: int, bound: float = BOUND) -> None:
    """Wait until these processes have ended."""
    wait_until(lambda: not any(map(lives, pids)), bound)
