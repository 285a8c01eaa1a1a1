"""HTTP answers of an ASGI application: the few kinds that an MCP endpoint gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

from ...jsonrpc import ErrorResponse, dump

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

JSON: Header = (b"content-type", b"application/json")
EVENT_STREAM: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # a proxy must not hold events back
)


async def send_bytes(send: Send, status: int, body: bytes = b"", headers: Iterable[Header] = ()) -> None:
    """One whole answer."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


class Refusal(Exception):
    """A request that is refused before anything looks at what it asks.

    Args:
        status: the HTTP status.
        code: the JSON-RPC error code that tells it in the body.
        message: why, and what would be right.
        headers: further HTTP headers.
        data: of the JSON-RPC error.
        id: of the request, where it could be read.
    """

    def __init__(
        self, status: int, code: int, message: str, *, headers: Iterable[Header] = (), data: Any = None, id: Any = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = tuple(headers)
        self.body = dump(ErrorResponse(id, code, message, data))

    async def send(self, send: Send) -> None:
        """Answer with it."""
        await send_bytes(send, self.status, self.body, (JSON, *self.headers))
