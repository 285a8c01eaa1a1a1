"""A question that nobody could be asked so far: it waits for a cell that waits, or for a card that takes it up."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from ..client import CallHandle
from .places import Place


class OpenQuestion:
    """One question that waits. All of it happens on the background loop.

    Args:
        about: who asks what, in a line.
        call: the call in which it is asked, where that is known.

    Attributes:
        place: where it was taken up.
    """

    def __init__(self, about: str, call: CallHandle | None) -> None:
        self.about = about
        self.call = call
        self.place: Place | None = None
        self._taken = asyncio.Event()

    def take(self, place: Place) -> None:
        """Have it asked in a place, at once."""
        self.place = place
        self._taken.set()

    async def pause(self, seconds: float) -> None:
        """Wait until it is taken up, but no longer than that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._taken.wait()
