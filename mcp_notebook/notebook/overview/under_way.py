"""What goes on: calls that have not ended, and questions that wait for the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...client import CallHandle
from ...render.parts import Card, Part, Text
from ..call_view import state_card
from ..host import NotebookHost
from ..open_questions import OpenQuestion
from ..workspace import Workspace

SHOWN = 10
"""How many of the open calls are shown, the newest."""


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
