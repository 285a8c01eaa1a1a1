"""Calls that are displayed in a cell, as a name on its last line is: their cards, which go on as the calls do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..client import CallHandle, CallMap, ToolResult
from ..errors import MCPError
from ..render.data import data
from ..render.parts import Bar, Card, Fold, Part
from .actions import Action, CallActions, Choice
from .background import watch
from .call_view import CallView, clock
from .live import PERIOD, Live, show
from .runtime import Runtime

ROWS = 20
"""How many rows of many calls are seen; the rest is folded away."""


def register(shell: Any) -> None:
    """Have the shell show calls by their cards."""
    runtime = Runtime.of(shell)
    formatter = shell.display_formatter.ipython_display_formatter
    formatter.for_type(CallHandle, lambda handle: show_call(runtime, handle))
    formatter.for_type(CallMap, lambda calls: show_calls(runtime, calls))


def unregister(shell: Any) -> None:
    """Show them as any other object."""
    formatter = shell.display_formatter.ipython_display_formatter
    for kind in (CallHandle, CallMap):
        formatter.pop(kind, None)


def show_call(runtime: Runtime, handle: CallHandle) -> None:
    """Show a call's card in the running cell."""
    live, view = Live(runtime, background=True, actions=CallActions(handle)), CallView(handle)
    if handle.done():
        runtime.wait(runtime.submit(view.follow()))
        show(view.ended(_outcome(handle)))
    elif live.in_place:
        live.draw(view.working())
        watch(runtime, handle, view, live, live.place)
    else:
        show(view.working())


def show_calls(runtime: Runtime, calls: CallMap) -> None:
    """Show the card of many calls in the running cell."""
    live = Live(runtime, background=True, actions=_MapActions(calls))
    if calls.done() or not live.in_place:
        show(card_of(calls))
        return
    live.draw(card_of(calls))
    runtime.submit(_watch(calls, live))


def card_of(calls: CallMap) -> list[Part]:
    """How many calls stand together, and what came of each so far."""
    progress, failed = calls.progress, len(calls.failed)
    words = f"{calls.ended} of {len(calls)}" + (f" · {failed} failed" if failed else "")
    if calls.done():
        card = Card("done", "completed", _table(calls), name=calls.tool, about=words, aside=f"{calls.elapsed:.1f} s")
        if failed < len(calls) or not failed:
            return [replace(card, state="drop", title="completed, not all") if failed else card]
        if len(calls.cancelled) == failed:
            return [replace(card, state="drop", title="cancelled")]
        return [replace(card, state="fail", title="failed")]
    share = progress.progress / len(calls) if len(calls) else 1.0
    return [Card("work", "working", [Bar(min(share, 1.0), words)], name=calls.tool, aside=clock(calls.elapsed))]


def _table(calls: CallMap) -> Sequence[Part]:
    rows = calls.table_so_far()
    shown = data(rows[:ROWS], "calls.to_pandas()")
    return [*shown, Fold(f"all {len(rows)} rows", data(rows, "calls.to_pandas()"))] if len(rows) > ROWS else shown


async def _watch(calls: CallMap, live: Live) -> None:
    seen: list[Part] = []
    while not calls.done():
        parts = card_of(calls)
        if parts != seen:
            live.draw(parts)
            seen = parts
        await asyncio.sleep(PERIOD)
    live.finish(card_of(calls))


def _outcome(handle: CallHandle) -> ToolResult | MCPError | None:
    try:
        return handle.result(0)
    except MCPError as error:
        return error


class _MapActions:
    def __init__(self, calls: CallMap) -> None:
        self._calls = calls
        cancel = Choice("Cancel", "What runs is cancelled, and nothing more begins")
        self.possible: Sequence[Action] = (Action(cancel, calls.cancel),)

    def __call__(self) -> Sequence[Action]:
        return () if self._calls.done() else self.possible
