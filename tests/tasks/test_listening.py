"""`notifications/tasks` through `subscriptions/listen`, and `notifications/tasks/status` unasked."""

from __future__ import annotations

from typing import Any

import pytest

from ..scripted import until
from .lines import EXTENSION
from .players import Player, Row, Working, rows_of

pytestmark = pytest.mark.anyio
extension_rows = rows_of("extension")
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


async def listen(player: Player, *ids: str) -> dict[str, Any]:
    """Listen to tasks; what the server agreed to tell of."""
    before = len(player.line.so_far(ACKNOWLEDGED))
    await player.line.begin("subscriptions/listen", notifications={"taskIds": list(ids)})
    return (await player.line.told(ACKNOWLEDGED, before + 1))[-1]["notifications"]


def statuses(player: Player) -> list[str]:
    """What was told of tasks so far, each status once."""
    told = [said["status"] for said in player.line.so_far("notifications/tasks")]
    return [status for number, status in enumerate(told) if told[number - 1 : number] != [status]]


@extension_rows
async def test_changes_are_told_to_whoever_listens(row: Row) -> None:  # TEX-3
    server = Working()
    player = await row.player(server)
    id = await player.begin(ask=1)
    assert await listen(player, id) == {"taskIds": [id]}
    await player.reply(id)
    server.free.set()
    await player.line.until(lambda said: said.get("params", {}).get("status") == "completed")
    assert statuses(player)[-3:] == ["input_required", "working", "completed"]
    told = player.line.so_far("notifications/tasks")[-1]
    subscription = told.pop("_meta")
    state = await player.get(id)
    assert told == {key: value for key, value in state.items() if key != "resultType"}  # just as `tasks/get` shows it
    assert told["result"]["content"][0]["text"] == "done and Ada"
    assert subscription == {"io.modelcontextprotocol/subscriptionId": 2}


@extension_rows
async def test_questions_are_told_as_well(row: Row) -> None:  # TEX-3
    player = await row.player(Working())
    id = await player.begin(ask=1)
    await listen(player, id)
    said = await player.line.until(lambda said: said.get("params", {}).get("status") == "input_required")
    assert list(said["params"]["inputRequests"]) == ["name_1"]


@extension_rows
async def test_one_that_has_ended_already_is_told_at_once(row: Row) -> None:  # TEX-3
    player = await row.player(Working())
    id = await player.begin(wait=False)
    await player.until(id)
    await listen(player, id)
    (told,) = await player.line.told("notifications/tasks")
    assert told["status"] == "completed"


@extension_rows
async def test_only_those_that_are_there_are_agreed_to(row: Row) -> None:  # TEX-3, TSK-9
    server = Working()
    ada, eve = await row.player(server, principal="ada"), await row.player(server, principal="eve")
    id = await ada.begin()
    assert await listen(ada, id, "no-such-task") == {"taskIds": [id]}
    assert await listen(eve, id) == {"taskIds": []}
    await ada.cancel(id)
    await ada.line.until(lambda said: said.get("params", {}).get("status") == "cancelled")
    assert eve.line.so_far("notifications/tasks") == []


@extension_rows
async def test_whoever_did_not_declare_the_extension_cannot_listen(row: Row) -> None:  # TEX-3
    player = await row.player(Working())
    id = await player.begin()
    player.line.capabilities = {}
    error = await player.line.error("subscriptions/listen", notifications={"taskIds": [id]})
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


@extension_rows
async def test_whoever_has_gone_is_forgotten(row: Row) -> None:  # TEX-3
    server = Working()
    player = await row.player(server)
    id = await player.begin()
    await listen(player, id)
    await player.line.close()
    await until(lambda: not server.task_listeners)


@extension_rows
async def test_nothing_is_told_unasked(row: Row) -> None:  # TEX-3
    player = await row.player(Working())
    await player.text(await player.begin(wait=False))
    assert player.line.so_far("notifications/tasks") == []


@rows_of("receiver")
async def test_a_change_of_status_is_told_unasked(row: Row) -> None:  # TCR-4
    player = await row.player(Working())
    id = await player.begin(wait=False)
    await player.text(id)
    said = await player.line.until(lambda said: said.get("params", {}).get("status") == "completed")
    assert said["method"] == "notifications/tasks/status"
    assert "_meta" not in said["params"]
    state = await player.get(id)
    assert said["params"] == state


@rows_of("requestor")
async def test_the_seeds_form_tells_only_that_there_is_a_task(row: Row) -> None:  # TSK-2
    player = await row.player(Working())
    id = await player.begin(wait=False)
    await player.text(id)
    assert player.line.so_far("notifications/tasks/created") == [{"_meta": {player.related: {"taskId": id}}}]
    assert not [said for said in player.line.heard if "tasks/status" in said.get("method", "")]
