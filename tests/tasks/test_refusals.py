"""What is refused: unknown tasks, ids that are taken, methods and tools that have no tasks, clients that know none."""

from __future__ import annotations

from typing import Any

import pytest

from .lines import EXTENSION, HttpLine
from .players import TASK, Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio
METHODS = {
    "requestor": {"tasks/get": "retrieve", "tasks/result": "retrieve", "tasks/delete": "delete"},
    "receiver": {"tasks/get": "retrieve", "tasks/result": "retrieve", "tasks/cancel": "cancel"},
    "extension": {"tasks/get": "retrieve", "tasks/update": "update", "tasks/cancel": "cancel"},
}
ALL = {"tasks/get", "tasks/result", "tasks/list", "tasks/delete", "tasks/cancel", "tasks/update"}
ABSENT = {
    "2025-06-18": {"tasks/cancel", "tasks/update"},
    "2025-11-25": {"tasks/update"},
    "2026-07-28": {"tasks/result", "tasks/list", "tasks/delete"},
}


@each_row
@pytest.mark.parametrize("id", ["no-such-task", "", "x" * 5000, 7, None, {"a": 1}], ids=str)
async def test_an_id_of_no_task_is_refused(row: Row, id: Any) -> None:  # TSK-7, TCR-4, TEX-2
    player = await row.player(Working())
    for method, doing in METHODS[row.form].items():
        if row.line is HttpLine and row.form == "extension":  # the header repeats the id
            id = id if isinstance(id, str) and 0 < len(id) < 100 and id.isascii() else "another"
        error = await player.line.error(method, taskId=id, inputResponses={})
        assert error == {"code": -32602, "message": f"Failed to {doing} task: Task not found"}


@each_row
async def test_methods_that_the_revision_does_not_have_are_unknown(row: Row) -> None:  # TEX-3, TCR-4
    player = await row.player(Working())
    for method in ABSENT[row.revision]:
        assert (await player.line.error(method, taskId="a"))["code"] == -32601
    for method in ALL - ABSENT[row.revision]:
        assert (await player.line.ask(method, taskId="a", inputResponses={})).get("error", {}).get("code") != -32601


@rows_of("requestor")
async def test_the_result_of_a_task_that_is_not_completed_is_refused(row: Row) -> None:  # TSK-3, TSK-7
    player = await row.player(Working())
    id = await player.begin()
    await player.until(id, "working")
    error = await player.line.error("tasks/result", taskId=id)
    assert error == {
        "code": -32602,
        "message": "Cannot retrieve result: Task status is 'working', not 'completed'",
    }
    await player.cancel(id)
    await player.until(id)
    assert "'cancelled', not 'completed'" in (await player.line.error("tasks/result", taskId=id))["message"]


@rows_of("requestor")
async def test_an_id_that_is_taken_is_refused_and_its_task_goes_on(row: Row) -> None:  # TSK-7, TSK-11
    server = Working()
    player = await row.player(server)
    await player.begin(id="mine")
    again = {"name": "work", "arguments": {}, "_meta": {TASK: {"taskId": "mine"}}}
    error = await player.line.error("tools/call", **again)
    assert error == {"code": -32602, "message": "Task ID already exists: mine"}
    server.free.set()
    assert await player.text("mine") == "done"
    assert (await player.line.error("tools/call", **again))["message"] == "Task ID already exists: mine"
    assert server.runs["begun"] == 1


@rows_of("requestor")
@pytest.mark.parametrize("id", ["", "x" * 1001])
async def test_an_id_that_cannot_be_one_is_refused(row: Row, id: str) -> None:
    player = await row.player(Working())
    error = await player.line.error("tools/call", name="work", arguments={}, _meta={TASK: {"taskId": id}})
    assert error["code"] == -32602
    assert "1 to 1000 characters" in error["message"]


@rows_of("requestor")
@pytest.mark.parametrize("task", [{}, {"taskId": 7}, "mine", None, []], ids=str)
async def test_what_names_no_task_is_ignored(row: Row, task: Any) -> None:  # TSK-1
    player = await row.player(Working())
    result = await player.line.result("tools/call", name="work", arguments={"wait": False}, _meta={TASK: task})
    assert result["content"][0]["text"] == "done"
    assert player.line.so_far("notifications/tasks/created") == []


@rows_of("requestor")
@pytest.mark.parametrize("keep", [-1, "long", None, True, 1e300, [3]], ids=str)
async def test_a_wish_that_is_no_span_of_time_is_ignored(row: Row, keep: Any) -> None:  # TSK-8
    player = await row.player(Working())
    id = await player.begin(keep=keep)
    assert (await player.get(id))["keepAlive"] == 3_600_000


@each_row
async def test_a_tool_without_tasks(row: Row) -> None:  # TSK-1, TCR-1, TEX-1
    player = await row.player(Working())
    asked: dict[str, Any] = {"name": "plain", "arguments": {}}
    if row.form == "receiver":
        error = await player.line.error("tools/call", **asked, task={})
        assert error == {"code": -32601, "message": "The tool 'plain' cannot be called as a task."}
        return
    meta = {TASK: {"taskId": "mine"}} if row.form == "requestor" else {}
    result = await player.line.result("tools/call", **asked, _meta=meta)
    assert result["content"][0]["text"] == "plain"
    assert "taskId" not in result
    assert (await player.line.error("tasks/get", taskId="mine"))["code"] == -32602


@each_row
async def test_a_tool_that_must_be_a_task(row: Row) -> None:  # TCR-1, TEX-1
    player = await row.player(Working())
    assert await player.text(await player.begin("only")) == "only"
    if row.revision == "2025-11-25":
        error = await player.line.error("tools/call", name="only", arguments={})
        assert error == {"code": -32601, "message": "The tool 'only' can only be called as a task."}
    elif row.form == "extension":
        player.line.capabilities = {}
        error = await player.line.error("tools/call", name="only", arguments={})
        assert error == {
            "code": -32021,
            "message": "Missing required client capability",
            "data": {"requiredCapabilities": {"extensions": {EXTENSION: {}}}},
        }
    else:
        result = await player.line.result("tools/call", name="only", arguments={})  # it knows no other way
        assert result["content"][0]["text"] == "only"


@rows_of("extension")
async def test_who_did_not_declare_the_extension_gets_no_task_and_is_told_nothing_of_any(row: Row) -> None:  # TEX-1
    server = Working()
    player = await row.player(server)
    id = await player.begin()
    player.line.capabilities = {}
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        error = await player.line.error(method, taskId=id, inputResponses={})
        assert error["code"] == -32021
        assert error["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
    server.free.set()
    result = await player.line.result("tools/call", name="work", arguments={})
    assert result["resultType"] == "complete"
    assert result["content"][0]["text"] == "done"


@each_row
async def test_what_each_side_says_that_it_can(row: Row) -> None:  # TSK-15, TCR-1, TEX-1
    player = await row.player(Working())
    if row.form == "extension":
        capabilities = (await player.line.result("server/discover"))["capabilities"]
        assert capabilities["extensions"] == {EXTENSION: {}}
        assert "tasks" not in capabilities
    tools = {tool["name"]: tool.get("execution") for tool in (await player.line.result("tools/list"))["tools"]}
    if row.revision == "2025-11-25":
        assert tools == {"work": {"taskSupport": "optional"}, "plain": None, "only": {"taskSupport": "required"}}


@rows_of("extension")
@pytest.mark.parametrize("answers", [None, [], "Ada", 3], ids=str)
async def test_answers_that_are_none_are_refused(row: Row, answers: Any) -> None:  # TEX-2
    player = await row.player(Working())
    id = await player.begin(ask=1)
    error = await player.line.error("tasks/update", taskId=id, inputResponses=answers)
    assert error["code"] == -32602
    assert "inputResponses" in error["message"]


@rows_of("extension")
async def test_the_header_must_name_the_task(row: Row) -> None:  # TEX-3
    player = await row.player(Working())
    id = await player.begin()
    if row.line is HttpLine:
        for name in ("another", None):
            request = await player.line.begin("tasks/get", taskId=id, headers={"mcp-name": name})
            assert (await player.line.answer(request))["error"]["code"] == -32020
    assert await player.status(id) == "working"
