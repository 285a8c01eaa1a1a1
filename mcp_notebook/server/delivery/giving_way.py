"""The delivery of a handler in a worker thread: while it waits for an answer, another may run in its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio

from . import Delivery


@dataclass(frozen=True, slots=True)
class GivingWay:
    """The way out of a call whose handler holds one of a limited number of places.

    A person may take minutes to answer. The places are for work, so there is one more of them meanwhile.
    """

    way: Delivery
    places: anyio.CapacityLimiter

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        await self.way.tell(method, params)

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        self.places.total_tokens += 1
        try:
            return await self.way.ask(method, params, key)
        finally:
            self.places.total_tokens -= 1

    async def become_task(self) -> None:
        await self.way.become_task()
