"""Clients of others with our server, whose calls are cut in the middle and gone on with (SSE-1, SSE-2, SSE-5).

What the clients promise themselves, and what not: where a connection breaks with which the Python SDK's client went on
with a call, it comes back with the id of the event from before that connection, and so hears again what came on it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import mcp
import pytest
from mcp import types

from mcp_notebook import Context, Server

from ..faults import FaultyProxy
from ..scripted import until
from ..transports.http.loopback import listening
from .peers import Program, running_script
from .test_http_peers import quiet

__all__ = ["quiet"]
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]
STEPS = list(range(1, 10))
LINES = [f"line {step}" for step in STEPS]
RETRY = 0.2
"""Seconds after which our server wishes a client back."""


class Steps(Server):
    """A server whose tools say steps 1 to 3, stop for a moment, say steps 4 to 6, ask for a name, and say steps 7 to 9.
    Each step is some progress and a log line."""

    def __init__(self) -> None:
        super().__init__("steps")
        self.gate = asyncio.Event()
        self.said: list[int] = []
        self._runs = 0

        @self.tool
        async def wait(ctx: Context) -> str:
            """Wait at the gate."""
            return await self._work(ctx, self.gate.wait)

        @self.tool
        async def close(ctx: Context) -> str:
            """Close the stream, and again after the answer."""
            return await self._work(ctx, lambda: ctx.close_stream(RETRY), lambda: ctx.close_stream(RETRY))

        @self.tool
        async def wait_and_close(ctx: Context) -> str:
            """Wait at the gate, and close the stream after the answer."""
            return await self._work(ctx, self.gate.wait, lambda: ctx.close_stream(RETRY))

    async def _work(self, ctx: Context, first: Callable[[], Any], second: Callable[[], Any] | None = None) -> str:
        self._runs += 1
        await self._say(ctx, 1, 2, 3)
        await first()
        await self._say(ctx, 4, 5, 6)
        answer = await ctx.elicit("Name?", str)
        if second is not None:
            await second()
        await self._say(ctx, 7, 8, 9)
        return f"run {self._runs} for {answer.data}"

    async def _say(self, ctx: Context, *steps: int) -> None:
        for step in steps:
            await ctx.progress(step)
            await ctx.info(f"line {step}")
            self.said.append(step)


async def cut_and_let_go_on(proxy: FaultyProxy, server: Steps, *, reset: bool) -> None:
    """Cut everything, and have the next steps said while nobody hears them."""
    await proxy.refuse()
    proxy.cut(reset=reset)
    server.gate.set()
    await until(lambda: 6 in server.said)
    await proxy.accept()


# The Python SDK


class Python:
    """The Python SDK's client, and what it hears."""

    def __init__(self, url: str) -> None:
        self.progress: list[float] = []
        self.lines: list[Any] = []
        self.asked = 0
        self.on_asked: Any = None
        self.client = mcp.Client(
            url, mode="legacy", elicitation_callback=self._answer, logging_callback=self._logged, log_level="info"
        )

    async def call(self, tool: str) -> str:
        result = await self.client.call_tool(tool, {}, progress_callback=self._progressed)
        assert isinstance(result.content[0], types.TextContent)
        return result.content[0].text

    async def _answer(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked += 1
        if self.on_asked is not None:
            self.on_asked()
        return types.ElicitResult(action="accept", content={"value": "Ada"})

    async def _logged(self, params: Any) -> None:
        self.lines.append(params.data)

    async def _progressed(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append(progress)


async def test_the_python_client_is_cut_and_then_let_go_and_hears_everything_once() -> None:
    server = Steps()
    async with listening(server) as url, FaultyProxy.before(url) as proxy:
        theirs = Python(proxy.url())
        async with theirs.client:
            calling = asyncio.create_task(theirs.call("wait_and_close"))
            await until(lambda: len(theirs.lines) == 3)
            await cut_and_let_go_on(proxy, server, reset=True)
            assert await calling == "run 1 for Ada"
    assert theirs.progress == STEPS
    assert theirs.lines == LINES
    assert theirs.asked == 1


async def test_the_python_client_is_cut_twice_and_hears_everything() -> None:
    server = Steps()
    async with listening(server) as url, FaultyProxy.before(url) as proxy:
        theirs = Python(proxy.url())
        theirs.on_asked = lambda: theirs.asked == 1 and proxy.cut()
        async with theirs.client:
            calling = asyncio.create_task(theirs.call("wait"))
            await until(lambda: len(theirs.lines) == 3)
            await cut_and_let_go_on(proxy, server, reset=False)
            assert await calling == "run 1 for Ada"
    assert list(dict.fromkeys(theirs.progress)) == STEPS
    assert list(dict.fromkeys(theirs.lines)) == LINES


async def test_the_python_client_comes_back_when_our_server_wishes() -> None:
    server = Steps()
    async with listening(server) as url:
        theirs = Python(url)
        async with theirs.client:
            assert await theirs.call("close") == "run 1 for Ada"
    assert theirs.progress == STEPS
    assert theirs.lines == LINES
    assert theirs.asked == 1


# The TypeScript SDK


def told(program: Program, kind: str) -> list[Any]:
    """What the client told of one kind."""
    return [line[kind] for line in map(json.loads, program.said) if kind in line]


async def outcome(program: Program) -> Any:
    return (await until(lambda: told(program, "result") or told(program, "error"), bound=30))[0]


@pytest.mark.node
@pytest.mark.parametrize("reset", [False, True], ids=["end", "reset"])
async def test_the_typescript_client_is_cut_twice_and_hears_everything_once(reset: bool) -> None:
    server = Steps()
    async with (
        listening(server) as url,
        FaultyProxy.before(url) as proxy,
        running_script("ts_resuming_client.mjs", proxy.url(), "wait") as theirs,
    ):
        await until(lambda: len(told(theirs, "line")) == 3, bound=30)
        await cut_and_let_go_on(proxy, server, reset=reset)
        await until(lambda: told(theirs, "asked"))
        proxy.cut(reset=reset)
        theirs.go()
        assert await outcome(theirs) == "run 1 for Ada"
    assert told(theirs, "progress") == STEPS
    assert told(theirs, "line") == LINES
    assert told(theirs, "asked") == [True]


@pytest.mark.node
async def test_the_typescript_client_comes_back_when_our_server_wishes() -> None:
    server = Steps()
    async with listening(server) as url, running_script("ts_resuming_client.mjs", url, "close") as theirs:
        theirs.go()
        assert await outcome(theirs) == "run 1 for Ada"
    assert told(theirs, "progress") == STEPS
    assert told(theirs, "line") == LINES


@pytest.mark.node
async def test_another_typescript_client_goes_on_where_one_was_killed() -> None:
    server = Steps()
    async with listening(server) as url:
        async with running_script("ts_resuming_client.mjs", url, "wait") as killed:
            await until(lambda: len(told(killed, "line")) == 3, bound=30)
        server.gate.set()
        await until(lambda: 6 in server.said)
        session, token = told(killed, "session")[0], told(killed, "token")[-1]
        async with running_script("ts_resuming_client.mjs", url, "wait", session, token) as other:
            other.go()
            assert await outcome(other) == "run 1 for Ada"
    assert told(killed, "line") + told(other, "line") == LINES
    assert told(killed, "progress") == [1, 2, 3]  # the other knows nothing of its token
