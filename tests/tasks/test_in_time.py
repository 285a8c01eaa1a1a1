"""What takes its time at our server, on a clock that jumps."""

from __future__ import annotations

import asyncio

import pytest

from mcp_notebook import Context, Limits

from ..virtual_time import virtual_time as anyio_backend  # noqa: F401
from .lines import MODERN, MemoryLine
from .players import ADA, Row, Working

pytestmark = pytest.mark.anyio


async def test_a_late_task_outlives_what_was_parked_for_it() -> None:  # TEX-1
    server = Working(limits=Limits(question=60))

    @server.tool(task="optional", late_task=True)
    async def book(ctx: Context) -> str:
        """Asks, then goes on as a task."""
        name = await ctx.elicit("Name?", str, key="name")
        await ctx.become_task()
        await asyncio.sleep(600)
        return f"booked for {name.data}"

    player = await Row("extension", MODERN, MemoryLine).player(server)
    asked = await player.line.result("tools/call", name="book", arguments={})
    answers = {"inputResponses": {"name": ADA}, "requestState": asked["requestState"]}
    created = await player.line.result("tools/call", name="book", arguments={}, **answers)
    await asyncio.sleep(300)
    assert await player.status(created["taskId"]) == "working"
    await asyncio.sleep(400)
    assert await player.text(created["taskId"]) == "booked for Ada"


@pytest.mark.parametrize(
    ("form", "revision"), [("requestor", "2025-06-18"), ("receiver", "2025-11-25"), ("extension", MODERN)]
)
async def test_a_question_is_not_waited_for_without_end(form: str, revision: str) -> None:  # TSK-5
    server = Working(limits=Limits(question=60, task_keep=600))
    player = await Row(form, revision, MemoryLine).player(server)
    id = await player.begin(ask=1, wait=False)
    await player.until(id, "input_required")
    await asyncio.sleep(500)
    assert await player.status(id) == "input_required"  # its requestor may be away
    await asyncio.sleep(200)
    result = await player.result(id)
    assert result["isError"] is True
    assert "Nobody answered" in result["content"][0]["text"]
