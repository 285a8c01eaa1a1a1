"""A TCP port on which an ASGI application listens, on an event loop that runs already. Only this file knows uvicorn.

Of uvicorn its HTTP/1.1 protocol is used alone: its own server would take over signals, logging and a timer.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from ...errors import MCPError
from ...limits import Limits
from .app import HttpApp
from .pieces import InOnePiece

logger = logging.getLogger("mcp_notebook.http.wire")
logger.setLevel(logging.ERROR)  # what strangers do wrong is their own affair


class Listener:
    """Listens, once it is started, until it is closed.

    Args:
        app: the application.
        host: the address, or the name of one, to listen at.
        port: the port; 0 for any that is free.
        limits: the bounds to keep.

    Raises:
        MCPError: nobody can listen there.
    """

    def __init__(self, app: HttpApp, host: str, port: int, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._state = ServerState()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Begin to listen."""
        config = uvicorn.Config(
            self._app,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=self._limits.idle,  # pyright: ignore[reportArgumentType] # to asyncio any number will do
            log_config=None,
            h11_max_incomplete_event_size=self._limits.head,
        )
        config.load()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: BoundedProtocol(config, self._state, self._limits), sock=self._socket
        )

    async def close(self) -> None:
        """Stop listening, end what goes on, and let go of the port; within `Limits.shutdown`."""
        if self._server is None:
            self._socket.close()
            return
        self._server.close()
        await self._app.close()
        for connection in list(self._state.connections):
            if not connection.transport.is_closing():
                connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(set(self._state.tasks), timeout=self._limits.shutdown / 2)
        for connection in list(self._state.connections):
            connection.transport.abort()


class BoundedProtocol(H11Protocol):
    """One connection: it is cut where nothing comes of it (a head that does not end, a body that nobody wants any more,
    a client that does not read), and where there are too many."""

    def __init__(self, config: uvicorn.Config, state: ServerState, limits: Limits) -> None:
        super().__init__(config, state, {})
        self.logger = logger
        self.access_log = False
        self._limits = limits
        self._idle: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(cast(asyncio.Transport, InOnePiece(transport)))
        if len(self.connections) > self._limits.connections:
            transport.abort()
        else:
            self._watch_idleness()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_idleness()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_idleness()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._idle, self._stalled):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._check_reading(None)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def _check_reading(self, before: int | None) -> None:
        """Cut the connection where the client has read nothing since the last time."""
        left = self.transport.get_write_buffer_size()
        if before is not None and left >= before:
            self.transport.abort()
        else:
            self._stalled = self.loop.call_later(self._limits.stall, self._check_reading, left)

    def _watch_idleness(self) -> None:
        """While no request is worked on, the next one must come in time, however often a byte of it comes."""
        if self.cycle is not None and not self.cycle.response_complete:
            if self._idle is not None:
                self._idle.cancel()
                self._idle = None
        elif self._idle is None:
            self._idle = self.loop.call_later(self._limits.idle, self.transport.abort)


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise MCPError(f"{host[:80]!r} is no address of this machine: {error}.") from None
    try:
        if hasattr(socket, "SO_REUSEADDR") and not hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # on Windows it means something else
        listening.bind(address)
        listening.listen(128)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise MCPError(
            f"Nothing can be served at port {port} of {host}: {error.strerror or error}. "
            "Choose another port, or port=0 for any that is free."
        ) from None
    return listening
