"""MCP Inspector's command line: one command each, and a daemon of its own that keeps connections between them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import programs
from .peers import kill_group

__all__ = ["Done", "Inspector", "inspector"]

BOUND = 60
"""Seconds for one command."""


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    code: int | None
    out: Any
    """What it printed, as JSON data; None where it printed nothing."""
    error: str
    """What it wrote to stderr."""


class Inspector:
    """Runs its commands with a home of its own, in a folder that is made for it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = folder / "daemon" / "mcpdod.lock"
        self._lock.parent.mkdir(mode=0o700)
        own = {"HOME": str(folder), "MCP_INSPECTOR_SECRET_STORE": "memory"}
        daemon = {
            "MCP_INSPECTOR_DAEMON_DIR": str(self._lock.parent),
            "MCP_INSPECTOR_DAEMON_TOKEN": secrets.token_urlsafe(32),
        }
        self._environment = {**os.environ, **own, **daemon}
        bin = programs.node_modules("inspector") / ".bin"
        self._commands = {"do": [str(bin / "mcpdo")], "cli": [str(bin / "mcp-inspector"), "--cli"]}

    async def connect(self, name: str, url: str, era: str, token: str) -> None:
        """Have the daemon connect, under a name."""
        entry = {"type": "streamable-http", "url": url, "headers": {"Authorization": f"Bearer {token}"}}
        config = self._folder / f"{name}.json"
        config.write_text(json.dumps({"mcpServers": {name: entry}}))
        done = await self._run("do", "--config", str(config), "connect", name, "--era", era, "--elicit", "form")
        assert done.code == 0, done

    async def do(self, connection: str, *words: str) -> Done:
        """A command on a connection. The daemon does one after the other on each."""
        return await self._run("do", "--connection", connection, *words)

    async def cli(self, *words: str) -> Done:
        """A command that connects on its own."""
        return await self._run("cli", *words)

    def end(self) -> None:
        """End the daemon, which may outlive a polite word."""
        with contextlib.suppress(OSError, ValueError):
            os.kill(int(self._lock.read_text()), signal.SIGKILL)

    async def _run(self, kind: str, *words: str) -> Done:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            programs.find("node"),
            *self._commands[kind],
            "--format",
            "json",
            *words,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(BOUND):
                out, error = await process.communicate()
        finally:
            if process.returncode is None:
                kill_group(process.pid)
                await process.wait()
        return Done(process.returncode, json.loads(out) if out.strip() else None, error.decode())


@contextlib.asynccontextmanager
async def inspector() -> AsyncIterator[Inspector]:
    """A new one. Raises Unavailable. (Its folder has a short name: that of a socket may not be long.)"""
    with tempfile.TemporaryDirectory(prefix="mcp-", ignore_cleanup_errors=True) as folder:
        one = Inspector(Path(folder))
        try:
            yield one
        finally:
            one.end()
