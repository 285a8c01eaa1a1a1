"""Calls that become tasks in their middle, when their handler says so: what they ask before is asked in round trips."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_notebook import Context, Limits, connect

from ..scripted import until
from .lines import EXTENSION, MODERN
from .players import ADA, Player, Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio
extension_rows = rows_of("extension")


class Booking(Working):
    """A server with a tool that asks, then goes on as a task."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)

        @self.tool(task="optional", late_task=True)
        async def book(ctx: Context, ask: bool = True, again: bool = False, turn: bool = True) -> str:
            """Asks for a name, and books at length."""
            name = await ctx.elicit("Name?", str, key="name") if ask else None
            if turn:
                await ctx.become_task()
                await ctx.become_task()  # says nothing new
            self.runs["turned"] += 1
            if again:
                await ctx.elicit("Sure?", bool, key="name")
            try:
                await self.free.wait()
            finally:
                self.runs["ended"] += 1
            return f"booked for {name and name.data}"

        @self.tool(task="optional", late_task=True)
        def book_in_a_thread(ctx: Context) -> str:
            """The same, in a thread."""
            name: Any = ctx.elicit("Name?", str)
            _: Any = ctx.become_task()
            return f"booked for {name.data}"


async def asked(player: Player, **arguments: Any) -> dict[str, Any]:
    """The first answer to a call of `book`."""
    return await player.line.result("tools/call", name="book", arguments=arguments)


async def answered(player: Player, asked: dict[str, Any], tool: str = "book", **arguments: Any) -> dict[str, Any]:
    """The second, given what the first asked for."""
    given = dict.fromkeys(asked["inputRequests"], ADA)
    more = {"inputResponses": given, "requestState": asked["requestState"]}
    return await player.line.result("tools/call", name=tool, arguments=arguments, **more)


@extension_rows
async def test_what_is_asked_before_the_task_is_asked_in_round_trips(row: Row) -> None:  # TEX-1
    server = Booking()
    player = await row.player(server)
    first = await asked(player)
    assert first["resultType"] == "input_required"
    assert "taskId" not in first
    created = await answered(player, first)
    assert created["resultType"] == "task"
    assert created["status"] == "working"
    assert {"requestState", "inputRequests", "result"}.isdisjoint(created)
    server.free.set()
    assert await player.text(created["taskId"]) == "booked for Ada"


@extension_rows
async def test_what_is_asked_after_that_is_shown_in_the_task(row: Row) -> None:
    server = Booking()
    player = await row.player(server)
    server.free.set()
    created = await answered(player, await asked(player, again=True), again=True)
    state = await player.until(created["taskId"], "input_required")
    assert [one["params"]["message"] for one in state["inputRequests"].values()] == ["Sure?"]
    (key,) = state["inputRequests"]
    await player.reply(created["taskId"], {key: {"action": "accept", "content": {"value": True}}})
    assert await player.text(created["taskId"]) == "booked for Ada"


@extension_rows
async def test_without_a_question_it_is_a_task_when_the_handler_says_so(row: Row) -> None:
    server = Booking()
    player = await row.player(server)
    created = await asked(player, ask=False)
    assert created["resultType"] == "task"
    server.free.set()
    assert await player.text(created["taskId"]) == "booked for None"


@extension_rows
async def test_a_handler_that_does_not_say_so_answers_as_any_other(row: Row) -> None:
    server = Booking()
    server.free.set()
    result = await asked(await row.player(server), ask=False, turn=False)
    assert result["resultType"] == "complete"
    assert result["content"][0]["text"] == "booked for None"


@extension_rows
async def test_the_last_answers_sent_again_lead_to_the_same_task(row: Row) -> None:
    server = Booking()
    player = await row.player(server)
    first = await asked(player)
    created = await answered(player, first)
    assert (await answered(player, first))["taskId"] == created["taskId"]
    server.free.set()
    assert await player.text(created["taskId"]) == "booked for Ada"
    assert (await answered(player, first))["taskId"] == created["taskId"]
    assert server.runs["turned"] == 1


@extension_rows
async def test_it_can_be_cancelled_like_any_task(row: Row) -> None:
    server = Booking()
    player = await row.player(server)
    created = await answered(player, await asked(player))
    await until(lambda: server.runs["turned"])
    await player.cancel(created["taskId"])
    assert (await player.until(created["taskId"]))["status"] == "cancelled"
    await until(lambda: server.runs["ended"])


@extension_rows
async def test_where_no_more_tasks_may_be_at_work_the_handler_is_given_up(row: Row) -> None:  # TSK-8
    server = Booking(limits=Limits(tasks=1))
    player = await row.player(server)
    await player.begin()
    error = await player.line.error("tools/call", name="book", arguments={"ask": False})
    assert "Limits.tasks" in error["message"]
    await until(lambda: not server.parking._calls)
    assert not server.runs["turned"]


@extension_rows
async def test_a_client_that_knows_no_tasks_is_answered_in_the_end(row: Row) -> None:  # TEX-1
    server = Booking()
    player = await row.player(server)
    player.line.capabilities = {"elicitation": {"form": {}}}
    server.free.set()
    assert (await answered(player, await asked(player)))["content"][0]["text"] == "booked for Ada"


@extension_rows
async def test_a_handler_in_a_thread_can_say_so_too(row: Row) -> None:
    player = await row.player(Booking())
    first = await player.line.result("tools/call", name="book_in_a_thread", arguments={})
    created = await answered(player, first, "book_in_a_thread")
    assert created["resultType"] == "task"
    assert await player.text(created["taskId"]) == "booked for Ada"


@each_row
async def test_in_the_other_forms_a_task_begins_with_the_call(row: Row) -> None:  # TSK-2, TCR-2
    server = Booking()
    player = await row.player(server)
    if row.form != "extension":
        id = await player.begin("book", ask=False)
        await until(lambda: server.runs["turned"])
        server.free.set()
        assert await player.text(id) == "booked for None"


async def test_our_client_answers_and_then_follows_the_task() -> None:
    server = Booking()
    server.free.set()
    async with connect(server, revision=MODERN, elicitation=lambda asked: {"value": "Ada"}) as client:
        handle = client.begin_call("book", task=True)
        assert (await handle).text == "booked for Ada"
        assert handle.task is not None
        assert EXTENSION in (client.profile.server.extensions or {})


@pytest.mark.parametrize("task", ["forbidden", "optional"])
async def test_a_tool_that_could_never_say_so_is_refused_when_it_is_offered(task: Any) -> None:
    server = Booking()
    with pytest.raises(ValueError, match="late_task"):

        @server.tool(task=task, late_task=True)
        def never() -> str:
            """Takes no Context."""
            return ""
