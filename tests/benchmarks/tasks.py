"""Tasks: many that are made, asked about and fetched at once; and what asking about one costs while many are at work.

`python -m tests.benchmarks.tasks ROW NUMBER` measures one row, in a process of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

from ..fast_tasks import overlay
from .cases import HANDSHAKE_REVISION, MODERN_REVISION
from .scenarios import TEXT, Numbers
from .worker import ROOT

OURS = "mcp_notebook"
FORMS = {"requestor": "2025-06-18", "receiver": HANDSHAKE_REVISION, "extension": MODERN_REVISION}
"""Each form of tasks, and a revision at which our client chooses it."""
STORES = ("memory", "sqlite")
FASTMCP = "FastMCP: extension"
FLOOR = "floor: asyncio alone"
AT_ONCE_ROWS = (*(f"{OURS}: {form}" for form in FORMS), FASTMCP, FLOOR)
LIVE_ROWS = tuple(f"{OURS}: tasks/get, {store}" for store in STORES)
WARM = 10
FEW = 10
"""How many tasks are at work at least while one asks about them."""
GETS = 2_000
"""How often one asks, to measure what it costs once."""
POLL = 0.02
"""Seconds between two looks of the floor."""

OneTask: TypeAlias = Callable[[], Awaitable[str]]
"""Makes a task that echoes `TEXT`, asks about it until it has ended, and gives its result."""


def measure(row: str, number: int, timeout: float) -> Numbers:
    """Measure a row in a fresh process.

    Args:
        row: one of `AT_ONCE_ROWS` or `LIVE_ROWS`.
        number: how many tasks there are at once, or are at work.
        timeout: seconds that it may take.

    Raises:
        Unavailable: FastMCP with tasks cannot be installed.
        RuntimeError: it failed; the text is the end of what it wrote to stderr.
    """
    environment = {**os.environ, "PYTHONPATH": str(overlay())} if row == FASTMCP else None
    command = [sys.executable, "-m", "tests.benchmarks.tasks", row, str(number)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{row}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main(row: str, number: str) -> None:
    logging.disable(logging.WARNING)
    measured = _live(row, int(number)) if row in LIVE_ROWS else _at_once(row, int(number))
    print(json.dumps(asyncio.run(measured)))


async def _at_once(row: str, number: int) -> Numbers:
    who, _, form = row.partition(": ")
    contender = _floor() if row == FLOOR else _fastmcp() if row == FASTMCP else _ours(FORMS[form])
    async with contender as one_task:
        await asyncio.gather(*(one_task() for _ in range(WARM)))
        gc.collect()
        began, cpu = time.perf_counter(), time.process_time()
        results = await asyncio.gather(*(one_task() for _ in range(number)))
        numbers = {"tasks_s": time.perf_counter() - began, "tasks_cpu_s": time.process_time() - cpu}
    assert results == [TEXT] * number, who
    return numbers


@contextlib.asynccontextmanager
async def _ours(revision: str) -> AsyncIterator[OneTask]:
    from mcp_notebook import Server, connect

    server = Server("bench")

    @server.tool(task="optional")
    async def echo(text: str) -> str:
        """Echo the text."""
        return text

    async with connect(server, revision=revision) as client:

        async def one_task() -> str:
            handle = client.begin_call("echo", {"text": TEXT}, task=True)
            result = await handle
            assert handle.task is not None, "it became a task"
            return result.text

        yield one_task


@contextlib.asynccontextmanager
async def _fastmcp() -> AsyncIterator[OneTask]:
    from fastmcp import Client, FastMCP
    from fastmcp_tasks import TasksExtension, call_tool_task  # pyright: ignore[reportMissingImports]

    server: Any = FastMCP("bench")
    server.add_extension(TasksExtension(url="memory://"))

    @server.tool(task=True)
    async def echo(text: str) -> str:
        """Echo the text."""
        return text

    async with Client(server, mode=MODERN_REVISION) as client:

        async def one_task() -> str:
            task = await call_tool_task(client, "echo", {"text": TEXT})
            return (await task.result()).content[0].text

        yield one_task


@contextlib.asynccontextmanager
async def _floor() -> AsyncIterator[OneTask]:
    """What the bookkeeping alone takes: a task of asyncio's, found by its number, looked at again and again."""
    tasks: dict[int, asyncio.Task[str]] = {}

    async def echo(text: str) -> str:
        return text

    async def one_task() -> str:
        id = len(tasks)
        tasks[id] = asyncio.create_task(echo(TEXT))
        while not tasks[id].done():  # noqa: ASYNC110
            await asyncio.sleep(POLL)
        return tasks[id].result()

    yield one_task


async def _live(row: str, number: int) -> Numbers:
    """What `tasks/get` costs client and server, for a task at work and for one that has ended, among few and many."""
    from mcp_notebook import Server, connect
    from mcp_notebook.store import open_store

    never = asyncio.Event()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(open_store(Path(folder, "store") if row.endswith("sqlite") else None)) as store,
    ):
        server = Server("bench", store=store)

        @server.tool(task="required")
        async def work(end: bool) -> str:
            """Work without end, or end."""
            await (asyncio.sleep(0) if end else never.wait())
            return TEXT

        async with connect(server, revision=HANDSHAKE_REVISION) as client:

            async def ask(method: str, **params: Any) -> Any:
                return await client.session.connection.request(method, params)

            async def begin(end: bool) -> str:
                return (await ask("tools/call", name="work", arguments={"end": end}, task={}))["task"]["taskId"]

            async def get(id: str, status: str) -> float:
                """Microseconds of CPU for each of many questions about a task."""
                cpu = time.process_time()
                for _ in range(GETS):
                    assert (await ask("tasks/get", taskId=id))["status"] == status
                return (time.process_time() - cpu) / GETS * 1e6

            ended = await begin(True)
            await ask("tasks/result", taskId=ended)
            working = [await begin(False) for _ in range(FEW)]
            await get(working[0], "working")  # to warm up
            numbers: Numbers = {}
            for name in ("few", "many"):
                working += [await begin(False) for _ in range(number - FEW if name == "many" else 0)]
                gc.collect()
                numbers[f"get_{name}_us"] = await get(working[-1], "working")
                numbers[f"get_ended_{name}_us"] = await get(ended, "completed")
            numbers["get_ratio"] = numbers["get_many_us"] / numbers["get_few_us"]
            numbers["get_ended_ratio"] = numbers["get_ended_many_us"] / numbers["get_ended_few_us"]
            never.set()
            return numbers


if __name__ == "__main__":
    main(*sys.argv[1:])
