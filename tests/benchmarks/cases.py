"""What is measured: cases (who, over which transport, in which era), and what every implementation must provide."""

from __future__ import annotations

import base64
import functools
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Transport: TypeAlias = Literal["memory", "stdio", "http-json", "http-sse", "http-kept"]
"""The last is HTTP by SSE where servers keep what they say for clients that come back."""
TRANSPORTS: tuple[Transport, ...] = ("memory", "stdio", "http-json", "http-sse", "http-kept")
Way: TypeAlias = Literal["stream", "request"]
"""A way back to a request: its SSE stream, by `Last-Event-ID`; or `requests/resume`."""
LINE = "x" * 100
"""What is logged, behind a number, by requests that clients come back to."""

Era: TypeAlias = Literal["handshake", "modern"]
ERAS: tuple[Era, ...] = ("handshake", "modern")
MODERN_REVISION = "2026-07-28"
HANDSHAKE_REVISION = "2025-11-25"


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the tables. A floor speaks no MCP, and so has no era."""

    implementation: str
    transport: Transport
    era: Era | None

    def __str__(self) -> str:
        return " ".join(filter(None, (self.transport, self.implementation, self.era)))


class Session(Protocol):
    """An open connection of one implementation's client."""

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Call a tool; give the text (or the Base64) of its first content block."""
        ...

    async def list_tools(self) -> int:
        """List all tools, every page of them; give how many there are."""
        ...


Target: TypeAlias = Any
"""Where a client connects: a server object (memory), a command as a list (stdio), or a URL as text (HTTP)."""


class Implementation(Protocol):
    """One contender. Its imports stand within its functions: a process pays for those that it measures, and no more.

    Its server offers `echo(text)` as an asynchronous tool and `echo_in_thread(text)` as a synchronous one, both with
    structured output where that is the default; `text(size)` and `picture(size)`, which give one block of that many
    characters without structured output; and as many tools that do nothing as `tools` says. Where it serves over
    "http-kept", it offers `talk(lines)`, which logs so many numbered `LINE`s and never ends.
    """

    package: str
    """What must be installed."""
    eras: tuple[Era | None, ...]
    transports: tuple[Transport, ...]
    ways: tuple[Way, ...]
    """The ways back to a request that it knows."""
    imports: str
    """The statement of a program that is a client."""

    def server(self, tools: int) -> Any:
        """Make the server."""

    def serve_stdio(self, server: Any) -> None:
        """Serve on stdin and stdout until they are closed."""

    def serve_http(self, server: Any, transport: Transport, port: int) -> None:
        """Serve at /mcp of a port of 127.0.0.1 until the process is told to end, in the way of the implementation."""

    def connect(self, target: Target, transport: Transport, era: Era | None) -> AbstractAsyncContextManager[Session]:
        """Connect a client."""
        ...


def run_uvicorn(app: Any, port: int) -> None:
    """Serve an ASGI application, as most implementations do."""
    import uvicorn

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning", access_log=False)


@functools.cache
def picture_data(size: int) -> str:
    """Base64 of `size` characters."""
    return base64.b64encode(b"ABC" * (size // 4)).decode()
