"""Limits: how many tasks, how long they are kept, how often one may ask."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import Limits
from mcp_notebook.store import MemoryStore

from ..scripted import until
from .lines import MODERN, MemoryLine
from .players import Player, Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio
KEEP = {"requestor": "keepAlive", "receiver": "ttl", "extension": "ttlMs"}
POLL = {"requestor": "pollFrequency", "receiver": "pollInterval", "extension": "pollIntervalMs"}


async def refused(player: Player, id: str = "another") -> dict[str, Any]:
    """The error in answer to one more task."""
    meta = {"modelcontextprotocol.io/task": {"taskId": id}} if player.form == "requestor" else {}
    more: dict[str, Any] = {"task": {}} if player.form == "receiver" else {}
    return await player.line.error("tools/call", name="work", arguments={}, _meta=meta, **more)


@each_row
async def test_one_requestor_may_have_so_many_tasks_at_work(row: Row) -> None:  # TSK-8
    server = Working(limits=Limits(tasks=2))
    ada, bob = await row.player(server, principal="ada"), await row.player(server, principal="bob")
    first = await ada.begin()
    await ada.begin()
    error = await refused(ada)
    assert error["code"] == -32603
    assert "Limits.tasks" in error["message"]
    await bob.begin()  # others are not concerned
    await ada.cancel(first)
    await ada.until(first)
    await ada.begin()  # what has ended does not count


@each_row
async def test_how_long_it_is_kept_is_told_and_has_a_ceiling(row: Row) -> None:  # TSK-8, TCR-2
    player = await row.player(Working(limits=Limits(task_keep=7, task_keep_most=20)))
    assert (await player.get(await player.begin()))[KEEP[row.form]] == 7000
    if row.form != "extension":
        assert (await player.get(await player.begin(keep=9000)))[KEEP[row.form]] == 9000
        assert (await player.get(await player.begin(keep=10**9)))[KEEP[row.form]] == 20_000


@each_row
async def test_an_expired_task_is_gone_promptly(row: Row) -> None:  # TSK-8
    player = await row.player(Working(limits=Limits(task_keep=0.1)))
    id = await player.begin(wait=False)
    async with asyncio.timeout(10):
        while "result" in (answer := await player.line.ask("tasks/get", taskId=id)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert answer["error"] == {"code": -32602, "message": "Failed to retrieve task: Task not found"}
    if row.form != "extension":
        assert (await player.line.result("tasks/list"))["tasks"] == []


@rows_of("requestor")
async def test_while_it_is_at_work_its_time_does_not_begin(row: Row) -> None:  # TSK-8
    store = MemoryStore()
    server = Working(store=store)
    player = await row.player(server)
    id = await player.begin(keep=1)
    await asyncio.sleep(0.05)
    assert await player.status(id) == "working"
    server.free.set()
    answer = await player.line.answer(player.requests[id])
    assert answer["result"]["content"][0]["text"] == "done"
    await until(lambda: not store.total())


@rows_of("receiver", "extension")
async def test_one_whose_time_is_over_while_it_is_at_work_is_ended(row: Row) -> None:  # TCR-2, TEX-3
    server = Working(limits=Limits(task_keep=0.1))
    await (await row.player(server)).begin()
    await until(lambda: not len(server.tasks) and server.runs["cancelled"] == server.runs["begun"])
    assert not server.runs["done"]


@each_row
async def test_requests_about_tasks_have_a_rate(row: Row) -> None:  # TSK-8
    player = await row.player(Working(limits=Limits(task_rate=0.5)))
    id = await player.begin()
    answers = [await player.line.ask("tasks/get", taskId=id) for _ in range(6)]
    (error,) = {answer["error"]["message"] for answer in answers if "error" in answer}
    assert "requests about tasks a second" in error
    assert "result" in answers[0]
    assert (await refused(player))["code"] == -32603
    if row.form != "extension":
        assert (await player.line.error("tasks/list"))["code"] == -32603
        assert (await player.line.error("tasks/result", taskId=id))["code"] == -32603
        assert await player.line.result("tools/list")


@each_row
async def test_one_is_told_when_to_ask_again(row: Row) -> None:  # TSK-3, TSK-13
    player = await row.player(Working(limits=Limits(task_poll=0.5)))
    id = await player.begin()
    state = await player.get(id)
    assert 0 < state[POLL[row.form]] <= 500


async def test_with_very_many_tasks_one_is_told_to_ask_less_often() -> None:  # TSK-8
    server = Working(limits=Limits(task_rate=2))
    player = await Row("extension", MODERN, MemoryLine).player(server)
    ids = [await player.begin() for _ in range(8)]
    assert (await player.get(ids[0]))["pollIntervalMs"] >= 4000
