"""Text of any length: the beginning of it, and a button that shows the whole."""

from __future__ import annotations

from ipywidgets import Button, Widget

from ...limits import DISPLAY_LIMITS
from ...render.html import Html, details, h
from ...render.letters import excerpt, one_line, shorten, size
from .kit import Kit, say


def readable(kit: Kit, text: str, cls: str) -> list[Widget]:
    """Foreign text to read, as widgets; none where there is none.

    Args:
        kit: makes the widgets.
        text: the text; what is longer than a few lines is folded, what is longer than that is loaded by a click.
        cls: the CSS class of a text that is short.
    """
    if not text:
        return []
    if len(text) <= 2 * DISPLAY_LIMITS.cell:
        return [kit.html(h("div", text, cls=f"{cls} mcp-prose"))]
    if len(text) <= DISPLAY_LIMITS.text:
        return [kit.html(h("div", details(excerpt(one_line(text)), h("div", text, cls="mcp-prose")), cls=cls))]
    return [shortened(kit, text)]


def shortened(kit: Kit, text: str) -> Widget:
    """The beginning of a long text, and a button for the whole."""
    beginning, left_out = shorten(text, DISPLAY_LIMITS.cell)
    shown = kit.html(_block(f"{beginning}…"))
    button = kit.make(Button, "mcp-link", description=f"Show all of it ({size(len(beginning) + left_out)})")

    def show(_: Button) -> None:
        say(shown, _block(text))
        column.children = (shown,)
        button.close()

    button.on_click(show)
    column = kit.column([shown, button], "mcp-long")
    return column


def _block(text: str) -> Html:
    return h("pre", text, cls="mcp-text")
