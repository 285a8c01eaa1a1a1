"""What a server answers to a call that is, or should be, a task of 2025-11-25."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_notebook import connect
from mcp_notebook.jsonrpc import Request
from mcp_notebook.protocol.tasks import TaskStatus

from ..scripted import EVERYTHING, Scripted

pytestmark = pytest.mark.anyio
TASKS = {**EVERYTHING, "tasks": {"requests": {"tools": {"call": {}}}}}
DONE = {"content": [{"type": "text", "text": "done"}]}
REFUSED = {"content": [{"type": "text", "text": "MCP error -32601: needs a task"}], "isError": True}
WORKING = {
    "taskId": "t-1",
    "status": "working",
    "createdAt": "2026-01-01T00:00:00Z",
    "lastUpdatedAt": "2026-01-01T00:00:00Z",
    "ttl": None,
    "pollInterval": 60_000,
}


class Tasking(Scripted):
    """A server with one tool, which answers a call without a task with a tool's own error."""

    def __init__(self, support: str, result: dict[str, Any] = DONE) -> None:
        tool = {"name": "work", "inputSchema": {"type": "object"}, "execution": {"taskSupport": support}}
        self.calls: list[str] = []

        def call(request: Request) -> dict[str, Any]:
            as_task = "task" in (request.params or {})
            self.calls.append("task" if as_task else "plain")
            return {"task": WORKING} if as_task else REFUSED

        answers = {"tools/list": {"tools": [tool]}, "tools/call": call, "tasks/get": WORKING, "tasks/result": result}
        super().__init__(answers, capabilities=TASKS)


@pytest.mark.parametrize(
    ("result", "status"), [(DONE, TaskStatus.COMPLETED), ({**DONE, "isError": True}, TaskStatus.FAILED)]
)
async def test_where_the_result_comes_first_the_task_has_ended_all_the_same(result: Any, status: TaskStatus) -> None:
    async with connect(Tasking("optional", result)) as client:
        handle = client.begin_call("work", task=True)
        assert (await handle).text == "done"
        assert handle.task is not None
        assert handle.task.status is status


async def test_a_refusal_in_the_form_of_a_result_is_known_from_what_the_tool_says_of_itself() -> None:  # TCR-1
    server = Tasking("required")
    async with connect(server) as client:
        assert (await client.call_tool("work")).text == "done"
        assert (await client.call_tool("work")).text == "done"
    assert server.calls == ["plain", "task", "task"]


@pytest.mark.parametrize("support", ["optional", "forbidden"])
async def test_the_error_of_a_tool_that_need_not_be_a_task_is_its_result(support: str) -> None:
    server = Tasking(support)
    async with connect(server) as client:
        assert (await client.call_tool("work")).is_error
    assert server.calls == ["plain"]
