"""Questions of a task that its requestor does not fetch, or not at once; and those that something was said after."""

from __future__ import annotations

import asyncio

import pytest

from mcp_notebook import Context, Server

from ..scripted import until
from .lines import HttpLine
from .players import ADA, Player, Row, Working, rows_of

pytestmark = pytest.mark.anyio
QUESTION = "elicitation/create"


async def look_on(player: Player, id: str, times: int = 5) -> None:
    """Ask so often how a task stands that asks for input."""
    await player.until(id, "input_required")
    for _ in range(times):
        await player.get(id)


@rows_of("receiver")
async def test_who_only_looks_on_is_asked_where_it_hears_what_belongs_to_no_request(row: Row) -> None:  # TCR-3, SSE-5
    server = Working()
    player = await row.player(server)
    id = await player.begin(ask=1, wait=False)
    await player.until(id, "input_required")
    await look_on(player, id)
    await player.respond(await player.line.asked())
    assert (await player.until(id))["status"] == "completed"
    assert await player.text(id) == "done and Ada"
    assert len(player.line.so_far(QUESTION)) == 1


@rows_of("receiver")
async def test_who_fetches_the_result_after_all_is_not_asked_again(row: Row) -> None:  # TCR-3
    player = await row.player(Working())
    id = await player.begin(ask=1, wait=False)
    await look_on(player, id)
    question = await player.line.asked()
    fetching = await player.line.begin("tasks/result", taskId=id)
    await look_on(player, id)
    await player.respond(question)
    assert "result" in await player.line.answer(fetching)
    assert len(player.line.so_far(QUESTION)) == 1


@rows_of("receiver")
async def test_two_questions_that_are_not_fetched_are_asked_once_each(row: Row) -> None:
    player = await row.player(Working())
    id = await player.begin(ask=2, wait=False)
    await look_on(player, id)
    await player.respond(await player.line.asked(count=1))
    await look_on(player, id)
    await player.respond(await player.line.asked(count=2))
    assert await player.text(id) == "done and Ada and Ada"
    assert len(player.line.so_far(QUESTION)) == 2


async def test_where_nobody_hears_it_a_question_waits_until_it_is_fetched() -> None:  # TCR-3
    player = Player("receiver", await HttpLine.open(Working(), "2025-11-25"))
    await player.line.close()  # the GET stream with it
    id = await player.begin(ask=1, wait=False)
    await look_on(player, id)
    assert player.line.so_far(QUESTION) == []
    fetching = await player.line.begin("tasks/result", taskId=id)
    await player.respond(await player.line.asked())
    assert "result" in await player.line.answer(fetching)
    assert len(player.line.so_far(QUESTION)) == 1


def asking_and_going_on() -> Server:
    server = Server("asking")

    @server.tool(task="optional")
    async def work(ctx: Context) -> str:
        """Asks, and goes on meanwhile."""
        asking = asyncio.create_task(ctx.elicit("Name?", str))
        await asyncio.sleep(0)
        await ctx.progress(1)
        await ctx.info("went on")
        return f"done and {(await asking).data}"

    return server


@rows_of("receiver")
async def test_what_is_said_after_a_question_does_not_hide_it(row: Row) -> None:  # TCR-3, TSK-5
    player = await row.player(asking_and_going_on())
    id = await player.begin()
    await player.line.told("notifications/message")
    assert player.line.so_far(QUESTION) == []
    await player.reply(id)
    assert await player.text(id) == "done and Ada"


@rows_of("requestor", "receiver")
async def test_a_question_that_a_lost_connection_took_with_it_is_asked_on_the_next(row: Row) -> None:  # TSK-5, TSK-9
    server = Working()
    lost = await row.player(server, principal="Ada")
    id = await lost.begin(ask=1, wait=False)
    if row.form == "receiver":
        await lost.until(id, "input_required")
        await lost.line.begin("tasks/result", taskId=id)
    await lost.line.asked()
    await lost.line.close()
    next = await row.player(server, principal="Ada")
    next.requests |= lost.requests
    await look_on(next, id)
    question = await next.line.asked()
    await next.respond(question, ADA)
    await until(lambda: server.runs["done"] == 1)
    assert await next.text(id) == "done and Ada"
    assert len(next.line.so_far(QUESTION)) == 1
