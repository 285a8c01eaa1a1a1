"""The seed's form at our client: what comes first, what is lost, and what is sent again (TSK-1, TSK-11)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import OutcomeUnknown, ProtocolError, ResumeRefused
from mcp_notebook.jsonrpc import Request, Response
from mcp_notebook.protocol.calls import CallState

from ..scripted import NEVER, until
from ..virtual_time import virtual_time as anyio_backend  # noqa: F401
from .far_tasks import FORMS, TEXT, FarTasks, in_time, using

pytestmark = pytest.mark.anyio
NOT_FOUND = ProtocolError(-32602, "Failed to retrieve task: Task not found")
OTHER = {"content": [{"type": "text", "text": "the plain answer"}]}


def task_of(request: Request) -> str:
    """The task's id in a request that shall become one."""
    return (request.params or {})["_meta"]["modelcontextprotocol.io/task"]["taskId"]


async def test_the_plain_answer_first() -> None:  # TSK-1
    server = FarTasks("requestor", "working", announced=False, tools__call=OTHER)
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "the plain answer"
        assert not server.asked_at


async def test_the_plain_answer_while_one_asks() -> None:  # TSK-1
    server = FarTasks("requestor", "working")
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await in_time(lambda: len(server.asked_at) > 1)
        await server.send(Response(server.requests("tools/call")[0].id, OTHER))
        assert (await handle).text == "the plain answer"
        assert not server.requests("tasks/result")


async def test_the_task_first() -> None:  # TSK-1
    server = FarTasks("requestor", "completed")
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "done"


async def test_a_plain_answer_beside_the_fetched_result() -> None:  # TSK-1
    server = FarTasks("requestor", "completed", tasks__result=NEVER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await until(lambda: server.requests("tasks/result"))
        await server.send(Response(server.requests("tools/call")[0].id, OTHER))
        assert (await handle).text == "the plain answer"


async def test_the_announcement_after_the_answer_changes_nothing() -> None:  # TSK-1
    server = FarTasks("requestor", "working", announced=False, tools__call=OTHER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await handle
        server.id = task_of(server.requests("tools/call")[0])
        await server.announce()
        await client.ping()
        assert handle.status is CallState.COMPLETED
        assert not server.asked_at


async def test_an_announcement_that_is_lost() -> None:  # TSK-1
    server = FarTasks("requestor", "working", "completed", announced=False)
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "done"
        (request,) = server.requests("tools/call")
        assert server.id == task_of(request)


async def test_where_there_may_be_no_task_one_asks_ever_less_often() -> None:  # TSK-1
    server = FarTasks("requestor", NOT_FOUND, announced=False)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await in_time(lambda: len(server.asked_at) > 7)
        waits = [after - before for before, after in zip(server.asked_at, server.asked_at[1:], strict=False)]
        assert waits[:7] == pytest.approx([1, 2, 4, 8, 16, 30, 30], abs=0.1)
        await server.send(Response(server.requests("tools/call")[0].id, OTHER))
        assert (await handle).text == "the plain answer"
        assert len(server.requests("tools/call")) == 1


async def test_a_server_that_knows_no_tasks_is_asked_about_them_once() -> None:  # TSK-1
    server = FarTasks("requestor", ProtocolError(-32601, "Method not found"), announced=False)
    server.answers["tools/call"] = lambda request: asyncio.sleep(500, OTHER)
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "the plain answer"
        assert len(server.asked_at) == 1


async def test_a_request_that_was_lost_is_sent_again_under_the_same_id() -> None:  # TSK-11
    server = FarTasks("requestor", NOT_FOUND, "completed")

    async def lose(request: Request) -> Any:
        server.answers["tools/call"] = server.call
        await server.hang_up()
        return NEVER

    server.answers["tools/call"] = lose
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "done"
        first, second = server.requests("tools/call")
        assert task_of(first) == task_of(second)
        assert first.id != second.id


async def test_one_that_was_not_lost_is_not_sent_again() -> None:  # TSK-11
    server = FarTasks("requestor", "working", "completed", announced=False)

    async def take(request: Request) -> Any:
        await server.call(request)
        await server.hang_up()
        return NEVER

    server.answers["tools/call"] = take
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "done"
        assert len(server.requests("tools/call")) == 1


async def test_a_task_that_already_exists_was_created_and_is_followed() -> None:  # TSK-11
    server = FarTasks("requestor", NOT_FOUND, "working", "completed", announced=False)

    async def take(request: Request) -> Any:
        await server.call(request)
        server.answers["tools/call"] = ProtocolError(-32602, f"Task ID already exists: {server.id}")
        await server.hang_up()
        return NEVER

    server.answers["tools/call"] = take
    async with using(server) as client:
        assert (await client.begin_call("work", task=True)).text == "done"
        assert len(server.requests("tools/call")) == 2


@pytest.mark.parametrize("form", FORMS)
async def test_a_connection_that_is_lost_meanwhile(form: str) -> None:  # TSK-11, TCR-2, TEX-2
    server = FarTasks(form, "working", tasks__result=NEVER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        for _ in range(3):
            asked = len(server.asked_at)
            await in_time(lambda asked=asked: len(server.asked_at) > asked)
            await server.hang_up()
        server.states, server.answers["tasks/result"] = ["completed"], TEXT
        assert (await handle).text == "done"
        assert len(server.requests("tools/call")) == 1


@pytest.mark.parametrize("form", FORMS)
async def test_a_task_that_the_server_has_forgotten_meanwhile(form: str) -> None:  # TSK-7
    server = FarTasks(form, "working", NOT_FOUND, tasks__result=NEVER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        with pytest.raises(ResumeRefused, match="no longer has the task"):
            await handle
        assert handle.status is CallState.EXPIRED


@pytest.mark.parametrize("form", FORMS)
async def test_a_server_that_cannot_be_reached_any_more_leaves_the_outcome_unknown(form: str) -> None:  # TSK-11
    server = FarTasks(form, "working", tasks__result=NEVER)
    async with using(server) as client:
        handle = client.begin_call("work", task=True)
        await until(lambda: server.asked_at)

        async def hang_up(request: Request) -> Any:
            await server.hang_up()
            return NEVER

        server.answers["tasks/get"] = hang_up
        with pytest.raises(OutcomeUnknown, match="could not be reached"):
            await handle
        assert handle.status is CallState.UNKNOWN
        del server.answers["tasks/get"]
        server.answers["tasks/get"] = lambda _: server.state("completed")
        server.answers["tasks/result"] = TEXT
        assert (await handle.resume()).text == "done"
        assert len(server.requests("tools/call")) == 1


async def test_a_request_that_is_refused_when_it_is_sent_again_has_failed() -> None:  # TSK-11
    server = FarTasks("requestor", NOT_FOUND, announced=False)

    async def lose(request: Request) -> Any:
        server.answers["tools/call"] = ProtocolError(-32602, "Unknown tool: work")
        await server.hang_up()
        return NEVER

    server.answers["tools/call"] = lose
    async with using(server) as client:
        with pytest.raises(ProtocolError, match="Unknown tool"):
            await client.begin_call("work", task=True)
        assert len(server.requests("tools/call")) == 2
