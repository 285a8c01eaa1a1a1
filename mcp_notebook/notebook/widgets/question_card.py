"""The card in which a server's question is answered."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any, Literal

from ipywidgets import Button

from ...render import parts_of
from ...render.html import h
from ...render.letters import excerpt, line
from ...render.parts import Card as CardPart
from ...render.parts import Fold, Part
from ...types import ElicitParams, ElicitResult
from ..actions import Choice
from ..forms import NOTHING, Field, Form
from ..shown_arguments import HIDDEN, is_secret, without_secrets
from .card import Card, button, classed, decide, give_up
from .form import FormView
from .keys import CANCEL, SEND, keys
from .kit import Kit
from .long_text import readable

Action = Literal["accept", "decline", "cancel"]

_SEND = Choice("Send", "The server gets what you filled in", "primary")
_DECLINE = Choice("Decline", "The server learns that you do not want to answer")
_CANCEL = Choice("Cancel", "The server learns that you did not decide")
_OUTCOMES: dict[Action | None, tuple[Literal["done", "drop"], str]] = {
    "accept": ("done", "answered"),
    "decline": ("drop", "declined"),
    "cancel": ("drop", "cancelled"),
    None: ("drop", "not answered"),
}
_TOLD = 200


class QuestionCard(Card):
    """Shows who asks, what, and a form to answer in.

    Args:
        server: who asks.
        params: the question.

    Attributes:
        answer: what the person did.
        view: the form.
        buttons: by what they do.

    Raises:
        SchemaError: what is asked for is no valid JSON Schema.
    """

    def __init__(self, server: str, params: ElicitParams) -> None:
        self.answer: Future[ElicitResult] = Future()
        self._server, self._message = line(server), params.message
        self._form = Form(params.requested_schema)
        self.view = FormView(self._form)
        self.view.on_submit(lambda: self._settle("accept"))
        self.buttons: dict[Action, Button] = {
            "accept": classed(button(_SEND, self.view.submit), SEND),
            "decline": button(_DECLINE, functools.partial(self._settle, "decline")),
            "cancel": classed(button(_CANCEL, functools.partial(self._settle, "cancel")), CANCEL),
        }
        self._kit = Kit()
        self._keys = keys()
        warning = h("div", f"Give no passwords or keys: {self._server} sees what you write.", cls="mcp-mute")
        hint = h("span", "Enter sends · Esc cancels", cls="mcp-mute")
        aside = self._kit.row([self._kit.html(hint), self.view.json], "mcp-aside")
        parts = [*readable(self._kit, self._message, "mcp-message"), self.view, self._kit.html(warning)]
        super().__init__(
            "mcp-ask",
            "needs your answer",
            None,
            [*self.buttons.values(), aside],
            self._kit.column(parts, "mcp-body"),
            self._keys,
            name=self._server,
        )
        self.add_class("mcp-question")

    def show(self) -> None:
        """Display it in the cell that runs. Call it in the main thread."""
        self.present(
            f"● {self._server} asks: {line(self._message)}\n\n"
            "No form here? Interrupt, run `%env MCP_NOTEBOOK_PROMPTS=text`, and call again."
        )

    def leave_outcome(self) -> None:
        """Leave a line that tells what was answered in the card's place. May be called from any thread."""
        answered = self.answer.done() and not self.answer.cancelled() and self.answer.exception() is None
        result = self.answer.result() if answered else None
        self.leave_parts([told(self._server, self._message, self._form.fields, result)])
        self._kit.close()

    def withdraw(self) -> None:
        give_up(self.answer)

    def _settle(self, action: Action) -> None:
        content = self.view.value if action == "accept" else None
        decide(self.answer, ElicitResult(action=action, content=content))


def told(server: str, message: str, fields: Sequence[Field], result: ElicitResult | None) -> Part:
    """What became of a question, in a line. What may be secret stays out of a saved notebook."""
    state, title = _OUTCOMES[result.action if result else None]
    by_name = {field.name: field for field in fields}
    sent = (result.content if result else None) or {}
    titled = {name for name in sent if name in by_name and is_secret(by_name[name].title)}
    content = without_secrets({name: HIDDEN if name in titled else value for name, value in sent.items()})
    said = " · ".join(
        f"{line(by_name[name].title)}: {_shown(by_name[name], value)}" if name in by_name else line(name)
        for name, value in content.items()
        if value is not NOTHING
    )
    more: list[Part] = [Fold("all that was sent", parts_of(content))] if len(said) > _TOLD else []
    about = f"{excerpt(line(message), _TOLD)}{' — ' if said else ''}{excerpt(said, _TOLD)}"
    return CardPart(state, title, more, name=server, about=about)


def _shown(field: Field, value: Any) -> str:
    return HIDDEN if value is HIDDEN else line(field.show(value))
