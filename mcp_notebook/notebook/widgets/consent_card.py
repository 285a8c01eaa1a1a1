"""The card that asks whether a command may start."""

from __future__ import annotations

import functools
from concurrent.futures import Future

from ...render.html import h
from ...render.letters import excerpt
from ...transports.command import Command
from ..actions import Choice
from ..prompter import WARNING, Decision, circumstances, in_short
from .card import Card, button, decide, give_up, made_visible

_TITLE = "start this program on your computer?"
_CHOICES = {
    Decision.ONCE: Choice("Start once", "Not asked again until this kernel ends"),
    Decision.REMEMBER: Choice("Start, and remember", "Not asked again until anything about the command changes"),
    Decision.REFUSED: Choice("Don’t start", "Nothing starts", "primary"),
}
"""The buttons. The safe one is the main one."""


class ConsentCard(Card):
    """Shows the command, untruncated, its circumstances and a warning (CON-1), and three buttons.

    Args:
        command: what would start.

    Attributes:
        decision: what the person clicked.
        buttons: by what they decide.
    """

    def __init__(self, command: Command) -> None:
        self.decision: Future[Decision] = Future()
        self.buttons = {
            decision: button(choice, functools.partial(decide, self.decision, decision))
            for decision, choice in _CHOICES.items()
        }
        self._command = command
        body = h(
            "div",
            h("pre", made_visible(str(command)), cls="mcp-text mcp-code"),
            h("div", made_visible(circumstances(command)), cls="mcp-mute"),
            h("div", WARNING),
            cls="mcp-body",
        )
        super().__init__("mcp-drop", _TITLE, body, list(self.buttons.values()))

    def show(self) -> None:
        """Display it in the cell that runs. Call it in the main thread."""
        self.present(
            f"● {_TITLE}\n\n    {self._command}\n\n{circumstances(self._command)}\n{WARNING}\n\n"
            "No buttons here? Interrupt, run `%env MCP_NOTEBOOK_PROMPTS=text`, and connect again."
        )

    def withdraw(self) -> None:
        give_up(self.decision)

    def settle(self, outcome: str) -> None:
        """Leave a line in the card's place. May be called from any thread."""
        self.leave(f"{outcome}: {excerpt(in_short(self._command))}")
