"""What all cards of widgets are: a frame with a state, a body and a row of buttons. They leave a line behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from html import escape
from typing import Any, TypeVar

from IPython.display import DisplayHandle
from ipywidgets import HTML, Button, HBox, Output, VBox, Widget

from ...render import mimebundle
from ...render.html import Html, h
from ...render.parts import Part, Text
from ...render.style import CSS, ROOT
from ..actions import Choice
from ..places import Place
from ..waiting import NobodyWaiting
from .keys import take_focus
from .kit import all_of

T = TypeVar("T")

BUTTONS = "{where} .widget-button {{ height: auto; line-height: inherit; margin: 0; padding: 2px 10px; width: auto }}"
"""The rule for buttons in a place."""
ENDED = """
.mcp-nb.jupyter-widgets-disconnected::before, .mcp-nb .jupyter-widgets-disconnected::before { content: none }
.mcp-nb.jupyter-widgets-disconnected > .mcp-card { opacity: .6; pointer-events: none }
.mcp-nb.jupyter-widgets-disconnected .widget-button { display: none }
.mcp-nb.jupyter-widgets-disconnected > .mcp-card::after {
  content: "The kernel of this card has ended: nothing here goes on. Run the cell again.";
  display: block;
  padding: 0 10px 8px;
}
.mcp-nb.jupyter-widgets-disconnected .mcp-nb > .mcp-card::after { content: none }
"""
"""What a front end shows of a card whose kernel was restarted: it hears nothing any more, and takes no other output."""
_CSS = """
.mcp-asking, .mcp-asking .widget-box { margin: 0; overflow: visible }
.mcp-asking .widget-html, .mcp-asking .widget-html-content { font: inherit; line-height: inherit; margin: 0 }
.mcp-asking pre.mcp-code { margin: 0; max-height: none }
.mcp-asking .mcp-result { border-top: 1px solid var(--mcp-line); padding: 8px 10px }
.mcp-asking .mcp-result:has(> .widget-html-content:empty) { display: none }
.mcp-asking a { color: var(--jp-content-link-color, LinkText); text-decoration: underline }
"""


class Card(VBox):
    """A card in the cell that runs.

    Args:
        state: the CSS class of its state.
        title: what it is about, in a few words.
        body: what it says, if anything that may change.
        buttons: what one can do.
        inside: what stands between the two.
        name: whom or what it is about.
        about: more on that.
    """

    _keys: Output | None = None
    """What makes keys work in it, if anything does."""

    def __init__(
        self,
        state: str,
        title: str,
        body: Html | None,
        buttons: Sequence[Widget],
        *inside: Widget,
        name: str = "",
        about: str = "",
    ) -> None:
        self._handle = DisplayHandle()
        self._place: Place | None = None
        self._elsewhere = False
        self._head = HTML()
        self._body = HTML(body.source) if body else None
        self._row = classed(HBox(list(buttons)), "mcp-row")
        self.entitle(title, name, about)
        card = classed(
            VBox([self._head, *([self._body] if self._body else []), *inside, self._row]),
            "mcp-card",
            *filter(None, [state]),
        )
        rules = (CSS, _CSS, ENDED, BUTTONS.format(where=".mcp-asking .mcp-row"))
        super().__init__([HTML(f"<style>{''.join(rules)}</style>"), card])
        classed(self, ROOT, "mcp-asking")

    def entitle(self, title: str, name: str = "", about: str = "") -> None:
        """Say something else in its head."""
        said = [
            h("b", f"● {title}", cls="mcp-state") if title else None,
            h("b", name, cls="mcp-name") if name else None,
            h("span", about, cls="mcp-mute") if about else None,
        ]
        self._head.value = h("div", said, cls="mcp-row").source

    def change(self, body: Html, buttons: Sequence[Widget]) -> None:
        """Say something else, with other buttons."""
        assert self._body is not None
        self._body.value = body.source
        self._row.children = list(buttons)
        self._row.layout.display = "" if buttons else "none"

    def present(self, text: str) -> None:
        """Display it. Call it in the main thread.

        Args:
            text: what stands where no widgets are shown, and in its place in a saved notebook.
        """
        self._handle.display({**(self._repr_mimebundle_() or {}), "text/plain": text}, raw=True)

    def take_focus(self) -> None:
        """Have the cursor put into it, once it is put into another card, unless somebody writes elsewhere."""
        if self._keys is not None:
            take_focus(self._keys)

    async def stand_in(self, place: Place) -> None:
        """Show it in another card. Raises NobodyWaiting (see `Place`)."""
        self._place = place
        await place.hold(self)

    def withdraw(self) -> None:
        """What it asks is to be asked elsewhere. Its widgets are closed by whoever hears of that."""

    def leave_no_word(self) -> None:
        """Let nothing be told in its place, as it is asked elsewhere."""
        self._elsewhere = True

    def leave(self, line: str) -> None:
        """Leave a line in its place. May be called from any thread."""
        # Of plain text alone front ends make links, where it looks like an address.
        self.leave_parts([Text(f"● {line}", "mono" if self._place is None else "note")])

    def leave_parts(self, parts: Sequence[Part]) -> None:
        """Leave something else to be seen in its place. May be called from any thread."""
        if self._place is None:
            self._handle.update(mimebundle(list(parts)), raw=True)
        else:
            self._place.release(self, () if self._elsewhere else parts)
        self._close()

    def _close(self) -> None:
        for widget in all_of(self):
            widget.close()


def button(choice: Choice, on_click: Callable[[], None]) -> Button:
    """A button that does something."""
    made = Button(description=choice.label, tooltip=choice.tooltip, button_style=choice.style)
    made.on_click(lambda _: on_click())
    return made


def decide(future: Future[T], value: T) -> None:
    """Give the person's answer to whoever waits for it; the first one counts."""
    with suppress(InvalidStateError):  # it is decided already, or nobody wants to know any more
        future.set_result(value)


def give_up(future: Future[Any]) -> None:
    """Have whoever waits for an answer hear that nobody is asked any more."""
    with suppress(InvalidStateError):  # there is an answer already
        future.set_exception(NobodyWaiting("The card is no longer shown."))


def made_visible(text: str) -> Html:
    """Text that has been through `visible`, which says more than `h` would, and must not be made visible twice."""
    return Html(escape(text, quote=False))


def classed(widget: Any, *classes: str) -> Any:
    """The widget, with CSS classes."""
    for name in classes:
        widget.add_class(name)
    return widget
