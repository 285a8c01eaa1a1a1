"""FastMCP with its tasks, as a program."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from ..fast_tasks import overlay
from .peers import running_program

__all__ = ["serving"]


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """The server beside this file: its URL.

    Raises:
        Unavailable: the packages could not be installed.
    """
    script = str(Path(__file__).with_name("fastmcp_tasks_server.py"))
    async with running_program(sys.executable, script, PYTHONPATH=str(overlay())) as program:
        yield f"http://127.0.0.1:{await program.line()}/mcp"
