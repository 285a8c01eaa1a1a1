"""How peers are run: what speaks ASGI in this process, what runs on Node.js as a program."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn

from .. import programs
from ..scripted import until

__all__ = ["Program", "kill_group", "running", "running_program", "running_script"]


@contextlib.asynccontextmanager
async def running(app: Any) -> AsyncIterator[str]:
    """An ASGI application at a free port: the URL of its root."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


class Program:
    """A program that tells line by line what it does, and goes on when it is told to."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.said: list[str] = []
        """The lines that it wrote so far."""
        self._process = process
        self._reading = asyncio.create_task(self._read())

    async def line(self, number: int = 0) -> str:
        """A line that it writes, by its place.

        Raises:
            AssertionError: it ended before.
        """
        await until(lambda: len(self.said) > number or self._reading.done(), bound=30)
        assert len(self.said) > number, "the program ended: what it wrote on stderr stands above"
        return self.said[number]

    async def all(self) -> list[str]:
        """The lines that it wrote, once it has ended."""
        await until(lambda: self._reading.done(), bound=60)
        return self.said

    def go(self) -> None:
        """Let it go on."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"go\n")

    async def end(self) -> None:
        """Kill it."""
        kill_group(self._process.pid)
        await self._process.wait()
        await self._reading

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.said.append(line.decode().rstrip())


def kill_group(pid: int) -> None:
    """Kill a program that was started with a session of its own, and what it started: `node` from PyPI is a program
    that starts the real one."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


@contextlib.asynccontextmanager
async def running_script(name: str, *arguments: str) -> AsyncIterator[Program]:
    """A script beside this file, on Node.js, whose first argument is where the npm packages are."""
    command = [programs.find("node"), str(Path(__file__).with_name(name)), str(programs.node_modules()), *arguments]
    async with running_program(*command) as program:
        yield program


@contextlib.asynccontextmanager
async def running_program(*command: str, **environment: str) -> AsyncIterator[Program]:
    """Any program, in this environment with additions."""
    pipe, env = asyncio.subprocess.PIPE, {**os.environ, **environment}
    program = Program(
        await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, env=env, start_new_session=True)
    )
    try:
        yield program
    finally:
        await program.end()
