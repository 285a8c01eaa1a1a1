"""What a task asks: each question answered once, wherever and however often it comes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import Context

from .players import ADA, Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio
EVE = {"action": "accept", "content": {"value": "Eve"}}
extension_rows = rows_of("extension")


@extension_rows
async def test_answers_to_what_nobody_asks_are_ignored(row: Row) -> None:  # TEX-2
    player = await row.player(Working())
    id = await player.begin(ask=1, wait=False)
    await player.until(id, "input_required")
    acknowledged = await player.line.result("tasks/update", taskId=id, inputResponses={"other": ADA})
    assert acknowledged == {"resultType": "complete"}
    assert await player.status(id) == "input_required"
    await player.line.result("tasks/update", taskId=id, inputResponses={"other": EVE, "name_1": ADA})
    assert await player.text(id) == "done and Ada"


@extension_rows
async def test_the_first_answer_counts(row: Row) -> None:  # TEX-2
    server = Working()
    player = await row.player(server)
    id = await player.begin(ask=1)
    await player.reply(id)
    await player.line.result("tasks/update", taskId=id, inputResponses={"name_1": EVE})
    server.free.set()
    assert await player.text(id) == "done and Ada"
    assert await player.line.result("tasks/update", taskId=id, inputResponses={"name_1": EVE})


@extension_rows
async def test_what_was_answered_is_no_longer_shown_at_once(row: Row) -> None:  # TEX-2
    player = await row.player(Working())
    id = await player.begin(ask=2)
    await player.until(id, "input_required")
    first = await player.line.begin("tasks/update", taskId=id, inputResponses={"name_1": ADA})
    second = await player.line.begin("tasks/get", taskId=id)
    await player.line.answer(first)
    assert list((await player.line.answer(second))["result"]["inputRequests"]) == ["name_2"]


@extension_rows
async def test_no_two_questions_of_a_task_have_the_same_key(row: Row) -> None:  # TEX-2
    server = Working()

    @server.tool(task="optional")
    async def insist(ctx: Context) -> list[str]:
        """Asks the same thing again and again."""
        first = [(await ctx.elicit("Sure?", str, key="sure")).data for _ in range(3)]
        return [str(one) for one in [*first, (await ctx.elicit("Name?", str)).data]]

    player = await row.player(server)
    id = await player.begin("insist")
    keys: list[str] = []
    for answer in "abcd":
        (key,) = (await player.until(id, "input_required"))["inputRequests"]
        keys.append(key)
        await player.reply(id, {key: {"action": "accept", "content": {"value": answer}}})
    assert len(set(keys)) == 4
    assert (await player.result(id))["structuredContent"] == {"result": ["a", "b", "c", "d"]}


@each_row
async def test_an_answer_that_does_not_fit_is_the_tools_error(row: Row) -> None:  # TSK-5
    player = await row.player(Working())
    id = await player.begin(ask=1, wait=False)
    wrong: dict[str, Any] = {"action": "accept", "content": {"value": {"a": 1}}}
    if row.form == "extension":  # where such answers are invalid parameters
        await player.reply(id, {"name_1": wrong})
        state = await player.until(id)
        assert (state["status"], state["error"]["code"]) == ("failed", -32602)
        return
    if row.form == "receiver":
        await player.line.begin("tasks/result", taskId=id)
    await player.respond(await player.line.asked(), wrong)
    assert (await player.result(id))["isError"] is True


@rows_of("requestor", "receiver")
async def test_a_client_may_answer_with_an_error(row: Row) -> None:  # TSK-5
    player = await row.player(Working())
    id = await player.begin(ask=1, wait=False)
    if row.form == "receiver":
        await player.line.begin("tasks/result", taskId=id)
    question = await player.line.asked()
    await player.line.send(
        {"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "User rejected the request"}}
    )
    result = await player.result(id)
    assert result["isError"] is True
    assert "User rejected" in result["content"][0]["text"]


@rows_of("requestor", "receiver")
async def test_a_question_of_a_task_that_is_cancelled_is_withdrawn(row: Row) -> None:  # TSK-6
    player = await row.player(Working())
    id = await player.begin(ask=1)
    if row.form == "receiver":
        await player.line.begin("tasks/result", taskId=id)
    question = await player.line.asked()
    await player.cancel(id)
    (told,) = await player.line.told("notifications/cancelled")
    assert told["requestId"] == question["id"]


@rows_of("receiver")
async def test_questions_come_only_while_the_result_is_asked_for(row: Row) -> None:  # TCR-3
    player = await row.player(Working())
    id = await player.begin(ask=1, wait=False)
    await player.until(id, "input_required")
    assert player.line.so_far("elicitation/create") == []
    waiting = await player.line.begin("tasks/result", taskId=id)
    await player.respond(await player.line.asked())
    result = (await player.line.answer(waiting))["result"]
    assert result["content"][0]["text"] == "done and Ada"
    assert result["_meta"][player.related] == {"taskId": id}


@rows_of("receiver")
async def test_whoever_asks_for_the_result_twice_is_asked_once_and_answered_twice(row: Row) -> None:  # TCR-3
    player = await row.player(Working())
    id = await player.begin(ask=1, wait=False)
    first = await player.line.begin("tasks/result", taskId=id)
    question = await player.line.asked()
    second = await player.line.begin("tasks/result", taskId=id)
    await player.respond(question)
    for waiting in (first, second):
        assert (await player.line.answer(waiting))["result"]["content"][0]["text"] == "done and Ada"
    assert len(player.line.so_far("elicitation/create")) == 1


@rows_of("receiver")
async def test_the_result_of_a_cancelled_task_is_an_error_also_for_who_waits_for_it(row: Row) -> None:  # TCR-3
    player = await row.player(Working())
    id = await player.begin()
    waiting = await player.line.begin("tasks/result", taskId=id)
    await asyncio.sleep(0)
    await player.cancel(id)
    expected = {"code": -32603, "message": "The task was cancelled by request."}
    assert (await player.line.answer(waiting))["error"] == expected
    assert await player.line.error("tasks/result", taskId=id) == expected
    assert (await player.get(id))["statusMessage"] == "The task was cancelled by request."


@rows_of("requestor", "receiver")
async def test_a_question_that_comes_again_after_a_drop_is_answered_there(row: Row) -> None:  # TSK-5, TCR-3
    server = Working()
    first = await row.player(server, principal="ada")
    id = await first.begin(ask=1, wait=False)
    if row.form == "receiver":
        await first.line.begin("tasks/result", taskId=id)
    question = await first.line.asked()
    await first.line.close()
    second = await row.player(server, principal="ada")
    second.requests = first.requests
    assert await second.status(id) == "input_required"
    if row.form == "receiver":
        await second.line.begin("tasks/result", taskId=id)
    again = await second.line.asked()
    assert (again["id"], again["params"]) == (question["id"], question["params"])
    await second.respond(again)
    assert await second.text(id) == "done and Ada"
    assert server.runs["begun"] == 1
