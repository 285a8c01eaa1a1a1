"""The URLs that a server asked its clients' people to visit, until they are done (URL-2, URL-6, URL-7).

Each belongs to the session and the principal that was asked. Whoever ends one says on whose behalf; that identity must
come from the server's own login, never from what a client sent.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import LimitExceeded, MCPError
from ..limits import Limits

if TYPE_CHECKING:
    from .session import ServerSession

audit = logging.getLogger("mcp_notebook.audit")
COMPLETE = "notifications/elicitation/complete"


@dataclass(frozen=True, slots=True)
class _Open:
    session: ServerSession
    principal: str | None
    timer: asyncio.TimerHandle


class UrlElicitations:
    """Those of one server; bounded in number and time.

    Args:
        limits: `visits` for each session, and `question`.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._open: dict[str, _Open] = {}

    def begin(self, session: ServerSession) -> str:
        """A new one; its id.

        Raises:
            LimitExceeded: too many of this session are open.
        """
        if sum(one.session is session for one in self._open.values()) >= self._limits.visits:
            raise LimitExceeded(
                f"More than {self._limits.visits} URLs wait to be visited by one client. Try again later.",
                limit="visits",
                allowed=self._limits.visits,
            )
        id = secrets.token_urlsafe(18)
        timer = asyncio.get_running_loop().call_later(self._limits.question, self._expire, id)
        self._open[id] = _Open(session, session.principal, timer)
        audit.info("the URL elicitation %s begins, for %r", id, session.principal)
        return id

    def complete(self, id: str, principal: str | None) -> bool:
        """The visit is done: the client that was asked is told, and no other. False where it is over already.

        Raises:
            MCPError: it is somebody else's.
        """
        one = self._open.get(id)
        if one is None:
            return False
        if one.principal is not None and one.principal != principal:
            audit.warning("the URL elicitation %s was to be completed for somebody else", id)
            raise MCPError(
                "This elicitation belongs to somebody else: whoever completes it must be logged in as the person who "
                "was asked."
            )
        self.forget(id)
        audit.info("the URL elicitation %s is done", id)
        one.session.tell(COMPLETE, {"elicitationId": id})
        return True

    def forget(self, id: str) -> None:
        """It is over, without a word."""
        one = self._open.pop(id, None)
        if one is not None:
            one.timer.cancel()

    def _expire(self, id: str) -> None:
        if self._open.pop(id, None) is not None:
            audit.info("the URL elicitation %s is given up: its time is over", id)
