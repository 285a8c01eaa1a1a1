"""Servers' questions in real kernels, with this test as their front end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..kernels import Kernel

CALLS = {"blocking": "client.begin_call('{}').result(10)", "await": "await client.call_tool('{}')"}

both_ways = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())

SETUP = """
from dataclasses import dataclass
from mcp_notebook import Context, Server, connect
from mcp_notebook.notebook.host import NotebookHost
host = NotebookHost.of(runtime, get_ipython())
server = Server("travel")

@dataclass
class Flight:
    city: str
    seats: int = 1

@server.tool
async def book(ctx: Context) -> str:
    answer = await ctx.elicit("Which flight?", Flight)
    return f"{answer.action} {answer.data}"

client = await connect(server)
"""


@pytest.fixture
def notebook(kernel: Kernel) -> Iterator[Kernel]:
    """A kernel whose notebook is connected to a server that asks."""
    outcome = kernel.run(SETUP)
    assert outcome.status == "ok", outcome
    yield kernel
    kernel.run("%env MCP_NOTEBOOK_PROMPTS=")


@both_ways
@pytest.mark.parametrize("cell", ["a", None], ids=["lab without widgets", "console"])
def test_a_servers_question_is_asked_in_the_cell_that_waits(notebook: Kernel, call: str, cell: str | None) -> None:
    code = f"import os; os.environ['MCP_NOTEBOOK_PROMPTS'] = 'text'\nprint(({call.format('book')}).content[0].text)"
    outcome = notebook.run(code, cell=cell, answers=["Oslo", "two", "2", "s"])
    assert outcome.status == "ok", outcome
    assert outcome.text.startswith("● travel asks:\n  │ Which flight?\n")
    assert "'two' is not accepted; a whole number is expected." in outcome.text
    assert outcome.text.endswith("  Sent to travel.\naccept Flight(city='Oslo', seats=2)\n")


@both_ways
def test_an_interrupt_cancels_the_question_and_the_call_goes_on(notebook: Kernel, call: str) -> None:
    request = notebook.send(f"print(({call.format('book')}).content[0].text)", answers=[])
    notebook.until(request, "city (required): text\n")
    notebook.interrupt()
    outcome = notebook.outcome(request)
    assert outcome.status == "ok", outcome
    assert outcome.text.endswith("  No answer was given.\ncancel None\n")


@both_ways
def test_where_nobody_can_answer_the_policy_does_at_once(notebook: Kernel, call: str) -> None:  # DEF-3
    outcome = notebook.run(f"print(({call.format('book')}).content[0].text)")
    assert "● travel asked: Which flight?\n  Nobody can answer here, so it was cancelled" in outcome.text
    assert "cancel None\n" in outcome.text


def test_a_question_of_a_call_in_the_background_waits_for_a_cell(notebook: Kernel) -> None:
    notebook.run("handle = client.begin_call('book')", answers=[])
    outcome = notebook.run(
        "import time\nend = time.monotonic() + 10\n"
        "while not host.unheard:\n    assert time.monotonic() < end; time.sleep(0.01)",
        answers=[],
    )
    assert outcome.text.startswith("● Waiting for you: travel asks: Which flight?\n")
    outcome = notebook.run("print(handle.result(10).content[0].text)", answers=["Oslo", "", "s"])
    assert outcome.text.startswith("● travel asks:\n")
    assert outcome.text.endswith("accept Flight(city='Oslo', seats=1)\n")
    assert notebook.run("", answers=[]).text == ""
