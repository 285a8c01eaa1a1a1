"""A call that no cell waits for, shown where it was begun."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack

from ..client import CallHandle, ToolResult
from ..errors import MCPError
from ..render.parts import Part
from .call_view import CallView
from .host import asking_in
from .live import PERIOD, Live, Screen
from .places import Place
from .runtime import Runtime


def watch(
    runtime: Runtime,
    handle: CallHandle,
    view: CallView,
    screen: Live | Screen,
    place: Place | None,
    keep: Callable[[ToolResult], str] = lambda result: "",
) -> Future[None]:
    """Show how it stands until it has ended, and then what came of it.

    Args:
        runtime: where it goes on.
        handle: the call.
        view: what is to be seen of it.
        screen: where, in place.
        place: where it asks its questions, if not in cells that wait.
        keep: told of the result; gives a note.

    Returns:
        What is done when all has been shown.
    """

    asking = ExitStack()
    asking.enter_context(asking_in(runtime, place, handle))  # now, so that the cell that ends here knows

    async def follow() -> None:
        with asking:
            await _shown(handle, view, screen, keep)

    return runtime.submit(follow())


async def _shown(handle: CallHandle, view: CallView, screen: Live | Screen, keep: Callable[[ToolResult], str]) -> None:
    try:
        await _followed(view, screen)
        outcome = await handle
        screen.finish(view.ended(outcome, keep(outcome)))
    except MCPError as error:
        screen.finish(view.ended(error))
    except asyncio.CancelledError:  # the kernel ends, or the extension is unloaded: nothing is to be had here any more
        screen.finish(view.ended(None) if handle.done() else view.working())
        raise


async def _followed(view: CallView, screen: Live | Screen) -> None:
    following = asyncio.ensure_future(view.follow())
    seen: Sequence[Part] = ()
    while not following.done():
        parts = view.working()
        if parts != seen:
            screen.draw(parts)
            view.drawn()
            seen = parts
        await asyncio.wait({following}, timeout=PERIOD)
