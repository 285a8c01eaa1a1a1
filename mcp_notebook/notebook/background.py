"""A call that no cell waits for, shown where it was begun."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ..client import CallHandle, ToolResult
from ..errors import MCPError
from ..render.parts import Part
from .call_view import CallView
from .live import PERIOD, Live, Screen


async def watch(
    handle: CallHandle, view: CallView, live: Live | Screen, keep: Callable[[ToolResult], str] = lambda result: ""
) -> None:
    """Show how it stands until it has ended, and then what came of it; on the background loop.

    Args:
        handle: the call.
        view: what is to be seen of it.
        live: where, in place.
        keep: told of the result; gives a note.
    """
    following = asyncio.ensure_future(view.follow())
    seen: Sequence[Part] = ()
    while not following.done():
        parts = view.working()
        if parts != seen:
            live.draw(parts)
            view.drawn()
            seen = parts
        await asyncio.wait({following}, timeout=PERIOD)
    try:
        outcome = await handle
        live.finish(view.ended(outcome, keep(outcome)))
    except MCPError as error:
        live.finish(view.ended(error))
