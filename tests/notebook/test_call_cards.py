"""Cards of calls in real kernels: how far they are, what one can do, and the plain HTML that they leave behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..kernels import Kernel, kernel_names
from .working import WORK, prepared

SETUP = f"""
from mcp_notebook import Server
from mcp_notebook.notebook.widgets import live_card

class TellingCard(live_card.LiveCard):
    "A card that says what it shows, and the comms of its buttons."
    def draw(self, parts):
        first = self._made is None
        drawn = super().draw(parts)
        told.append((self._made.body.value, [button.description for button in self._made.row.children]))
        if first:
            print(*(button.comm.comm_id for button in self._made.buttons.values()))
        return drawn

live_card.LiveCard, told = TellingCard, []
server = Server("demo")
{WORK}
server.tool(work)

@server.tool
def say(text: str, token: str = "") -> str:
    return "said"

%mcp connect demo server
"""
RESUME, CANCEL = range(2)


@pytest.fixture(scope="module", params=kernel_names())
def kernel(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    with prepared(request.param, "%load_ext mcp_notebook", SETUP) as kernel:
        yield kernel


def test_a_card_shows_how_far_a_call_is_and_leaves_plain_html(kernel: Kernel) -> None:
    kernel.run("told.clear()")
    outcome = kernel.run("%mcp call work steps=4", cell="a")
    shown = kernel.value("[body for body, _ in told]")
    assert any('<progress max="1" value="0.7500" aria-label="3 of 4' in body for body in shown)
    assert any("step 3 &lt;of 4&gt;" in body and "did 3" in body for body in shown)
    assert kernel.value("{tuple(buttons) for _, buttons in told}") == {("Cancel",)}
    assert len(shown) <= 20  # at most ten times a second
    assert "application/vnd.jupyter.widget-view+json" in outcome.data[0]
    assert "● working work on demo" in outcome.data[0]["text/plain"]
    last = outcome.updates[-1]
    assert set(last) == {"text/html", "text/plain"}
    assert "● completed work on demo" in last["text/plain"]
    assert "done" in last["text/html"]


def test_the_button_cancels_the_call_that_the_cell_waits_for(kernel: Kernel) -> None:
    kernel.run("heard.clear()")
    request = kernel.send("%mcp call work steps=1000", cell="a")
    buttons = kernel.until(request, "\n").text.split()
    kernel.click(buttons[CANCEL])
    outcome = kernel.outcome(request)
    assert outcome.status == "error"
    assert "● cancelled work on demo" in outcome.updates[-1]["text/plain"]
    assert kernel.value("heard") == ["cancelled"]


def test_the_button_cancels_a_call_in_the_background(kernel: Kernel) -> None:
    kernel.run("heard.clear()")
    request = kernel.send("h = %mcp call --bg work steps=1000", cell="a")
    buttons = kernel.until(request, "\n").text.split()
    kernel.outcome(request)
    kernel.click(buttons[CANCEL])
    left = kernel.run("import time\nwhile not h.done(): time.sleep(0.02)\nprint(h.status)")
    assert left.text == "cancelled\n"


def test_widgets_are_closed_when_the_call_has_ended(kernel: Kernel) -> None:
    kernel.run("from ipywidgets.widgets import widget\nbefore = len(widget._instances)")
    kernel.run("%mcp call work steps=3", cell="a")
    assert kernel.value("len(widget._instances) - before") == 0


def test_a_quick_call_needs_no_widgets(kernel: Kernel) -> None:
    kernel.run("told.clear()")
    outcome = kernel.run("%mcp call work steps=0", cell="a")
    assert kernel.value("told") == []
    assert set(outcome.data[0]) == {"text/html", "text/plain"}


def test_a_handle_that_is_displayed_shows_its_card(kernel: Kernel) -> None:
    kernel.run("heard.clear()\nh = %mcp call --bg work steps=1000", cell="a")
    outcome = kernel.run("h", cell="b")
    assert "● working work on demo" in outcome.data[0]["text/plain"]
    kernel.click(outcome.text.split()[CANCEL])
    kernel.run("import time\nwhile not h.done(): time.sleep(0.02)")
    assert "● cancelled work on demo" in kernel.run("h", cell="c").data[0]["text/plain"]
    assert "● working" not in kernel.run("h").data[0]["text/plain"]  # where nobody watches, too


def test_arguments_that_the_first_line_cannot_hold_are_folded_away_without_what_may_be_secret(kernel: Kernel) -> None:
    kernel.run("secret, client = 'shh', get_ipython()._mcp_workspace.get('demo').client")
    short = kernel.run("%mcp call say text=hello", cell="a").data[0]
    assert "text=hello" in short["text/html"]
    assert "arguments</summary>" not in short["text/html"]
    words = "long " * 30
    long = kernel.run(f"%mcp call say text='{words}' token={{secret * 2}}", cell="a").data[0]["text/html"]
    unfolded = long.partition("arguments</summary>")[2]
    assert words in unfolded
    assert "shh" not in long
    kernel.run("h = client.begin_call('say', {'text': 'hi', 'token': 'abc'})\nh.result()")
    shown = kernel.run("h", cell="b").data[0]["text/html"]
    assert "arguments</summary>" in shown
    assert "hi" in shown
    assert "abc" not in shown
    assert "(hidden)" in shown


def test_many_calls_show_one_card_and_then_a_table(kernel: Kernel) -> None:
    kernel.run("from mcp_notebook import connect\nclient = await connect(server)")
    outcome = kernel.run(
        "calls = client.map('work', [{'steps': n} for n in (1, 2, 3, 2)], concurrency=2)\ncalls", cell="a"
    )
    assert "● working work" in outcome.data[0]["text/plain"]
    kernel.run("calls.result()[0].text")
    end = kernel.run("calls", cell="b").data[0]
    assert "● completed work 4 of 4" in " ".join(end["text/plain"].split())
    assert end["text/html"].count("<td>done</td>") == 4
