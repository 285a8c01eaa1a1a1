"""`subscriptions/listen`: a request that stays open, on which the client hears of changes.

Source: "Subscriptions" (basic/patterns/subscriptions) of 2026-07-28.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..calls.about_tasks import check_declared
from ..errors import ProtocolError
from ..jsonrpc import INVALID_PARAMS, RequestId
from ..protocol.metadata import SUBSCRIPTION_ID
from ..types import ListenParams, Result, SubscriptionFilter

if TYPE_CHECKING:
    from ..calls.tasks import Found
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


def _found_tasks(session: ServerSession, wanted: SubscriptionFilter, context: Context) -> list[Found]:
    """The tasks that a client wants to hear of, as far as they are its own.

    Raises:
        ProtocolError: it did not declare the extension (TEX-3).
    """
    if wanted.task_ids is None:
        return []
    check_declared(context.profile)
    owner, found = session.owner(context.profile), []
    for id in wanted.task_ids:
        with suppress(ProtocolError):
            found.append(session.server.tasks.find(owner, id, "listen to"))
    return [one for one in found if not one.form.pushes]


async def listen(session: ServerSession, params: ListenParams, context: Context) -> Result:
    """Acknowledge, and stay open until the client cancels or the session ends."""
    wanted = params.notifications
    limit = session.server.limits.subscriptions
    count = len(wanted.resource_subscriptions or ()) + len(wanted.task_ids or ()) + len(session.listeners)
    if count > limit:
        raise ProtocolError(INVALID_PARAMS, f"More than {limit} subscriptions.")
    tasks = _found_tasks(session, wanted, context)
    if wanted.task_ids is not None:
        wanted = wanted.model_copy(update={"task_ids": [found.state.id for found in tasks]})
    listener = Listener(context.request_id, wanted, asyncio.current_task())
    acknowledged = listener.marked({"notifications": wanted.wire()})
    await session.connection.notify("notifications/subscriptions/acknowledged", acknowledged, about=context.request_id)
    session.listeners.add(listener)
    for found in tasks:  # it may have changed before anybody listened
        session.server.task_listeners[found.state.id].add((session, listener))
        told = found.form.changed(found.state)
        if told is not None:
            session.connection.notify_soon(told.method, listener.marked(told.params or {}), about=listener.id)
    try:
        await session.ending.wait()
    finally:
        session.listeners.discard(listener)
        session.server.forget_listener(session, listener)
    return Result(meta={SUBSCRIPTION_ID: listener.id})
