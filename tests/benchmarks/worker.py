"""One measurement of one case, in a process of its own: a job as JSON in the command line, numbers as JSON out."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import psutil

from . import scenarios
from .cases import Case, Implementation, Target
from .implementations import IMPLEMENTATIONS
from .resuming import resuming
from .scenarios import Numbers

ROOT = Path(__file__).parents[2]
LONGEST_START = 120.0
"""Seconds that a server may take to listen; to make thousands of tools takes some of them long."""
CONNECTS = 5
"""How often a connection is made, to take the median."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to measure of a case."""

    case: Case
    scenarios: tuple[str, ...]
    seconds: float
    """How long calls are made, for each of the two ways of making them."""
    tool: str
    """The tool that is called: "echo", or "echo_in_thread"."""
    tools: int
    """How many tools that do nothing there are, where they are listed."""
    scale: float
    """What part of the full size large results have."""
    open: int
    """How many requests are open at once where clients come back to them."""


Place: TypeAlias = tuple[Target, psutil.Process | None]
"""Where the server is, and its process where it has one that is known beforehand."""


def run_job(job: Job, timeout: float) -> Numbers:
    """Do a job in a fresh process.

    Raises:
        RuntimeError: it failed; the text is the end of what it wrote to stderr.
    """
    command = [sys.executable, "-m", "tests.benchmarks.worker", json.dumps(asdict(job))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode:
        raise RuntimeError(f"{job.case}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main(text: str) -> None:
    given = json.loads(text)
    job = Job(**{**given, "case": Case(**given["case"])})
    logging.disable(logging.WARNING)
    numbers: Numbers = {}
    if "calls" in job.scenarios or "payload" in job.scenarios or "connect" in job.scenarios:
        numbers |= _at_server(job, tools=0)
    if "resuming" in job.scenarios:
        numbers |= _resume(job)
    if "tools" in job.scenarios:
        numbers |= _at_server(job, tools=job.tools)
    print(json.dumps(numbers))


def _at_server(job: Job, tools: int) -> Numbers:
    implementation = IMPLEMENTATIONS[job.case.implementation]
    numbers: Numbers = {}
    with _server(implementation, job.case, tools, numbers) as place:
        measure = _list_tools if tools else _use
        numbers |= asyncio.run(measure(implementation, job, place))
    return numbers


def _resume(job: Job) -> Numbers:
    implementation = IMPLEMENTATIONS[job.case.implementation]
    numbers: Numbers = {}
    for way in implementation.ways:
        with _server(implementation, job.case, 0, numbers) as (url, process):
            assert process is not None, "it is served over HTTP"
            numbers |= asyncio.run(resuming(url, process, way, job.open, job.seconds))
    return numbers


async def _use(implementation: Implementation, job: Job, place: Place) -> Numbers:
    numbers: Numbers = {}
    case = job.case
    async with implementation.connect(place[0], case.transport, case.era) as session:
        await session.list_tools()  # as clients do, which check results against output schemas then
        gc.collect()
        if "calls" in job.scenarios:
            numbers |= await scenarios.calls(session, _cpu_time, job.seconds, job.tool)
        if "payload" in job.scenarios:
            numbers |= await scenarios.payload(session, job.scale)
    if "connect" in job.scenarios:  # by now everything is imported
        times = [await _connect(implementation, case, place[0]) for _ in range(CONNECTS)]
        numbers["connect_ms"] = statistics.median(times) * 1e3
    return numbers


async def _connect(implementation: Implementation, case: Case, target: Target) -> float:
    began = time.perf_counter()
    async with implementation.connect(target, case.transport, case.era):
        return time.perf_counter() - began


async def _list_tools(implementation: Implementation, job: Job, place: Place) -> Numbers:
    async with implementation.connect(place[0], job.case.transport, job.case.era) as session:
        # The one that holds the tools is larger than any helper beside it.
        servers = [place[1]] if place[1] else psutil.Process().children(recursive=True)
        server = max(servers, key=lambda process: process.memory_info().rss, default=None)
        return await scenarios.listing(session, job.tools, server)


@contextmanager
def _server(implementation: Implementation, case: Case, tools: int, numbers: Numbers) -> Iterator[Place]:
    """The server of a case, where it does not live in the client's process or is started by it."""
    command = [sys.executable, "-m", "tests.benchmarks.serve", case.implementation, case.transport, str(tools)]
    if case.transport == "memory":
        cpu = time.process_time()
        server = implementation.server(tools)
        if tools:
            numbers["register_s"] = time.process_time() - cpu
        yield server, None
    elif case.transport == "stdio":
        yield command, None
    else:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process = subprocess.Popen([*command, str(port)], cwd=ROOT, stdout=subprocess.DEVNULL)
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}/mcp", psutil.Process(process.pid)
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Wait until somebody listens there.

    Raises:
        RuntimeError: nobody will.
    """
    end = time.monotonic() + LONGEST_START
    while time.monotonic() < end and server.poll() is None:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise RuntimeError("the server does not listen")


def _cpu_time() -> float:
    """Seconds of CPU of this process and of the servers it has started."""
    total = time.process_time()
    for child in psutil.Process().children(recursive=True):
        times = child.cpu_times()
        total += times.user + times.system
    return total


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = str(ROOT)  # for servers that are started in other folders
    main(*sys.argv[1:])
