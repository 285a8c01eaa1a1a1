"""The life of a task at our server, in each form, over each transport."""

from __future__ import annotations

import pytest

from ..scripted import until
from .players import Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio
FIRST = {"requestor": ("submitted", "working"), "receiver": ("working",), "extension": ("working",)}


@each_row
async def test_a_task_goes_on_while_others_are_asked_and_its_result_is_there_in_the_end(row: Row) -> None:
    # TSK-1, TSK-3, TCR-2, TCR-3, TEX-1, TEX-2
    server = Working()
    player = await row.player(server)
    id = await player.begin()
    assert await player.status(id) in FIRST[row.form]  # TSK-4
    assert (await player.line.result("tools/list"))["tools"]
    server.free.set()
    assert await player.text(id) == "done"
    assert (await player.get(id))["status"] == "completed"
    assert server.runs["begun"] == 1


@each_row
async def test_its_result_can_be_fetched_as_often_as_one_likes(row: Row) -> None:  # TSK-3
    player = await row.player(Working())
    id = await player.begin(wait=False)
    assert [await player.text(id) for _ in range(3)] == ["done"] * 3


@each_row
async def test_a_question_moves_it_to_input_required_until_it_is_answered(row: Row) -> None:  # TSK-5, TCR-3, TEX-2
    server = Working()
    player = await row.player(server)
    id = await player.begin(ask=1)
    await player.reply(id)
    await player.until(id, "working")
    server.free.set()
    assert await player.text(id) == "done and Ada"


@each_row
async def test_two_questions_keep_it_waiting_until_both_are_answered(row: Row) -> None:  # TSK-5
    server = Working()
    player = await row.player(server)
    id = await player.begin(ask=2, wait=False)
    await player.reply(id, {})
    if row.form == "extension":
        keys = list((await player.get(id))["inputRequests"])
        await player.reply(id, {keys[0]: {"action": "decline"}})
        assert list((await player.until(id, "input_required"))["inputRequests"]) == keys[1:]
        await player.reply(id)
    else:
        first, second = await player.line.asked(count=1), await player.line.asked(count=2)
        await player.respond(second, {"action": "decline"})
        assert await player.status(id) == "input_required"
        await player.respond(first)
    assert "Ada" in await player.text(id)


@each_row
async def test_a_cancelled_task_stops_at_once_and_stays_cancelled(row: Row) -> None:  # TSK-6, TCR-4, TEX-2
    server = Working()
    player = await row.player(server)
    id = await player.begin()
    await until(lambda: server.runs["begun"])
    await player.cancel(id)
    state = await player.until(id)
    assert state["status"] == "cancelled"
    server.free.set()
    await until(lambda: server.runs["cancelled"])
    assert await player.status(id) == "cancelled"
    assert not server.runs["done"]


@each_row
async def test_a_task_that_asks_can_be_cancelled_and_its_questions_are_dropped(row: Row) -> None:  # TSK-6
    server = Working()
    player = await row.player(server)
    id = await player.begin(ask=1)
    state = await player.until(id, "input_required")
    await player.cancel(id)
    assert (await player.until(id))["status"] == "cancelled"
    if row.form == "extension":
        late = {key: {"action": "accept", "content": {"value": "Ada"}} for key in state["inputRequests"]}
        await player.line.result("tasks/update", taskId=id, inputResponses=late)
    assert await player.status(id) == "cancelled"
    await until(lambda: server.runs["cancelled"])


@rows_of("receiver")
async def test_a_task_that_has_ended_cannot_be_cancelled(row: Row) -> None:  # TCR-4
    player = await row.player(Working())
    id = await player.begin(wait=False)
    await player.text(id)
    error = await player.line.error("tasks/cancel", taskId=id)
    assert error == {"code": -32602, "message": "Cannot cancel task: already in terminal status 'completed'"}
    assert await player.status(id) == "completed"


@rows_of("requestor", "extension")
async def test_cancelling_a_task_that_has_ended_changes_nothing(row: Row) -> None:  # TSK-6, TEX-2
    player = await row.player(Working())
    id = await player.begin(wait=False)
    await player.until(id, "completed")
    await player.cancel(id)
    assert await player.text(id) == "done"


@each_row
async def test_a_tools_own_error_is_a_result(row: Row) -> None:  # TSK-7, TCR-3, TEX-3
    player = await row.player(Working())
    id = await player.begin(fail="tool", wait=False)
    state = await player.until(id)
    assert state["status"] == ("failed" if row.form == "receiver" else "completed")
    if row.form == "receiver":
        assert state["statusMessage"] == "The disk is full."
    result = await player.result(id)
    assert result["isError"] is True
    assert result["content"][0]["text"] == "The disk is full."


@each_row
async def test_an_error_of_the_protocol_fails_the_task(row: Row) -> None:  # TSK-7, TCR-3, TEX-3
    player = await row.player(Working())
    id = await player.begin(fail="protocol", wait=False)
    state = await player.until(id)
    assert state["status"] == "failed"
    error = {"code": -32050, "message": "The API broke.", "data": {"after": 3}}
    if row.form == "requestor":
        assert state["error"] == "The API broke."
        assert (await player.line.answer(player.requests[id]))["error"] == error
        assert (await player.line.error("tasks/result", taskId=id))["code"] == -32602
    elif row.form == "receiver":
        assert state["statusMessage"] == "The API broke."
        assert await player.line.error("tasks/result", taskId=id) == error
    else:
        assert state["error"] == error
        assert state["statusMessage"] == "The API broke."
        assert "result" not in state
