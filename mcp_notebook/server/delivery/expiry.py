"""When calls are given up: one timer for thousands of them."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from typing import Protocol

AT_ONCE = 100
"""How many calls are given up in one turn of the event loop: each of them ends a handler, and others wait."""
GRAIN = 0.001
"""Seconds. What is due within them is due."""


class Expiring(Protocol):
    """What is given up some time."""

    def due(self) -> float | None:
        """When, on the loop's clock, as far as can be told by now; None: it is over already."""

    def expire(self) -> None:
        """Give it up."""


class Expiry:
    """Gives calls up when they are due. That may become later, and nothing need be said of it here: a call is looked at
    when it was due at first, and again when it is due then."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._heap: list[tuple[float, int, Expiring]] = []
        """When to look, a number for those of one moment, and at what."""
        self._numbers = itertools.count()
        self._over = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, call: Expiring) -> None:
        """Give a call up when it is due."""
        due = call.due()
        if due is None:
            return
        heapq.heappush(self._heap, (due, next(self._numbers), call))
        if self._timer is None or due < self._timer.when():
            self._look_at(due)

    def is_over(self) -> None:
        """One of them is. Where that holds for most of all, they are let go of."""
        self._over += 1
        if self._over > len(self._heap) // 2:
            self._heap = [entry for entry in self._heap if entry[2].due() is not None]
            heapq.heapify(self._heap)
            self._over = 0

    def __len__(self) -> int:
        return len(self._heap)

    def _look_at(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_at(when, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self.loop.time()
        for _ in range(AT_ONCE):
            if not self._heap or self._heap[0][0] > now + GRAIN:
                break
            self._look_at_one(heapq.heappop(self._heap)[2], now)
        if self._heap:
            self._look_at(self._heap[0][0])

    def _look_at_one(self, call: Expiring, now: float) -> None:
        due = call.due()
        if due is not None and due > now + GRAIN:
            heapq.heappush(self._heap, (due, next(self._numbers), call))
            return
        if due is not None:
            call.expire()
        self._over = max(0, self._over - 1)
