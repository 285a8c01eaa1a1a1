"""Work in progress as a card with buttons. It leaves plain HTML behind, so that a saved notebook needs no widgets."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from IPython.display import DisplayHandle
from ipywidgets import Widget

from ...render import mimebundle
from ...render.as_html import write_all
from ...render.html import Html, card_inside, h
from ...render.parts import Card, Fold, Part
from ...render.style import CSS, ROOT
from ..actions import Action, Actions
from ..told import Told
from ..waiting import NobodyWaiting
from .card import BUTTONS, ENDED, button
from .card import Card as AskingCard
from .kit import Kit, all_of, say

_CSS = f"""
.mcp-live {{ position: relative }}
.mcp-live, .mcp-live .widget-box {{ margin: 0; overflow: visible }}
.mcp-live .widget-html, .mcp-live .widget-html-content {{ font: inherit; line-height: inherit; margin: 0 }}
.mcp-live > .mcp-card > :first-child .mcp-row {{ padding-right: var(--mcp-room, 10px) }}
.mcp-live .mcp-folded {{ padding: 0 10px 8px }}
.mcp-live .mcp-folded:has(> .widget-html-content:empty) {{ display: none }}
.mcp-live .mcp-held > * {{ border-top: 1px solid var(--mcp-line) }}
.mcp-live .mcp-held .mcp-card {{ border: 0; margin: 0 }}
.mcp-live .mcp-held .mcp-question > .mcp-card > :first-child {{ display: none }}
.mcp-live > .mcp-actions {{ position: absolute; right: 8px; top: 6px; margin: 0; gap: 6px; overflow: visible }}
{BUTTONS.format(where=".mcp-live > .mcp-actions")}
"""
ROOM = 28, 8
"""Pixels that a button takes beside its letters, and for each of them."""


class LiveCard:
    """The output of one piece of work, in place; and the `Place` of its questions.

    Args:
        actions: what one can do with it.
        begin: shows it for the first time, where something is to stand in it before that.
    """

    def __init__(self, actions: Actions, begin: Callable[[], Awaitable[None]]) -> None:
        self._actions = actions
        self._begin = begin
        self._handle = DisplayHandle()
        self._lock = threading.Lock()
        self._made: _Made | None = None
        self._held: list[AskingCard] = []
        self._told = Told()
        self._ended: Sequence[Part] | None = None

    async def hold(self, widget: Any) -> None:
        """Show a widget in the card (see `Place`)."""
        if self._made is None:
            await self._begin()
        with self._lock:
            if self._made is None:
                raise NobodyWaiting("The work has ended, and its card with it.")
            self._held.append(widget)
            self._made.hold(self._held)

    def release(self, widget: Any, parts: Sequence[Part]) -> None:
        """Show it no longer, and other parts from now on."""
        with self._lock:
            if widget not in self._held:  # it never came to be seen
                return
            self._told.add(parts)
            self._held = [held for held in self._held if held is not widget]
            if self._made is not None:
                self._made.hold(self._held)
            if self._ended is not None:
                self._leave(self._ended)

    def withdraw(self) -> None:
        """Have what is held asked elsewhere."""
        with self._lock:
            held = list(self._held)
        for widget in held:
            widget.withdraw()

    def draw(self, parts: Sequence[Part]) -> bool:
        """Show how it stands. The first time in the main thread, then from any."""
        with self._lock:
            whole = self._whole(parts)
            if self._made is not None:
                self._made.show(whole, self._actions())
            elif self._ended is None:
                made = self._made = _Made(self._actions.possible)  # not before it is needed: most calls are quick
                made.show(whole, self._actions())
                self._handle.display(made.bundle(whole), raw=True)
        return True

    def finish(self, parts: Sequence[Part]) -> None:
        """Show what came of it, without widgets, as soon as none is held any longer."""
        with self._lock:
            self._ended = parts
            self._leave(parts)

    def _whole(self, parts: Sequence[Part]) -> list[Part]:
        """What was told of questions stands in the card, before the rest."""
        if parts and isinstance(card := parts[0], Card):
            return [replace(card, parts=[*self._told, *card.parts]), *parts[1:]]
        return [*parts, *self._told]

    def _leave(self, parts: Sequence[Part]) -> None:
        made, whole = self._made, self._whole(parts)
        if made is None:
            if whole:
                self._handle.display(mimebundle(whole), raw=True)
        elif self._held:
            made.show(whole, ())
            self._handle.update(made.bundle(whole), raw=True)  # where there are no widgets, it is over
        else:
            self._made = None
            self._handle.update(mimebundle(whole), raw=True)
            made.close()


class _Made:
    """The widgets of a card: its frame with what changes, what is folded away, and what it holds; and its buttons."""

    def __init__(self, possible: Sequence[Action]) -> None:
        self.buttons = {action: button(action.choice, action.do) for action in possible}
        self._kit = Kit()
        self.body, self._style = self._kit.html(), self._kit.html()
        self._folded, self._below = self._kit.html(None, "mcp-folded"), self._kit.html()
        self._holds = self._kit.column((), "mcp-held")
        self._frame = self._kit.column([self.body, self._folded, self._holds])
        self.row = self._kit.row((), "mcp-actions")
        self.box = self._kit.column([self._style, self._frame, self._below, self.row], ROOT, "mcp-live")

    def show(self, parts: Sequence[Part], actions: Sequence[Action]) -> None:
        row = tuple(self.buttons[action] for action in actions)
        if self.row.children != row or not self._style.value:
            self.row.children = row
            room = 10 + sum(ROOM[0] + ROOM[1] * len(action.choice.label) for action in actions)
            self._style.value = f"<style>{CSS}{_CSS}{ENDED}.mcp-live {{ --mcp-room: {room}px }}</style>"
        card = parts[0] if parts and isinstance(parts[0], Card) else None
        self._frame_as(card)
        # What somebody has unfolded stays so: only what changes is written anew.
        folds = [part for part in card.parts if isinstance(part, Fold)] if card else []
        say(self._folded, _html(write_all(folds)))
        say(self.body, _html(_inside(replace(card, parts=[p for p in card.parts if p not in folds])) if card else []))
        say(self._below, _html(write_all(parts[1:] if card else parts)))

    def bundle(self, parts: Sequence[Part]) -> dict[str, Any]:
        """What is displayed: the widgets, and the parts where there are none."""
        return {**(self.box._repr_mimebundle_() or {}), **mimebundle(list(parts))}

    def hold(self, widgets: Sequence[Widget]) -> None:
        self._holds.children = tuple(widgets)

    def close(self) -> None:
        self._holds.children = ()
        self.row.children = tuple(self.buttons.values())
        for widget in all_of(self.box):
            widget.close()
        self._kit.close()

    def _frame_as(self, card: Card | None) -> None:
        classes = () if card is None else ("mcp-card", *([f"mcp-{card.state}"] if card.state else []))
        if self._frame._dom_classes != classes:
            self._frame._dom_classes = classes


def _inside(card: Card) -> list[Html]:
    return card_inside(card.title, *write_all(card.parts), name=card.name, about=card.about, aside=card.aside)


def _html(pieces: Sequence[Html]) -> Html | None:
    return h("div", pieces) if pieces else None
