"""Tasks that begin at once.

Most requests are answered without waiting for anything. Such work is over before it would have had its first turn on
the event loop, and whoever waits for the answer in this process need not wait for a turn either.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Coroutine, Generator
from typing import Any


def begin(work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> asyncio.Task[None] | None:
    """Run a coroutine as a task of its own, but take its first step here and now; None where that was all of it.

    The coroutine sees no difference: while it runs, it is the current task, and it has a context of its own.
    """
    if sys.version_info >= (3, 12):
        task = asyncio.Task(work, loop=loop, eager_start=True)
        return None if task.done() else task
    begun, context = _Begun(work), contextvars.copy_context()
    task = asyncio.Task(begun, loop=loop, context=context)
    outer = asyncio.current_task(loop)
    # The way for tasks of others to say which of them runs ("Extending asyncio" of Python's documentation).
    if outer is not None:
        asyncio.tasks._leave_task(loop, outer)
    asyncio.tasks._enter_task(loop, task)
    try:
        context.run(begun.begin)
    finally:
        asyncio.tasks._leave_task(loop, task)
        if outer is not None:
            asyncio.tasks._enter_task(loop, outer)
    return None if begun.over else task


class _Begun(Coroutine[Any, Any, None]):
    """A coroutine that takes its first step before its task does. The first step of the task tells what came of it."""

    __slots__ = ("_coroutine", "_error", "_waits_for", "over")

    def __init__(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._coroutine = coroutine
        self._waits_for: Any = None
        self._error: BaseException | None = None
        self.over = False
        """Whether the first step was the last."""

    def begin(self) -> None:
        """Take the first step."""
        try:
            self._waits_for = waits_for = self._coroutine.send(None)
            if waits_for is not None:
                waits_for._asyncio_future_blocking = False  # as a task does that takes it
        except StopIteration:
            self.over = True
        except BaseException as error:
            self.over, self._error = True, error

    def send(self, value: Any) -> Any:
        if self.over:
            raise self._error or StopIteration
        if self._waits_for is not None:
            return self._handed_over()
        return self._coroutine.send(value)

    def throw(self, typ: Any, val: Any = None, tb: Any = None) -> Any:
        if self.over:
            raise self._error or StopIteration
        if self._waits_for is not None and self._waits_for.cancel():  # the task has been cancelled in between
            return self._handed_over()
        self._waits_for = None
        try:
            return self._coroutine.throw(typ)
        finally:
            del typ  # the exception knows this frame: they would hold each other

    def _handed_over(self) -> Any:
        """What it waits for, as its `await` gave it."""
        waits_for, self._waits_for = self._waits_for, None
        waits_for._asyncio_future_blocking = True
        return waits_for

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, None]:
        return self._coroutine.__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coroutine, name)  # its frame and its names, for those who look into tasks
