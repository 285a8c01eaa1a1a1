"""Requests to an ASGI application without a network: what it sends is read piece by piece, and the client can go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from mcp_notebook.transports.sse import EventReader

BOUND = 10.0
"""Seconds after which a wait fails the test."""
BOTH = "application/json, text/event-stream"


class Asking:
    """One request under way.

    Args:
        app: the application.
        method: the HTTP method.
        body: JSON data, or bytes as they are, or a list of bytes that come one by one.
        headers: beside Host, and for a POST Content-Type and Accept; None leaves one of these out, and one that has
            several lines in its value comes as several headers.
        path: where.
        ends: whether the body comes to its end.
    """

    def __init__(
        self,
        app: Any,
        method: str = "POST",
        body: Any = None,
        headers: Mapping[str, str | None] | None = None,
        *,
        path: str = "/mcp",
        ends: bool = True,
    ) -> None:
        usual: dict[str, str | None] = {"host": "127.0.0.1:8000"}
        if method == "POST":
            usual |= {"content-type": "application/json", "accept": BOTH}
        elif method == "GET":
            usual |= {"accept": "text/event-stream"}
        given = {**usual, **{name.lower(): value for name, value in (headers or {}).items()}}
        self._parts: list[bytes] = _parts(body)
        self._ends = ends
        self._gone = asyncio.Event()
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.slow: asyncio.Event | None = None
        """Where set to an event, the client reads nothing until it is set."""
        self.status = 0
        self.headers: dict[str, str] = {}
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [
                (name.encode(), line.encode("latin-1"))
                for name, value in given.items()
                if value is not None
                for line in value.split("\n")
            ],
        }
        self.task = asyncio.create_task(app(scope, self._receive, self._send))

    def go(self) -> None:
        """The client closes the connection."""
        self._gone.set()

    async def head(self) -> int:
        """The status, once it is there."""
        if not self.status:
            message = await self._next()
            assert message["type"] == "http.response.start"
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        return self.status

    async def chunk(self) -> bytes | None:
        """The next piece of the body; None at its end."""
        await self.head()
        message = await self._next()
        assert message["type"] == "http.response.body"
        return message.get("body", b"") or (b"" if message.get("more_body") else None)

    async def whole(self) -> bytes:
        """The whole body."""
        await self.head()
        body = b""
        while True:
            message = await self._next()
            body += message.get("body", b"")
            if not message.get("more_body"):
                return body

    async def messages(self) -> list[Any]:
        """All JSON-RPC messages of the answer, whichever form it has, as JSON data."""
        body = await self.whole()
        if self.headers["content-type"] == "text/event-stream":
            return [json.loads(event.data) for event in EventReader(len(body) + 1).feed(body)]
        found = json.loads(body)
        return found if isinstance(found, list) else [found]

    async def message(self) -> Any:
        """The next JSON-RPC message of an event stream."""
        while True:
            piece = await self.chunk()
            assert piece is not None, "the stream has ended"
            for event in EventReader(len(piece) + 1).feed(piece):
                return json.loads(event.data)

    async def _next(self) -> dict[str, Any]:
        async with asyncio.timeout(BOUND):
            return await self._sent.get()

    async def _receive(self) -> dict[str, Any]:
        if self._parts:
            part = self._parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(self._parts) or not self._ends}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if self.slow is not None:
            await self.slow.wait()
        self._sent.put_nowait(message)


def _parts(body: Any) -> list[bytes]:
    if isinstance(body, bytes):
        return [body]
    if isinstance(body, list) and body and isinstance(body[0], bytes):
        return list(body)
    return [b"" if body is None else json.dumps(body).encode()]


def request(id: Any, method: str, **params: Any) -> dict[str, Any]:
    """A JSON-RPC request; without an id (None) a notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if id is None else {**message, "id": id}


def opening(revision: str = "2025-11-25", **capabilities: Any) -> dict[str, Any]:
    """`initialize`."""
    info = {"name": "test", "version": "1"}
    return request(0, "initialize", protocolVersion=revision, capabilities=capabilities, clientInfo=info)


def modern(id: Any, method: str, *, meta: Mapping[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    """A request of the newest revision. `meta` is added to its `_meta`; a value of None leaves a key out."""
    usual: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    whole = {key: value for key, value in {**usual, **(meta or {})}.items() if value is not None}
    return request(id, method, _meta=whole, **params)


def headers_of(message: Mapping[str, Any], **more: str | None) -> dict[str, str | None]:
    """The headers that the newest revision wants for a request. Underscores in names stand for hyphens."""
    params = message["params"]
    headers: dict[str, str | None] = {
        "mcp-protocol-version": params["_meta"].get("io.modelcontextprotocol/protocolVersion"),
        "mcp-method": message["method"],
    }
    name = params.get("uri") if message["method"] == "resources/read" else params.get("name")
    if name is not None:
        headers["mcp-name"] = name
    return headers | {key.replace("_", "-"): value for key, value in more.items()}


class Session:
    """A session of a handshake revision."""

    def __init__(self, app: Any, id: str, more: Mapping[str, str | None]) -> None:
        self.app = app
        self.id = id
        self.headers = {"mcp-session-id": id, **more}

    @classmethod
    async def open(
        cls, app: Any, revision: str = "2025-11-25", *, headers: Mapping[str, str | None] | None = None, **can: Any
    ) -> Session:
        """Shake hands."""
        more = dict(headers or {})
        asking = Asking(app, body=opening(revision, **can), headers=more)
        (answer,) = await asking.messages()
        assert "result" in answer, answer
        session = cls(app, asking.headers["mcp-session-id"], more)
        initialized = session.post(request(None, "notifications/initialized"))
        assert await initialized.head() == 202
        return session

    def post(self, body: Any, **more: str | None) -> Asking:
        """POST within the session."""
        return Asking(self.app, body=body, headers={**self.headers, **_hyphened(more)})

    def get(self, **more: str | None) -> Asking:
        """Open a GET stream."""
        return Asking(self.app, "GET", headers={**self.headers, **_hyphened(more)})

    def delete(self) -> Asking:
        """End the session."""
        return Asking(self.app, "DELETE", headers=self.headers)


def _hyphened(headers: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
