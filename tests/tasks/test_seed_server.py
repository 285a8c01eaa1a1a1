"""The examples of SEP-1686 at our server, byte for byte."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import Limits, ProtocolError, Server

from ..wires import Wire
from . import seed_examples as seed
from .seed_examples import said, unmarked, with_id

pytestmark = pytest.mark.anyio
CALL = seed.CREATE.replace(b'"some_method","params":{', b'"tools/call","params":{"name":"get_weather","arguments":{},')
"""The seed's request, of a method that there is."""


class Weather(Server):
    """A server that answers what the seed's does."""

    def __init__(self, **limits: Any) -> None:
        super().__init__("weather", limits=Limits(task_keep_most=30, **limits))
        self.clouds = asyncio.Event()
        """Until it is set, `get_weather` waits."""
        self.error: ProtocolError | None = None

        @self.tool(task="optional", structured=False)
        async def get_weather() -> str:
            await self.clouds.wait()
            if self.error is not None:
                raise self.error
            return seed.WEATHER


@contextlib.asynccontextmanager
async def wired(server: Server) -> AsyncIterator[Wire]:
    """The server's end of a wire, after the handshake."""
    wire = Wire()
    serving = asyncio.create_task(server.serve(wire))
    await asyncio.sleep(0)
    info = b'"capabilities":{},"clientInfo":{"name":"them","version":"1"}'
    wire.says(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",' + info + b"}}")
    await wire.bytes()
    wire.says(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    try:
        yield wire
    finally:
        wire.breaks(None)
        await asyncio.wait_for(serving, 10)


async def answer(wire: Wire, request: bytes) -> bytes:
    """The answer to a request, whatever else comes before it."""
    wire.says(request)
    wanted = said(request)["id"]
    while said(data := await wire.bytes()).get("id") != wanted:
        pass
    return data


async def until(wire: Wire, status: str) -> None:
    """Ask until the task has a status."""
    for id in range(1000, 3000):
        if said(await answer(wire, with_id(seed.GET, id)))["result"]["status"] == status:
            return
        await asyncio.sleep(0.001)
    raise AssertionError(f"it is never {status}")


async def test_a_method_that_there_is_not_is_refused_as_without_a_task() -> None:  # TSK-1
    async with wired(Weather()) as wire:
        assert said(await answer(wire, seed.CREATE))["error"]["code"] == -32601


async def test_a_task_is_announced_and_shown() -> None:  # TSK-1, TSK-2, TSK-3, TSK-4
    async with wired(Weather(task_rate=0.2)) as wire:  # one task to be asked about once in five seconds
        wire.says(CALL, seed.GET)
        assert await wire.bytes() == seed.CREATED
        assert said(await wire.bytes()) == said(seed.GOT)


async def test_a_result() -> None:  # TSK-2, TSK-3
    server = Weather()
    server.clouds.set()
    async with wired(server) as wire:
        wire.says(CALL)
        await until(wire, "completed")
        fetched = [await answer(wire, seed.RESULT) for _ in range(3)]
        assert fetched == [fetched[0]] * 3
        example = said(seed.RESULTED)
        del example["result"]["isError"]  # which is its default, and left out
        assert said(fetched[0]) == example
        server_answer = b'{"jsonrpc":"2.0","id":1,"result":' + fetched[0].partition(b'"result":')[2]
        assert server_answer in wire.sent  # the request itself was answered with the same bytes


async def test_a_list_of_two() -> None:  # TSK-3
    server = Weather()
    async with wired(server) as wire:
        await answer(wire, seed.GET)
        wire.says(CALL)
        await until(wire, "working")
        server.clouds.set()
        second = with_id(CALL, 2).replace(seed.ID.encode(), seed.SECOND.encode())
        await answer(wire, second)
        listed = said(await answer(wire, seed.LIST.replace(b'"cursor":"optional-cursor-value"', b"")))["result"]
        assert [task["taskId"] for task in listed["tasks"]] == [seed.ID, seed.SECOND]
        for ours, example in zip(listed["tasks"], said(seed.LISTED)["result"]["tasks"], strict=True):
            assert ours.keys() <= example.keys()
            assert ours["keepAlive"] == 30_000


async def test_a_cursor_of_somebody_elses() -> None:  # TSK-7
    async with wired(Weather()) as wire:
        error = said(await answer(wire, seed.LIST))["error"]
        assert error["code"] == -32602
        assert "optional-cursor-value" in error["message"]


async def test_deleting() -> None:  # TSK-3
    server = Weather()
    server.clouds.set()
    async with wired(server) as wire:
        wire.says(CALL)
        await until(wire, "completed")
        assert await answer(wire, seed.DELETE) == seed.DELETED
        assert await answer(wire, with_id(seed.GET, 70)) == seed.NOT_FOUND


async def test_a_task_that_there_is_not() -> None:  # TSK-7
    async with wired(Weather()) as wire:
        assert await answer(wire, with_id(seed.GET, 70)) == seed.NOT_FOUND
        assert await answer(wire, with_id(seed.RESULT, 70)) == seed.NOT_FOUND


async def test_a_result_that_there_is_not_yet() -> None:  # TSK-7
    async with wired(Weather()) as wire:
        wire.says(CALL)
        await until(wire, "working")
        assert await answer(wire, with_id(seed.RESULT, 72)) == seed.INCOMPLETE


async def test_an_id_that_is_taken() -> None:  # TSK-7, TSK-11
    async with wired(Weather()) as wire:
        wire.says(CALL)
        assert await answer(wire, with_id(CALL, 73)) == seed.DUPLICATE


async def test_a_task_that_failed() -> None:  # TSK-3, TSK-7
    server = Weather()
    server.error = ProtocolError(-32603, "Tool execution failed: API rate limit exceeded")
    server.clouds.set()
    async with wired(server) as wire:
        wire.says(CALL)
        await until(wire, "failed")
        answered = unmarked(await answer(wire, with_id(seed.GET, 4)))
        del answered["result"]["_meta"]  # TSK-2 wants it; the example leaves it out
        assert answered == said(seed.FAILED)
