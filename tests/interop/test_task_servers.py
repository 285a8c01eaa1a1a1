"""Our client with servers of others that carry out tasks, in the form that each of them has.

How they deviate, and what they leave out, stands beside the tests that meet it.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import CallCancelled, CallHandle, Client, ProtocolError, connect
from mcp_notebook.protocol.calls import CallEvent, CallState
from mcp_notebook.protocol.tasks import TaskStatus
from mcp_notebook.types import ElicitParams

from .. import programs
from ..cache import Unavailable
from ..scripted import until
from . import fast_peer
from .test_http_peers import everything

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]
SCRIPT = Path(__file__).with_name("ts_tasks_server.mjs")


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


class Peer:
    """A server with the tools `count`, `fail`, `ask`, `wait` and `plain`."""

    revision: str

    pushes_progress: bool
    """Whether progress is told while a task is at work; else it is the task's message."""
    failed: TaskStatus
    """What becomes of a task whose tool reports an error."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.asked: list[ElicitParams] = []

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        """Our client, new: it knows nothing of the tools yet. Nothing must be wrong with what it hears."""
        async with connect(self.target, revision=self.revision, elicitation=self._answer) as client:
            yield client
            assert not client.session.faults

    def _answer(self, params: ElicitParams) -> dict[str, str]:
        self.asked.append(params)
        return {"value": "Ada"}


class TypeScript(Peer):
    """The TypeScript SDK, on stdio. It tells that a task changed before it says that there is one, and answers with
    one that may have failed or may ask already; its progress names no task."""

    revision = "2025-11-25"
    pushes_progress, failed = True, TaskStatus.FAILED


class Fast(Peer):
    """FastMCP, over HTTP. The questions of a task end its function, which is called anew with the answers."""

    revision = "2026-07-28"
    pushes_progress, failed = False, TaskStatus.COMPLETED


@contextlib.asynccontextmanager
async def typescript() -> AsyncIterator[Peer]:
    yield TypeScript([programs.find("node"), str(SCRIPT), str(programs.node_modules())])


@contextlib.asynccontextmanager
async def fast() -> AsyncIterator[Peer]:
    try:
        async with fast_peer.serving() as url:
            yield Fast(url)
    except Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture(scope="module", params=[pytest.param(typescript, marks=pytest.mark.node), fast])
async def peer(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[Peer]:
    made: AbstractAsyncContextManager[Peer] = request.param()
    async with made as peer:
        yield peer


class Heard:
    """What is heard of a call."""

    def __init__(self, handle: CallHandle) -> None:
        self.progress: list[float] = []
        self.kinds: list[str] = []
        handle.add_listener(self._hear)

    def _hear(self, _: CallHandle, event: CallEvent) -> None:
        self.kinds.append(event.kind)
        if event.kind == "progress":
            self.progress.append(event.data.progress)


async def test_a_task_ends_with_its_result(peer: Peer) -> None:  # TSK-12, TCR-2, TCR-3, TEX-1, TEX-2
    async with peer.connected() as client:
        handle = client.begin_call("count", {"n": 3}, task=True)
        heard = Heard(handle)
        assert (await handle).text == "counted"
        assert handle.task is not None
        assert handle.task.status is TaskStatus.COMPLETED
        assert handle.status is CallState.COMPLETED
    assert heard.progress == ([1, 2, 3] if peer.pushes_progress else [])  # TCR-4


async def test_one_sees_what_a_task_does_and_can_cancel_it(peer: Peer) -> None:  # TCR-4, TEX-2
    async with peer.connected() as client:
        handle = client.begin_call("wait", task=True)
        await until(lambda: handle.task is not None and handle.task.message == "waiting")
        handle.cancel()
        with pytest.raises(CallCancelled):
            await handle
        assert handle.task is not None
        assert handle.task.status is TaskStatus.CANCELLED


async def test_a_question_in_the_middle_is_answered_once(peer: Peer) -> None:  # TCR-3, TEX-2
    before = len(peer.asked)
    async with peer.connected() as client:
        handle = client.begin_call("ask", task=True)
        heard = Heard(handle)
        assert (await handle).text == "accept Ada"
    assert heard.kinds == ["question", "answer", "outcome"]
    assert len(peer.asked) == before + 1


async def test_a_tools_own_error_is_a_result(peer: Peer) -> None:  # TCR-3, TEX-3
    async with peer.connected() as client:
        handle = client.begin_call("fail", task=True)
        result = await handle
        assert result.is_error
        assert "no such city" in result.text
        assert handle.task is not None
        assert handle.task.status is peer.failed


async def test_what_must_be_a_task_becomes_one_unasked(peer: Peer) -> None:  # TCR-1, TEX-1
    # The TypeScript SDK refuses such a call with a tool's own error, whose text has the -32601.
    async with peer.connected() as client:
        assert (await client.call_tool("ask")).text == "accept Ada"
        handle = client.begin_call("ask")
        assert (await handle).text == "accept Ada"
        assert handle.task is not None


async def test_what_can_be_no_task_is_called_as_usual(peer: Peer) -> None:  # TCR-1, TEX-1
    async with peer.connected() as client:
        handle = client.begin_call("plain", task=True)
        assert (await handle).text == "plain"
        assert handle.task is None
        assert (await client.call_tool("count", {"n": 1})).text == "counted"


async def test_many_tasks_at_once_keep_apart(peer: Peer) -> None:
    before = len(peer.asked)
    async with peer.connected() as client:
        handles = [client.begin_call("ask", task=True) for _ in range(10)]
        assert [(await handle).text for handle in handles] == ["accept Ada"] * 10
        assert len({handle.task.id for handle in handles if handle.task is not None}) == 10
    assert len(peer.asked) == before + 10


@pytest.mark.node
async def test_tasks_of_server_everything_over_http() -> None:  # TCR-1 to TCR-4
    asked: list[ElicitParams] = []

    def answer(params: ElicitParams) -> dict[str, str]:
        asked.append(params)
        return {"interpretation": "snake"}

    with everything("streamableHttp") as url:
        async with connect(f"{url}/mcp", revision="2025-11-25", elicitation=answer) as client:
            tool = "simulate-research-query"  # takes four seconds
            clear = client.begin_call(tool, {"topic": "tea"}, task=True)
            unclear = client.begin_call(tool, {"topic": "python", "ambiguous": True})
            unwanted = client.begin_call(tool, {"topic": "coffee"}, task=True)
            wrong = client.begin_call(tool, {"subject": "tea"}, task=True)
            await until(lambda: unwanted.task)
            unwanted.cancel()
            with pytest.raises(CallCancelled):
                await unwanted
            with pytest.raises(ProtocolError, match="-32602"):  # the TypeScript SDK has no other answer to that
                await wrong
            assert "Research Report: tea" in (await clear).text
            assert "python (snake)" in (await unclear).text
            assert len(asked) == 1
            assert not client.session.faults
