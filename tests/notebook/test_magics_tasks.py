"""Calls as tasks, in a notebook: `%mcp call --task`, and what finds them again."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import pytest

from mcp_notebook.client import CallHandle
from mcp_notebook.notebook.waiting import NobodyWaiting
from mcp_notebook.notebook.workspace import Workspace
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.protocol.revisions import ALL

from .cells import Cells
from .working import until

LAB = """%%mcp server lab
import asyncio
from mcp_notebook import Context
opened, ended = [], []

@lab.tool(task="optional")
async def crunch(n: int, ctx: Context) -> str:
    try:
        await ctx.progress(1, 2, "halfway")
        while not opened:
            await asyncio.sleep(0.01)
    finally:
        ended.append(n)
    return f"crunched {n}"

@lab.tool(task="required")
async def must(ctx: Context) -> str:
    return await crunch(0, ctx)

@lab.tool
def plain() -> str:
    return "at once"
"""
FORMS = {name: revision.tasks[0] for name, revision in ALL.items() if revision.tasks}
"""A revision of each form, and those between."""


@pytest.fixture(params=sorted({form: name for name, form in FORMS.items()}.values()))
def lab(cells: Cells, request: pytest.FixtureRequest) -> Cells:
    cells.run(LAB)
    cells.run(f"%mcp connect lab lab --revision {request.param}")
    return cells


def test_a_call_as_a_task_gives_its_result_in_the_cell(lab: Cells) -> None:  # TSK-12, TSK-13
    lab.run("opened.append(1)")
    assert "crunched 3" in lab.run("%mcp call --task crunch n=3").text
    lab.run("x = %mcp call --task --keep 60 crunch n=4")
    assert lab["x"].data == "crunched 4"


def test_the_cell_returns_at_once_and_the_result_is_shown_later_in_another(lab: Cells) -> None:  # TSK-13
    lab.run("handle = %mcp call --task --bg crunch n=3")
    handle = lab["handle"]
    until(lambda: handle.task is not None and handle.progress is not None)
    shown = lab.run(f"%mcp status {handle.id}").text
    assert f"task {handle.task.id}: working" in shown
    assert "halfway" in shown
    assert "halfway" in lab.run("%mcp calls").text
    lab.run("opened.append(1)")
    assert "crunched 3" in lab.run(f"%mcp result {handle.id}").text
    assert "crunched 3" in lab.run(f"%mcp result {handle.id}").text  # as often as one likes
    assert "task" in lab.run(f"%mcp status {handle.id}").text
    lab.run(f"x = %mcp result {handle.id}")
    assert lab["x"].data == "crunched 3"


def test_an_interrupt_stops_waiting_for_a_task_and_says_how_to_pick_it_up_or_stop_it(lab: Cells) -> None:  # TSK-13
    for line in ("%mcp call --task crunch n=3", "%mcp result {id}"):
        interrupt_when(lab, lambda: any(call.task is not None for call in calls(lab)))
        told = lab.fail(line.format(id=next(iter(calls(lab))).id if calls(lab) else ""))
        (call,) = calls(lab)
        assert "● no longer waited for" in told
        assert f"%mcp result {call.id} waits for it again" in told
        assert f"%mcp cancel {call.id} stops it" in told
        assert not call.done()
    assert not lab["ended"]
    lab.run("opened.append(1)")
    assert "crunched 3" in lab.run(f"%mcp result {call.id}").text


def test_a_tool_that_can_be_called_only_as_a_task_is_left_at_work_by_an_interrupt_too(cells: Cells) -> None:  # TCR-1
    lab = cells
    lab.run(LAB)
    lab.run("%mcp connect lab lab --revision 2025-11-25")
    interrupt_when(lab, lambda: any(call.task is not None for call in calls(lab)))
    assert "as a task. %mcp result" in lab.fail("%mcp call must")
    lab.run("opened.append(1)")
    assert "crunched 0" in lab.run(f"%mcp result {calls(lab)[0].id}").text


def test_a_task_is_cancelled_by_its_id_and_its_handler_stops(lab: Cells) -> None:  # TSK-6, TCR-4, TEX-2
    lab.run("handle = %mcp call --task --bg crunch n=3")
    handle = lab["handle"]
    until(lambda: handle.task is not None)
    assert "cancelled" in lab.run(f"%mcp cancel {handle.id}").text
    until(lambda: lab["ended"] == [3])
    assert handle.status is CallState.CANCELLED
    assert "is over: cancelled" in lab.fail(f"%mcp cancel {handle.id}")


def test_a_call_that_is_over_is_forgotten(lab: Cells) -> None:  # TSK-12
    lab.run("handle = %mcp call --task --bg crunch n=3")
    handle = lab["handle"]
    assert f"%mcp cancel {handle.id} stops it" in lab.fail(f"%mcp forget {handle.id}")
    lab.run("opened.append(1)\nhandle.result()")
    told = lab.run(f"%mcp forget {handle.id}").text
    assert "forgotten" in told
    assert ("has forgotten the task" in told) == ("tasks/delete" in handle.as_task.form.methods)
    assert f"There is no call '{handle.id}'" in lab.fail(f"%mcp result {handle.id}")
    assert "No call was made" in lab.run("%mcp calls").text


def test_tab_completes_the_calls_that_a_command_is_for(lab: Cells) -> None:
    lab.run("a = %mcp call --task --bg crunch n=3")
    id = lab["a"].id
    assert lab.complete("%mcp result ") == [f"%mcp result {id}"]
    assert lab.complete("%mcp cancel ") == [f"%mcp cancel {id}"]
    assert lab.complete("%mcp forget ") == []
    lab.run("opened.append(1)\na.result()")
    assert lab.complete("%mcp cancel ") == []
    assert lab.complete("%mcp forget ") == [f"%mcp forget {id}"]


def test_children_stand_beneath_their_parents(cells: Cells) -> None:  # TSK-16
    cells.run(LAB)
    cells.run("client = %mcp connect lab lab --revision 2025-06-18")
    cells.run("parent = %mcp call --task --bg crunch n=1")
    until(lambda: cells["parent"].task is not None)
    cells.run("child = client.begin_call('crunch', {'n': 2}, task=True, parent=parent.task.id)")
    until(lambda: cells["child"].task is not None and cells["child"].task.parent is not None)
    until(lambda: cells["parent"].task.children)
    shown = cells.run(f"%mcp status {cells['parent'].id}").text
    assert cells["child"].task.id in shown or cells["child"].id in shown
    cells.run("opened.append(1)")


def test_keep_without_task_says_what_is_meant(lab: Cells) -> None:
    assert "--task --keep SECONDS" in lab.fail("%mcp call --keep 5 plain")


def calls(cells: Cells) -> list[CallHandle]:
    return list(Workspace.of(cells.shell).calls.values())


def interrupt_when(cells: Cells, true: Callable[[], object]) -> None:
    """Interrupt the cell, as the front end's button does, once it waits and something is so."""
    runtime = Workspace.of(cells.shell).runtime

    def waits() -> bool:
        try:
            runtime.submit(runtime.on_main(lambda: None)).result()
        except NobodyWaiting:
            return False
        return True

    def interrupt() -> None:
        until(lambda: true() and waits())
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt).start()
