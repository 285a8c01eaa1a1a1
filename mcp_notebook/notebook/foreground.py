"""A call that the cell waits for, shown in it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress

from ..client import CallHandle, ToolResult
from ..protocol.calls import CallState
from ..visible import quote
from .brief import brief
from .call_view import CallView
from .host import asking_in
from .live import Live
from .runtime import Runtime

SETTLING = 1.0
"""Seconds that the last words of a call are waited for when it has ended."""


def wait_for(
    handle: CallHandle,
    view: CallView,
    live: Live,
    runtime: Runtime,
    *,
    quiet: bool = False,
    keep: Callable[[ToolResult], str] = lambda result: "",
) -> ToolResult:
    """Wait for what comes of a call, and show how it stands meanwhile.

    Args:
        handle: the call.
        view: what is to be seen of it.
        live: where.
        runtime: where it goes on.
        quiet: a good result is not shown, as the code goes on with it.
        keep: told of the result; gives a note.

    Raises:
        MCPError: it failed.
        KeyboardInterrupt: the person interrupted it. That ends a plain call; a task goes on.
    """
    following = runtime.submit(view.follow())
    outcome: ToolResult | None = None
    note = ""
    try:
        with live.showing(view.working, view.drawn), asking_in(runtime, live.place, handle):
            outcome = result = handle.result()
        note = keep(result)
    except KeyboardInterrupt as interrupt:
        raise brief(interrupt, _interrupted(handle)) from None
    finally:
        goes_on = outcome is None and handle.is_task and not handle.done()
        with suppress(TimeoutError, CancelledError):
            runtime.wait(following, 0.0 if goes_on else SETTLING)
        following.cancel()
        if goes_on and live.place is not None:
            live.place.withdraw()
        quiet = quiet and outcome is not None and not outcome.is_error
        if live.drawn or note or (outcome is not None and not quiet):
            live.finish(view.working() if goes_on else view.ended(outcome, note, brief=quiet))
    return result


def _interrupted(handle: CallHandle) -> list[str]:
    tool, server = quote(handle.tool), quote(handle.server)  # so that neither can be read as a word of the sentence
    if not handle.is_task:
        return ["● cancelled", f"  The call of {tool} was interrupted, and the server {server} told to stop."]
    asks = handle.status is CallState.INPUT_REQUIRED
    return [
        "● no longer waited for",
        f"  {tool} goes on at the server {server} as a task. %mcp result {handle.id} waits for it again, "
        f"%mcp cancel {handle.id} stops it.",
        *(["  It needs your answer, and asks in the cell that waits for it."] if asks else []),
    ]
