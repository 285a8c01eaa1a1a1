"""What tests of calls share: kernels in which cells have run, a tool that works for a while, and waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ..cache import Unavailable
from ..kernels import Kernel, running_kernel

WORK = """
import asyncio
from mcp_notebook import Context
heard = []

async def work(steps: int, ctx: Context, seconds: float = 0.3) -> str:
    "Work, and tell of it."
    try:
        for step in range(steps):
            await ctx.progress(step + 1, steps, f"step {step + 1} <of {steps}>")
            await ctx.info(f"did {step + 1}")
            await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        heard.append("cancelled")
        raise
    return "done"
"""
"""The code of the tool. In `heard` stands what it was told."""


@contextmanager
def prepared(name: str, *cells: str) -> Iterator[Kernel]:
    """A kernel that runs for the time of a `with`, in which cells have run. The test is skipped where there is none.

    Args:
        name: one of `kernel_names()`.
        cells: the cells.
    """
    try:
        with running_kernel(name) as kernel:
            for cell in cells:
                outcome = kernel.run(cell)
                assert outcome.status == "ok", outcome
            yield kernel
    except Unavailable as why:
        pytest.skip(str(why))


def until(true: Callable[[], object], seconds: float = 15) -> None:
    """Wait until something is true, within bounds."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
