"""Work in progress as a card with buttons. It leaves plain HTML behind, so that a saved notebook needs no widgets."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import DisplayHandle
from ipywidgets import HTML, HBox, VBox

from ...render import mimebundle
from ...render.as_html import write_all
from ...render.html import h
from ...render.parts import Part
from ...render.style import CSS, ROOT
from ..actions import Actions
from .card import BUTTONS, all_of, button, classed

_CSS = f"""
.mcp-live {{ position: relative; margin: 0; overflow: visible }}
.mcp-live .widget-html, .mcp-live .widget-html-content {{ font: inherit; line-height: inherit; margin: 0 }}
.mcp-live .mcp-card > .mcp-row {{ padding-right: var(--mcp-room, 10px) }}
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
        self._drawn = False
        self._buttons = {action: button(action.choice, action.do) for action in actions.possible}
        self._style, self._body = HTML(), HTML()
        self._row = classed(HBox(), "mcp-actions")
        self._box: VBox = classed(VBox([self._style, self._body, self._row]), ROOT, "mcp-live")

    def draw(self, parts: Sequence[Part]) -> bool:
        """Show how it stands. The first time in the main thread, then from any."""
        actions = self._actions()
        row = [self._buttons[action] for action in actions]
        if list(self._row.children) != row or not self._drawn:
            self._row.children = row
            room = 10 + sum(ROOM[0] + ROOM[1] * len(action.choice.label) for action in actions)
            self._style.value = f"<style>{CSS}{_CSS}.mcp-live {{ --mcp-room: {room}px }}</style>"
        self._body.value = h("div", write_all(parts)).source
        if not self._drawn:
            self._drawn = True
            text = mimebundle(list(parts))["text/plain"]
            self._handle.display({**(self._box._repr_mimebundle_() or {}), "text/plain": text}, raw=True)
        return True

    def finish(self, parts: Sequence[Part]) -> None:
        """Show what came of it, without widgets."""
        if self._drawn:
            self._handle.update(mimebundle(list(parts)), raw=True)
        elif parts:
            self._handle.display(mimebundle(list(parts)), raw=True)
        for widget in (*all_of(self._box), *self._buttons.values()):
            widget.close()
