"""One tool over many rows: a few calls at a time, one progress, one table; a row that fails costs no other."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from mcp_notebook import Context, Server, ToolError, ToolResult, connect
from mcp_notebook.errors import CallCancelled, MCPError, ProtocolError, SchemaError

from ..scripted import until

pytestmark = pytest.mark.anyio


def data(outcomes: list[ToolResult | MCPError]) -> list[Any]:
    """The data of results, none of which is an error."""
    return [outcome.data for outcome in outcomes if isinstance(outcome, ToolResult) and not outcome.is_error]


class Counting(Server):
    """A server that counts how many of its calls run at once, and lets them go on when the test says so."""

    def __init__(self) -> None:
        super().__init__("counting")
        self.free = asyncio.Event()
        self.free.set()
        self.running = self.most = 0

        @self.tool(task="optional")
        async def half(n: float, ctx: Context, unit: str = "m") -> dict[str, object]:
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await ctx.progress(1, 2)
                await self.free.wait()
                if n < 0:
                    raise ToolError("too small")
                return {"half": n / 2, "unit": unit}
            finally:
                self.running -= 1

        @self.tool
        def pair(a: int, b: int) -> int:
            return a + b


async def test_each_row_gets_its_result_in_order() -> None:
    async with connect(Counting()) as client:
        await client.list_tools()
        results = await client.map("half", [{"n": n} for n in range(20)], unit="km")
    assert data(results) == [{"half": n / 2, "unit": "km"} for n in range(20)]


async def test_plain_values_are_the_only_argument_that_the_tool_needs() -> None:
    async with connect(Counting()) as client:
        await client.list_tools()
        assert [one["half"] for one in data(await client.map("half", [2, 4]))] == [1, 2]
        with pytest.raises(SchemaError, match="a, b"):
            client.map("pair", [1, 2])
        with pytest.raises(TypeError, match="list of arguments"):
            client.map("half", "text")


async def test_no_more_calls_run_at_once_than_allowed() -> None:
    server = Counting()
    server.free.clear()
    async with connect(server) as client:
        calls = client.map("half", [{"n": n} for n in range(10)], concurrency=3)
        await until(lambda: server.running == 3)
        server.free.set()
        await calls
        assert server.most == 3
        with pytest.raises(ValueError, match="at least 1"):
            client.map("half", [], concurrency=0)


async def test_a_row_that_fails_stands_in_its_place_and_costs_no_other() -> None:
    async with connect(Counting()) as client:
        calls = client.map("half", [{"n": 2}, {"n": -1}, {}])
        results = await calls
        assert data(results) == [{"half": 1, "unit": "m"}]
        assert calls.failed == [1, 2]
        assert repr(calls) == "<CallMap of half: 3 of 3 done, 2 failed>"


async def test_progress_is_that_of_all_rows_together_and_listeners_hear_of_it() -> None:
    server = Counting()
    server.free.clear()
    async with connect(server) as client:
        calls = client.map("half", [{"n": 1}, {"n": 2}])
        heard: list[float] = []
        calls.add_listener(lambda calls: heard.append(calls.progress.progress))
        await until(lambda: calls.progress.progress == 1.0)  # each is half way
        assert calls.progress.total == 2
        assert not calls.done()
        server.free.set()
        await calls
        assert calls.done()
        assert calls.progress.progress == heard[-1] == 2


async def test_cancelling_ends_what_runs_and_begins_nothing_more() -> None:
    server = Counting()
    server.free.clear()
    async with connect(server) as client:
        calls = client.map("half", [{"n": n} for n in range(5)], concurrency=2)
        await until(lambda: server.running == 2)
        calls.cancel()
        results = await calls
        assert [type(result) for result in results] == [CallCancelled] * 5
        assert server.most == 2
        assert calls[0].done()
        assert calls[4] is None


async def test_the_rows_can_be_tasks() -> None:
    async with connect(Counting(), revision="2025-11-25") as client:
        calls = client.map("half", [{"n": 1}, {"n": 2}], task=True)
        await calls
        assert [call.task and call.task.status for call in calls] == ["completed", "completed"]


async def test_a_data_frame_goes_in_and_comes_out() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [2.0, -1.0, 4.0], "unit": ["m", "m", None]})
    async with connect(Counting()) as client:
        calls = client.map("half", frame)
        await calls
    assert calls.rows == [{"n": 2.0, "unit": "m"}, {"n": -1.0, "unit": "m"}, {"n": 4.0}]
    table = calls.to_pandas()
    half, error = table["half"].tolist(), table["error"].tolist()
    assert half[::2] == [1.0, 2.0]
    assert math.isnan(half[1])
    assert error[1] == "too small"


async def test_a_table_waits_for_all_where_it_may_and_says_what_to_do_where_it_may_not() -> None:
    server = Counting()
    server.free.clear()
    async with connect(server) as client:
        calls = client.map("half", [{"n": 2}, {"n": -1}])
        with pytest.raises(RuntimeError, match=r"not all ended \(0 of 2 done\).*`await calls` first"):
            calls.table()
        assert calls.table_so_far() == [{"n": 2}, {"n": -1}]
        waiting = asyncio.create_task(asyncio.to_thread(calls.table))
        await until(lambda: server.running == 2)
        server.free.set()
        table = [{"n": 2, "half": 1, "unit": "m"}, {"n": -1, "error": "too small"}]
        assert await waiting == calls.table() == table


async def test_an_unknown_tool_fails_at_once_where_the_tools_are_known() -> None:
    server = Counting()
    async with connect(server) as client:
        unknown = await client.map("none", [{}])  # nothing is known of them yet
        assert isinstance(unknown[0], ProtocolError)
        assert await asyncio.to_thread(lambda: client.map("half", [2]).result())  # elsewhere they can be asked for
        with pytest.raises(ProtocolError, match=r"no tool 'hal'\. Did you mean 'half'\?"):
            client.map("hal", [{}])
        server.tool(name="hal")(lambda: "new")
        assert data(await asyncio.to_thread(lambda: client.map("hal", [{}]).result())) == ["new"]
