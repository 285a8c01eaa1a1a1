"""Tasks of other requests than calls of tools, at our server and at our client (TSK-10, TCR-1)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import CallCancelled, Context, ProtocolError, Server, connect
from mcp_notebook.types import CreateMessageParams, ElicitParams

from ..scripted import Scripted, until
from .players import NEW_RELATED, RELATED, TASK, Row, Working, rows_of

pytestmark = pytest.mark.anyio
ELICIT = {"message": "Name?", "requestedSchema": {"type": "object", "properties": {"value": {"type": "string"}}}}
SAMPLE = {"maxTokens": 9, "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]}


class Library(Working):
    """A server whose resources and prompts take their time."""

    def __init__(self) -> None:
        super().__init__()

        @self.resource("test://book")
        async def book(ctx: Context) -> str:
            await ctx.info("looking")
            await self.free.wait()
            return "a book"

        @self.prompt
        async def poem(topic: str) -> str:
            await self.free.wait()
            return f"a poem on {topic}"


REQUESTS: dict[str, tuple[dict[str, Any], Any]] = {
    "resources/read": (
        {"uri": "test://book"},
        lambda result: result["contents"][0]["text"] == "a book",
    ),
    "prompts/get": (
        {"name": "poem", "arguments": {"topic": "rain"}},
        lambda result: result["messages"][0]["content"]["text"] == "a poem on rain",
    ),
}
each_request = pytest.mark.parametrize("method", REQUESTS)


@rows_of("requestor")
@each_request
async def test_reading_and_prompting_can_be_tasks_in_the_seeds_form(row: Row, method: str) -> None:  # TSK-10
    params, right = REQUESTS[method]
    server = Library()
    player = await row.player(server)
    id = await player.begin_with(method, params)
    assert (await player.until(id, "working"))["status"] == "working"
    server.free.set()
    assert right(await player.result(id))
    assert right((await player.line.answer(player.requests[id]))["result"])


@rows_of("requestor")
async def test_what_cannot_be_read_fails_as_a_task_too(row: Row) -> None:  # TSK-7, TSK-10
    player = await row.player(Library())
    id = await player.begin_with("resources/read", {"uri": "test://none"})
    state = await player.until(id)
    assert state["status"] == "failed"
    assert "test://none" in state["error"]


@rows_of("receiver", "extension")
@each_request
async def test_in_the_other_forms_only_tools_are_called_as_tasks(row: Row, method: str) -> None:  # TCR-1, TEX-1
    params, right = REQUESTS[method]
    server = Library()
    server.free.set()
    player = await row.player(server)
    more: dict[str, Any] = {"task": {}} if row.form == "receiver" else {}
    assert right(await player.line.result(method, **params, **more))


@rows_of("requestor")
async def test_what_cannot_become_a_task_is_answered_as_without_one(row: Row) -> None:  # TSK-1
    player = await row.player(Library())
    assert (await player.line.result("tools/list", _meta={TASK: {"taskId": "mine"}}))["tools"]
    assert (await player.line.error("tasks/get", taskId="mine"))["code"] == -32602


# Our client carries out


class Thinking:
    """What answers for a client, once the test lets it."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.began = 0
        self.cancelled = 0

    async def elicit(self, params: ElicitParams) -> dict[str, str]:
        await self._think()
        return {"value": "Ada"}

    async def sample(self, params: CreateMessageParams) -> str:
        await self._think()
        return "Hello."

    async def _think(self) -> None:
        self.began += 1
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


QUESTIONS = {"elicitation/create": ELICIT, "sampling/createMessage": SAMPLE}
each_question = pytest.mark.parametrize("method", QUESTIONS)


def right(method: str, result: dict[str, Any]) -> bool:
    """Whether that is what `Thinking` answers."""
    return result["content"]["text" if method.startswith("sampling") else "value"] in ("Hello.", "Ada")


@each_question
async def test_a_server_may_ask_for_a_task_of_the_handshakes_form(method: str) -> None:  # TSK-10, TCR-1, TCR-2, TCR-3
    server, thinking = Scripted(), Thinking()
    async with connect(server, revision="2025-11-25", elicitation=thinking.elicit, sampling=thinking.sample):
        task = (await server.ask(method, {**QUESTIONS[method], "task": {"ttl": 5000}}))["task"]
        assert (task["status"], task["ttl"]) == ("working", 5000)
        about = {"taskId": task["taskId"]}
        assert (await server.ask("tasks/get", about))["status"] == "working"
        waiting = await server.begin("tasks/result", about)
        thinking.free.set()
        result = await waiting
        assert right(method, result)
        assert result["_meta"] == {NEW_RELATED: about}
        assert (await server.ask("tasks/get", about))["status"] == "completed"
        assert [one["taskId"] for one in (await server.ask("tasks/list"))["tasks"]] == [task["taskId"]]


@each_question
async def test_a_server_may_ask_for_a_task_of_the_seeds_form(method: str) -> None:  # TSK-1, TSK-2, TSK-10
    server, thinking = Scripted(revision="2025-06-18"), Thinking()
    async with connect(server, revision="2025-06-18", elicitation=thinking.elicit, sampling=thinking.sample):
        answer = await server.begin(method, {**QUESTIONS[method], "_meta": {TASK: {"taskId": "mine"}}})
        (created,) = await until(lambda: server.notifications("notifications/tasks/created"))
        assert created == {"_meta": {RELATED: {"taskId": "mine"}}}
        assert (await server.ask("tasks/get", {"taskId": "mine"}))["status"] in ("submitted", "working")
        thinking.free.set()
        assert right(method, await answer)
        assert right(method, await server.ask("tasks/result", {"taskId": "mine"}))
        await server.ask("tasks/delete", {"taskId": "mine"})
        with pytest.raises(ProtocolError, match="Task not found"):
            await server.ask("tasks/get", {"taskId": "mine"})


async def test_a_task_at_the_client_can_be_cancelled() -> None:  # TCR-4
    server, thinking = Scripted(), Thinking()
    async with connect(server, revision="2025-11-25", elicitation=thinking.elicit):
        task = (await server.ask("elicitation/create", {**ELICIT, "task": {}}))["task"]
        await until(lambda: thinking.began)
        assert (await server.ask("tasks/cancel", {"taskId": task["taskId"]}))["status"] == "cancelled"
        await until(lambda: thinking.cancelled)
        with pytest.raises(ProtocolError, match="already in terminal status"):
            await server.ask("tasks/cancel", {"taskId": task["taskId"]})


async def test_a_client_that_answers_nothing_declares_and_carries_out_no_tasks() -> None:  # TCR-1
    server = Scripted()
    async with connect(server, revision="2025-11-25"):
        (request,) = server.requests("initialize")
        assert "tasks" not in (request.params or {})["capabilities"]
        with pytest.raises(ProtocolError) as raised:
            await server.ask("elicitation/create", {**ELICIT, "task": {}})
        assert raised.value.code == -32601


async def test_a_client_declares_just_what_it_carries_out() -> None:  # TCR-1
    server = Scripted()
    async with connect(server, revision="2025-11-25", sampling=Thinking().sample):
        (request,) = server.requests("initialize")
        tasks = (request.params or {})["capabilities"]["tasks"]
        assert tasks == {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}}


# Both ours


class Asking(Server):
    """A server that asks for tasks."""

    def __init__(self) -> None:
        super().__init__("asking")

        @self.tool(task="optional")
        async def ask(ctx: Context) -> str:
            """Asks the person, and the model, for tasks."""
            name = await ctx.elicit("Name?", str, as_task=True)
            text = await ctx.sample("Hi", as_task=True)
            return f"{name.data}: {text.content.text}"  # type: ignore[union-attr]


@pytest.mark.parametrize("task", [False, True], ids=["call", "task"])
@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])
async def test_our_server_asks_our_client_for_tasks_where_there_are_such(revision: str, task: bool) -> None:  # TSK-10
    thinking = Thinking()
    thinking.free.set()
    options: dict[str, Any] = {"elicitation": thinking.elicit, "sampling": thinking.sample}
    async with connect(Asking(), revision=revision, **options) as client:
        assert (await client.begin_call("ask", task=task)).text == "Ada: Hello."


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_a_call_that_is_cancelled_cancels_what_it_asked_for(revision: str) -> None:  # TSK-6, TSK-10, TCR-4
    thinking = Thinking()
    async with connect(Asking(), revision=revision, elicitation=thinking.elicit, sampling=thinking.sample) as client:
        handle = client.begin_call("ask", task=True)
        await until(lambda: thinking.began)
        handle.cancel()
        with pytest.raises(CallCancelled):
            await handle
        await until(lambda: thinking.cancelled)
