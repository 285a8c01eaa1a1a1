"""Open calls and questions, a line each, with what can be done about them; a question is answered below its line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ipywidgets import Box, Button, Widget

from ....render.as_html import write, write_all
from ....render.html import Html, h
from ....render.letters import excerpt
from ....render.parts import Part
from ...actions import Action, Choice
from ...host import ask_here, no_longer_in
from ...open_questions import OpenQuestion
from ...overview.under_way import Line
from ...runtime import Runtime
from ..card import button
from ..kit import Kit, close_all, say
from .finder import Soon

_NAME, _ABOUT = 80, 160
_ANSWER = Choice("Answer here", "Have it asked here, at once", "primary")


class CallsTable:
    """Shows lines. All but clicks happens on the background loop.

    Args:
        kit: makes the widgets.
        runtime: where questions are asked.
        soon: has something done on the background loop.

    Attributes:
        widget: what is shown.
    """

    def __init__(self, kit: Kit, runtime: Runtime, soon: Soon) -> None:
        self._kit, self._runtime, self._soon = kit, runtime, soon
        self._lines: dict[str, _Shown] = {}
        self._more = kit.html()
        self._grid: Box = kit.column((), "mcp-grid", "mcp-calls")
        self.widget: Box = kit.column((), "mcp-part")

    def show(self, lines: Sequence[Line], more: Sequence[Part] = ()) -> None:
        """Show them, and what there is to say before them."""
        say(self._more, h("div", write_all(more)) if more else None)
        keys = {line.key for line in lines}
        for key, shown in list(self._lines.items()):
            if key not in keys and not shown.holds:
                self._lines.pop(key).close()
        for line in lines:
            if line.key not in self._lines:
                self._lines[line.key] = _Shown(self._kit, self._runtime, self._soon)
            self._lines[line.key].show(line)
        order = [self._lines[line.key] for line in lines]
        order += [shown for key, shown in self._lines.items() if key not in keys]
        children = tuple(widget for shown in order for widget in (shown.row, shown.below))
        if self._grid.children != children:
            self._grid.children = children
        whole = (*([self._more] if more else []), *([self._grid] if children else []))
        if self.widget.children != whole:
            self.widget.children = whole

    def close(self) -> None:
        """Close its widgets; what is being asked here is asked elsewhere."""
        for shown in self._lines.values():
            shown.close()
        for widget in (self._more, self._grid, self.widget):
            close_all(widget)


class _Shown:
    """A line, and the place below it in which its questions are asked."""

    def __init__(self, kit: Kit, runtime: Runtime, soon: Soon) -> None:
        self._kit, self._runtime, self._soon = kit, runtime, soon
        self._line: Line | None = None
        self._question: OpenQuestion | None = None
        self._buttons: dict[Action, Button] = {}
        self._answer = button(_ANSWER, lambda: soon(self._ask))
        self._said = kit.html()
        self._row: Box = kit.row((), "mcp-buttons")
        self._told: list[Part] = []
        self._outcome = kit.html()
        self._cards: list[Widget] = []
        self.row: Box = kit.row([self._said, self._row], "mcp-tr")
        self.below: Box = kit.column((), "mcp-held")

    @property
    def holds(self) -> bool:
        """Whether something is being asked here."""
        return bool(self._cards)

    def show(self, line: Line) -> None:
        if line == self._line:
            return
        self._line, self._question = line, line.question
        say(self._said, _said(line))
        for action in line.actions:
            if action not in self._buttons:
                self._buttons[action] = button(action.choice, action.do)
        self._offer()

    def close(self) -> None:
        no_longer_in(self._runtime, self)
        self.withdraw()
        self._row.children = ()
        self.below.children = ()
        for made in (self._answer, *self._buttons.values()):
            for widget in (made.layout, made.style, made):
                widget.close()
        for widget in (self.row, self.below, self._outcome):
            close_all(widget)

    # As a place for questions

    async def hold(self, widget: Any) -> None:
        widget.take_focus()
        self._question = None
        self._cards.append(widget)
        self._offer()
        self._draw()

    def release(self, widget: Any, parts: Sequence[Part]) -> None:
        self._cards = [card for card in self._cards if card is not widget]
        self._told = list(parts)
        self._draw()

    def withdraw(self) -> None:
        for card in self._cards:
            card.withdraw()  # pyright: ignore[reportAttributeAccessIssue]

    # Within

    def _ask(self) -> None:
        question = self._question
        call = question.call if question is not None else self._line.asked if self._line is not None else None
        if call is not None:
            ask_here(self._runtime, call, self)
        if question is not None:
            question.take(self)

    def _offer(self) -> None:
        elsewhere = self._line is not None and self._line.asked is not None and not self._cards
        asked = [self._answer] if self._question is not None or elsewhere else []
        row = (*asked, *(self._buttons[action] for action in (self._line.actions if self._line is not None else ())))
        if self._row.children != row:
            self._row.children = row

    def _draw(self) -> None:
        say(self._outcome, h("div", write_all(self._told)) if self._told else None)
        self.below.children = (*([self._outcome] if self._told else []), *self._cards)


def _said(line: Line) -> Html:
    card = line.card
    return h(
        "div",
        h("span", f"● {card.title}", cls="mcp-state"),
        h("b", excerpt(card.name, _NAME)) if card.name else None,
        h("div", excerpt(card.about, _ABOUT), cls="mcp-mute mcp-told"),
        h("div", None if line.progress is None else write(line.progress), cls="mcp-ahead"),
        h("span", card.aside, cls="mcp-mute") if card.aside else None,
        cls=f"mcp-line mcp-cell mcp-{card.state}",
    )
