"""Work in progress as a card with buttons. It leaves plain HTML behind, so that a saved notebook needs no widgets."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import DisplayHandle
from ipywidgets import HTML, HBox, VBox, Widget

from ...render import mimebundle
from ...render.as_html import write_all
from ...render.html import h
from ...render.parts import Part
from ...render.style import CSS, ROOT
from ..actions import Action, Actions
from .card import BUTTONS, button, classed
from .kit import all_of

_CSS = f"""
.mcp-live {{ position: relative; margin: 0; overflow: visible }}
.mcp-live .widget-html, .mcp-live .widget-html-content {{ font: inherit; line-height: inherit; margin: 0 }}
.mcp-live > .widget-html .mcp-card > .mcp-row {{ padding-right: var(--mcp-room, 10px) }}
.mcp-live .mcp-actions {{ position: absolute; right: 8px; top: 5px; margin: 0; gap: 6px; overflow: visible }}
{BUTTONS.format(where=".mcp-live .mcp-actions")}
"""
ROOM = 28, 8
"""Pixels that a button takes beside its letters, and for each of them."""


class LiveCard:
    """The output of one piece of work, in place.

    Args:
        actions: what one can do with it.
    """

    def __init__(self, actions: Actions) -> None:
        self._actions = actions
        self._handle = DisplayHandle()
        self._made: _Made | None = None
        self._told: list[Part] = []

    def hold(self, widget: Widget) -> None:
        """Show a widget below (see `Place`)."""
        if self._made is not None:
            self._made.box.children = (*self._made.box.children, widget)

    def release(self, widget: Widget, parts: Sequence[Part]) -> None:
        """Show it no longer, and other parts from now on."""
        self._told += parts
        if self._made is not None:
            self._made.box.children = tuple(child for child in self._made.box.children if child is not widget)

    def draw(self, parts: Sequence[Part]) -> bool:
        """Show how it stands. The first time in the main thread, then from any."""
        made = self._made
        if made is None:
            made = self._made = _Made(self._actions.possible)  # not before it is needed: most calls are quick
            made.show(parts, self._actions())
            text = mimebundle(list(parts))["text/plain"]
            self._handle.display({**(made.box._repr_mimebundle_() or {}), "text/plain": text}, raw=True)
        else:
            made.show([*parts, *self._told], self._actions())
        return True

    def finish(self, parts: Sequence[Part]) -> None:
        """Show what came of it, without widgets."""
        made, self._made = self._made, None
        if made is not None:
            self._handle.update(mimebundle([*parts, *self._told]), raw=True)
            made.close()
        elif parts:
            self._handle.display(mimebundle(list(parts)), raw=True)


class _Made:
    """The widgets of a card."""

    def __init__(self, possible: Sequence[Action]) -> None:
        self.buttons = {action: button(action.choice, action.do) for action in possible}
        self.body = HTML()
        self._style = HTML()
        self.row = classed(HBox(), "mcp-actions")
        self.box: VBox = classed(VBox([self._style, self.body, self.row]), ROOT, "mcp-live")

    def show(self, parts: Sequence[Part], actions: Sequence[Action]) -> None:
        row = [self.buttons[action] for action in actions]
        if list(self.row.children) != row or not self._style.value:
            self.row.children = row
            room = 10 + sum(ROOM[0] + ROOM[1] * len(action.choice.label) for action in actions)
            self._style.value = f"<style>{CSS}{_CSS}.mcp-live {{ --mcp-room: {room}px }}</style>"
        self.body.value = h("div", write_all(parts)).source

    def close(self) -> None:
        self.row.children = list(self.buttons.values())
        for widget in all_of(self.box):
            widget.close()
