"""Our client with our server, in each form over each transport: one handle, whatever happens underneath."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import CallCancelled, CallHandle, Client, ProtocolError, connect
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.protocol.tasks import TaskStatus
from mcp_notebook.types import ElicitParams

from ..scripted import until
from ..transports.http.loopback import listening
from .together_server import make_server

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]
REVISIONS = ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"]


@contextlib.asynccontextmanager
async def _here(target: Any) -> AsyncIterator[Any]:
    yield target


TRANSPORTS: dict[str, Callable[[], AbstractAsyncContextManager[Any]]] = {
    "memory": lambda: _here(make_server()),
    "stdio": lambda: _here([sys.executable, "-m", "tests.tasks.together_server"]),
    "HTTP": lambda: listening(make_server()),
    "HTTP streams": lambda: listening(make_server(), stream=True),
}


@dataclass
class Link:
    """A client of the server."""

    client: Client
    revision: str
    asked: list[str]

    @property
    def asks(self) -> bool:
        """Whether the revision has questions to the person."""
        return self.revision != "2024-11-05"

    def begin(self, tool: str, **arguments: Any) -> CallHandle:
        """Call a tool as a task."""
        return self.client.begin_call(tool, arguments, task=True)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=[f"{one}|{other}" for one in TRANSPORTS for other in REVISIONS])
async def link(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[Link]:
    """A connection that the tests of one row share."""
    transport, revision = request.param.split("|")
    asked: list[str] = []

    def answer(params: ElicitParams) -> dict[str, str]:
        asked.append(params.message)
        return {"value": "Ada" if params.message.startswith("First") else "Lovelace"}

    options: dict[str, Any] = {"cwd": ROOT} if transport == "stdio" else {}
    async with (
        TRANSPORTS[transport]() as target,
        connect(target, revision=revision, elicitation=answer, **options) as client,
    ):
        yield Link(client, revision, asked)


async def said(handle: CallHandle) -> list[Any]:
    """The progress and the log lines of a call, in order."""
    found: list[Any] = []
    async for event in handle.events():
        if event.kind == "progress":
            found.append(event.data.progress)
        elif event.kind == "log":
            found.append(event.data.data)
    return found


async def test_a_task_and_its_result(link: Link) -> None:  # TSK-12
    handle = link.begin("count")
    assert (await handle).text == "counted to 3"
    assert handle.task is not None
    assert handle.task.status is TaskStatus.COMPLETED


async def test_log_lines_come_once_each_and_in_order(link: Link) -> None:
    # TSK-13, TCR-4. Of progress only the latest counts, and a client may come too late for what was before.
    heard = await said(handle := link.begin("count", to=5))
    await handle
    assert [one for one in heard if isinstance(one, str)] == [f"line {number}" for number in range(1, 6)]
    progress = [one for one in heard if not isinstance(one, str)]
    assert progress == sorted(set(progress))
    assert progress[-1] == 5
    assert handle.progress is not None
    assert handle.progress.message == "number 5"


async def test_other_things_go_on_beside_a_task(link: Link) -> None:  # TSK-6
    handle = link.begin("count", to=4, wait=True)
    await until(lambda: handle.progress is not None and handle.progress.progress == 2)
    assert handle.status is CallState.RUNNING
    assert (await link.client.call_tool("go_on")).text == "gone on"
    assert (await handle).text == "counted to 4"


async def test_questions_are_asked_once_each(link: Link) -> None:  # TSK-5, TCR-3, TEX-2
    if link.asks:
        link.asked.clear()
        assert (await link.begin("greet")).text == "Hello, Ada Lovelace"
        assert link.asked == ["First name?", "Second name?"]


async def test_a_handler_in_a_thread_may_be_a_task(link: Link) -> None:
    if link.asks:
        assert (await link.begin("in_a_thread")).text == "Hello, Ada"


async def test_a_tools_own_error_is_a_result(link: Link) -> None:  # TSK-7, TCR-3, TEX-3
    result = await link.begin("fail", how="tool")
    assert result.is_error
    assert result.text == "The disk is full."


async def test_an_error_of_the_protocol_is_raised(link: Link) -> None:  # TSK-7, TCR-3, TEX-3
    with pytest.raises(ProtocolError, match=r"The API broke\.") as raised:
        await link.begin("fail", how="protocol")
    assert raised.value.code == -32050


async def test_cancelling(link: Link) -> None:  # TSK-6, TCR-4, TEX-2
    handle = link.begin("for_ever")
    await until(lambda: handle.task)
    handle.cancel("no longer needed")
    with pytest.raises(CallCancelled):
        await handle
    assert handle.status is CallState.CANCELLED
    assert handle.task is not None
    await until(lambda: handle.task and handle.task.status is TaskStatus.CANCELLED)


async def test_a_tool_that_must_be_a_task_is_one_without_being_asked(link: Link) -> None:  # TCR-1, TEX-1
    assert (await link.client.call_tool("only")).text == "only"


async def test_many_at_once(link: Link) -> None:
    handles = [link.begin("count", to=2) for _ in range(20)]
    assert {(await handle).text for handle in handles} == {"counted to 2"}
    ids = {handle.task.id for handle in handles if handle.task is not None}
    assert len(ids) == 20


async def test_the_list_shows_them(link: Link) -> None:  # TSK-3
    handle = link.begin("count")
    await handle
    assert handle.task is not None
    tasks = {task.id: task.status for task in await link.client.list_tasks()}
    if link.revision == "2026-07-28":
        assert not tasks
    else:
        assert tasks[handle.task.id] is TaskStatus.COMPLETED


async def test_deleting(link: Link) -> None:  # TSK-12
    if link.revision in ("2024-11-05", "2025-06-18"):
        handle = link.begin("count")
        await handle
        await handle.delete()
        assert handle.task is not None
        assert handle.task.id not in {task.id for task in await link.client.list_tasks()}
        with pytest.raises(ProtocolError, match="Task not found"):
            await handle.delete()


async def test_who_stops_waiting_does_not_end_it(link: Link) -> None:  # TSK-6
    handle = link.begin("count", to=4, wait=True)
    await until(lambda: handle.progress is not None and handle.progress.progress == 2)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(handle, 0.01)
    assert handle.status is CallState.RUNNING
    await link.client.call_tool("go_on")
    assert (await handle).text == "counted to 4"
