"""Thousands of requests that wait, and are resumed or given up."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_notebook import Context, Limits, Server, connect
from mcp_notebook.jsonrpc import ErrorResponse, as_message
from mcp_notebook.transports.memory import MemoryChannel, memory_pair

from ..scripted import until
from ..transports.http.asgi import opening, request
from ..wires import NoFaults

pytestmark = pytest.mark.anyio
MANY, A_SESSION = 10_000, 1000
ENOUGH = 10_000
"""Bytes that one open request may take, beside what it is called with, at each of the two sides."""


class Waiting(Server):
    """A server with a resumable tool that waits until the test lets it go on."""

    def __init__(self, **limits: Any) -> None:
        super().__init__("waiting", limits=Limits(kept=600, **limits))
        self.free = asyncio.Event()

        @self.tool(resumable=True)
        async def wait(ctx: Context) -> str:
            await self.free.wait()
            return "done"


class Tokens(NoFaults):
    """One end of a channel in memory, which keeps nothing of what it hears but tokens and outcomes."""

    def __init__(self) -> None:
        self.channel: MemoryChannel | None = None
        self.tokens: dict[Any, str] = {}
        self.results: list[Any] = []
        self.refusals: list[Any] = []

    async def open(self, server: Server) -> asyncio.Task[None]:
        """Shake hands with a server; the task that serves."""
        self.channel, far = memory_pair()
        serving = asyncio.create_task(server.serve(far))
        await self.channel.open(self)
        await self.say(opening(resumableRequests={}))
        return serving

    async def say(self, message: dict[str, Any]) -> None:
        assert self.channel is not None
        await self.channel.send(as_message(message))

    def received(self, message: Any) -> None:
        params = getattr(message, "params", None) or {}
        if "resumeToken" in params:
            self.tokens[params["requestId"]] = params["resumeToken"]
        elif isinstance(message, ErrorResponse):
            self.refusals.append(message.id)
        elif message.id != 0:
            self.results.append(message.result["content"][0]["text"])

    def disconnected(self, error: Any) -> None:
        pass


@pytest.fixture
def memory() -> Iterator[None]:
    """Memory is counted."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


def taken() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


async def ask(server: Server, number: int = A_SESSION) -> tuple[Tokens, asyncio.Task[None]]:
    """A client with so many open requests."""
    client = Tokens()
    serving = await client.open(server)
    for id in range(1, number + 1):
        await client.say(request(id, "tools/call", name="wait", arguments={}))
    await until(lambda: len(client.tokens) == number)
    return client, serving


@pytest.mark.usefixtures("memory")
async def test_ten_thousand_open_requests_take_little_while_they_are_heard_and_when_they_are_not() -> None:
    server = Waiting()
    await ask(server, 10)
    before = taken()
    clients = [await ask(server) for _ in range(MANY // A_SESSION)]
    assert (taken() - before) / MANY < ENOUGH
    for client, serving in clients:
        assert client.channel is not None
        await client.channel.close()
        await asyncio.wait([serving], timeout=10)
    assert len(server.kept) == MANY + 10
    assert (taken() - before) / MANY < ENOUGH
    last = Tokens()
    await last.open(server)
    for id in (1, A_SESSION):
        await last.say({**request(id, "requests/resume", resumeToken=clients[5][0].tokens[id])})
    server.free.set()
    await until(lambda: last.results == ["done", "done"])


@pytest.mark.usefixtures("memory")
async def test_thousands_of_our_own_clients_calls_take_little() -> None:
    server = Waiting()
    async with connect(server, revision="2025-11-25") as client, connect(server, revision="2025-11-25") as other:
        first = client.begin_call("wait")
        await until(lambda: first.policy is not None)
        before = taken()
        handles = [other.begin_call("wait") for _ in range(A_SESSION)]
        await until(lambda: all(handle.policy is not None for handle in handles))
        assert (taken() - before) / A_SESSION < 2 * ENOUGH  # both sides are here
        server.free.set()
        assert {(await handle).text for handle in [first, *handles]} == {"done"}


async def test_where_no_more_are_kept_those_that_were_answered_give_way_and_those_at_work_do_not() -> None:
    server = Waiting(kept_calls=3)
    client, _ = await ask(server, 3)
    await client.say(request(4, "tools/call", name="wait", arguments={}))
    await until(lambda: client.refusals == [4])
    server.free.set()
    await until(lambda: len(client.results) == 3)
    for id in (5, 6):
        await client.say(request(id, "tools/call", name="wait", arguments={}))
    await until(lambda: len(client.results) == 5)
    assert len(server.kept) == 3
    for id in (1, 3):
        await client.say(request(id, "requests/resume", resumeToken=client.tokens[id]))
    await until(lambda: len(client.results) == 6)
    assert client.refusals == [4, 1]


async def test_what_was_given_up_is_gone_without_a_search_for_garbage() -> None:
    server = Waiting()
    client = Tokens()
    await client.open(server)
    before = asyncio.all_tasks()
    for id in (1, 2, 3):
        await client.say(request(id, "tools/call", name="wait", arguments={}))
    await until(lambda: len(client.tokens) == 3)
    begun = [weakref.ref(task) for task in asyncio.all_tasks() - before]
    assert len(begun) == 6  # each has a handler, and somebody who waits for it
    gc.collect()
    gc.disable()
    try:
        for id in (1, 2, 3):
            await client.say(request(None, "notifications/cancelled", requestId=id))
        await until(lambda: not any(task() for task in begun))
    finally:
        gc.enable()
