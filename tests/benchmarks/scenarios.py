"""What is done with an open session, and what is taken down: name -> number."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Callable
from typing import TypeAlias

import psutil

from .cases import Session

Numbers: TypeAlias = dict[str, float]
CpuTime: TypeAlias = Callable[[], float]
"""Seconds of CPU that client and server together have used."""

AT_ONCE = 64
TEXT = "hello, world"
MB = 1_000_000
WARM = 50


async def calls(session: Session, cpu_time: CpuTime, seconds: float, tool: str) -> Numbers:
    """Calls one after the other, then many at once."""
    for _ in range(WARM):
        assert await session.call(tool, {"text": TEXT}) == TEXT
    latencies: list[float] = []
    cpu, now = cpu_time(), time.perf_counter()
    end = now + seconds
    while now < end:
        began = now
        await session.call(tool, {"text": TEXT})
        now = time.perf_counter()
        latencies.append(now - began)
    spent = cpu_time() - cpu
    latencies.sort()
    return {
        "cpu_us": spent / len(latencies) * 1e6,
        "p50_us": latencies[len(latencies) // 2] * 1e6,
        "p99_us": latencies[int(len(latencies) * 0.99)] * 1e6,
        **await _many(session, cpu_time, seconds, tool),
    }


async def _many(session: Session, cpu_time: CpuTime, seconds: float, tool: str) -> Numbers:
    done, end = 0, 0.0

    async def work(at_least: int) -> None:
        nonlocal done
        while at_least > 0 or time.perf_counter() < end:
            await session.call(tool, {"text": TEXT})
            done, at_least = done + 1, at_least - 1

    await asyncio.gather(*(work(3) for _ in range(AT_ONCE)))  # so that all connections there may be are open
    cpu, began = cpu_time(), time.perf_counter()
    done, end = 0, began + seconds
    await asyncio.gather(*(work(0) for _ in range(AT_ONCE)))
    return {"many_cpu_us": (cpu_time() - cpu) / done * 1e6, "many_per_s": done / (time.perf_counter() - began)}


async def payload(session: Session, scale: float) -> Numbers:
    """Large results: a text of 1 MB, a picture of 10 MB; `scale` makes them smaller. What a client refuses is left
    out, as FastMCP's takes no event of more than 1 MiB over SSE."""
    numbers: Numbers = {}
    for name, tool, megabytes, times in (("text_mb_s", "text", 1, 7), ("picture_mb_s", "picture", 10, 3)):
        size = int(megabytes * MB * scale) // 4 * 4
        try:
            numbers[name] = size / MB / await _seconds(session, tool, size, times)
        except Exception as error:
            print(f"{tool} of {size} characters: {error}", file=sys.stderr)
    return numbers


async def _seconds(session: Session, tool: str, size: int, times: int) -> float:
    """How long one such call takes; the first one only warms up."""
    seconds = []
    for _ in range(times + 1):
        began = time.perf_counter()
        data = await session.call(tool, {"size": size})
        seconds.append(time.perf_counter() - began)
        assert len(data) == size
    return statistics.median(seconds[1:])


async def listing(session: Session, tools: int, server: psutil.Process | None) -> Numbers:
    """All tools, from the server to the client's objects."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        assert await session.list_tools() >= tools
        seconds.append(time.perf_counter() - began)
    numbers = {"list_s": statistics.median(seconds), "client_mb": _megabytes(psutil.Process())}
    if server is not None:
        numbers["server_mb"] = _megabytes(server)
    return numbers


def _megabytes(process: psutil.Process) -> float:
    return process.memory_info().rss / MB
