"""What magics do with calls that are under way, or whose connection was lost."""

from __future__ import annotations

import pytest

from mcp_notebook.protocol.calls import CallState

from .cells import Cells
from .working import until

LAB = """%%mcp server lab
import asyncio
from mcp_notebook import Context
runs = []
go = asyncio.Event()

@lab.tool(resumable=True)
async def crunch(n: int, ctx: Context) -> str:
    runs.append(n)
    await ctx.progress(1, 2)
    while not opened:
        await asyncio.sleep(0.01)
    return f"crunched {n}"

opened = []
"""


@pytest.fixture
def lab(cells: Cells) -> Cells:
    cells.run(LAB)
    cells.run("serving = %mcp serve lab --no-token")
    cells.run("%mcp connect web {serving.url} --revision 2025-11-25")
    return cells


def test_calls_are_listed_with_their_state(lab: Cells) -> None:
    assert "No call was made yet" in lab.run("%mcp calls").text
    lab.run("handle = %mcp call --bg web.crunch n=3")
    handle = lab["handle"]
    until(lambda: handle.progress is not None)
    row = next(line for line in lab.run("%mcp calls").text.splitlines() if handle.id in line)
    assert "crunch" in row
    assert "working" in row
    assert "The server works on it" in lab.run(f"%mcp status {handle.id}").text
    lab.run("opened.append(1)\nhandle.result()")
    assert "completed" in lab.run(f"%mcp status {handle.id}").text


def test_calls_that_python_code_began_are_listed_too(lab: Cells) -> None:
    lab.run(
        "client = %mcp servers web\nheld = client.begin_call('crunch', {'n': 4})\nclient.begin_call('crunch', {'n': 5})"
    )
    listed = lab.run("%mcp calls").text
    assert listed.count("working") == 2
    assert lab["held"].id in listed
    assert f"%mcp status {lab['held'].id}" in lab.complete("%mcp status ")
    lab.run("opened.append(1)\nheld.result()")
    assert lab["held"].id not in lab.run("%mcp calls").text  # whoever began it has its handle


def test_a_call_whose_server_comes_back_is_resumed_and_its_handler_ran_once(lab: Cells) -> None:  # RR-13
    lab.run("handle = %mcp call --bg web.crunch n=3")
    handle, port = lab["handle"], lab["serving"].url.split(":")[2].split("/")[0]
    until(lambda: handle.policy is not None and handle.progress is not None)
    lab.run("serving.close()")
    until(lambda: handle.status in (CallState.DROPPED, CallState.RESUMING))
    lab.run(f"opened.append(1)\nserving = %mcp serve lab --no-token --port {port}")
    lab.run(f"%mcp resume {handle.id}" if handle.status is CallState.DROPPED else "pass")
    assert handle.result(20).data == "crunched 3"
    assert lab["runs"] == [3]
    assert handle.status is CallState.COMPLETED


def test_a_call_is_cancelled_by_its_id(lab: Cells) -> None:
    lab.run("handle = %mcp call --bg web.crunch n=3")
    lab.run(f"%mcp cancel {lab['handle'].id}")
    until(lambda: lab["handle"].status is CallState.CANCELLED)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%mcp status", "Which call?"),
        ("%mcp status 0000", "There is no call '0000'"),
        ("%mcp resume", "No call waits to be resumed"),
        ("%mcp cancel zzz", "There is no call 'zzz'"),
    ],
)
def test_a_call_that_is_not_there_is_told(lab: Cells, line: str, said: str) -> None:
    assert said in lab.fail(line)


def test_a_call_that_is_dropped_is_explained_also_where_its_server_is_away(lab: Cells) -> None:  # RR-13
    lab.run("handle = %mcp call --bg web.crunch n=3")
    handle = lab["handle"]
    until(lambda: handle.policy is not None and handle.progress is not None)
    assert "● working crunch on web" in lab.run(f"%mcp resume {handle.id}").text  # there is nothing to resume yet
    lab.run("serving.close()")
    until(lambda: handle.status is CallState.DROPPED)
    listed = lab.run("%mcp calls").text
    assert f"%mcp status {handle.id} explains its state, %mcp resume {handle.id} resumes it." in listed
    told = lab.run(f"%mcp status {handle.id}").text
    assert "1 of 2" in told
    assert "web cannot be asked how it stands there" in told
    assert f"%mcp resume {handle.id} tries at once" in told or "asked for what it has kept" in told
    lab.run(f"%mcp cancel {handle.id}")
    until(handle.done)
    assert "● cancelled crunch on web" in lab.run(f"%mcp resume {handle.id}").text
    assert "No call waits to be resumed" in lab.run("%mcp resume --all").text


def test_a_call_whose_outcome_is_unknown_says_why_it_was_not_sent_again(lab: Cells) -> None:
    lab.run("%mcp connect new {serving.url}")  # at a revision where a cut connection ends the call
    lab.run("handle = %mcp call --bg new.crunch n=4")
    handle = lab["handle"]
    until(lambda: handle.progress is not None)
    lab.run("serving.close()")
    until(handle.done)
    assert "outcome unknown" in lab.run("%mcp calls").text
    told = lab.run(f"%mcp status {handle.id}").text
    assert "Whether it was carried out is unknown, so it was not sent again." in told
    assert "new does not keep calls whose connection is lost" in lab.fail(f"%mcp resume {handle.id}")
    assert "No call waits to be resumed" in lab.run("%mcp resume --all").text
    assert lab["runs"] == [4]


def test_the_rows_of_a_frame_are_called_and_tabled_in_one_cell(cells: Cells) -> None:
    pytest.importorskip("pandas")
    cells.run(
        "import asyncio, pandas\n"
        "from mcp_notebook import Server, ToolError\n"
        "server = Server('demo')\n"
        "@server.tool\n"
        "async def add(a: int, b: int) -> int:\n"
        "    await asyncio.sleep(0.05)\n"
        "    if a < 0: raise ToolError('too small')\n"
        "    return a + b\n"
        "frame = pandas.DataFrame({'a': [1, 2, -3], 'b': [10, 20, 30]})"
    )
    cells.run("%mcp connect demo server")
    cells.run("client = %mcp servers demo")
    cells.run("calls = client.map('add', frame[['a', 'b']])\ntable = calls.to_pandas()")
    assert cells["table"]["result"].tolist()[:2] == [11, 22]
    assert cells["table"]["error"].tolist()[2] == "too small"
    assert "● completed, not all add 3 of 3 · 1 failed" in " ".join(cells.run("calls").text.split())
    cells.run("calls = client.map('add', [{'a': -1, 'b': 1}] * 2)\ncalls.result()")
    assert "● failed add 2 of 2 · 2 failed" in " ".join(cells.run("calls").text.split())
    assert "has no tool 'ad'. Did you mean 'add'?" in cells.fail("client.map('ad', frame)")
