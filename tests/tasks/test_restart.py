"""A server that starts again with the same store: what was at work has failed, what had ended is still there."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import Limits
from mcp_notebook.store import open_store

from ..scripted import until
from .players import Player, Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio
RESTARTED = "The server was restarted while this task was at work."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The store's file."""
    return tmp_path / "tasks"


def started(file: Path, **how: Any) -> Working:
    """A server that begins, in a process of its own as far as the store can tell."""
    return Working(store=open_store(file), **how)


async def again(row: Row, file: Path, before: Player, **how: Any) -> Player:
    """The client of the server that begins in the place of the one that ended without a word."""
    player = await row.player(started(file, **how), principal="ada")
    player.requests = {**before.requests}
    return player


@each_row
async def test_outcomes_are_still_there(row: Row, file: Path) -> None:
    first = await row.player(started(file), principal="ada")
    id, error = await first.begin(wait=False), await first.begin(fail="protocol", wait=False)
    states = [await first.until(id), await first.until(error)]
    second = await again(row, file, first)
    assert [await second.get(id), await second.get(error)] == states
    assert await second.text(id) == "done"
    if row.form == "receiver":
        assert (await second.line.error("tasks/result", taskId=error))["code"] == -32050


@each_row
async def test_what_was_at_work_has_failed_and_is_not_lost(row: Row, file: Path) -> None:
    first = await row.player(started(file), principal="ada")
    working, asking = await first.begin(), await first.begin(ask=1)
    await first.until(asking, "input_required")
    second = await again(row, file, first)
    for id in (working, asking):
        state = await second.get(id)
        assert state["status"] == "failed"
        if row.form == "requestor":
            assert state["error"] == RESTARTED
        elif row.form == "receiver":
            assert state["statusMessage"] == RESTARTED
            assert await second.line.error("tasks/result", taskId=id) == {"code": -32603, "message": RESTARTED}
        else:
            assert state["error"] == {"code": -32603, "message": RESTARTED}
            assert "inputRequests" not in state
    if row.form != "extension":
        listed = (await second.line.result("tasks/list"))["tasks"]
        assert [(task["taskId"], task["status"]) for task in listed] == [(working, "failed"), (asking, "failed")]


@each_row
async def test_a_cancelled_task_stays_cancelled(row: Row, file: Path) -> None:
    first = await row.player(started(file), principal="ada")
    id = await first.begin()
    await first.cancel(id)
    await first.until(id)
    assert await (await again(row, file, first)).status(id) == "cancelled"


@rows_of("requestor")
async def test_an_id_is_still_taken(row: Row, file: Path) -> None:  # TSK-11
    first = await row.player(started(file), principal="ada")
    await first.begin(id="mine", wait=False)
    await first.until("mine")
    second = await again(row, file, first)
    again_asked = {"name": "work", "arguments": {}, "_meta": {"modelcontextprotocol.io/task": {"taskId": "mine"}}}
    assert "already exists" in (await second.line.error("tools/call", **again_asked))["message"]


@each_row
async def test_what_has_failed_so_is_kept_for_its_time_and_no_longer(row: Row, file: Path) -> None:
    first = await row.player(started(file, limits=Limits(task_keep=0.1)), principal="ada")
    id = await first.begin()
    second = await again(row, file, first)
    async with asyncio.timeout(10):
        while "error" not in await second.line.ask("tasks/get", taskId=id):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@rows_of("extension")
async def test_it_is_noted(row: Row, file: Path, caplog: pytest.LogCaptureFixture) -> None:  # TSK-14
    first = await row.player(started(file), principal="ada")
    await first.begin()
    with caplog.at_level(logging.INFO, "mcp_notebook.audit"):
        await (await again(row, file, first)).line.ask("tasks/get", taskId="any")
    assert any("restarted" in record.getMessage() for record in caplog.records)


@rows_of("extension")
async def test_the_file_forgets_what_has_expired(row: Row, file: Path) -> None:  # TSK-8
    store = open_store(file)
    player = await row.player(Working(store=store, limits=Limits(task_keep=0.1)))
    await player.begin(wait=False)
    await until(lambda: not store.total())
