"""Servers behind relays, their clients, and what is known of both."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

from mcp_notebook.jsonrpc import Message, Notification, Request
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.relay import ATTACHED, relayed, starting
from mcp_notebook.transports.stdio import StdioChannel

from ..stdio_helpers import BOUND, QUICK, Remembering, all_gone, opened, wait_until

ROOT = Path(__file__).parents[3]
SERVER = [sys.executable, "-I", "-S", str(Path(__file__).with_name("server.py"))]
CLIENT = str(Path(__file__).with_name("client.py"))


class Relays:
    """The relays of one test.

    Args:
        folder: where its files are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.gate = folder / "gate"
        """A file that servers wait for."""
        self.environment = {"PYTHONPATH": str(ROOT), "XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]}
        self.place = folder / "run" / "mcp_notebook" / "relay"
        self._seen: set[int] = set()

    def command(self, *more: str, **options: Any) -> Command:
        """The server of `server.py` behind a relay. Should a test be killed, it does not stay long."""
        options.setdefault("keep", 30)
        env = {**self.environment, **options.pop("env", {})}
        cwd = options.pop("cwd", self.folder)
        return relayed(Command([*SERVER, *more], env, cwd), **options)

    @contextlib.asynccontextmanager
    async def client(self, *more: str, **options: Any) -> AsyncIterator[Talking]:
        """A client of such a server, detached in the end."""
        async with opened(self.command(*more, **options), QUICK) as (channel, receiver):
            yield Talking(channel, receiver)

    def running(self) -> list[dict[str, Any]]:
        """The relays that run."""
        found = starting.running()
        self._seen |= {pid for one in found for pid in (one["keeper"], one["server"]) if pid is not None}
        return found

    def the_only_one(self) -> dict[str, Any]:
        """The one relay that runs, as soon as it does."""
        (one,) = wait_until(self.running)
        return one

    def end(self) -> None:
        """Stop all of them, and see that nothing is left of any that was ever seen."""
        if not self.place.exists():
            return
        for one in self.running():
            starting.stop(one["id"])
        all_gone(*self._seen)


class Talking:
    """A client at work."""

    def __init__(self, channel: StdioChannel, receiver: Remembering) -> None:
        self.channel = channel
        self.receiver = receiver
        self._count = 0
        self._id = os.urandom(4).hex()

    async def ask(self, method: str, **params: Any) -> Any:
        """Ask, and wait for the answer."""
        id = await self.begin(method, **params)
        (result,) = await self.receiver.result(id)  # pyright: ignore[reportArgumentType]
        return result

    async def begin(self, method: str, **params: Any) -> str:
        """Ask; the id under which the answer will come."""
        self._count += 1
        id = f"{self._id}-{self._count}"
        await self.channel.send(Request(id, method, params))
        return id

    async def attached(self) -> dict[str, Any]:
        """What the relay said first."""
        return await self.receiver.params(ATTACHED)

    async def numbers(self, to: int) -> list[int]:
        """The numbers that the server has said, once it came to this one."""
        await self.receiver.until(lambda: to in self._numbers())
        return self._numbers()

    def _numbers(self) -> list[int]:
        return [number for message in self.receiver.messages if (number := number_of(message)) is not None]


class Process:
    """A client that is a process of its own (`client.py`)."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout

    def begin(self, id: int, method: str, **params: Any) -> None:
        """Ask."""
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self._stdin.write(json.dumps(message).encode() + b"\n")
        self._stdin.flush()

    def hears(self) -> dict[str, Any]:
        """What comes next."""
        return json.loads(self._stdout.readline())

    def kill(self) -> None:
        """End it as nobody can refuse."""
        self.process.kill()
        self.process.wait(BOUND)


@contextlib.contextmanager
def client_process(relays: Relays, *more: str) -> Iterator[Process]:
    """Such a process, killed in the end."""
    command = [sys.executable, CLIENT, *SERVER, *more]
    environment = {**os.environ, **relays.environment}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=relays.folder, env=environment, stdin=pipe, stdout=pipe) as process:
        try:
            yield Process(process)
        finally:
            process.kill()


@contextlib.contextmanager
def front(
    command: Command, *, start_new_session: bool = False, pass_fds: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """The command itself, as a client starts it, with pipes; killed in the end."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command.args,
        cwd=command.cwd,
        env=command.environment(),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        bufsize=0,
        start_new_session=start_new_session,
        pass_fds=pass_fds,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def number_of(message: Message | dict[str, Any]) -> int | None:
    """The number that `count` says with a message."""
    if isinstance(message, Notification):
        message = {"method": message.method, "params": message.params}
    if isinstance(message, dict) and message.get("method") == "number":
        return message["params"]["number"]
    return None
