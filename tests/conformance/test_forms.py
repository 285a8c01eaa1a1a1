"""What the suite has servers ask (SEP-1034, SEP-1330), answered in the forms that people see."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ipywidgets import Checkbox, Dropdown

from mcp_notebook import connect
from mcp_notebook.notebook.text_form import TextForm
from mcp_notebook.notebook.widgets.kit import all_of
from mcp_notebook.notebook.widgets.question_card import QuestionCard
from mcp_notebook.types import ElicitParams, ElicitResult

from ..notebook.asking import Typist
from .everything import server

pytestmark = pytest.mark.anyio

DEFAULTS = {"name": "John Doe", "age": 30, "score": 95.5, "status": "active", "verified": True}
CHOSEN = {
    "untitledSingle": "option2",
    "titledSingle": "value3",
    "legacyEnum": "opt1",
    "untitledMulti": ["option1", "option3"],
    "titledMulti": ["value2"],
}
TITLES = {"untitledSingle": "option2", "titledSingle": "Third Option", "legacyEnum": "Option One"}
TICKED = {"option1", "option3", "Second Choice"}
BY_TEXT = ["option2", "3", "Option One", "option1, 3", "Second Choice", "s"]


def choose(card: QuestionCard) -> None:
    """Choose what a person sees: from lists, and in boxes."""
    for widget in all_of(card):
        if isinstance(widget, Dropdown):
            widget.label = TITLES[widget.description]
        elif isinstance(widget, Checkbox):
            widget.value = widget.description in TICKED


async def by_widgets(params: ElicitParams) -> ElicitResult:
    card = QuestionCard("suite", params)
    if "untitledMulti" in (params.requested_schema or {})["properties"]:
        choose(card)
    card.buttons["accept"].click()
    try:
        return await asyncio.wrap_future(card.answer)
    finally:
        card.close()


def by_text(params: ElicitParams) -> ElicitResult:
    names = list((params.requested_schema or {})["properties"])
    typist = Typist(BY_TEXT if set(names) == set(CHOSEN) else [*[""] * len(names), "s"])
    result = TextForm("suite", params, typist.ask, typist.say).run()
    assert typist.done
    return result


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("answer", [by_widgets, by_text])
@pytest.mark.parametrize(
    ("tool", "sent"),
    [("test_elicitation_sep1034_defaults", DEFAULTS), ("test_elicitation_sep1330_enums", CHOSEN)],
)
async def test_the_suites_questions_are_answered_in_the_real_forms(
    tool: str, sent: dict[str, Any], answer: Any, revision: str
) -> None:
    async with connect(server, elicitation=answer, revision=revision) as client:
        assert (await client.call_tool(tool)).text == f"User response: action=accept, content={sent}"
