"""Servers on loopback, in this process: real ones, and puppets whose every byte the test writes."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_notebook import Limits, Server
from mcp_notebook.limits import DEFAULT_LIMITS
from mcp_notebook.transports.http.listener import Listener


@contextlib.asynccontextmanager
async def listening(app: Any, limits: Limits | None = None, **how: Any) -> AsyncIterator[str]:
    """A server (served as `how` says to `asgi_app`), or an ASGI application, at a free port: its URL."""
    if isinstance(app, Server):
        limits, app = limits or app.limits, app.asgi_app(**how)
    listener = Listener(app, "127.0.0.1", 0, limits or DEFAULT_LIMITS)
    await listener.start()
    try:
        yield f"http://127.0.0.1:{listener.port}/mcp"
    finally:
        await listener.close()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that a puppet received."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body) if self.body else {}

    @property
    def says(self) -> str:
        """The JSON-RPC method, or the HTTP method where there is no body."""
        return self.json.get("method", "response") if self.body else self.method


class Puppet:
    """A web server that answers as the test says, one request a connection.

    Args:
        answer: takes an `Asked`, and gives the bytes of the whole answer; or an asynchronous generator of bytes, or a
            coroutine function. The connection is closed behind them.
    """

    def __init__(self, answer: Callable[[Asked], Any], *, ssl: Any = None) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.gone: list[Asked] = []
        """The requests whose client went before the answer was complete."""
        self._ssl = ssl
        self._at_work: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Puppet:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._ssl)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"http{'s' if self._ssl else ''}://127.0.0.1:{self.port}/mcp"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._at_work):
            task.cancel()

    def requests(self, says: str) -> list[Asked]:
        """What has come of one kind, in order."""
        return [asked for asked in self.asked if asked.says == says]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._at_work.add(task)
        try:
            asked = await _read(reader)
            self.asked.append(asked)
            await self._answer(asked, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._at_work.discard(task)
            writer.close()

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def send() -> None:
            answer = self.answer(asked)
            if inspect.isawaitable(answer):
                answer = await answer
            if isinstance(answer, bytes):
                writer.write(answer)
            else:
                async for part in answer:
                    writer.write(part)
                    await writer.drain()
            await writer.drain()

        sending, leaving = asyncio.create_task(send()), asyncio.create_task(reader.read(1))
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if not sending.done():
            self.gone.append(asked)
            sending.cancel()
        await asyncio.wait({sending})
        if not sending.cancelled():
            sending.result()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(method, path, headers, body)


def reply(status: int = 200, body: Any = b"", kind: str | None = "application/json", **headers: str) -> bytes:
    """A whole answer. A body that is no bytes is JSON data; underscores in names of headers stand for hyphens."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Status", f"content-length: {len(body)}", "connection: close"]
    if kind is not None and status != 204:
        lines.append(f"content-type: {kind}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def stream(*parts: bytes, **headers: str) -> bytes:
    """An event stream that ends with the connection: its head, and these bytes."""
    lines = ["HTTP/1.1 200 OK", "content-type: text/event-stream", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + b"".join(parts)


def event(message: Any) -> bytes:
    """One message as an event."""
    return b"data: " + json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n\n"


def result(asked: Asked, value: Any) -> dict[str, Any]:
    """The response to a request."""
    return {"jsonrpc": "2.0", "id": asked.json["id"], "result": value}


def handshake(
    answers: Mapping[str, Callable[[Asked], Any] | bytes] | None = None, *, session: str | None = "s-1"
) -> Callable[[Asked], Any]:
    """How a server of 2025-11-25 answers, that knows nothing newer and has no GET stream.

    Args:
        answers: what `Asked.says` -> the answer, or how it is made.
        session: the id of its session.
    """
    own = answers or {}

    def answer(asked: Asked) -> Any:
        given = own.get(asked.says)
        if given is not None:
            return given if isinstance(given, bytes) else given(asked)
        match asked.says:
            case "server/discover":
                return reply(400, b"Bad Request: no session", "text/plain")
            case "initialize":
                headers = {} if session is None else {"mcp_session_id": session}
                return reply(200, result(asked, INITIALIZED), **headers)
            case "GET":
                return reply(405)
            case "tools/call":
                return reply(200, result(asked, TEXT))
            case "ping":
                return reply(200, result(asked, {}))
            case _:
                return reply(202, kind=None)

    return answer


INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "logging": {}},
    "serverInfo": {"name": "puppet", "version": "1"},
}
TEXT = {"content": [{"type": "text", "text": "done"}]}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "logging": {}},
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "puppet", "version": "1"}},
    "ttlMs": 0,
    "cacheScope": "private",
}


def modern(answers: Mapping[str, Callable[[Asked], Any] | bytes] | None = None) -> Callable[[Asked], Any]:
    """How a server of 2026-07-28 answers, that knows nothing older."""
    own = answers or {}

    def answer(asked: Asked) -> Any:
        given = own.get(asked.says)
        if given is not None:
            return given if isinstance(given, bytes) else given(asked)
        if asked.says == "server/discover":
            return reply(200, result(asked, DISCOVERED))
        if asked.says == "tools/call":
            return reply(200, result(asked, {"resultType": "complete", **TEXT}))
        error = {"code": -32601, "message": "Method not found"}
        return reply(404, {"jsonrpc": "2.0", "id": asked.json.get("id"), "error": error})

    return answer
