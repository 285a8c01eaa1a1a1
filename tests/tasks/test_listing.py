"""`tasks/list`, and deleting."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from .players import Row, Working, rows_of

pytestmark = pytest.mark.anyio
with_lists = rows_of("requestor", "receiver")
BAD = {
    "words": "optional-cursor-value",
    "empty": "",
    "another kind": base64.urlsafe_b64encode(b"from 3").decode(),
    "no number": base64.urlsafe_b64encode(b"after all").decode(),
    "negative": base64.urlsafe_b64encode(b"after -1").decode(),
    "huge": base64.urlsafe_b64encode(b"after 99999999999999999999999999").decode(),
    "no text": base64.urlsafe_b64encode(b"\xff\xfe\x00").decode(),
    "a number": 7,
    "a list": ["a"],
}


def lasting(state: dict[str, Any]) -> dict[str, Any]:
    """What of a task's state does not change with the time."""
    return {key: value for key, value in state.items() if key not in ("_meta", "pollFrequency", "pollInterval")}


@with_lists
async def test_what_get_finds_list_shows(row: Row) -> None:  # TSK-3, TCR-1
    server = Working()
    player = await row.player(server)
    at_work, ended = await player.begin(), await player.begin(fail="tool", wait=False)
    cancelled = await player.begin()
    await player.until(ended)
    await player.cancel(cancelled)
    await player.until(cancelled)
    tasks = {task["taskId"]: task for task in (await player.line.result("tasks/list"))["tasks"]}
    assert list(tasks) == [at_work, ended, cancelled]  # in the order of their beginning
    for id, listed in tasks.items():
        assert lasting(listed) == lasting(await player.get(id))


@with_lists
async def test_a_long_list_comes_in_pages(row: Row) -> None:  # TSK-3
    server = Working()
    player = await row.player(server)
    server.free.set()
    ids = [await player.begin() for _ in range(103)]
    first = await player.line.result("tasks/list")
    second = await player.line.result("tasks/list", cursor=first["nextCursor"])
    assert [task["taskId"] for page in (first, second) for task in page["tasks"]] == ids
    assert "nextCursor" not in second


@with_lists
async def test_a_page_goes_on_where_the_one_before_ended_though_tasks_have_gone(row: Row) -> None:  # TSK-3
    player = await row.player(Working())
    ids = [await player.begin() for _ in range(102)]
    cursor = (await player.line.result("tasks/list"))["nextCursor"]
    if row.form == "requestor":
        await player.line.result("tasks/delete", taskId=ids[99])
    assert [task["taskId"] for task in (await player.line.result("tasks/list", cursor=cursor))["tasks"]] == ids[100:]


@with_lists
@pytest.mark.parametrize("cursor", BAD.values(), ids=BAD)
async def test_a_cursor_that_is_none_is_refused(row: Row, cursor: object) -> None:  # TSK-7
    player = await row.player(Working())
    error = await player.line.error("tasks/list", cursor=cursor)
    assert error["code"] == -32602
    assert "Invalid cursor" in error["message"]


@rows_of("requestor")
async def test_a_deleted_task_is_gone(row: Row) -> None:  # TSK-3, TSK-12
    player = await row.player(Working())
    id = await player.begin(wait=False)
    await player.until(id)
    related = {"_meta": {player.related: {"taskId": id}}}
    assert await player.line.result("tasks/delete", taskId=id) == related
    for method in ("tasks/get", "tasks/result", "tasks/delete"):
        assert (await player.line.error(method, taskId=id))["message"].endswith("Task not found")
    assert (await player.line.result("tasks/list"))["tasks"] == []


@rows_of("requestor")
async def test_deleting_one_at_work_ends_it_and_its_request_is_answered(row: Row) -> None:  # TSK-3
    server = Working()
    player = await row.player(server)
    id = await player.begin()
    await player.until(id, "working")
    await player.line.result("tasks/delete", taskId=id)
    error = (await player.line.answer(player.requests[id]))["error"]
    assert "deleted" in error["message"]
    assert not len(server.tasks)
    assert (await player.line.result("tasks/list"))["tasks"] == []


@rows_of("requestor")
async def test_an_id_is_free_again_once_its_task_is_deleted(row: Row) -> None:  # TSK-7
    player = await row.player(Working())
    await player.begin(id="mine", wait=False)
    await player.until("mine")
    await player.line.result("tasks/delete", taskId="mine")
    player.line.heard.clear()
    await player.begin(id="mine", wait=False)
    assert await player.text("mine") == "done"
