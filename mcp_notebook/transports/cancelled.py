"""Tasks that were cancelled, by the thousands."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any


def let_go(task: asyncio.Task[Any]) -> None:
    """As a task's done callback: have a cancelled one let go of its exception, for which nobody will ask.

    With that it holds all the frames that the exception went through, and what stands in them often holds the task:
    Python's search for garbage would have to find thousands of such rings, while everything else waits.
    """
    if task.cancelled():
        with suppress(asyncio.CancelledError):
            task.exception()  # raised once, it is no longer kept
