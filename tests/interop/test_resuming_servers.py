"""Our client with servers of others, whose calls are cut in the middle and gone on with (SSE-2, SSE-3).

What the servers promise themselves, and what not:

- The TypeScript SDK's event store in memory orders what it replays by the millisecond in which it was said; within one
  millisecond the order is chance, and what was said in that of the last event that arrived may be lost. Its peer here
  says one thing a millisecond.
- The Python SDK, which serves FastMCP, drops what is said between the end of a replay and the moment in which the new
  stream is attached. Its peer here says nothing in that moment: it waits to be let go on, or for an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any, Protocol

import pytest
from fastmcp import Context, FastMCP
from fastmcp.server.event_store import EventStore

from mcp_notebook import CallHandle, connect
from mcp_notebook.protocol.calls import CallEvent, CallState

from ..faults import FaultyProxy
from ..scripted import until
from .peers import Program, running, running_script
from .test_http_peers import quiet

__all__ = ["quiet"]
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]
RETRY = 0.3
"""Seconds after which the servers wish a client back."""
STEPS = list(range(1, 10))


class Peer(Protocol):
    """A server whose tool `work` says steps 1 to 3, closes the stream or waits at a gate, says steps 4 to 6, asks for
    a name, and says steps 7 to 9. Each step is some progress and a log line."""

    port: int

    def go(self) -> None:
        """Open the gate."""

    def said(self, step: int) -> int:
        """How often it has said a step."""
        ...


class Fast:
    """FastMCP, in this process."""

    def __init__(self) -> None:
        self.port = 0
        self._gate = asyncio.Event()
        self._said: list[int] = []
        self._runs = 0

    def go(self) -> None:
        self._gate.set()

    def said(self, step: int) -> int:
        return self._said.count(step)

    async def work(self, closes: bool, ctx: Context) -> str:
        self._runs += 1
        run = self._runs
        await self._say(ctx, 1, 2, 3)
        if closes:
            await ctx.close_sse_stream()
        else:
            await self._gate.wait()
        await self._say(ctx, 4, 5, 6)
        answer: Any = await ctx.elicit("Name?", str)
        await self._say(ctx, 7, 8, 9)
        return f"run {run} for {answer.data}"

    async def _say(self, ctx: Context, *steps: int) -> None:
        for step in steps:
            await ctx.report_progress(step)
            await ctx.info(f"line {step}")
            self._said.append(step)


class TypeScript:
    """The TypeScript SDK, in a process of its own."""

    def __init__(self, program: Program, port: int) -> None:
        self.port = port
        self.go = program.go
        self._program = program

    def said(self, step: int) -> int:
        return self._program.said.count(f"said {step}")


@contextlib.asynccontextmanager
async def fast() -> AsyncIterator[Peer]:
    peer, server = Fast(), FastMCP("fast")
    server.tool(peer.work)
    async with running(server.http_app(event_store=EventStore(), retry_interval=int(RETRY * 1000))) as url:
        peer.port = int(url.rpartition(":")[2])
        yield peer


@contextlib.asynccontextmanager
async def typescript() -> AsyncIterator[Peer]:
    async with running_script("ts_server.mjs", str(int(RETRY * 1000))) as program:
        yield TypeScript(program, int(await program.line()))


@pytest.fixture(params=[fast, pytest.param(typescript, marks=pytest.mark.node)])
async def peer(request: pytest.FixtureRequest) -> AsyncIterator[Peer]:
    async with request.param() as peer:
        yield peer


class Heard:
    """What is heard of a call, in order, and when it changed its state."""

    def __init__(self, handle: CallHandle) -> None:
        self.progress: list[float] = []
        self.lines: list[Any] = []
        self.states: list[CallState] = []
        self.times: list[float] = []
        handle.add_listener(self._hear)

    def _hear(self, _: CallHandle, event: CallEvent) -> None:
        match event.kind:
            case "progress":
                self.progress.append(event.data.progress)
            case "log":
                line = event.data.data
                self.lines.append(line["msg"] if isinstance(line, dict) else line)  # FastMCP adds to a line
            case "state":
                self.states.append(event.data)
                self.times.append(time.monotonic())

    def up_to(self, step: int) -> bool:
        return len(self.progress) == len(self.lines) == step

    def whole(self) -> bool:
        """Whether each message of the call was heard once, in order."""
        return self.progress == STEPS and self.lines == [f"line {step}" for step in STEPS]


COMINGS_BACK = [CallState.DROPPED, CallState.RESUMING, CallState.RUNNING]


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18"])
async def test_a_call_cut_twice_is_run_once_and_heard_once(peer: Peer, revision: str) -> None:
    async def answer(_: Any) -> dict[str, str]:
        proxy.cut(reset=True)
        await until(lambda: heard.states == COMINGS_BACK * 2)
        return {"value": "Ada"}

    async with FaultyProxy(peer.port) as proxy, connect(proxy.url(), revision=revision, elicitation=answer) as client:
        handle = client.begin_call("work", {"closes": False})
        heard = Heard(handle)
        await until(lambda: heard.up_to(3))
        await proxy.refuse()
        proxy.cut()
        peer.go()
        await until(lambda: peer.said(6))  # while nobody hears it
        await proxy.accept()
        assert (await handle).text == "run 1 for Ada"
        assert not client.session.faults
    assert heard.whole()
    assert heard.states == COMINGS_BACK * 2


async def test_a_stream_that_the_server_closes_is_come_back_to_when_it_wishes(peer: Peer) -> None:
    async with connect(
        f"http://127.0.0.1:{peer.port}/mcp", revision="2025-11-25", elicitation=lambda _: {"value": "Ada"}
    ) as client:
        handle = client.begin_call("work", {"closes": True})
        heard = Heard(handle)
        assert (await handle).text == "run 1 for Ada"
        assert not client.session.faults
    assert heard.whole()
    assert heard.states == COMINGS_BACK
    assert heard.times[1] - heard.times[0] > RETRY - 0.02


async def test_calls_that_are_cut_together_keep_apart(peer: Peer) -> None:
    async with (
        FaultyProxy(peer.port) as proxy,
        connect(proxy.url(), revision="2025-11-25", elicitation=lambda _: {"value": "Ada"}) as client,
    ):
        handles = [client.begin_call("work", {"closes": False}) for _ in range(5)]
        heard = [Heard(handle) for handle in handles]
        await until(lambda: all(one.progress == [1, 2, 3] for one in heard))
        await proxy.refuse()
        proxy.cut(reset=True)
        peer.go()
        await until(lambda: peer.said(6) == len(handles))
        await proxy.accept()
        texts = {(await handle).text for handle in handles}
        assert not client.session.faults
    assert texts == {f"run {number} for Ada" for number in range(1, 6)}
    assert all(one.progress == STEPS for one in heard)  # a log line does not tell whose it is
