"""`%mcp` in real kernels, with this test as their front end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import nbclient
import nbclient.exceptions
import nbformat
import pytest

from ..kernels import Kernel, Outcome, kernel_names
from .working import WORK, prepared, until

SERVER = f"""%%mcp server demo
{WORK}
def say(text: str) -> str:
    return text

async def fail() -> str:
    await asyncio.sleep(1)
    raise ValueError("no luck")
"""


@pytest.fixture(scope="module", params=kernel_names())
def kernel(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    """A kernel of each kind, shared by the tests of this module, with a server in it."""
    with prepared(request.param, "%load_ext mcp_notebook", SERVER) as kernel:
        yield kernel


def texts(bundles: list[dict[str, Any]]) -> list[str]:
    return [bundle["text/plain"] for bundle in bundles]


@pytest.fixture
def no_widgets(kernel: Kernel) -> Iterator[None]:
    """Outputs are changed in place, without buttons."""
    kernel.run("%env MCP_NOTEBOOK_PROMPTS=text")
    yield
    kernel.run("%env MCP_NOTEBOOK_PROMPTS=")


@pytest.mark.usefixtures("no_widgets")
def test_in_a_notebook_a_call_shows_how_far_it_is_and_then_its_result(kernel: Kernel) -> None:
    outcome = kernel.run("%mcp call work steps=4", cell="a")
    assert len(outcome.data) == 1
    seen = [*texts(outcome.data), *texts(outcome.updates)]
    assert "● working work on demo · steps=4" in seen[0]
    assert any("3 of 4" in text and "step 3" in text and "did 2" in text and "█" in text for text in seen)
    assert "● completed work on demo" in seen[-1]
    assert "done" in seen[-1]
    assert len(seen) <= 20  # at most ten times a second


def test_where_nobody_watches_only_the_result_is_shown(kernel: Kernel) -> None:
    outcome = kernel.run("%mcp call work steps=4")
    assert len(outcome.data) == 1
    assert not outcome.updates
    assert "● completed work on demo" in outcome.data[0]["text/plain"]


def test_in_a_console_a_line_is_written_over(kernel: Kernel) -> None:
    outcome = kernel.run("%mcp call work steps=4", answers=[])
    assert "\r\x1b[K● working work 0:0" in outcome.text
    assert outcome.text.endswith("\r\x1b[K")
    assert texts(outcome.data)[0].startswith("● completed work on demo")
    assert not outcome.updates


def test_an_assigned_call_leaves_a_line_that_says_what_became_of_it(kernel: Kernel) -> None:
    outcome = kernel.run("x = %mcp call work steps=4", cell="a")
    last = texts(outcome.updates)[-1]
    assert last.startswith("● completed work on demo")
    assert "done" not in last
    assert kernel.value("x.text") == "done"


def interrupted(kernel: Kernel, code: str, **how: Any) -> Outcome:
    kernel.run("heard.clear()")
    request = kernel.send(code, **how)
    if how.get("cell"):
        kernel.until(request, lambda outcome: outcome.data)
    else:
        time.sleep(0.5)  # there is nothing to be seen; the call has begun long before
    kernel.interrupt()
    return kernel.outcome(request)


def test_an_interrupted_call_is_cancelled_and_the_server_told(kernel: Kernel) -> None:
    outcome = interrupted(kernel, "%mcp call work steps=1000", cell="a")
    assert outcome.error.startswith("KeyboardInterrupt")
    told = "  The call of 'work' was interrupted, and the server 'demo' told to stop."
    assert outcome.traceback == ["● cancelled", told]
    assert texts(outcome.updates)[-1].startswith("● cancelled work on demo")
    until(lambda: kernel.value("heard") == ["cancelled"])
    assert kernel.run("%mcp call say text=alive").data[0]["text/plain"].endswith("alive")


def test_an_interrupted_call_ends_the_cell(kernel: Kernel) -> None:
    outcome = interrupted(kernel, "try:\n    %mcp call work steps=1000\nexcept Exception:\n    pass\nprint('on')")
    assert outcome.error.startswith("KeyboardInterrupt")
    assert "on" not in outcome.text


@pytest.mark.usefixtures("no_widgets")
def test_a_call_in_the_background_goes_on_showing_how_far_it_is(kernel: Kernel) -> None:
    request = kernel.send("h = %mcp call --bg work steps=3", cell="a")
    outcome = kernel.until(request, lambda outcome: outcome.idle)
    assert texts(outcome.data)[0].startswith("● working work on demo")
    assert kernel.run("print(h.result().text)").text == "done\n"
    until(lambda: bool(kernel.run("pass")) and "● completed" in (texts(outcome.updates) or [""])[-1])
    assert any("2 of 3" in text for text in texts(outcome.updates))


def test_a_call_in_the_background_that_fails_says_so_in_its_own_place(kernel: Kernel) -> None:
    request = kernel.send("h = %mcp call --bg fail", cell="a")
    outcome = kernel.until(request, lambda outcome: outcome.idle)
    until(lambda: bool(kernel.run("pass")) and "● the tool reports an error" in (texts(outcome.updates) or [""])[-1])
    assert "no luck" in texts(outcome.updates)[-1]


@pytest.mark.parametrize(
    ("code", "offered"),
    [
        ("%mcp call demo.sa", "demo.say"),
        ("x = %mcp call wo", "work"),
        ("%%mcp call say te", "text="),
        ("%mcp call work ste", "steps="),
    ],
)
def test_a_front_end_gets_completions(kernel: Kernel, code: str, offered: str) -> None:
    kernel.client.complete(code)
    reply = kernel.client.get_shell_msg(timeout=10)
    while reply["msg_type"] != "complete_reply":
        reply = kernel.client.get_shell_msg(timeout=10)
    content = reply["content"]
    assert offered in content["matches"]
    assert (code[: content["cursor_start"]] + offered).split()[-1].endswith(offered)


def test_connections_outlive_autoreload(kernel: Kernel) -> None:
    kernel.run("%load_ext autoreload\n%autoreload 2\nimport importlib, mcp_notebook.notebook.workspace as w")
    kernel.run("importlib.reload(w)")
    outcome = kernel.run("%mcp call say text=alive\n%autoreload 0")
    assert outcome.status == "ok", outcome
    assert outcome.data[0]["text/plain"].endswith("alive")


def test_what_a_question_mark_shows(kernel: Kernel) -> None:
    kernel.client.inspect("%mcp", detail_level=0)
    reply = kernel.client.get_shell_msg(timeout=10)
    while reply["msg_type"] != "inspect_reply":
        reply = kernel.client.get_shell_msg(timeout=10)
    assert "%mcp call [NAME.]TOOL" in reply["content"]["data"]["text/plain"]


def notebook(*cells: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def run_all(nb: nbformat.NotebookNode) -> None:
    nbclient.NotebookClient(nb, timeout=60, kernel_name="python3").execute()


def test_run_all_stops_at_a_command_that_failed() -> None:
    nb = notebook("%load_ext mcp_notebook", SERVER, "%mcp call sy text=x", "%mcp call say text=x")
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="did you mean 'say'"):
        run_all(nb)
    error = nb.cells[2].outputs[-1]
    assert error.ename == "CommandError"
    assert error.traceback[0] == "● that did not work"
    assert len(error.traceback) == 2
    assert not nb.cells[3].outputs


def test_a_notebook_is_saved_with_what_came_of_its_calls() -> None:
    nb = notebook(
        "%load_ext mcp_notebook", SERVER, "%mcp call work steps=4", "h = %mcp call --bg work steps=2", "h.result()"
    )
    run_all(nb)
    assert [output.data["text/plain"].splitlines()[1].strip() for output in nb.cells[2].outputs] == ["done"]
    assert nb.cells[3].outputs == []
    assert nb.cells[4].outputs[0].data["text/plain"] == "done"
