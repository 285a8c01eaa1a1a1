"""Whose a task is: others are told that there is none, whatever they ask."""

from __future__ import annotations

import logging

import pytest

from .players import Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio
METHODS = {
    "requestor": ("tasks/get", "tasks/result", "tasks/delete"),
    "receiver": ("tasks/get", "tasks/result", "tasks/cancel"),
    "extension": ("tasks/get", "tasks/update", "tasks/cancel"),
}


@each_row
async def test_a_task_of_another_principal_is_not_found_whatever_is_asked(row: Row) -> None:  # TSK-9, TCR-4
    server = Working()
    ada, eve = await row.player(server, principal="ada"), await row.player(server, principal="eve")
    id = await ada.begin()
    for method in METHODS[row.form]:
        theirs = await eve.line.error(method, taskId=id, inputResponses={})
        nobodys = await eve.line.error(method, taskId="no-such-task", inputResponses={})
        assert theirs == nobodys
        assert theirs["code"] == -32602
        assert theirs["message"].endswith("task: Task not found")
    if row.form != "extension":
        assert (await eve.line.result("tasks/list"))["tasks"] == []
        assert [task["taskId"] for task in (await ada.line.result("tasks/list"))["tasks"]] == [id]
    server.free.set()
    assert await ada.text(id) == "done"


@each_row
async def test_a_task_of_a_principal_is_found_on_every_connection_of_theirs(row: Row) -> None:  # TSK-9
    server = Working()
    first, second = await row.player(server, principal="ada"), await row.player(server, principal="ada")
    id = await first.begin()
    await first.line.close()
    assert await second.status(id) in ("submitted", "working")
    server.free.set()
    second.requests[id] = 0
    assert await second.text(id) == "done"


@rows_of("requestor", "receiver")
async def test_without_principals_a_task_belongs_to_its_session(row: Row) -> None:  # TSK-9
    server = Working()
    mine, other = await row.player(server), await row.player(server)
    id = await mine.begin()
    for method in METHODS[row.form]:
        assert "Task not found" in (await other.line.error(method, taskId=id))["message"]
    assert (await other.line.result("tasks/list"))["tasks"] == []
    assert await mine.status(id)


@rows_of("requestor")
async def test_two_owners_may_use_the_same_id(row: Row) -> None:  # TSK-9
    server = Working()
    one, other = await row.player(server), await row.player(server)
    assert await one.begin(id="mine") == await other.begin(id="mine", fail="tool")
    server.free.set()
    assert await one.text("mine") == "done"
    assert await other.text("mine") == "The disk is full."


@rows_of("extension")
async def test_where_nothing_binds_them_the_id_alone_leads_to_a_task(row: Row) -> None:  # TSK-9
    server = Working()
    one, other = await row.player(server), await row.player(server)
    id = await one.begin()
    assert len(id) >= 22  # that many letters of 64 are 128 bits or more
    assert await other.status(id) == "working"


@each_row
async def test_looking_for_a_task_that_is_not_ones_own_is_noted(
    row: Row, caplog: pytest.LogCaptureFixture
) -> None:  # TSK-14
    server = Working()
    ada, eve = await row.player(server, principal="ada"), await row.player(server, principal="eve")
    id = await ada.begin()
    with caplog.at_level(logging.WARNING, "mcp_notebook.audit"):
        await eve.line.error("tasks/get", taskId=id)
    (record,) = caplog.records
    assert "principal:" in record.getMessage()
    assert id[:8] in record.getMessage()
    assert id not in record.getMessage()  # nobody who reads logs shall have the task
