"""The overview's card: shown at once with what is known, and changed as answers come and things go on."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

from IPython.display import DisplayHandle
from ipywidgets import HTML

from ....render import mimebundle
from ....render.as_html import write_all
from ....render.html import h
from ....render.parts import Part
from ....render.style import ROOT
from ...overview.looking import Looking
from ...overview.rows import UNKNOWN, Row, row_of
from ...overview.under_way import UnderWay, heading, open_calls, open_questions
from ...workspace import Workspace
from ..card import classed
from ..keys import keys
from ..kit import Kit, close_all, say
from .calls import CallsTable
from .finder import Finder
from .servers import ServersTable
from .style import STYLE
from .trials import trial_of

PERIOD = 0.25
"""Seconds between two looks at what goes on."""
AT_ONCE = 0.2
"""Seconds that quick servers are given to answer before the card is shown: what comes later is filled in."""


def show_overview(workspace: Workspace, notes: Sequence[Part], plain: Callable[[Sequence[Row]], list[Part]]) -> None:
    """Show the card in the running cell, in the place of the one before it. Call it in the main thread.

    Args:
        workspace: what it is about.
        notes: what there is to say besides.
        plain: the same to be read only: what is left when there is a newer one.
    """
    if workspace.overview is not None:
        workspace.overview.end()
    card = OverviewCard(workspace, notes, plain)
    workspace.overview = card
    card.present()


class OverviewCard:
    """Shows how all of it stands, until `end`. See `show_overview`."""

    def __init__(
        self, workspace: Workspace, notes: Sequence[Part], plain: Callable[[Sequence[Row]], list[Part]]
    ) -> None:
        self._workspace, self._plain = workspace, plain
        self._runtime = workspace.runtime
        self._handle = DisplayHandle()
        self._tasks: set[asyncio.Future[Any]] = set()
        self._ended = False
        self._rows: list[Row] = []
        self._kit = Kit()
        self._looking = Looking(workspace)
        self._finder = Finder(self._kit, self._looking, self._soon, lambda hit: trial_of(workspace, hit))
        self._servers = ServersTable(self._kit, lambda name: self._soon(lambda: self._looking.reconnect(name)))
        self._title: HTML = self._kit.html()
        self._under_way = UnderWay(workspace)
        self._calls = CallsTable(self._kit, self._runtime, self._soon)
        self._keys = keys()
        below = [self._kit.html(h("div", write_all(notes), cls="mcp-mute"), "mcp-part")] if notes else []
        card = self._kit.column(
            [
                self._kit.row([self._title, self._finder.tools], "mcp-head"),
                self._finder.found,
                self._kit.column([self._servers.widget], "mcp-part"),
                self._calls.widget,
                *below,
            ],
            "mcp-card",
        )
        self.widget: Any = classed(
            self._kit.column([self._kit.html(STYLE), card, self._keys], ROOT, "mcp-asking", "mcp-overview")
        )

    def present(self) -> None:
        """Display it. Call it in the main thread."""
        self._runtime.add_closer(self._closed)
        beginning = self._runtime.submit(self._begin())
        with suppress(TimeoutError):
            beginning.result(2 * AT_ONCE)
        rows = beginning.result() if beginning.done() else [row_of(one, {}, UNKNOWN) for one in self._workspace]
        self._handle.display({**(self.widget._repr_mimebundle_() or {}), **mimebundle(self._plain(rows))}, raw=True)

    def end(self) -> None:
        """Leave what is to be seen now, for good. May be called from any thread but that of the loop."""
        with suppress(TimeoutError):
            self._runtime.submit(self._closed()).result(1.0)

    # Within, on the background loop

    async def _begin(self) -> list[Row]:
        self._looking.begin()
        with suppress(TimeoutError):
            async with asyncio.timeout(AT_ONCE):
                await self._looking.settled()
        if not self._ended:
            self._draw()
            self._start(self._live())
        return self._rows

    async def _live(self) -> None:
        while True:
            await asyncio.sleep(PERIOD)
            self._looking.begin()
            self._draw()

    def _draw(self) -> None:
        rows = self._rows = self._looking.rows()
        name, about = heading(len(rows), len(open_calls(self._workspace)), len(open_questions(self._workspace)))
        say(self._title, h("div", h("b", name), h("span", about, cls="mcp-mute"), cls="mcp-line"))
        self._servers.show(rows)
        tried = [trial.call for trial in self._finder.trials if trial.call is not None]
        self._calls.show(*self._under_way.lines(tried))
        self._finder.refresh()

    async def _closed(self) -> None:
        if self._ended:
            return
        self._ended = True
        self._runtime.remove_closer(self._closed)
        if self._workspace.overview is self:
            self._workspace.overview = None
        for task in list(self._tasks):
            task.cancel()
        shown = [part for trial in self._finder.trials for part in trial.shown]
        self._handle.update(mimebundle([*self._plain(self._rows), *shown]), raw=True)
        self._looking.close()
        self._finder.close()
        self._servers.close()
        self._calls.close()
        close_all(self.widget)
        self._keys.layout.close()
        self._kit.close()

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # From any thread

    def _soon(self, act: Callable[[], Any]) -> None:
        """Have something done on the loop."""

        def do() -> None:
            if not self._ended and inspect.iscoroutine(work := act()):
                self._start(work)

        with suppress(RuntimeError):  # the loop has ended
            self._runtime.loop.call_soon_threadsafe(do)
