"""Something to wait for that happens again and again."""

from __future__ import annotations

import asyncio


class News:
    """Wakes whoever waits for it. Where nobody waits it holds nothing, as thousands of idle calls and streams do."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] | None = None

    def tell(self) -> None:
        """Something has happened."""
        waiting, self._waiting = self._waiting, None
        for future in waiting or ():
            if not future.done():
                future.set_result(None)

    async def wait(self) -> None:
        """Wait until something happens. What happened before is not waited for: look at that first."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._waiting is None:
            self._waiting = []
        self._waiting.append(future)
        try:
            await future
        finally:
            if self._waiting is not None and future in self._waiting:  # the wait was given up
                self._waiting.remove(future)
