"""One connection of a client: the handshake, what the server tells and asks, and the calls under way."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..errors import MCPError, NegotiationError, ProtocolError, RequestTimeout
from ..jsonrpc import METHOD_NOT_FOUND, Notification, Request
from ..limits import Limits
from ..protocol.negotiation import conclude, propose
from ..protocol.revision import Profile, Revision
from ..transports.base import Channel
from ..transports.connection import Connection
from ..types import Implementation, LogMessage, Result
from .answering import QUESTIONS, Answering, answer

if TYPE_CHECKING:
    from .calls import CallHandle
    from .results import ToolResult

logger = logging.getLogger("mcp_notebook.client")
LOG_LINES = 1000
"""How many of a server's log lines a client remembers."""


class ClientSession:
    """A connection at work.

    Args:
        channel: the way to the server.
        answering: what answers its questions.
        limits: the bounds to keep.
        on_notification: told of every notification that is no progress.
        on_end: told when the connection ends.
        validate: makes a tool's result of JSON data: (the tool's name, the data) -> the result.
    """

    def __init__(
        self,
        channel: Channel,
        answering: Answering,
        *,
        limits: Limits,
        on_notification: Callable[[Notification], None],
        on_end: Callable[[MCPError | None], None],
        validate: Callable[[str, Any], ToolResult],
    ) -> None:
        self.connection = Connection(channel, self, limits=limits, questions_stop_the_clock=True)
        self.calls: set[CallHandle] = set()
        self.log: deque[LogMessage] = deque(maxlen=LOG_LINES)
        self.faults: deque[str] = deque(maxlen=100)
        self._answering = answering
        self._limits = limits
        self._on_notification = on_notification
        self._on_end = on_end
        self.tool_result = validate
        self._profile: Profile | None = None

    @property
    def profile(self) -> Profile:
        """What was negotiated."""
        assert self._profile is not None, "the handshake comes first"
        return self._profile

    async def open(self, revision: Revision, info: Implementation) -> None:
        """Connect, and agree on a revision.

        Raises:
            ConnectError: the server cannot be reached, or there is no agreement.
            ConnectionLost: it ended during the handshake.
        """
        capabilities = self._answering.capabilities()
        await self.connection.open()
        try:
            raw = await self.connection.request(
                "initialize", propose(revision, capabilities, info), timeout=self._limits.connect
            )
        except ProtocolError as error:
            raise NegotiationError(f"The server refused to connect: {error}") from None
        except RequestTimeout as error:
            raise NegotiationError(
                f"The server did not answer within {error.seconds:g} s. Does it speak MCP over this transport? "
                "Give it longer with timeout=SECONDS."
            ) from None
        self._profile = conclude(raw, capabilities, info)
        await self.connection.notify("notifications/initialized")

    async def close(self) -> None:
        """End it."""
        await self.connection.close()

    # The connection's Handler

    async def on_request(self, request: Request) -> Any:
        if request.method == "ping":
            return Result()
        if self._profile is None or request.method not in QUESTIONS or not self._profile.client_has(request.method):
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        call = self._only_call()
        if call is not None:
            call.asked(request)
        try:
            result = await answer(self._answering, self._profile, request.method, request.params)
        except Exception as error:
            if call is not None:
                call.answered(error)
            raise
        if call is not None:
            call.answered(result)
        return result

    def on_notification(self, notification: Notification) -> None:
        if notification.method == "notifications/message":
            self._logged(notification)
        self._on_notification(notification)

    def on_fault(self, reason: str) -> None:
        self.faults.append(reason)
        logger.warning("the server sent something wrong: %s", reason)

    def on_disconnected(self, error: MCPError | None) -> None:
        self._on_end(error)

    # Within

    def _logged(self, notification: Notification) -> None:
        try:
            line = LogMessage.model_validate(notification.params or {})
        except ValidationError:
            self.on_fault("a log message without a known level")
            return
        self.log.append(line)
        call = self._only_call()
        if call is not None:
            call.logged(line)

    def _only_call(self) -> CallHandle | None:
        """The call that something without an address must belong to: the only one there is, if so."""
        return next(iter(self.calls)) if len(self.calls) == 1 else None
