"""A channel whose other end is the test: it reads what was sent as bytes, and says what it likes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from mcp_notebook.errors import ConnectionLost, MCPError
from mcp_notebook.jsonrpc import InvalidMessage, Message, RequestId, dump, load
from mcp_notebook.protocol.calls import Occurrence
from mcp_notebook.transports.base import Receiver


class NoFaults:
    """The methods of a receiver, or handler, for what must not happen in a test."""

    def received_invalid(self, error: InvalidMessage) -> None:
        raise AssertionError(error)

    def faulty(self, reason: str) -> None:
        raise AssertionError(reason)

    def failed(self, id: RequestId, error: MCPError) -> None:
        raise AssertionError(error)

    def moved(self, id: RequestId, what: Occurrence) -> float:
        raise AssertionError(what)


class Wire:
    """One end of a channel, for what is tested; `says`, `bytes` and so on are the test's end of it.

    Args:
        bound: seconds after which waiting for a message fails the test.
    """

    def __init__(self, bound: float = 10) -> None:
        self.sent: list[bytes] = []
        self.about: list[RequestId | None] = []
        self.closed = False
        self.blocked: asyncio.Event | None = None
        """Where set to an event, `send` waits for it: the other side reads slowly."""
        self._receiver: Receiver | None = None
        self._read = 0
        self._news = asyncio.Event()
        self._bound = bound

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        if self._receiver is None:
            raise ConnectionLost("not open")
        data = dump(message)
        if self.blocked is not None:
            await self.blocked.wait()
        self.sent.append(data)
        self.about.append(about)
        self._news.set()

    async def close(self) -> None:
        self.closed = True
        self.breaks(None)

    def breaks(self, error: MCPError | None) -> None:
        """The channel ends."""
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.disconnected(error)

    def says(self, *messages: Any) -> None:
        """Messages arrive: bytes, or JSON data, to which `jsonrpc` is added."""
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
            assert self._receiver is not None, "the channel is not open"
            try:
                found = load(data)
            except InvalidMessage as error:
                self._receiver.received_invalid(error)
            else:
                assert not isinstance(found, list)
                self._receiver.received(found)

    async def bytes(self) -> bytes:
        """The next message that is sent, as bytes."""
        async with asyncio.timeout(self._bound):
            while self._read == len(self.sent):
                self._news.clear()
                await self._news.wait()
        self._read += 1
        return self.sent[self._read - 1]

    async def message(self) -> dict[str, Any]:
        """The next message that is sent, as JSON data without `jsonrpc`."""
        message = json.loads(await self.bytes())
        assert message.pop("jsonrpc") == "2.0"
        return message

    def rest(self) -> list[dict[str, Any]]:
        """What else was sent so far."""
        rest = [json.loads(data) for data in self.sent[self._read :]]
        self._read = len(self.sent)
        return rest
