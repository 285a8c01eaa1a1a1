"""The card of a call at work, without a front end: what comes at the same time as its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from ipywidgets.widgets import widget

from mcp_notebook.client.urls import examine
from mcp_notebook.notebook.actions import Action
from mcp_notebook.notebook.waiting import NobodyWaiting
from mcp_notebook.notebook.widgets.live_card import LiveCard
from mcp_notebook.notebook.widgets.question_card import QuestionCard
from mcp_notebook.notebook.widgets.url_card import UrlCard
from mcp_notebook.render.parts import Text

from .asking import question
from .cells import Cells


class NoActions:
    possible: Sequence[Action] = ()

    def __call__(self) -> tuple[Action, ...]:
        return ()


@pytest.mark.parametrize("begins", [True, False], ids=["just before", "just after"])
def test_a_question_that_comes_as_the_call_ends_is_refused_and_the_result_is_shown_once(
    cells: Cells, begins: bool
) -> None:
    async def begin() -> None:
        if begins:
            card.draw([Text("working")])
        card.finish([Text("the result")])
        if not begins:
            raise NobodyWaiting("The cell no longer waits.")

    async def ask() -> None:
        asks = QuestionCard("demo", question())
        with pytest.raises(NobodyWaiting):
            await asks.stand_in(card)
        asks.leave_outcome()

    card = LiveCard(NoActions(), begin)
    cells["happen"] = lambda: asyncio.run(ask())
    shown = [bundle["text/plain"] for bundle in cells.run("happen()").shown]
    assert shown == (["working", "the result"] if begins else ["the result"])


def test_of_very_many_questions_the_last_ones_are_told(cells: Cells) -> None:
    """A server may ask and take back as often as it likes."""

    async def begin() -> None:
        card.draw([Text("working")])

    async def ask() -> None:
        for number in range(30):
            asks = QuestionCard("demo", question(f"question {number}"))
            await asks.stand_in(card)
            asks.leave_outcome()

    card = LiveCard(NoActions(), begin)
    cells["happen"] = lambda: (asyncio.run(ask()), card.finish([Text("the result")]))[0]
    told = cells.run("happen()").shown[-1]["text/plain"]
    assert "10 earlier questions" in told
    assert "question 9" not in told
    assert told.index("question 10") < told.index("question 29")


@pytest.mark.parametrize("shown", [True, False])
def test_a_card_that_asked_for_a_visit_leaves_no_widget_behind(cells: Cells, shown: bool) -> None:
    before = set(widget._instances)
    card = UrlCard("demo", "Sign in", examine("https://example.com/", loopback=True))
    if shown:
        card.hold_link(waits=True)
    cells["leave"] = lambda: card.settle("done there")
    cells.run("leave()")
    assert set(widget._instances) == before
