"""Clients of others that have our server carry out tasks, in the form that each of them knows.

How they deviate, and what they leave out, stands beside the tests that meet it.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import Context, Server, ToolError
from mcp_notebook.store.memory import MemoryStore

from ..cache import Unavailable
from ..scripted import until
from ..transports.http.loopback import listening
from .inspector import Done, Inspector, inspector
from .peers import running_script

pytestmark = [pytest.mark.anyio, pytest.mark.node]
TOKEN = "hunter2"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


class Ours(Server):
    """A server of tasks."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        super().__init__("ours", store=self.store)
        self.runs: Counter[str] = Counter()
        """How often what has run."""

        @self.tool(task="optional")
        async def count(n: int, ctx: Context) -> str:
            """Tells how far it is."""
            self.runs["count"] += 1
            for step in range(1, n + 1):
                await ctx.progress(step, n, f"step {step}")
                await asyncio.sleep(0.02)
            return "counted"

        @self.tool(task="optional")
        async def fail() -> str:
            """Fails."""
            raise ToolError("no such city")

        @self.tool(task="required")
        async def ask(ctx: Context) -> str:
            """Asks for a name."""
            self.runs["ask"] += 1
            answer = await ctx.elicit("Name?", str)
            return f"{answer.action} {answer.data}"

        @self.tool(task="required")
        async def wait() -> None:
            """Waits until it is cancelled."""
            self.runs["wait"] += 1
            try:
                await asyncio.Event().wait()
            finally:
                self.runs["cancelled"] += 1

        @self.tool
        def plain() -> str:
            """Knows no tasks."""
            return "plain"


# The TypeScript SDK (2025-11-25)


@pytest.fixture(scope="module")
async def told(anyio_backend: str) -> AsyncIterator[list[dict[str, Any]]]:
    """All that its client told."""
    server = Ours()
    async with listening(server) as url, running_script("ts_tasks_client.mjs", url) as client:
        yield [json.loads(line) for line in await client.all()]
    assert server.runs == {"count": 1, "ask": 1, "wait": 1, "cancelled": 1}


def of(told: list[dict[str, Any]], name: str, kind: str) -> list[Any]:
    """What it told of one kind about the call of a tool."""
    return [line[kind] for line in told if line.get("name") == name and kind in line]


def said(told: list[dict[str, Any]], kind: str) -> Any:
    """What it told once."""
    (value,) = (line[kind] for line in told if kind in line and "name" not in line)
    return value


async def test_the_typescript_client_sees_which_tools_can_be_tasks(told: list[dict[str, Any]]) -> None:  # TCR-1
    support = {"count": "optional", "fail": "optional", "ask": "required", "wait": "required", "plain": None}
    assert said(told, "support") == support


async def test_the_typescript_client_runs_a_task_and_hears_its_progress(told: list[dict[str, Any]]) -> None:
    # TCR-2, TCR-3, TCR-4
    assert of(told, "count", "taskCreated") == ["working"]
    assert of(told, "count", "progress") == [1, 2, 3]
    assert of(told, "count", "taskStatus")[-1] == "completed"
    assert of(told, "count", "result") == ["counted"]
    assert said(told, "again") == "counted"


async def test_the_typescript_client_hears_that_a_tool_failed(told: list[dict[str, Any]]) -> None:  # TCR-3
    # It fetches no result of a failed task: it makes an error of its own.
    assert of(told, "fail", "taskStatus")[-1] == "failed"
    assert of(told, "fail", "error") == [-32603]


async def test_the_typescript_client_is_asked_once(told: list[dict[str, Any]]) -> None:  # TCR-3
    assert said(told, "asked")  # the id of the task that the question belongs to
    assert of(told, "ask", "result") == ["accept Ada"]


async def test_the_typescript_client_cancels_a_task(told: list[dict[str, Any]]) -> None:  # TCR-3, TCR-4
    assert said(told, "cancelled") == "cancelled"
    assert said(told, "terminal") == -32602
    assert said(told, "outcome") == -32603
    assert said(told, "unknown") == -32602
    assert sorted(said(told, "listed")) == ["cancelled", "completed", "completed", "failed"]


# MCP Inspector, of both eras. What its daemon does on a connection it does one after the other.


@pytest.fixture(scope="module")
async def theirs(anyio_backend: str) -> AsyncIterator[Inspector]:
    try:
        async with inspector() as one:
            yield one
    except Unavailable as why:
        pytest.skip(str(why))


class Visit:
    """It is at our server, with two connections. On 2025-11-25 it wishes for tasks; later the server decides."""

    def __init__(self, theirs: Inspector, server: Ours, url: str, era: str) -> None:
        self.theirs, self.server, self.url, self.era = theirs, server, url, era
        self._wish = ["--task"] if era == "legacy" else []

    async def connect(self) -> None:
        for name in ("one", "other"):
            await self.theirs.connect(f"{self.era}-{name}", self.url, self.era, TOKEN)

    async def call(self, *words: str) -> Done:
        """Call a tool on one connection."""
        return await self.theirs.do(f"{self.era}-one", "tools/call", *words, *self._wish)

    async def do(self, *words: str) -> Done:
        """Anything, on the other connection."""
        return await self.theirs.do(f"{self.era}-other", *words)

    @property
    def task(self) -> str:
        """The id of the only task at work."""
        (record,) = self.server.store.of_everyone("task", {"working"}, limit=2)
        return record.key


@pytest.fixture(scope="module", params=["legacy", "modern"])
async def visit(request: pytest.FixtureRequest, theirs: Inspector) -> AsyncIterator[Visit]:
    server = Ours()
    async with listening(server, token=TOKEN) as url:
        visit = Visit(theirs, server, url, request.param)
        await visit.connect()
        yield visit


async def test_the_inspector_runs_a_task(visit: Visit) -> None:  # TCR-2, TCR-3, TEX-1, TEX-2
    done = await visit.call("count", "n:=3")
    assert text(done) == "counted"
    assert visit.server.runs["count"] == 1


async def test_the_inspector_hears_that_a_tool_failed(visit: Visit) -> None:  # TCR-3, TEX-3
    done = await visit.call("fail")
    assert done.code != 0
    if visit.era == "legacy":  # it fetches no result of a failed task: it tells what the task's state says
        assert "no such city" in done.error
    else:
        assert text(done) == "no such city"


async def test_the_inspector_is_asked_once(visit: Visit) -> None:  # TCR-3, TEX-2
    # On 2025-11-25 it looks on, and is asked where it hears what belongs to no request.
    asked = (await visit.call("ask")).out["elicitationPending"]
    assert asked["message"] == "Name?"
    connection = f"{visit.era}-one"
    done = await visit.theirs.do(connection, "elicitation/respond", asked["elicitationId"], "value:=Ada")
    assert text(done) == "accept Ada"
    assert visit.server.runs["ask"] == 1


async def test_the_inspector_cancels_a_task(visit: Visit) -> None:  # TCR-3, TCR-4, TEX-2
    calling = asyncio.create_task(visit.call("wait"))
    await until(lambda: visit.server.runs["wait"], bound=30)
    id = visit.task
    assert (await visit.do("tasks/get", id)).out["task"]["status"] == "working"
    assert (await visit.do("tasks/cancel", id)).code == 0
    await until(lambda: visit.server.runs["cancelled"])
    assert (await calling).code != 0
    assert (await visit.do("tasks/get", id)).out["task"]["status"] == "cancelled"
    if visit.era == "legacy":
        assert (await visit.do("tasks/result", id)).code != 0
        assert {task["status"] for task in (await visit.do("tasks/list")).out["tasks"]} >= {"cancelled", "completed"}


async def test_the_inspectors_single_command_has_a_task_carried_out(theirs: Inspector) -> None:  # TEX-1, TEX-2
    server = Ours()
    async with listening(server) as url:
        era = ("--protocol-era", "modern")
        done = await theirs.cli(url, *era, "--method", "tools/call", "--tool-name", "count", "--tool-arg", "n=3")
    assert text(done) == "counted"


def text(done: Done) -> str:
    """The text of the result that it printed."""
    assert done.out is not None, done
    return (done.out.get("result") or done.out)["content"][0]["text"]
