"""Our client with tasks at a server that the test scripts, in each form. The clock jumps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import CallCancelled, InvalidResult, ProtocolError, UnsupportedFeature
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.protocol.tasks import TaskStatus

from ..scripted import NEVER, until
from ..virtual_time import virtual_time as anyio_backend  # noqa: F401
from .far_tasks import FORMS, TEXT, FarTasks, in_time, using

pytestmark = pytest.mark.anyio
each_form = pytest.mark.parametrize("form", FORMS)


@each_form
async def test_a_call_as_a_task_is_followed_to_its_result(form: str) -> None:  # TSK-12, TCR-2, TEX-2
    server = FarTasks(form, "working", "working", "completed")
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        assert (await handle).text == "done"
        assert handle.status is CallState.COMPLETED
        assert handle.task is not None
        assert (handle.task.id, handle.task.status) == (server.id, TaskStatus.COMPLETED)
        assert len(server.requests("tools/call")) == 1


@each_form
@pytest.mark.parametrize(
    ("wished", "seconds"), [(3000, 3), (1, 0.02), (10**9, 60), (None, 1), (-5, 1), (0, 0.02), ("soon", 1)], ids=str
)
async def test_the_servers_wish_how_often_to_ask_is_kept_within_bounds(form: str, wished: Any, seconds: float) -> None:
    # TSK-3, TSK-13, TEX-3
    server = FarTasks(form, "working", "working", "working", "completed", poll=wished, tasks__result=NEVER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await in_time(lambda: len(server.asked_at) > 3)
        first, second, third, fourth = server.asked_at[:4]
        assert [second - first, third - second, fourth - third] == pytest.approx([seconds] * 3, abs=0.01)
        handle.cancel()


@each_form
async def test_who_only_stops_waiting_does_not_end_the_task(form: str) -> None:  # TSK-6
    server = FarTasks(form, "working", tasks__result=NEVER)
    async with using(server, timeout=2) as client:
        handle = client.begin_call("work", task=True, timeout=2)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(handle, 100)
        assert not handle.done()
        assert not server.requests("tasks/cancel")
        assert not server.notifications("notifications/cancelled")
        server.states, server.answers["tasks/result"] = ["completed"], TEXT
        assert (await handle).text == "done"


@each_form
async def test_cancelling_tells_the_server_and_sees_it_happen(form: str) -> None:  # TSK-6, TCR-4, TEX-2
    server = FarTasks(form, "working", tasks__result=NEVER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await until(lambda: handle.task)
        if form == "requestor":
            server.states = ["working", "working", "cancelled"]
        handle.cancel("no longer needed")
        with pytest.raises(CallCancelled):
            await handle
        await until(lambda: server.states == ["cancelled"])
        assert handle.status is CallState.CANCELLED
        if form == "requestor":
            (told,) = server.notifications("notifications/cancelled")
            assert told["requestId"] == server.requests("tools/call")[0].id
            assert not server.requests("tasks/delete")
        else:
            assert len(server.requests("tasks/cancel")) == 1


@each_form
async def test_a_task_that_the_server_cancels(form: str) -> None:  # TSK-6
    more = {} if form == "requestor" else {"statusMessage": "The machine is needed."}
    server = FarTasks(form, {"status": "cancelled", **more}, tasks__result=NEVER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        with pytest.raises(CallCancelled, match="The server cancelled the task"):
            await handle


@each_form
async def test_a_task_that_fails(form: str) -> None:  # TSK-7, TCR-3, TEX-3
    error = ProtocolError(-32050, "The API broke.", {"after": 3})
    shown: dict[str, Any] = {
        "requestor": {"error": "The API broke."},
        "receiver": {"statusMessage": "The API broke."},
        "extension": {"error": {"code": -32050, "message": "The API broke.", "data": {"after": 3}}},
    }[form]
    server = FarTasks(form, {"status": "failed", **shown}, tasks__result=error)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        with pytest.raises(ProtocolError, match=r"The API broke\.") as raised:
            await handle
        if form != "requestor":  # which does not tell more
            assert (raised.value.code, raised.value.data) == (-32050, {"after": 3})
        assert raised.value.received  # a handler that awaits the task has failed, and does not refuse its own request
        assert handle.status is CallState.FAILED


@each_form
@pytest.mark.parametrize("code", [-32602, -32603])
async def test_its_own_error_is_not_taken_for_one_of_the_question_about_it(form: str, code: int) -> None:  # TSK-7
    shown: dict[str, Any] = {"error": {"code": code, "message": "It broke."}} if form == "extension" else {}
    server = FarTasks(form, {"status": "failed", **shown}, tasks__result=ProtocolError(code, "It broke."))
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        with pytest.raises(ProtocolError) as raised:
            await handle
        assert type(raised.value) is ProtocolError
        assert handle.status is CallState.FAILED


@each_form
async def test_a_fault_of_the_moment_does_not_end_it(form: str) -> None:  # TSK-8
    busy = ProtocolError(-32603, "ask less often")
    server = FarTasks(form, busy, busy, "working", busy, "completed")
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "done"


@pytest.mark.parametrize("form", ["requestor", "receiver"])
async def test_a_result_that_cannot_be_had_at_the_moment_is_asked_for_again(form: str) -> None:  # TSK-3, TCR-3
    answers = [ProtocolError(-32603, "ask less often"), ProtocolError(-32603, "ask less often"), TEXT]
    server = FarTasks(form, "completed", tasks__result=lambda _: answers.pop(0))
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "done"


@each_form
@pytest.mark.parametrize(
    "state",
    [{"taskId": "another"}, {"status": "asleep"}, {"status": 7}, {"taskId": None}],
    ids=["another id", "no status", "a number", "no id"],
)
async def test_a_broken_state_is_an_error(form: str, state: dict[str, Any]) -> None:
    server = FarTasks(form, "working", tasks__result=NEVER)
    server.answers["tasks/get"] = lambda _: {**server.state("working"), **state}
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        with pytest.raises(InvalidResult, match="tasks/get"):
            await handle


async def test_a_completed_task_of_the_extension_without_a_result_is_an_error() -> None:  # TEX-2
    server = FarTasks("extension", {"status": "completed", "result": None})
    async with using(server) as client:
        with pytest.raises(InvalidResult, match="no result"):
            await client.begin_call("work", task=True)


@each_form
async def test_deleting(form: str) -> None:  # TSK-12
    server = FarTasks(form, "completed")
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await handle
        if form != "requestor":
            with pytest.raises(UnsupportedFeature, match="cannot be deleted"):
                await handle.delete()
            return
        await handle.delete()
        (request,) = server.requests("tasks/delete")
        assert request.params is not None
        assert request.params["taskId"] == server.id
        assert request.params["_meta"] == server.related


@each_form
async def test_a_call_that_is_no_task_leaves_nothing_to_delete(form: str) -> None:  # TSK-12
    server = FarTasks(form, "completed", tools__call={**TEXT, "resultType": "complete"})
    async with using(server) as client:
        handle = client.begin_call("work")
        await handle
        assert handle.task is None
        with pytest.raises(UnsupportedFeature, match="is no task"):
            await handle.delete()


async def test_a_change_that_is_told_is_looked_at_at_once() -> None:  # TCR-4
    server = FarTasks("receiver", "working", poll=50_000, tasks__result=NEVER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await until(lambda: handle.task)
        began = asyncio.get_running_loop().time()
        server.states, server.answers["tasks/result"] = ["completed"], TEXT
        await server.tell("notifications/tasks/status", server.state("completed"))
        assert (await handle).text == "done"
        assert asyncio.get_running_loop().time() - began < 5


@pytest.mark.parametrize("form", ["receiver", "extension"])
async def test_a_server_may_answer_at_once_instead(form: str) -> None:  # TEX-1
    server = FarTasks(form, "working", tools__call={**TEXT, "resultType": "complete"})
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        assert (await handle).text == "done"
        assert handle.task is None
        assert not server.asked_at


@each_form
async def test_without_task_nothing_is_said_of_tasks(form: str) -> None:  # TSK-12, TCR-1, TEX-1
    server = FarTasks(form, "working", tools__call={**TEXT, "resultType": "complete"})
    async with using(server) as client:
        await client.call_tool("work")
    (request,) = server.requests("tools/call")
    assert "task" not in str(request.params)


async def test_a_task_that_nobody_asked_for_is_an_error() -> None:  # TEX-1
    server = FarTasks("extension", "working", prompts__get={"resultType": "task", "taskId": "a", "status": "working"})
    async with using(server) as client:
        with pytest.raises(InvalidResult, match="task"):
            await client.call_tool("work")
        with pytest.raises(InvalidResult, match="task"):
            await client.get_prompt("any")


@each_form
async def test_a_tool_that_must_be_a_task_becomes_one_without_being_asked(form: str) -> None:  # TCR-1, TEX-1
    server = FarTasks(form, "completed", support="required")
    if form == "extension":
        missing = {"requiredCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
        refusals: list[Any] = [ProtocolError(-32021, "Missing required client capability", missing)]
        server.answers["tools/call"] = lambda request: refusals.pop() if refusals else server.call(request)
    async with using(server) as client:
        if form == "receiver":
            await client.list_tools()
        if form != "requestor":
            assert (await client.call_tool("work")).text == "done"


@pytest.mark.parametrize(("form", "support"), [("receiver", "forbidden")])
async def test_a_server_without_tasks_is_told_from_others(form: str, support: str) -> None:  # TCR-1
    # The seed's form may be tried with any server; so here, too, the call is made, and answered in the end.
    server = FarTasks(form, "working", support=support, tools__call=TEXT, tasks__get=ProtocolError(-32601, "unknown"))
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        assert (await handle).text == "done"
    (request,) = server.requests("tools/call")
    assert "task" not in (request.params or {})


async def test_a_modern_server_without_tasks_is_told_from_others() -> None:  # TEX-1
    server = FarTasks("extension", "working")
    server.answers["server/discover"] = {**server.answers["server/discover"], "capabilities": {"tools": {}}}
    async with using(server) as client:
        with pytest.raises(UnsupportedFeature, match="no tasks"):
            await client.begin_call("work", task=True)
        assert not server.requests("tools/call")
        assert await client.list_tasks() == []
