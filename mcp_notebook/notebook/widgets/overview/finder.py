"""Searching what servers offer while one types, and trying what was found right below it."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias

from ipywidgets import HTML, Box, Button, Dropdown, Text, Widget

from ....client import CallHandle
from ....render.html import Html, h
from ....render.letters import excerpt, line
from ....render.parts import Part
from ...overview.looking import Looking
from ...places import Place
from ...searching import Hit, search
from ...workspace import KINDS, Kind
from ..keys import CANCEL
from ..kit import Kit, close_all, say
from ..settling import Settling

SHOWN = 20
"""How many hits are shown."""
_ALL = "all"
_KINDS: dict[str, tuple[Kind, ...]] = {
    _ALL: KINDS,
    "tools": ("tools",),
    "resources": ("resources", "templates"),
    "prompts": ("prompts",),
}
_HINT = "search tools, resources, prompts"
_NAME = 80

Soon: TypeAlias = Callable[[Callable[[], Any]], None]
"""Has something done on the background loop, which may be a coroutine."""


class Trial(Protocol):
    """A card in which something is tried."""

    @property
    def busy(self) -> bool:
        """Whether something goes on in it."""
        ...

    @property
    def call(self) -> CallHandle | None:
        """The call that is at work in it, if that is what it is."""
        ...

    @property
    def shown(self) -> Sequence[Part]:
        """What came of it last."""
        ...

    async def stand_in(self, place: Place) -> None:
        """Show it in a place, which is told when it is left."""
        ...

    def focus(self) -> None:
        """Put the cursor into it."""
        ...

    def abandon(self) -> None:
        """Take it away; what goes on in it goes on without it."""
        ...


class Finder:
    """The search field, what it finds, and what is tried of that.

    What a person does is heard in the main thread, and dealt with on the background loop.

    Args:
        kit: makes the widgets.
        looking: what is known of servers.
        soon: has something done on the background loop.
        trial_of: makes the card in which a hit is tried.

    Attributes:
        tools: the search field and what belongs to it.
        found: what was found.
    """

    def __init__(self, kit: Kit, looking: Looking, soon: Soon, trial_of: Callable[[Hit], Awaitable[Trial]]) -> None:
        self._kit, self._looking, self._soon, self._trial_of = kit, looking, soon, trial_of
        self._rows: list[tuple[HTML, Button]] = []
        self._hits: Sequence[Hit] = ()
        self._spots: dict[Any, _Spot] = {}
        self._opening: set[Any] = set()
        self._seen: Any = None
        self._kind = kit.make(Dropdown, "mcp-kind", options=list(_KINDS), value=_ALL, description="search in")
        self._field = kit.make(Text, "mcp-search", placeholder=_HINT, description="search")
        self._clear = kit.make(Button, "mcp-link", CANCEL, description="Clear", tooltip="Clear the search (Escape)")
        self._settling = Settling(lambda: soon(self._enter))
        self._field.observe(lambda _: soon(self.look), "value")
        self._kind.observe(lambda _: soon(self.look), "value")
        self._field.on_msg(lambda _, said, __: self._settling.begin() if said.get("event") == "submit" else None)
        self._clear.on_click(lambda _: self._cleared())
        self._note = kit.html()
        self._grid: Box = kit.column((), "mcp-grid", "mcp-hits")
        self.tools: Box = kit.row([self._kind, self._field], "mcp-tools")
        self.found: Box = kit.column((), "mcp-part")

    @property
    def trials(self) -> list[Trial]:
        """What is being tried."""
        return [spot.trial for spot in self._spots.values()]

    def look(self) -> None:
        """Search, and show what is found."""
        words, kind = str(self._field.value).split(), str(self._kind.value)
        wanted = bool(words) or kind != _ALL
        kinds = _KINDS[kind]
        self._seen = self._looking.version
        hits = search(self._looking.hits(kinds), words) if wanted else []
        self._hits = hits[:SHOWN]
        say(self._note, _note(len(hits), words, self._looking.unknown(kinds)) if wanted else None)
        tools = (self._kind, self._field, *([self._clear] if wanted else []))
        if self.tools.children != tools:
            self.tools.children = tools
        self._draw(wanted)

    def refresh(self) -> None:
        """Search again where servers have told something since."""
        if self._seen is not None and self._seen != self._looking.version:
            self.look()

    def close(self) -> None:
        """Close its widgets; what goes on in a trial goes on without it."""
        for spot in self._spots.values():
            spot.trial.abandon()
        self._settling.close()
        for row in self._rows:
            for widget in row:
                close_all(widget)
        for widget in (self.tools, self._clear, self._note, self._grid, self.found):
            close_all(widget)

    # Within, on the background loop

    def _draw(self, wanted: bool) -> None:
        children: list[Widget] = []
        spots = dict(self._spots)
        for at, hit in enumerate(self._hits):
            said, attempt = self._row(at)
            say(said, _said(hit))
            attempt.tooltip = f"Try {line(hit.server)}.{line(hit.item.name)}"
            children += [said, attempt]
            if (spot := spots.pop(_key(hit), None)) is not None:
                spot.widget.add_class("mcp-under")  # the line above it says what it is
                children.append(spot.widget)
        for spot in spots.values():
            spot.widget.remove_class("mcp-under")
            children.append(spot.widget)
        if self._grid.children != tuple(children):
            self._grid.children = tuple(children)
        found = (self._grid, self._note) if wanted or children else ()
        if self.found.children != found:
            self.found.children = found

    def _row(self, at: int) -> tuple[HTML, Button]:
        while len(self._rows) <= at:
            attempt = self._kit.make(Button, description="Try")
            attempt.on_click(functools.partial(self._clicked, len(self._rows)))
            self._rows.append((self._kit.html(None, "mcp-flat"), attempt))
        return self._rows[at]

    async def _enter(self) -> None:
        self.look()
        if self._hits:
            await self._try(self._hits[0])

    async def _try(self, hit: Hit) -> None:
        key = _key(hit)
        if key in self._spots or key in self._opening:
            if key in self._spots:
                self._spots[key].trial.focus()
            return
        self._opening.add(key)
        try:
            trial = await self._trial_of(hit)
        finally:
            self._opening.discard(key)
        for other, spot in list(self._spots.items()):
            if not spot.trial.busy:
                spot.trial.abandon()
                self._gone(other)
        spot = _Spot(trial, self._kit.column((), "mcp-trial"), lambda: self._soon(lambda: self._left(key)))
        await trial.stand_in(spot)
        self._spots[key] = spot
        self.look()

    def _left(self, key: Any) -> None:
        self._gone(key)
        self._field.focus()

    def _gone(self, key: Any) -> None:
        spot = self._spots.pop(key, None)
        if spot is not None:
            self.look()
            spot.widget.close()

    # In the main thread

    def _clicked(self, at: int, _: Button) -> None:
        hits = self._hits
        if at < len(hits):
            self._soon(lambda: self._try(hits[at]))

    def _cleared(self) -> None:
        self._field.value = ""
        self._kind.value = _ALL


class _Spot:
    """Where something is tried: a place for its card."""

    def __init__(self, trial: Trial, widget: Box, left: Callable[[], None]) -> None:
        self.trial, self.widget, self._left = trial, widget, left

    async def hold(self, widget: Widget) -> None:
        self.widget.children = (widget,)

    def release(self, widget: Widget, parts: Sequence[Part]) -> None:
        self._left()

    def withdraw(self) -> None:
        """What is tried has a place of its own for questions."""


def _key(hit: Hit) -> Any:
    return hit.server, hit.kind, hit.address or hit.item.name


def _said(hit: Hit) -> Html:
    name = h(
        "div",
        [h("span", f"{hit.server}.", cls="mcp-mute"), h("b", excerpt(line(hit.item.name), _NAME))],
        cls="mcp-cell mcp-name",
    )
    about = " · ".join(filter(None, (hit.about, line(hit.address))))
    return h(
        "div",
        name,
        h("div", hit.noun, cls="mcp-cell mcp-mute"),
        h("div", about, cls="mcp-cell mcp-mute mcp-about"),
        cls="mcp-cells",
    )


def _note(count: int, words: Sequence[str], unknown: Sequence[str]) -> Html | None:
    said = []
    if count > SHOWN:
        said.append(f"… {count - SHOWN:,} more; another word narrows it down.")
    elif not count:
        said.append(f"Nothing holds {' and '.join(map(repr, words))}." if words else "There are none.")
    if unknown:
        said.append(f"Not all is known of {', '.join(unknown)}.")
    return h("div", " ".join(said), cls="mcp-mute", role="status") if said else None
