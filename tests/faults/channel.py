"""A channel at which messages meet faults."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from mcp_notebook.errors import ConnectionLost, MCPError
from mcp_notebook.jsonrpc import InvalidMessage, Message, Notification, Request, RequestId
from mcp_notebook.limits import DEFAULT_LIMITS, Limits
from mcp_notebook.protocol.calls import Occurrence
from mcp_notebook.transports.base import Channel, Receiver
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.stdio import StdioChannel

from .messages import Fault, Plan, Way
from .record import Record

__all__ = ["FaultyChannel", "FaultyServer"]


class FaultyChannel:
    """A channel around another one. Messages of each way stay in their order, whatever happens to them.

    When it is cut, the other channel is closed, both ends are told, and nothing more passes. What the other channel has
    besides (`pid`, `stderr`) it has, too.

    Args:
        inner: the channel that works.
        plan: the faults.
        record: where they are noted.
        name: what it is called there.
    """

    def __init__(self, inner: Channel, plan: Plan, record: Record | None = None, name: str = "channel") -> None:
        self.record = record or Record()
        self._inner = inner
        self._plan = plan
        self._name = name
        self._numbers: dict[Way, int] = {"out": 0, "in": 0}
        self._receiver: Receiver | None = None
        self._sending = asyncio.Lock()
        self._arrived: deque[tuple[Message | None, Callable[[], None]]] = deque()
        self._delivering: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    # The Channel

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        await self._inner.open(self)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        async with self._sending:
            self._require_open()
            fault = self._fault("out", message)
            if fault is not None and fault.kind == "delay":
                await asyncio.sleep(fault.seconds)
                self._require_open()
            if fault is not None and fault.kind == "cut before":
                self.cut()
                self._require_open()
            await self._inner.send(message, about=about)
            if fault is not None and fault.kind == "duplicate":
                await self._inner.send(message, about=about)
            if fault is not None and fault.kind == "cut after":
                self.cut()

    async def close(self) -> None:
        self._end(None)
        if self._closing is not None:
            await asyncio.shield(self._closing)

    def cut(self) -> None:
        """Cut it now."""
        self._end(ConnectionLost("The connection was cut, by a test."))

    # The inner channel's Receiver

    def received(self, message: Message) -> None:
        self._arrive(message, lambda receiver: receiver.received(message))

    def received_invalid(self, error: InvalidMessage) -> None:
        self._arrive(None, lambda receiver: receiver.received_invalid(error))

    def faulty(self, reason: str) -> None:
        self._arrive(None, lambda receiver: receiver.faulty(reason))

    def failed(self, id: RequestId, error: MCPError) -> None:
        self._arrive(None, lambda receiver: receiver.failed(id, error))

    def moved(self, id: RequestId, what: Occurrence) -> float:
        return self._receiver.moved(id, what) if self._receiver is not None else 0.0

    def disconnected(self, error: MCPError | None) -> None:
        self._arrive(None, lambda receiver: self._end(error))

    # Within

    def _fault(self, way: Way, message: Message) -> Fault | None:
        self._numbers[way] += 1
        fault = self._plan(way, self._numbers[way], message)
        if fault is not None:
            self.record.note(fault.kind, f"{self._name}, message {self._numbers[way]} {way} ({_in_words(message)})")
        return fault

    def _require_open(self) -> None:
        if self._receiver is None:
            raise ConnectionLost("The connection was cut, by a test.")

    def _arrive(self, message: Message | None, deliver: Callable[[Receiver], None]) -> None:
        def tell() -> None:
            if self._receiver is not None:
                deliver(self._receiver)

        self._arrived.append((message, tell))
        if self._delivering is None:
            self._deliver()

    def _deliver(self) -> None:
        """Hand on what has arrived, up to what comes late."""
        while self._arrived and self._receiver is not None:
            message, tell = self._arrived.popleft()
            fault = None if message is None else self._fault("in", message)
            match fault:
                case Fault("delay"):
                    self._delivering = asyncio.get_running_loop().create_task(self._late(fault.seconds, tell))
                    return
                case Fault("cut before"):
                    self.cut()
                    tell()  # where that still reaches anybody
                case Fault("cut after"):
                    tell()
                    self.cut()
                case Fault("duplicate"):
                    tell()
                    tell()
                case _:
                    tell()

    async def _late(self, seconds: float, tell: Callable[[], None]) -> None:
        await asyncio.sleep(seconds)
        self._delivering = None
        tell()
        self._deliver()

    def _end(self, error: MCPError | None) -> None:
        receiver, self._receiver = self._receiver, None
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._inner.close())
        if self._delivering is not None and self._delivering is not asyncio.current_task():
            self._delivering.cancel()
        if receiver is not None:
            receiver.disconnected(error)


class Serves(Protocol):
    """A server in this process."""

    @property
    def name(self) -> str: ...

    async def serve(self, channel: Channel) -> None: ...


class FaultyServer:
    """A server in this process whose every connection meets faults. Connect to it like to the server itself.

    Args:
        server: the server.
        plans: the plan for each connection, by its number from 1.
    """

    def __init__(self, server: Serves, plans: Callable[[int], Plan]) -> None:
        self.record = Record()
        self.connections = 0
        self._server = server
        self._plans = plans

    @property
    def name(self) -> str:
        return self._server.name

    async def serve(self, channel: Channel) -> None:
        self.connections += 1
        plan = self._plans(self.connections)
        await self._server.serve(FaultyChannel(channel, plan, self.record, f"connection {self.connections}"))


class FaultyStdio:
    """Stands in for `mcp_notebook.transports.stdio.StdioChannel`, or one like it, by `monkeypatch.setattr`.

    Args:
        plans: the plan for each connection, by its number from 1.
        kill: whether a cut kills the process (of a relay: the front), so that what it has said still comes, in place of
            closing its stdin.
        form: the channel that it stands in for.
    """

    def __init__(
        self, plans: Callable[[int], Plan], *, kill: bool = False, form: type[StdioChannel] = StdioChannel
    ) -> None:
        self.record = Record()
        self._channel = form
        self.connections = 0
        self._plans = plans
        self._form = _Killed if kill else FaultyChannel

    def __call__(self, command: Command, limits: Limits = DEFAULT_LIMITS) -> FaultyChannel:
        self.connections += 1
        inner = self._channel(command, limits)
        return self._form(inner, self._plans(self.connections), self.record, f"connection {self.connections}")


class _Killed(FaultyChannel):
    def cut(self) -> None:
        if self.pid is not None and self.exit_status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def _in_words(message: Message) -> str:
    match message:
        case Request():
            return f"request {message.method} {message.id!r}"
        case Notification():
            return message.method
        case _:
            return f"answer to {message.id!r}"
