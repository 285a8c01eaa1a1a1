"""The examples of SEP-1686 at our client, byte for byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import CallHandle, Client, ProtocolError, ResumeRefused
from mcp_notebook.protocol.tasks import TaskStatus

from ..scripted import until
from ..wire.test_client_wire import FarEnd, at_work
from . import seed_examples as seed
from .seed_examples import said, unmarked, with_id

pytestmark = pytest.mark.anyio


class Conversation:
    """A call as a task, whose every message from the server the test writes."""

    def __init__(self, client: Client, wire: FarEnd, handle: CallHandle) -> None:
        self.client = client
        self.wire = wire
        self.handle = handle
        self.id = ""
        """The task's id, which the client made."""

    async def next(self, method: str) -> dict[str, Any]:
        """The next request, as the seed would have it: with the seed's id for the task."""
        data = await self.wire.bytes()
        message = unmarked(data.replace(self.id.encode(), seed.ID.encode()) if self.id else data)
        assert message["method"] == method, message
        return message

    def says(self, example: bytes, id: Any = None) -> None:
        """The server sends an example, in answer to a request, about the client's task."""
        data = example if id is None else with_id(example, id)
        self.wire.says(data.replace(seed.ID.encode(), self.id.encode()))


@contextlib.asynccontextmanager
async def conversing() -> AsyncIterator[Conversation]:
    """A call that was made, and whose request has come."""
    async with at_work("2025-06-18") as (client, wire):
        handle = client.begin_call("get_weather", {"city": "New York"}, task=True, keep=60)
        one = Conversation(client, wire, handle)
        request = await one.next("tools/call")
        task = request["params"]["_meta"].pop("modelcontextprotocol.io/task")
        one.id = task["taskId"]
        assert task == {"taskId": one.id, "keepAlive": 60_000}
        assert request["params"] == {"name": "get_weather", "arguments": {"city": "New York"}, "_meta": {}}
        try:
            yield one
        finally:
            handle.cancel()


def of(request: dict[str, Any], example: bytes) -> bool:
    """Whether a request says what the example does, under an id of its own."""
    return {**request, "id": None} == {**said(example), "id": None}


async def test_a_task_from_its_creation_to_its_result() -> None:  # TSK-1, TSK-2, TSK-3
    async with conversing() as one:
        one.says(seed.CREATED)
        get = await one.next("tasks/get")
        assert of(get, seed.GET)
        one.says(seed.GOT.replace(b"5000", b"20"), get["id"])
        again = await one.next("tasks/get")
        task = one.handle.task
        assert task is not None
        assert (task.status, task.keep, task.poll) == (TaskStatus.SUBMITTED, 30_000, 20)
        one.says(seed.GOT.replace(b"5000", b"20").replace(b"submitted", b"completed"), again["id"])
        result = await one.next("tasks/result")
        assert of(result, seed.RESULT)
        one.says(seed.RESULTED, result["id"])
        assert (await one.handle).text == seed.WEATHER


async def test_a_task_that_failed() -> None:  # TSK-7
    async with conversing() as one:
        one.says(seed.CREATED)
        one.says(seed.FAILED, (await one.next("tasks/get"))["id"])
        with pytest.raises(ProtocolError, match="API rate limit exceeded"):
            await one.handle


async def test_deleting() -> None:  # TSK-12
    async with conversing() as one:
        one.says(seed.CREATED)
        one.says(seed.GOT.replace(b"submitted", b"completed"), (await one.next("tasks/get"))["id"])
        one.says(seed.RESULTED, (await one.next("tasks/result"))["id"])
        await one.handle
        deleting = asyncio.ensure_future(one.handle.delete())
        request = await one.next("tasks/delete")
        assert of(request, seed.DELETE)
        one.says(seed.DELETED, request["id"])
        await deleting


@pytest.mark.parametrize("example", [seed.NOT_FOUND, seed.EXPIRED])
async def test_a_task_that_the_server_no_longer_has(example: bytes) -> None:  # TSK-7
    async with conversing() as one:
        one.says(seed.CREATED)
        one.says(seed.GOT.replace(b"5000", b"20"), (await one.next("tasks/get"))["id"])
        one.says(example, (await one.next("tasks/get"))["id"])
        with pytest.raises(ResumeRefused, match=json.loads(example)["error"]["message"].partition(": ")[2]):
            await asyncio.wait_for(one.handle, 10)


async def test_a_list_in_pages() -> None:  # TSK-3
    async with at_work("2025-06-18") as (client, wire):
        listing = asyncio.ensure_future(client.list_tasks())
        first = said(await wire.bytes())
        assert first["method"] == "tasks/list"
        assert "cursor" not in first.get("params", {})
        wire.says(with_id(seed.LISTED, first["id"]))
        second = said(await wire.bytes())
        assert second["params"]["cursor"] == "next-page-cursor"
        wire.says(with_id(b'{"jsonrpc":"2.0","id":0,"result":{"tasks":[]}}', second["id"]))
        tasks = await listing
        assert [(task.id, task.status, task.keep, task.poll) for task in tasks] == [
            (seed.ID, TaskStatus.WORKING, 30_000, 5000),
            (seed.SECOND, TaskStatus.COMPLETED, 60_000, None),
        ]


async def test_a_task_with_tasks_of_its_own() -> None:  # TSK-16
    children = '"childTasks":[{"taskId":"build-456","toolName":"run_build","arguments":{"a":1}}],"parentTaskId":"all",'
    async with conversing() as one:
        one.says(seed.CREATED)
        state = seed.GOT.replace(b'"status"', children.encode() + b'"status"')
        one.says(state, (await one.next("tasks/get"))["id"])
        task = await until(lambda: one.handle.task if one.handle.task and one.handle.task.children else None)
        assert task.parent == "all"
        assert task.children == [{"taskId": "build-456", "toolName": "run_build", "arguments": {"a": 1}}]


async def test_a_task_that_belongs_to_another_says_so() -> None:  # TSK-16
    async with at_work("2025-06-18") as (client, wire):
        handle = client.begin_call("run_build", task=True, parent="deploy-123")
        task = said(await wire.bytes())["params"]["_meta"]["modelcontextprotocol.io/task"]
        assert task == {"taskId": task["taskId"], "parentTaskId": "deploy-123"}
        handle.cancel()


async def test_an_id_that_is_taken_by_somebody_else_is_an_error() -> None:  # TSK-7
    async with at_work("2025-06-18") as (client, wire):
        handle = client.begin_call("get_weather", task=True)
        wire.says(with_id(seed.DUPLICATE, said(await wire.bytes())["id"]))
        with pytest.raises(ProtocolError, match="already exists"):
            await handle
