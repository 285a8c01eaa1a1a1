"""Hearing of changes by `subscriptions/listen`. Source: "Subscriptions" of 2026-07-28."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import ConnectionLost, MCPError, RequestTimeout
from ..jsonrpc import Notification, RequestId
from ..protocol.metadata import SUBSCRIPTION_ID
from ..protocol.revision import Profile
from ..types import SubscriptionFilter

REOPENED = 10
"""How often in a row a subscription that the server let go is opened anew, with a growing pause."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds between two attempts. A subscription that lasted longer than the latter begins to count anew."""

Listen = Callable[[dict[str, Any], Callable[[RequestId], None]], Awaitable[Any]]
"""Makes the request: its parameters, and whom to tell its id."""


@dataclass(eq=False)
class _Subscription:
    wanted: SubscriptionFilter
    acknowledged: asyncio.Future[None]
    id: RequestId | None = None
    task: asyncio.Task[None] | None = None


@dataclass(eq=False)
class Listening:
    """The open subscriptions of one connection. `patience` is how many seconds the server may take to agree to one."""

    listen: Listen
    on_fault: Callable[[str], None]
    patience: float
    _open: set[_Subscription] = field(default_factory=set)
    _of_resources: dict[str, _Subscription] = field(default_factory=dict)

    def begin(self, wanted: SubscriptionFilter | None) -> None:
        """Open a subscription, without waiting for it; None: there is nothing to hear of."""
        if wanted is not None:
            self._start(wanted)

    async def subscribe(self, uri: str) -> None:
        """Hear of a resource's changes from now on. Raises MCPError where the server does not let us."""
        if uri not in self._of_resources:
            self._of_resources[uri] = self._start(SubscriptionFilter(resource_subscriptions=[uri]))
        subscription = self._of_resources[uri]
        try:
            async with asyncio.timeout(self.patience):
                await asyncio.shield(subscription.acknowledged)
        except TimeoutError:
            await self.unsubscribe(uri)
            raise RequestTimeout(
                f"The server did not agree to a subscription within {self.patience:g} s.", seconds=self.patience
            ) from None

    async def unsubscribe(self, uri: str) -> None:
        """No longer hear of them."""
        subscription = self._of_resources.pop(uri, None)
        if subscription is not None and subscription.task is not None:
            subscription.task.cancel()
            await asyncio.wait([subscription.task], timeout=1)

    def told(self, notification: Notification) -> None:
        """Take note of an acknowledgment."""
        id = ((notification.params or {}).get("_meta") or {}).get(SUBSCRIPTION_ID)
        for subscription in self._open:
            if subscription.id == id and not subscription.acknowledged.done():
                subscription.acknowledged.set_result(None)

    def close(self) -> None:
        """Close all of them."""
        for subscription in list(self._open):
            if subscription.task is not None:
                subscription.task.cancel()

    def _start(self, wanted: SubscriptionFilter) -> _Subscription:
        subscription = _Subscription(wanted, asyncio.get_running_loop().create_future())
        self._open.add(subscription)
        subscription.task = asyncio.create_task(self._keep(subscription))
        return subscription

    async def _keep(self, subscription: _Subscription) -> None:
        """Hold a subscription open; where the server lets it go, open it anew, for a while."""
        try:
            attempt, why = 0, "it ends at once"
            while attempt < REOPENED:
                began = time.monotonic()
                try:
                    await self.listen({"notifications": subscription.wanted.wire()}, _note_id(subscription))
                except MCPError as error:
                    if not subscription.acknowledged.done():
                        self.on_fault(f"changes are not told: {error}")
                        subscription.acknowledged.set_exception(error)
                        return
                    why = str(error)
                pause = min(FIRST_PAUSE * 2.0**attempt, LONGEST_PAUSE)
                attempt = 0 if time.monotonic() - began > LONGEST_PAUSE else attempt + 1
                await asyncio.sleep(pause)
            self.on_fault(
                f"changes are no longer told, as the server let go of the subscription again and again: {why}"
            )
        finally:
            self._open.discard(subscription)
            for uri in [uri for uri, one in self._of_resources.items() if one is subscription]:
                del self._of_resources[uri]
            if not subscription.acknowledged.done():
                subscription.acknowledged.set_exception(
                    ConnectionLost("The connection ended before the server agreed.")
                )
            subscription.acknowledged.exception()  # seen


def _note_id(subscription: _Subscription) -> Callable[[RequestId], None]:
    def note(id: RequestId) -> None:
        subscription.id = id

    return note


def lists_of(profile: Profile) -> SubscriptionFilter | None:
    """The lists whose changes a server tells of; None where there are none."""
    lists = {
        f"{kind}_list_changed": True
        for kind in ("tools", "prompts", "resources")
        if (getattr(profile.server, kind) or {}).get("listChanged")
    }
    return SubscriptionFilter.model_validate(lists) if lists else None
