"""Watches whether the client of an HTTP request goes before its answer is complete."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .answers import Receive


class Watch:
    """The watch. Starting it late spares a task where the answer comes at once."""

    def __init__(self, receive: Receive, on_gone: Callable[[], None]) -> None:
        self._receive = receive
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self.saw_it_go = False

    def start_in(self, seconds: float) -> None:
        """Watch from then on."""
        if self._task is None and self._timer is None:
            self._timer = self._loop.call_later(seconds, self._start)

    def stop(self) -> None:
        """It is no longer of interest."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = self._loop.create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.saw_it_go = True
        self._on_gone()
