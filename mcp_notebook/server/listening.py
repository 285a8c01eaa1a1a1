"""`subscriptions/listen`: a request that stays open, on which the client hears of changes.

Source: "Subscriptions" (basic/patterns/subscriptions) of 2026-07-28.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ProtocolError
from ..jsonrpc import INVALID_PARAMS, RequestId
from ..protocol.metadata import SUBSCRIPTION_ID
from ..types import ListenParams, Result, SubscriptionFilter

if TYPE_CHECKING:
    from .context import Context
    from .session import ServerSession


@dataclass(frozen=True, slots=True, eq=False)
class Listener:
    """One open subscription."""

    id: RequestId
    wanted: SubscriptionFilter
    task: asyncio.Task[Any] | None
    """What works on the request."""

    def wants_list(self, kind: str) -> bool:
        """Whether it wants to hear that a list ("tools", "prompts" or "resources") changed."""
        return bool(getattr(self.wanted, f"{kind}_list_changed"))

    def wants_resource(self, uri: str) -> bool:
        """Whether it wants to hear that a resource changed."""
        return uri in (self.wanted.resource_subscriptions or ())

    def marked(self, params: dict[str, Any]) -> dict[str, Any]:
        """A notification's parameters, marked as belonging to this subscription."""
        return {**params, "_meta": {SUBSCRIPTION_ID: self.id}}


async def listen(session: ServerSession, params: ListenParams, context: Context) -> Result:
    """Acknowledge, and stay open until the client cancels or the session ends."""
    wanted = params.notifications
    limit = session.server.limits.subscriptions
    if len(wanted.resource_subscriptions or ()) + len(session.listeners) > limit:
        raise ProtocolError(INVALID_PARAMS, f"More than {limit} subscriptions.")
    listener = Listener(context.request_id, wanted, asyncio.current_task())
    acknowledged = listener.marked({"notifications": wanted.wire()})
    await session.connection.notify("notifications/subscriptions/acknowledged", acknowledged, about=context.request_id)
    session.listeners.add(listener)
    try:
        await session.ending.wait()
    finally:
        session.listeners.discard(listener)
    return Result(meta={SUBSCRIPTION_ID: listener.id})
