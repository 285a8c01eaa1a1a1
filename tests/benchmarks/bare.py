"""A client of nothing but sockets, the same for every server: what is measured with it is the server's."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from .cases import HANDSHAKE_REVISION

Headers = Mapping[str, str]


class Bare:
    """One session. Each request has a connection of its own, which may be dropped."""

    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self._host, self._port, self._path = where.hostname, where.port, where.path
        self._headers: Headers = {}

    async def initialize(self, **capabilities: Any) -> Bare:
        """Shake hands."""
        params = {
            "protocolVersion": HANDSHAKE_REVISION,
            "capabilities": capabilities,
            "clientInfo": {"name": "bare", "version": "1"},
        }
        async with self.post("initialize", params, id=0) as stream:
            assert "result" in (await stream.event())[1]
            session = stream.headers["mcp-session-id"]
        self._headers = {"mcp-session-id": session, "mcp-protocol-version": HANDSHAKE_REVISION}
        async with self.post("notifications/initialized", {}):
            return self

    def post(self, method: str, params: Any, *, id: int | None = None, **headers: str) -> _Opening:
        """Ask, or (without an id) tell."""
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({} if id is None else {"id": id})
        return self._open("POST", json.dumps(message).encode(), headers)

    def get(self, last_event: str) -> _Opening:
        """Go on after an event."""
        return self._open("GET", b"", {"last-event-id": last_event})

    @contextlib.asynccontextmanager
    async def _open(self, method: str, body: bytes, headers: Headers) -> AsyncIterator[Stream]:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        usual = {
            "host": f"{self._host}:{self._port}",
            "accept": "application/json, text/event-stream" if method == "POST" else "text/event-stream",
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",
        }
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in {**usual, **self._headers, **headers}.items()]
        writer.write("\r\n".join([f"{method} {self._path} HTTP/1.1", *lines, "", ""]).encode() + body)
        try:
            yield await Stream(reader).begin()
        finally:
            writer.close()


_Opening = contextlib.AbstractAsyncContextManager["Stream"]


class Stream:
    """One answer: JSON, or events. What stands between its chunks is skipped with all else that is no event."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self.headers: dict[str, str] = {}

    async def begin(self) -> Stream:
        """Read the head."""
        status = await self._reader.readline()
        assert status.split()[1] in (b"200", b"202"), status
        while (line := await self._reader.readline()).strip():
            name, _, value = line.decode().partition(":")
            self.headers[name.lower()] = value.strip()
        return self

    async def event(self, *, message: bool = True) -> tuple[str, Any]:
        """The next event, of those that bear a message (or of all): its id and its message, {} where it bears none."""
        id = ""
        while line := await self._reader.readline():
            if line.startswith(b"id:"):
                id = line[3:].strip().decode()
            elif line.startswith((b"data:", b"{")):
                data = line.removeprefix(b"data:").strip()
                if data or not message:
                    return id, json.loads(data or b"{}")
        raise EOFError("the stream has ended")
