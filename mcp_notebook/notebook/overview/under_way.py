"""What goes on: calls that have not ended, and questions that wait for the person."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...client import CallHandle
from ...protocol.calls import CallState
from ...render.parts import Card, Part, Text
from ..actions import Action, CallActions
from ..call_view import progress_of, state_card
from ..host import NotebookHost
from ..open_questions import OpenQuestion
from ..workspace import Workspace

SHOWN = 10
"""How many of the open calls are shown, the newest."""


@dataclass(frozen=True, slots=True)
class Line:
    """A call or a question, as it is to be seen.

    Attributes:
        key: what it is known by.
        card: its state, its name, more about it, and its time.
        progress: how far it is.
        actions: what can be done with it.
        question: what it waits to be told, if nobody could be asked so far.
        asked: the call, where a card of it asks something: that can be asked elsewhere instead.
    """

    key: str
    card: Card
    progress: Part | None = None
    actions: Sequence[Action] = ()
    question: OpenQuestion | None = None
    asked: CallHandle | None = None


class UnderWay:
    """The open calls and questions, and the call that ended last since this is looked at.

    Args:
        workspace: whose calls they are.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._seen: dict[str, tuple[CallHandle, CallActions]] = {}
        self._latest: CallHandle | None = None

    def lines(self, without: Collection[CallHandle]) -> tuple[list[Line], list[Part]]:
        """How they stand, and whether there are more.

        Args:
            without: calls that are seen elsewhere.
        """
        for call, _ in list(self._seen.values()):
            if call.done() and call not in without:
                self._latest = call
        calls = [call for call in open_calls(self._workspace) if call not in without]
        self._seen = {call.id: self._seen.get(call.id) or (call, CallActions(call)) for call in calls[-SHOWN:]}
        asked = {one.call.id: one for one in open_questions(self._workspace) if one.call is not None}
        lines = [] if self._latest is None else [_ended(self._latest)]
        lines += [self._line(call, actions, asked.get(call.id)) for call, actions in self._seen.values()]
        alone = (one for one in open_questions(self._workspace) if one.call is None or one.call.id not in self._seen)
        return [*lines, *map(_question, alone)], more(calls)

    def _line(self, call: CallHandle, actions: CallActions, question: OpenQuestion | None) -> Line:
        progress = progress_of(call)
        if call.is_left and not call.has_connection:
            about = f"on {call.server} · from before this kernel: connect {call.server} to go on with it"
            return Line(call.id, replace(state_card(call), about=about), progress)
        card = state_card(call)
        if question is not None:
            card = replace(card, state="ask", title="needs your answer", about=question.about)
        asked = call if question is None and self._has_card(call) else None
        return Line(call.id, card, progress, tuple(actions()), question, asked)

    def _has_card(self, call: CallHandle) -> bool:
        host = self._workspace.runtime.host
        asks = call.status is CallState.INPUT_REQUIRED
        return asks and isinstance(host, NotebookHost) and call.id in host.places


def _ended(call: CallHandle) -> Line:
    return Line(call.id, replace(state_card(call), about=f"on {call.server} · %mcp result {call.id}"))


def _question(question: OpenQuestion) -> Line:
    return Line(f"question {id(question)}", Card("ask", "needs your answer", about=question.about), question=question)


def open_calls(workspace: Workspace) -> list[CallHandle]:
    """The calls that have not ended, the newest last."""
    return [call for call in list(workspace.calls.values()) if not call.done()]


def open_questions(workspace: Workspace) -> Sequence[OpenQuestion]:
    """What waits for the person."""
    host = workspace.runtime.host
    return host.open_questions if isinstance(host, NotebookHost) else ()


def heading(servers: int, calls: int, questions: int) -> tuple[str, str]:
    """How much there is of everything: what there is, and what goes on."""
    under_way = [_counted(calls, "call", "open"), _counted(questions, "question")]
    return _counted(servers, "server"), " · ".join(filter(None, under_way))


def parts_of_calls(workspace: Workspace) -> list[Part]:
    """The open calls and questions, to be read."""
    calls = open_calls(workspace)
    asked = [
        Card("ask", "needs your answer", [Text(f"{question.about}. It is asked in the next cell that waits.")])
        for question in open_questions(workspace)
    ]
    return [*more(calls), *(state_card(call) for call in calls[-SHOWN:]), *asked]


def more(calls: Sequence[Any]) -> list[Part]:
    """That there are more than are shown."""
    left = len(calls) - SHOWN
    return [Text(f"… {left:,} earlier: %mcp calls lists all.", "note")] if left > 0 else []


def _counted(count: int, word: str, then: str = "") -> str:
    return f"{count:,} {word}{'s' if count > 1 else ''} {then}".rstrip() if count else ""
