"""Clients that the test plays message by message: over memory, HTTP, and HTTP with a new session each time."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Self

from mcp_notebook import Server
from mcp_notebook.errors import MCPError
from mcp_notebook.jsonrpc import Message, as_message, dump
from mcp_notebook.transports.memory import MemoryChannel, memory_pair

from ..transports.http.asgi import Asking, Session, opening, request
from ..wires import NoFaults
from .heard import event

BOUND = 10.0


class Line:
    """A client of a server of the handshake revisions."""

    last_id: str | None = None
    """The last event id, on transports with such."""

    @classmethod
    async def open(cls, server: Server, capabilities: dict[str, Any], principal: str | None = None) -> Self:
        """Shake hands."""
        raise NotImplementedError

    async def say(self, message: dict[str, Any]) -> None:
        """Send a message; what comes next is about it, if it is a request."""
        raise NotImplementedError

    async def next(self) -> dict[str, Any]:
        """The next message."""
        raise NotImplementedError

    async def ended(self) -> bool:
        """Whether the way of the latest request ends without another message."""
        raise NotImplementedError

    async def again(self) -> Self:
        """Drop the connection: a client to go on with."""
        raise NotImplementedError

    async def beside(self) -> Self:
        """A second client, while this one stays."""
        raise NotImplementedError

    async def ask(self, id: Any, method: str, **params: Any) -> dict[str, Any]:
        """Ask, and give the next message."""
        await self.say(request(id, method, **params))
        return await self.next()

    async def until_answered(self, id: Any) -> list[dict[str, Any]]:
        """All messages up to the answer to a request."""
        found = [await self.next()]
        while found[-1].get("id") != id or "method" in found[-1]:
            found.append(await self.next())
        return found


class MemoryLine(Line, NoFaults):
    """In memory."""

    _channel: MemoryChannel
    _serving: asyncio.Task[None]

    def __init__(self, server: Server, capabilities: dict[str, Any], principal: str | None) -> None:
        self._how = (server, capabilities, principal)
        self._heard: asyncio.Queue[Any] = asyncio.Queue()

    @classmethod
    async def open(cls, server: Server, capabilities: dict[str, Any], principal: str | None = None) -> Self:
        line = cls(server, capabilities, principal)
        line._channel, far = memory_pair()
        line._serving = asyncio.create_task(server.serve(far, principal=principal))
        await line._channel.open(line)
        await line.say(opening(**capabilities))
        assert "result" in await line.next()
        await line.say(request(None, "notifications/initialized"))
        return line

    def received(self, message: Message) -> None:
        self._heard.put_nowait(json.loads(dump(message)))

    def disconnected(self, error: MCPError | None) -> None:
        pass

    async def say(self, message: dict[str, Any]) -> None:
        await self._channel.send(as_message(message))

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(BOUND):
            return await self._heard.get()

    async def ended(self) -> bool:
        for _ in range(20):
            await asyncio.sleep(0.005)
        return self._heard.empty()

    async def again(self) -> Self:
        await self._channel.close()
        await asyncio.wait([self._serving], timeout=BOUND)
        return await self.beside()

    async def beside(self) -> Self:
        return await self.open(*self._how)


class HttpLine(Line):
    """Over HTTP; the session outlives a drop."""

    def __init__(self, app: Any, session: Session, capabilities: dict[str, Any]) -> None:
        self.app = app
        self.session = session
        self.capabilities = capabilities
        self.asking: Asking | None = None

    @classmethod
    async def open(cls, server: Server, capabilities: dict[str, Any], principal: str | None = None) -> Self:
        app = server.asgi_app()
        return cls(app, await Session.open(app, **capabilities), capabilities)

    async def say(self, message: dict[str, Any], **headers: str | None) -> None:
        asking = self.session.post(message, **headers)
        if "method" in message and ("id" in message or message["method"] == "stream/resume"):
            self.asking = asking
        else:
            assert await asking.head() == 202

    async def next(self) -> dict[str, Any]:
        assert self.asking is not None
        await self.asking.head()
        if self.asking.headers["content-type"] != "text/event-stream":
            return json.loads(await self.asking.whole())
        while True:
            heard = await event(self.asking)
            assert heard is not None, "the stream has ended"
            self.last_id = heard.id
            if heard.message is not None:
                return heard.message

    async def ended(self) -> bool:
        assert self.asking is not None
        return await event(self.asking) is None

    async def again(self) -> Self:
        if self.asking is not None:
            self.asking.go()
            await asyncio.wait([self.asking.task], timeout=BOUND)
        return self

    async def beside(self) -> Self:
        return type(self)(self.app, self.session, self.capabilities)


class NewHttpLine(HttpLine):
    """Over HTTP, with a session of its own after each drop."""

    async def again(self) -> Self:
        await super().again()
        return type(self)(self.app, await Session.open(self.app, **self.capabilities), self.capabilities)


LINES: list[type[Line]] = [MemoryLine, HttpLine, NewHttpLine]
