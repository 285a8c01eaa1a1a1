"""The card that asks whether a command may start."""

from __future__ import annotations

from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from html import escape
from typing import Any, NamedTuple

from IPython.display import DisplayHandle
from ipywidgets import HTML, Button, HBox, VBox, Widget

from ...render.html import Html, h
from ...render.letters import excerpt
from ...render.style import CSS, ROOT
from ...transports.command import Command
from ..prompter import WARNING, Decision, circumstances

_TITLE = "start this program on your computer?"


class _Choice(NamedTuple):
    decision: Decision
    label: str
    tooltip: str
    style: str = ""


_CHOICES = (
    _Choice(Decision.ONCE, "Start once", "Not asked again until this kernel ends"),
    _Choice(Decision.REMEMBER, "Start, and remember", "Not asked again until anything about the command changes"),
    _Choice(Decision.REFUSED, "Don’t start", "Nothing starts", "primary"),
)
"""The buttons. The safe one is the main one."""

_CSS = """
.mcp-consent, .mcp-consent .widget-box { margin: 0; overflow: visible }
.mcp-consent .widget-html, .mcp-consent .widget-html-content { font: inherit; line-height: inherit; margin: 0 }
.mcp-consent pre.mcp-code { margin: 0; max-height: none }
.mcp-consent .mcp-row .widget-button { height: auto; line-height: inherit; margin: 0; padding: 2px 10px; width: auto }
"""


class ConsentCard(VBox):
    """Shows the command, untruncated, its circumstances and a warning (CON-1), and three buttons.

    Args:
        command: what would start.

    Attributes:
        decision: what the person clicked.
        buttons: by what they decide.
    """

    def __init__(self, command: Command) -> None:
        self.decision: Future[Decision] = Future()
        self.buttons = {choice.decision: self._button(choice) for choice in _CHOICES}
        self._command = command
        self._handle = DisplayHandle()
        head = h("div", h("b", f"● {_TITLE}", cls="mcp-state"), cls="mcp-row")
        body = h(
            "div",
            h("pre", _made_visible(str(command)), cls="mcp-text mcp-code"),
            h("div", _made_visible(circumstances(command)), cls="mcp-mute"),
            h("div", WARNING),
            cls="mcp-body",
        )
        row = _classed(HBox(list(self.buttons.values())), "mcp-row")
        card = _classed(VBox([HTML(head.source), HTML(body.source), row]), "mcp-card", "mcp-drop")
        super().__init__([HTML(f"<style>{CSS}{_CSS}</style>"), card])
        _classed(self, ROOT, "mcp-consent")

    def show(self) -> None:
        """Display it in the cell that runs. Call it in the main thread."""
        text = (
            f"● {_TITLE}\n\n    {self._command}\n\n{circumstances(self._command)}\n{WARNING}\n\n"
            "No buttons here? Interrupt, run `%env MCP_NOTEBOOK_PROMPTS=text`, and connect again."
        )
        self._handle.display({**(self._repr_mimebundle_() or {}), "text/plain": text}, raw=True)

    def settle(self, outcome: str) -> None:
        """Leave a line in the card's place. May be called from any thread."""
        self._handle.update({"text/plain": f"● {outcome}: {excerpt(str(self._command))}"}, raw=True)
        for widget in _all_of(self):
            widget.close()

    def _button(self, choice: _Choice) -> Button:
        button = Button(description=choice.label, tooltip=choice.tooltip, button_style=choice.style)
        button.on_click(lambda _: self._decide(choice.decision))
        return button

    def _decide(self, decision: Decision) -> None:
        with suppress(InvalidStateError):  # it is decided already, or nobody wants to know any more
            self.decision.set_result(decision)


def _made_visible(text: str) -> Html:
    """Text that has been through `visible`, which says more than `h` would, and must not be made visible twice."""
    return Html(escape(text, quote=False))


def _classed(widget: Any, *classes: str) -> Any:
    for name in classes:
        widget.add_class(name)
    return widget


def _all_of(widget: Widget) -> list[Widget]:
    """A widget, and what is in it."""
    return [widget, *(inner for child in getattr(widget, "children", ()) for inner in _all_of(child))]
