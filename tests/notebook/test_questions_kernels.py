"""Forms in real kernels, with this test as their front end: it types, chooses and clicks by comm messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ..kernels import Kernel

SETUP = """
import json
from mcp_notebook import Context, Server, connect
from mcp_notebook.notebook.host import NotebookHost
from mcp_notebook.notebook.widgets import question_card
from mcp_notebook.notebook.widgets.card import all_of
from mcp_notebook.types import ElicitParams

Original = getattr(question_card, "Original", question_card.QuestionCard)

class TellingCard(Original):
    "Says in the output which widget is called what."
    def show(self):
        super().show()
        named = {w.description: w.comm.comm_id for w in all_of(self) if getattr(w, "description", "")}
        print(json.dumps(named | {"echo": self.view._settling._back.comm.comm_id}))

question_card.Original, question_card.QuestionCard = Original, TellingCard
host = NotebookHost.of(runtime, get_ipython())

def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}

FLIGHT = schema(
    ["seats"],
    seats={"type": "integer", "minimum": 1, "maximum": 9},
    day={"type": "string", "format": "date"},
    window={"type": "boolean"},
    cabin={"enum": ["economy", "business"], "default": "economy"},
)

async def ask(schema=FLIGHT, message="Which <b>flight</b>?"):
    return await host.elicit("travel", ElicitParams(message=message, requested_schema=schema))

def widgets():
    import ipywidgets
    return sorted(type(widget).__name__ for widget in ipywidgets.widgets.widget._instances.values())
"""
WAITS = {"blocking": "runtime.wait(runtime.submit({}))", "await": "await runtime.run({})"}
both_ways = pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())


@pytest.fixture
def notebook(kernel: Kernel) -> Kernel:
    outcome = kernel.run(SETUP)
    assert outcome.status == "ok", outcome
    return kernel


class Shown:
    """A card that a cell shows."""

    def __init__(self, kernel: Kernel, code: str, number: int = 1, request: str = "") -> None:
        self.kernel = kernel
        self.request = request or kernel.send(code, cell="a", answers=[])
        said = kernel.until(self.request, lambda outcome: outcome.text.count("\n") >= number).text
        self.comms: dict[str, str] = json.loads(said.splitlines()[number - 1])
        self._sent = 0

    def give(self, name: str, value: Any) -> None:
        """Type, or choose by index."""
        key = "index" if isinstance(value, int) else "value"
        self.kernel.comm(self.comms[name], {"method": "update", "state": {key: value}, "buffer_paths": []})

    def enter(self, name: str) -> None:
        self.kernel.comm(self.comms[name], {"method": "custom", "content": {"event": "submit"}})
        self.echo()

    def click(self, name: str) -> str:
        clicked = self.kernel.click(self.comms[name])
        if name == "Send":
            self.echo()
        return clicked

    def echo(self) -> None:
        """What a front end does when it is told to link two values: it sends the one back as the other."""
        self._sent += 1
        state = {"value": str(self._sent)}
        self.kernel.comm(self.comms["echo"], {"method": "update", "state": state, "buffer_paths": []})

    def end(self) -> Any:
        return self.kernel.outcome(self.request)


@both_ways
@pytest.mark.parametrize("by", ["a click", "Enter"])
def test_what_is_filled_in_is_sent_and_told_in_the_cards_place(notebook: Kernel, wait: str, by: str) -> None:
    before = notebook.value("widgets()")
    card = Shown(notebook, f"print(json.dumps(({wait.format('ask()')}).content))")
    card.give("seats", "3")
    card.give("day", {"year": 2026, "month": 11, "date": 24})  # months from 0, as JavaScript has them
    card.give("window", 2)
    _ = card.click("Send") if by == "a click" else card.enter("seats")
    outcome = card.end()
    assert json.loads(outcome.text.splitlines()[-1]) == {
        "seats": 3,
        "day": "2026-12-24",
        "window": False,
        "cabin": "economy",
    }
    shown, left = outcome.data[0], outcome.updates[-1]
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert "travel asks: Which <b>flight</b>?" in shown["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" not in left
    assert "Which &lt;b&gt;flight&lt;/b&gt;? — seats: 3 · day: 2026-12-24 · window: no" in left["text/html"]
    assert "answered" in left["text/plain"]
    assert notebook.value("widgets()") == before


def test_what_is_wrong_is_not_sent(notebook: Kernel) -> None:
    card = Shown(notebook, f"print(({WAITS['blocking'].format('ask()')}).content)")
    card.click("Send")
    card.give("seats", "2o")
    card.click("Send")
    card.give("seats", "2")
    card.click("Send")
    assert card.end().text.endswith("{'seats': 2, 'cabin': 'economy'}\n")


@both_ways
@pytest.mark.parametrize(("button", "action"), [("Decline", "decline"), ("Cancel", "cancel")])
def test_one_can_leave_without_an_answer(notebook: Kernel, wait: str, button: str, action: str) -> None:
    card = Shown(notebook, f"print(({wait.format('ask()')}).action)")
    card.give("seats", "3")
    card.click(button)
    outcome = card.end()
    assert outcome.text.endswith(f"{action}\n")
    assert "seats" not in outcome.updates[-1]["text/html"]


@both_ways
def test_an_interrupt_takes_the_question_away(notebook: Kernel, wait: str) -> None:
    before = notebook.value("widgets()")
    card = Shown(notebook, wait.format("ask()"))
    notebook.interrupt()
    outcome = card.end()
    assert outcome.error.split(":")[0] in ("KeyboardInterrupt", "CancelledError"), outcome
    assert "not answered" in outcome.updates[-1]["text/plain"]
    late = card.click("Send")
    notebook.until(late, lambda heard: heard.idle)
    assert notebook.run("print('next')").text == "next\n"
    assert notebook.value("widgets()") == before


def test_two_questions_at_once_are_answered_in_any_order(notebook: Kernel) -> None:
    code = (
        "async def both():\n    return await asyncio.gather(ask(schema(a={'type': 'string'})), "
        "ask(schema(b={'type': 'string'})))\nprint([one.content for one in await runtime.run(both())])"
    )
    first = Shown(notebook, code)
    second = Shown(notebook, "", 2, first.request)
    second.give("b" if "b" in second.comms else "a", "second")
    second.click("Send")
    first.give("a" if "a" in first.comms else "b", "first")
    first.click("Send")
    said = first.end().text.splitlines()[-1]
    assert sorted(["first", "second"]) == sorted(v for one in eval(said) for v in one.values())


def test_a_broken_schema_is_refused_and_shows_nothing(notebook: Kernel) -> None:
    outcome = notebook.run("await runtime.run(ask({'type': 'object', 'properties': 3}))", cell="a", answers=[])
    assert outcome.error.startswith("ProtocolError: "), outcome
    assert "requestedSchema cannot be used" in outcome.error
    assert outcome.data == []


@pytest.mark.parametrize("echo", [True, False], ids=["in order", "by patience"])
def test_letters_that_come_after_the_click_are_sent_too(notebook: Kernel, echo: bool) -> None:
    """A front end holds letters back while the kernel is busy, and clicks overtake them."""
    card = Shown(notebook, f"print(({WAITS['blocking'].format('ask()')}).content)")
    card.give("seats", "1")
    notebook.click(card.comms["Send"])
    card.give("seats", "9")
    if echo:
        card.echo()
    assert card.end().text.endswith("{'seats': 9, 'cabin': 'economy'}\n")
