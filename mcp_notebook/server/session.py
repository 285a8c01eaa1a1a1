"""One client at a server: the handshake, then its requests."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..errors import MCPError, ProtocolError
from ..jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Notification, Request
from ..protocol.negotiation import accept
from ..protocol.revision import Profile
from ..protocol.shaping import shape
from ..transports.base import Channel
from ..transports.connection import Connection
from ..types import LOGGING_LEVELS, InitializeResult, LoggingLevel, Result
from .context import Context
from .delivery.direct import Direct
from .methods import METHODS

if TYPE_CHECKING:
    from .server import Server

logger = logging.getLogger("mcp_notebook.server")


class ServerSession:
    """One client, from its `initialize` to its end."""

    def __init__(self, server: Server, channel: Channel) -> None:
        self.server = server
        self.connection = Connection(channel, self, limits=server.limits)
        self.level: LoggingLevel = "debug"
        """The least severe log line that the client wants."""
        self.subscriptions: set[str] = set()
        self._profile: Profile | None = None
        self._initialized = False
        self._changed: set[str] = set()
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()

    @property
    def profile(self) -> Profile:
        """What was negotiated."""
        assert self._profile is not None, "nothing is asked of a session before its handshake"
        return self._profile

    async def run(self) -> None:
        """Serve the client until the connection ends."""
        try:
            await self.connection.open()
            await self._over.wait()
        finally:
            await self.connection.close()

    def wants(self, level: LoggingLevel) -> bool:
        """Whether the client wants log lines of that level."""
        return LOGGING_LEVELS.index(level) >= LOGGING_LEVELS.index(self.level)

    def changed(self, kind: str) -> None:
        """A list changed; the client hears of it, once for all changes of a moment. Callable from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._changed_here, kind)
        except RuntimeError:
            pass  # the loop is gone, and the client with it

    def updated(self, uri: str) -> None:
        """A resource changed; the client hears of it if it subscribed. Callable from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._updated_here, uri)
        except RuntimeError:
            pass  # the loop is gone, and the client with it

    # The connection's Handler

    async def on_request(self, request: Request) -> Any:
        match request.method:
            case "initialize":
                return self._initialize(request)
            case "ping":
                return Result()
        if self._profile is None:
            raise ProtocolError(INVALID_REQUEST, "Nothing can be asked before 'initialize'.")
        revision = self._profile.revision
        if request.method not in METHODS or request.method not in revision.client_requests:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        form, answer = METHODS[request.method]
        try:
            params = form.model_validate(request.params or {})
        except ValidationError as error:
            raise ProtocolError(INVALID_PARAMS, f"Invalid params of {request.method!r}: {_first(error)}") from None
        context = Context(self, request.id, getattr(params, "meta", None), Direct(self.connection, request.id))
        return shape(revision, request.method, await answer(self, params, context))

    def on_notification(self, notification: Notification) -> None:
        if notification.method == "notifications/initialized":
            self._initialized = True
            self._flush_changes()

    def on_fault(self, reason: str) -> None:
        logger.warning("the client sent something wrong: %s", reason)

    def on_disconnected(self, error: MCPError | None) -> None:
        self._over.set()

    # Within

    def _initialize(self, request: Request) -> Any:
        self._profile = accept(request.params, self.server.capabilities, self.server.info)
        result = InitializeResult(
            protocol_version=self._profile.revision.name,
            capabilities=self._profile.server,
            server_info=self.server.info,
            instructions=self.server.instructions,
        )
        return shape(self._profile.revision, "initialize", result)

    def _changed_here(self, kind: str) -> None:
        if not self._changed:
            self._loop.call_soon(self._flush_changes)
        self._changed.add(kind)

    def _flush_changes(self) -> None:
        if not self._initialized:
            return  # the client has read no list yet
        kinds, self._changed = self._changed, set()
        for kind in sorted(kinds):
            self.connection.notify_soon(f"notifications/{kind}/list_changed")

    def _updated_here(self, uri: str) -> None:
        if uri in self.subscriptions:
            self.connection.notify_soon("notifications/resources/updated", {"uri": uri})


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]
