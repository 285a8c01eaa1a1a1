"""Clients that the test plays message by message: over memory and over HTTP, of a handshake revision or the newest."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Self

from mcp_notebook import Server
from mcp_notebook.errors import MCPError
from mcp_notebook.jsonrpc import Message, as_message, dump
from mcp_notebook.transports.memory import MemoryChannel, memory_pair

from ..transports.http.asgi import Asking, Session, headers_of, modern, opening, request
from ..wires import NoFaults

BOUND = 10.0
MODERN = "2026-07-28"
EXTENSION = "io.modelcontextprotocol/tasks"
CAN: dict[str, Any] = {"elicitation": {"form": {}}, "sampling": {}}
"""What the clients of these tests declare."""


class Line:
    """One client of a server; `heard` is all that came, in order."""

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self.heard: list[dict[str, Any]] = []
        self.capabilities: dict[str, Any] = {**CAN}
        self._news = asyncio.Event()
        self._last_id = 0

    @classmethod
    async def open(cls, server: Server, revision: str, *, principal: str | None = None, **capabilities: Any) -> Self:
        """Shake hands, where the revision has that."""
        raise NotImplementedError

    async def send(self, message: dict[str, Any], **headers: str | None) -> None:
        """Send any message."""
        raise NotImplementedError

    async def close(self) -> None:
        """The connection ends."""
        raise NotImplementedError

    async def begin(self, method: str, *, headers: dict[str, str | None] | None = None, **params: Any) -> int:
        """Send a request; its id."""
        self._last_id += 1
        await self.send(self.made(self._last_id, method, params), **(headers or {}))
        return self._last_id

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; the whole answer to it."""
        return await self.answer(await self.begin(method, **params))

    async def result(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; the result of it."""
        answer = await self.ask(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request; the error in answer to it."""
        answer = await self.ask(method, **params)
        assert "error" in answer, answer
        return answer["error"]

    async def answer(self, id: int) -> dict[str, Any]:
        """The answer to a request."""
        return await self.until(lambda said: said.get("id") == id and "method" not in said)

    async def until(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message that fits."""
        read = 0
        async with asyncio.timeout(BOUND):
            while True:
                for said in self.heard[read:]:
                    if fits(said):
                        return said
                read = len(self.heard)
                self._news.clear()
                await self._news.wait()

    async def told(self, method: str, count: int = 1) -> list[dict[str, Any]]:
        """The parameters of the notifications of a method, once there are so many."""
        await self.until(lambda _: len(self.so_far(method)) >= count)
        return self.so_far(method)

    def so_far(self, method: str) -> list[dict[str, Any]]:
        """The parameters of the notifications, or questions, of a method so far."""
        return [said.get("params", {}) for said in self.heard if said.get("method") == method]

    async def asked(self, method: str = "elicitation/create", count: int = 1) -> dict[str, Any]:
        """The last of so many questions of the server's."""
        await self.until(lambda _: len(self.so_far(method)) >= count)
        return [said for said in self.heard if said.get("method") == method][count - 1]

    def made(self, id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The message of a request."""
        if self.revision != MODERN:
            return request(id, method, **params)
        meta = {"io.modelcontextprotocol/clientCapabilities": self.capabilities, **params.pop("_meta", {})}
        return modern(id, method, meta=meta, **params)

    def hear(self, said: dict[str, Any]) -> None:
        self.heard.append(said)
        self._news.set()


class MemoryLine(Line, NoFaults):
    """In memory."""

    _channel: MemoryChannel
    _serving: asyncio.Task[None]

    @classmethod
    async def open(cls, server: Server, revision: str, *, principal: str | None = None, **capabilities: Any) -> Self:
        line = cls(revision)
        line.capabilities |= capabilities
        line._channel, far = memory_pair()
        line._serving = asyncio.create_task(server.serve(far, principal=principal))
        await line._channel.open(line)
        if revision != MODERN:
            await line.send(opening(revision, **line.capabilities))
            assert "result" in await line.answer(0)
            await line.send(request(None, "notifications/initialized"))
        return line

    async def send(self, message: dict[str, Any], **headers: str | None) -> None:
        await self._channel.send(as_message(message))

    async def close(self) -> None:
        await self._channel.close()
        await asyncio.wait([self._serving], timeout=BOUND)

    def received(self, message: Message) -> None:
        self.hear(json.loads(dump(message)))

    def disconnected(self, error: MCPError | None) -> None:
        pass


class HttpLine(Line):
    """Over HTTP; of a handshake revision with a GET stream beside the answers."""

    def __init__(self, revision: str) -> None:
        super().__init__(revision)
        self.app: Any = None
        self.session: Session | None = None
        self.credentials: dict[str, str | None] = {}
        self._askings: list[Asking] = []
        self._readers: list[asyncio.Task[None]] = []

    @classmethod
    async def open(cls, server: Server, revision: str, *, principal: str | None = None, **capabilities: Any) -> Self:
        line = cls(revision)
        line.capabilities |= capabilities
        line.app = server.asgi_app(token=principal)
        line.credentials = {} if principal is None else {"authorization": f"Bearer {principal}"}
        if revision != MODERN:
            line.session = await Session.open(line.app, revision, headers=line.credentials, **line.capabilities)
            line._read(line.session.get())
        return line

    async def send(self, message: dict[str, Any], **headers: str | None) -> None:
        if self.session is None:
            wanted = headers_of(message)
            if message["method"] in ("tasks/get", "tasks/update", "tasks/cancel"):
                wanted["mcp-name"] = message["params"].get("taskId")
            wanted |= {**self.credentials, **headers}
            self._read(Asking(self.app, body=message, headers=wanted))
            return
        asking = self.session.post(message, **headers)
        if "method" in message and "id" in message:
            self._read(asking)
        else:
            assert await asking.head() == 202

    async def close(self) -> None:
        """Every stream ends; a session stays."""
        for asking in self._askings:
            asking.go()
        for reader in self._readers:
            reader.cancel()
        await asyncio.wait([asking.task for asking in self._askings], timeout=BOUND)

    def _read(self, asking: Asking) -> None:
        self._askings.append(asking)
        self._readers.append(asyncio.create_task(self._heard_from(asking)))

    async def _heard_from(self, asking: Asking) -> None:
        await asking.head()
        if asking.headers.get("content-type") != "text/event-stream":
            self.hear(json.loads(await asking.whole()))
            return
        while True:
            self.hear(await _next(asking))


async def _next(asking: Asking) -> dict[str, Any]:
    """The next message of a stream, however long that takes."""
    while True:
        try:
            return await asking.message()
        except TimeoutError:
            continue


LINES: list[type[Line]] = [MemoryLine, HttpLine]
