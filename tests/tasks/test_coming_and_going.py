"""A task goes on while its requestor is away; what it has to say goes wherever the requestor is."""

from __future__ import annotations

from typing import Any

import pytest

from ..scripted import until
from .players import Player, Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio
PUSHED = ("notifications/progress", "notifications/message")


def said(player: Player) -> list[Any]:
    """The progress and the log lines that came, in order."""
    messages = [one for one in player.line.heard if one.get("method") in PUSHED]
    return [one["params"].get("progress", one["params"].get("data")) for one in messages]


@rows_of("requestor", "receiver")
async def test_progress_and_log_come_once_each_and_in_order(row: Row) -> None:  # TSK-2, TCR-4
    server = Working()
    player = await row.player(server)
    id = await player.begin()
    await player.line.told("notifications/message")
    assert said(player) == [1, "one"]
    server.free.set()
    await player.result(id)
    assert said(player) == [1, "one", 2, "two"]
    for one in player.line.heard:
        if one.get("method") in PUSHED:
            assert one["params"]["_meta"][player.related] == {"taskId": id}
    tokens = {one["progressToken"] for one in player.line.so_far("notifications/progress")}
    assert tokens == {"token-0"}  # the request's own, for as long as the task takes


@rows_of("extension")
async def test_progress_is_told_in_words(row: Row) -> None:  # TEX-2
    server = Working()
    player = await row.player(server)
    id = await player.begin()
    await until(lambda: server.runs["begun"])
    assert (await player.get(id))["statusMessage"] == "1 of 3: begun"
    assert said(player) == []


@each_row
async def test_it_goes_on_without_its_requestor(row: Row) -> None:  # TSK-6, TSK-11
    server = Working()
    first = await row.player(server, principal="ada")
    id = await first.begin()
    await until(lambda: server.runs["begun"])
    await first.line.close()
    server.free.set()
    await until(lambda: server.runs["done"])
    second = await row.player(server, principal="ada")
    second.requests = first.requests
    assert await second.text(id) == "done"
    assert not server.runs["cancelled"]


@rows_of("requestor", "receiver")
async def test_what_is_said_after_a_drop_comes_where_the_requestor_asks(row: Row) -> None:
    server = Working()
    first = await row.player(server, principal="ada")
    id = await first.begin()
    await first.line.told("notifications/message")
    await first.line.close()
    second = await row.player(server, principal="ada")
    second.requests = first.requests
    await second.get(id)
    server.free.set()
    await second.result(id)
    await second.line.told("notifications/message")
    assert said(first) == [1, "one"]
    assert said(second) == [2, "two"]


@rows_of("requestor")
async def test_the_requests_own_answer_comes_too(row: Row) -> None:  # TSK-1, TSK-2
    server = Working()
    player = await row.player(server)
    id = await player.begin()
    server.free.set()
    result = (await player.line.answer(player.requests[id]))["result"]
    assert result["content"][0]["text"] == "done"
    assert result["_meta"][player.related] == {"taskId": id}
    fetched = await player.line.result("tasks/result", taskId=id)
    assert fetched == result


@rows_of("requestor")
async def test_everything_of_a_task_names_it(row: Row) -> None:  # TSK-2
    player = await row.player(Working())
    id = await player.begin(ask=1, wait=False)
    await player.reply(id)
    await player.until(id, "completed")
    await player.line.result("tasks/result", taskId=id)
    await player.line.answer(player.requests[id])
    for message in player.line.heard:
        inside = message.get("params") or message.get("result") or {}
        if "protocolVersion" not in inside:
            assert inside["_meta"][player.related] == {"taskId": id}, message


@rows_of("receiver")
async def test_only_what_does_not_hold_the_id_names_it(row: Row) -> None:  # TCR-4
    player = await row.player(Working())
    id = await player.begin(ask=1, wait=False)
    await player.reply(id)
    for method in ("tasks/get", "tasks/list"):
        assert player.related not in (await player.line.result(method, taskId=id)).get("_meta", {})
    another = await player.begin()
    assert player.related not in (await player.line.result("tasks/cancel", taskId=another)).get("_meta", {})
    assert (await player.line.result("tasks/result", taskId=id))["_meta"][player.related] == {"taskId": id}
    question = player.line.so_far("elicitation/create")[0]
    assert question["_meta"][player.related] == {"taskId": id}


@rows_of("requestor")
async def test_tasks_tell_of_their_place_among_others(row: Row) -> None:  # TSK-16
    player = await row.player(Working())
    parent = await player.begin()
    task = {"taskId": "child", "parentTaskId": parent}
    await player.line.begin("tools/call", name="work", arguments={}, _meta={"modelcontextprotocol.io/task": task})
    await player.until("child", "working")
    assert (await player.get("child"))["parentTaskId"] == parent
    assert (await player.get(parent))["childTasks"] == [{"taskId": "child"}]
