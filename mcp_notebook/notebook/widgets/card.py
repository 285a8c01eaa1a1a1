"""What all cards of widgets are: a frame with a state, a body and a row of buttons. They leave a line behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from IPython.display import DisplayHandle
from ipywidgets import HTML, Button, HBox, VBox, Widget

from ...render.html import Html, h
from ...render.style import CSS, ROOT
from ..actions import Choice

BUTTONS = "{where} .widget-button {{ height: auto; line-height: inherit; margin: 0; padding: 2px 10px; width: auto }}"
"""The rule for buttons in a place."""
_CSS = """
.mcp-asking, .mcp-asking .widget-box { margin: 0; overflow: visible }
.mcp-asking .widget-html, .mcp-asking .widget-html-content { font: inherit; line-height: inherit; margin: 0 }
.mcp-asking pre.mcp-code { margin: 0; max-height: none }
.mcp-asking a { color: var(--jp-content-link-color, LinkText); text-decoration: underline }
"""


class Card(VBox):
    """A card in the cell that runs.

    Args:
        state: the CSS class of its state.
        title: what it is about, in a few words.
        body: what it says.
        buttons: what one can do.
    """

    def __init__(self, state: str, title: str, body: Html, buttons: Sequence[Button]) -> None:
        self._handle = DisplayHandle()
        self._head = HTML()
        self._body = HTML(body.source)
        self._row = classed(HBox(list(buttons)), "mcp-row")
        self.entitle(title)
        card = classed(VBox([self._head, self._body, self._row]), "mcp-card", state)
        super().__init__([HTML(f"<style>{CSS}{_CSS}{BUTTONS.format(where='.mcp-asking .mcp-row')}</style>"), card])
        classed(self, ROOT, "mcp-asking")

    def entitle(self, title: str) -> None:
        """Say something else in its head."""
        self._head.value = h("div", h("b", f"● {title}", cls="mcp-state"), cls="mcp-row").source

    def change(self, body: Html, buttons: Sequence[Button]) -> None:
        """Say something else, with other buttons."""
        self._body.value = body.source
        self._row.children = list(buttons)
        self._row.layout.display = "" if buttons else "none"

    def present(self, text: str) -> None:
        """Display it. Call it in the main thread.

        Args:
            text: what stands where no widgets are shown, and in its place in a saved notebook.
        """
        self._handle.display({**(self._repr_mimebundle_() or {}), "text/plain": text}, raw=True)

    def leave(self, line: str) -> None:
        """Leave a line in its place. May be called from any thread."""
        self._handle.update({"text/plain": f"● {line}"}, raw=True)
        for widget in all_of(self):
            widget.close()


def button(choice: Choice, on_click: Callable[[], None]) -> Button:
    """A button that does something."""
    made = Button(description=choice.label, tooltip=choice.tooltip, button_style=choice.style)
    made.on_click(lambda _: on_click())
    return made


def made_visible(text: str) -> Html:
    """Text that has been through `visible`, which says more than `h` would, and must not be made visible twice."""
    return Html(escape(text, quote=False))


def classed(widget: Any, *classes: str) -> Any:
    """The widget, with CSS classes."""
    for name in classes:
        widget.add_class(name)
    return widget


def all_of(widget: Widget) -> list[Widget]:
    """A widget, what it is made with, and what is in it."""
    made_with = [part for name in ("layout", "style") if isinstance(part := getattr(widget, name, None), Widget)]
    return [widget, *made_with, *(inner for child in getattr(widget, "children", ()) for inner in all_of(child))]
