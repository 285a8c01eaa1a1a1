"""Requests whose clients go and come back: how soon they hear what they missed, and what it costs to keep that.

The tool `talk(lines)` says so many lines and never ends. There are two ways back: a GET with `Last-Event-ID` for the
rest of an SSE stream, which servers with an event store offer, and `requests/resume`, on whatever connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
from collections.abc import Callable

import psutil

from .bare import Bare, Stream
from .cases import LINE, Way
from .scenarios import Numbers

FEWEST = 10
"""How often one comes back at least, to take the median."""
A_SESSION = 500
"""How many requests are open in one session."""
TALKING, LINES = 50, 100
"""How many requests say how many lines, to measure what a line takes."""
QUIET, LOOKS = 0.3, 100
"""Seconds without work after which a server has done all there was to do, and how often one looks for them."""


async def resuming(url: str, server: psutil.Process, way: Way, open: int, seconds: float) -> Numbers:
    """All of it, for one way back.

    Args:
        url: where the server is.
        server: its process.
        way: the way back.
        open: how many other requests are open, with nobody there to hear them.
        seconds: how long one drops requests and comes back to them, without the others and among them.
    """
    alone = await _back(url, server, way, seconds)
    before, began = await _memory(server), _cpu(server)
    await _leave(url, way, open, 0)
    opened = _cpu(server) - began
    many = await _memory(server)
    among = await _back(url, server, way, seconds)
    between = await _memory(server)
    await _leave(url, way, TALKING, LINES)
    said = await _memory(server) - between
    kept = (many - before) / open
    numbers = {
        "back_us": alone[0] * 1e6,
        "back_ms": alone[1] * 1e3,
        "back_among_us": among[0] * 1e6,
        "back_among_ms": among[1] * 1e3,
        "open_us": opened / open * 1e6,
        "open_kb": kept / 1e3,
        "line_bytes": (said / TALKING - kept) / LINES - len(LINE),
    }
    return {f"{way}_{name}": number for name, number in numbers.items()}


async def _back(url: str, server: psutil.Process, way: Way, seconds: float) -> tuple[float, float]:
    """Seconds of the server's CPU for a request that is dropped and come back to; and how long the latter takes."""
    come_back = {"stream": _by_stream, "request": _by_request}[way]
    session = await _session(url, way)
    cpu, end = _cpu(server), time.perf_counter() + seconds
    times: list[float] = []
    while len(times) < FEWEST or time.perf_counter() < end:
        id = len(times) % A_SESSION + 1
        if times and id == 1:
            session = await _session(url, way)
        times.append(await come_back(session, id))
    return (_cpu(server) - cpu) / len(times), statistics.median(times)


async def _session(url: str, way: Way) -> Bare:
    return await Bare(url).initialize(**({"resumableRequests": {}} if way == "request" else {}))


async def _leave(url: str, way: Way, number: int, lines: int) -> None:
    """Open requests, and leave as soon as one could come back to them."""
    for first in range(0, number, A_SESSION):
        session = await _session(url, way)
        for id in range(1, min(A_SESSION, number - first) + 1):
            async with session.post("tools/call", {"name": "talk", "arguments": {"lines": lines}}, id=id) as stream:
                await stream.event(message=way == "request")


async def _by_stream(session: Bare, id: int) -> float:
    """Seconds from the request for the rest of a stream to the first line of it."""
    async with session.post("tools/call", {"name": "talk", "arguments": {"lines": 2}}, id=id) as stream:
        last = (await stream.event())[0]
    return await _until_second_line(lambda: session.get(last))


async def _by_request(session: Bare, id: int) -> float:
    """Seconds from the resume request to the first line that is new."""
    async with session.post("tools/call", {"name": "talk", "arguments": {"lines": 2}}, id=id) as stream:
        token = (await stream.event())[1]["params"]["resumeToken"]
        last = (await stream.event())[0]
    return await _until_second_line(
        lambda: session.post("requests/resume", {"resumeToken": token}, id=id, last_event_id=last)
    )


async def _until_second_line(ask: Callable[[], contextlib.AbstractAsyncContextManager[Stream]]) -> float:
    began = time.perf_counter()
    async with ask() as stream:
        assert LINE in str((await stream.event())[1]["params"]["data"])
    return time.perf_counter() - began


async def _memory(server: psutil.Process) -> float:
    """Bytes that the server holds, once it is done with what it was asked."""
    for _ in range(LOOKS):
        began = _cpu(server)
        await asyncio.sleep(QUIET)
        if _cpu(server) - began <= 0.01:
            break
    return server.memory_info().rss


def _cpu(server: psutil.Process) -> float:
    times = server.cpu_times()
    return times.user + times.system
