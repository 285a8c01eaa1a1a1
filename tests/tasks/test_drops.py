"""Our client with our server over HTTP, where connections are cut in the middle of a task: nothing is lost, nothing
comes twice, nothing is done twice."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from mcp_notebook import CallCancelled, CallHandle, Client, connect
from mcp_notebook.types import ElicitParams

from ..faults import FaultyProxy
from ..scripted import until
from ..transports.http.loopback import listening
from .players import Working

pytestmark = pytest.mark.anyio
REVISIONS = ["2025-06-18", "2025-11-25", "2026-07-28"]
each_revision = pytest.mark.parametrize("revision", REVISIONS)


@dataclass
class Scene:
    """A client, the server, and what is between them."""

    client: Client
    server: Working
    proxy: FaultyProxy
    url: str
    asked: list[str]
    thinking: asyncio.Event
    """Until it is set, the person thinks."""

    async def begun(self, **arguments: Any) -> CallHandle:
        """A task that has said its first lines, or asks."""
        handle = self.client.begin_call("work", arguments, task=True)
        if arguments.get("ask"):
            await until(lambda: self.asked)
        else:
            await until(lambda: handle.task and self.server.runs["begun"])
        return handle


@contextlib.asynccontextmanager
async def scene(revision: str) -> AsyncIterator[Scene]:
    server, asked, thinking = Working(), list[str](), asyncio.Event()

    async def answer(params: ElicitParams) -> dict[str, str]:
        asked.append(params.message)
        await thinking.wait()
        return {"value": "Ada"}

    async with (
        listening(server) as url,
        FaultyProxy.before(url) as proxy,
        connect(proxy.url(), revision=revision, elicitation=answer) as client,
    ):
        yield Scene(client, server, proxy, url, asked, thinking)


async def lines(handle: CallHandle) -> list[Any]:
    """The log lines of a call."""
    return [event.data.data async for event in handle.events() if event.kind == "log"]


@each_revision
@pytest.mark.parametrize("cuts", [1, 3])
async def test_a_task_goes_on_and_is_heard_whole(revision: str, cuts: int) -> None:  # TSK-1, TSK-11, TSK-13
    async with scene(revision) as here:
        handle = await here.begun()
        for _ in range(cuts):
            here.proxy.cut(reset=True)
            await asyncio.sleep(0.02)
        here.server.free.set()
        assert await lines(handle) == ["one", "two"]
        assert (await handle).text == "done"
        assert handle.progress is not None
        assert handle.progress.progress == 2
        assert here.server.runs == {"begun": 1, "done": 1}


@each_revision
async def test_a_question_is_asked_once_though_connections_come_and_go(revision: str) -> None:  # TSK-5, TEX-2
    async with scene(revision) as here:
        handle = await here.begun(ask=1, wait=False)
        for _ in range(2):
            here.proxy.cut(reset=True)
            await asyncio.sleep(0.02)
        here.thinking.set()
        assert (await handle).text == "done and Ada"
        assert here.asked == ["Name 1?"]
        assert here.server.runs == {"begun": 1, "done": 1}


@each_revision
async def test_a_task_can_be_cancelled_after_a_cut(revision: str) -> None:  # TSK-6
    async with scene(revision) as here:
        handle = await here.begun()
        here.proxy.cut(reset=True)
        handle.cancel()
        with pytest.raises(CallCancelled):
            await handle
        await until(lambda: here.server.runs["cancelled"])


async def test_a_session_that_the_server_forgets_takes_its_tasks_with_it() -> None:  # TSK-9
    # Nothing else binds them where there is no principal; the task itself goes on to its end.
    async with scene("2025-11-25") as here:
        handle = await here.begun()
        channel: Any = here.client.session.connection.channel
        async with httpx2.AsyncClient() as somebody:
            headers = {"mcp-session-id": channel._session}
            assert (await somebody.delete(here.url, headers=headers)).status_code == 200
        with pytest.raises(Exception, match="no longer has the task"):
            await handle
        here.server.free.set()
        await until(lambda: here.server.runs["done"])
