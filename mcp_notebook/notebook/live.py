"""One output of a cell that changes while work goes on, and is replaced by what came of it.

JupyterLab and Notebook 7 change an output in place. Terminals do not, so there it is one line that is written over.
Where nobody watches, only what came of it is shown: so a notebook is saved the same, however long its cells take. All
of it happens in the main thread, in the wait of the cell that it belongs to; for work that goes on without a cell, an
output that can change in place is changed from the background loop.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from IPython.display import DisplayHandle, display

from ..render import mimebundle
from ..render.as_text import document
from ..render.letters import one_line
from ..render.parts import Card, Part
from .actions import Actions
from .frontend import wants_widgets
from .places import Place
from .pump import uninterrupted
from .runtime import Runtime
from .waiting import NobodyWaiting

if TYPE_CHECKING:
    from .widgets.live_card import LiveCard

View = Callable[[], Sequence[Part]]
"""What is to be seen at the moment. Called on the background loop."""

PATIENCE = 0.5
"""Seconds before anything is shown of work that goes on: what is done sooner shows nothing but its result."""
PERIOD = 0.1
"""Seconds between two changes of an output, at least."""


def show(parts: Sequence[Part]) -> None:
    """Show parts as an output of the running cell; nothing where there are none."""
    if parts:
        display(mimebundle(list(parts)), raw=True)


class Screen(Protocol):
    """Where work in progress is shown."""

    def draw(self, parts: Sequence[Part]) -> bool:
        """Show how it stands, and tell whether that is to be seen."""
        ...

    def finish(self, parts: Sequence[Part]) -> None:
        """Show what came of it, in the place of how it stood."""
        ...


class InPlace:
    """An output that is changed in place."""

    def __init__(self) -> None:
        self._handle: DisplayHandle | None = None

    def draw(self, parts: Sequence[Part]) -> bool:
        bundle = mimebundle(list(parts))
        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)
        return True

    def finish(self, parts: Sequence[Part]) -> None:
        if self._handle is None:
            show(parts)
        else:
            self.draw(parts)


class OneLine:
    """A line of a terminal that is written over.

    Args:
        runtime: what else is printed there first has it clear the line.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def draw(self, parts: Sequence[Part]) -> bool:
        self._runtime.has_line = True
        width = shutil.get_terminal_size().columns - 1
        short = [replace(part, about="") if isinstance(part, Card) else part for part in parts]
        print(f"\r\x1b[K{one_line(document(short))[:width]}", end="", flush=True)
        return True

    def finish(self, parts: Sequence[Part]) -> None:
        self._runtime.clear_line()
        show(parts)


class Afterwards:
    """What came of it is shown, and nothing before."""

    def draw(self, parts: Sequence[Part]) -> bool:
        return False

    def finish(self, parts: Sequence[Part]) -> None:
        show(parts)


def _with_buttons(actions: Actions, begin: Callable[[], Awaitable[None]]) -> LiveCard:
    from .widgets.live_card import LiveCard  # loading ipywidgets takes longer than all the rest, and may not be needed

    return LiveCard(actions, begin)


class Live:
    """The output of one command at work. Make it in the main thread, while the cell runs.

    Args:
        runtime: where the work goes on.
        background: no cell waits for the work.
        actions: what one can do with it: its buttons, where there are such.

    Attributes:
        in_place: whether an output can be changed in place.
        drawn: whether anything was shown so far.
        place: where the work's questions can be asked, if there is such a place.
    """

    def __init__(self, runtime: Runtime, *, background: bool = False, actions: Actions | None = None) -> None:
        self._runtime = runtime
        frontend = runtime.frontend()
        kind = frontend.kind
        self.in_place = kind == "lab"
        self.place: Place | None = None
        self._view: View | None = None
        here = threading.current_thread() is threading.main_thread()  # elsewhere no wait can begin a card
        if self.in_place and actions is not None and here and runtime.answers_widgets and wants_widgets(frontend):
            self._screen: Screen = (made := _with_buttons(actions, self._begin))
            self.place = made
        elif self.in_place:
            self._screen = InPlace()
        elif kind != "headless" and not background:
            self._screen = OneLine(runtime)
        else:
            self._screen = Afterwards()
        self.drawn = False

    @contextmanager
    def showing(self, view: View, drawn: Callable[[], None] = lambda: None) -> Iterator[None]:
        """While the cell waits for work on the background loop, show how it stands.

        Args:
            view: what is to be seen.
            drawn: told, on that loop, when it was shown.
        """
        self._view = view
        drawing = self._runtime.submit(self._keep_drawing(view, drawn))
        try:
            yield
        finally:
            self._view = None
            drawing.cancel()

    def draw(self, parts: Sequence[Part]) -> None:
        """Show how it stands: in the main thread, or (what was once drawn there, in place) on the background loop."""
        self.drawn = self._screen.draw(parts) or self.drawn

    def finish(self, parts: Sequence[Part]) -> None:
        """Show what came of it."""
        self._screen.finish(parts)

    def _draw_whole(self, parts: Sequence[Part]) -> None:
        """An interrupt comes before or after: what is to be seen is known to be."""
        with uninterrupted():
            self.draw(parts)

    async def _begin(self) -> None:
        """Show how it stands before its time, since something is to stand in it. Raises NobodyWaiting."""
        if (view := self._view) is None:
            raise NobodyWaiting("The cell no longer waits for this.")
        parts = view()
        await self._runtime.on_main(lambda: self._draw_whole(parts))

    async def _keep_drawing(self, view: View, drawn: Callable[[], None]) -> None:
        await asyncio.sleep(PATIENCE)
        seen: Sequence[Part] | None = None
        while True:
            parts = view()
            if parts != seen:
                with suppress(NobodyWaiting):  # the wait is over, or goes on in another thread
                    await self._runtime.on_main(lambda shown=parts: self._draw_whole(shown))
                    if self.drawn:
                        drawn()
                seen = parts
            await asyncio.sleep(PERIOD)
