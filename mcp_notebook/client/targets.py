"""What one can connect to, and the channel that leads there."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from ..errors import ConnectError, UnsupportedFeature
from ..jsonrpc import Message, RequestId
from ..limits import Limits
from ..transports.base import Channel, Receiver
from ..transports.command import Command
from ..transports.memory import memory_pair


@runtime_checkable
class Serves(Protocol):
    """A server in this process: `mcp_notebook.Server`."""

    @property
    def name(self) -> str: ...

    async def serve(self, channel: Channel) -> None: ...


Target: TypeAlias = Serves | Command | str | Sequence[str] | Mapping[str, Any]
"""A server object, a command (a `Command`, a list, or a line), a URL, or an entry of an `mcp.json` file."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a target leads: a command to start, or a server in this process."""

    name: str
    """A name for it, where the caller gives none."""
    command: Command | None = None
    server: Serves | None = None

    @property
    def transport(self) -> str:
        """In a word, how it is reached."""
        return "stdio" if self.command is not None else "this process"

    def channel(self, limits: Limits) -> Channel:
        """A new channel to it."""
        if self.command is not None:
            from ..transports.stdio import StdioChannel

            return StdioChannel(self.command, limits=limits)
        assert self.server is not None
        return InProcess(self.server, limits)


def destination(target: Any, *, env: Mapping[str, str] | None = None, cwd: str | Path | None = None) -> Destination:
    """Understand a target.

    Args:
        target: see `Target`.
        env: additions to the environment of a command.
        cwd: the folder it runs in.

    Raises:
        ConnectError: it is nothing to connect to.
        UnsupportedFeature: it is a URL.
    """
    if isinstance(target, Serves) and not isinstance(target, type):
        return Destination(target.name, server=target)
    if isinstance(target, Command):
        command = target
    elif isinstance(target, Mapping):
        command = _entry(target)
    elif isinstance(target, str):
        _refuse_url(target)
        command = Command.parse(target)
    elif isinstance(target, Sequence) and target and all(isinstance(part, (str, os.PathLike)) for part in target):
        command = Command([os.fspath(part) for part in target])
    else:
        raise ConnectError(
            f"There is no way to connect to {type(target).__name__!r}. Give a command as a list such as "
            "['npx', '-y', 'some-package'], a Server object, or an entry of an mcp.json file."
        )
    if env or cwd is not None:
        command = replace(
            command, env={**command.env, **(env or {})}, cwd=command.cwd if cwd is None else os.fspath(cwd)
        )
    return Destination(_name_of(command), command=command)


def _entry(entry: Mapping[str, Any]) -> Command:
    """The command of an entry of an `mcp.json` file, or of a file that has only one."""
    servers = entry.get("mcpServers") or entry.get("servers")
    if isinstance(servers, Mapping):
        if len(servers) != 1:
            names = ", ".join(map(str, servers))
            raise ConnectError(
                f"This configuration has {len(servers)} servers ({names}); give one: config['mcpServers'][NAME]."
            )
        entry = next(iter(servers.values()))
    if isinstance(entry.get("url"), str):
        _refuse_url(entry["url"])
    program, args = entry.get("command"), entry.get("args") or []
    if not isinstance(program, str) or not isinstance(args, (list, tuple)):
        raise ConnectError(
            "A configuration entry needs 'command' (a string), and may have 'args' (a list), 'env', 'cwd'."
        )
    environment = {str(key): expand(str(value), f"env.{key}") for key, value in (entry.get("env") or {}).items()}
    words = [expand(str(word), "args") for word in (program, *args)]
    cwd = entry.get("cwd")
    return Command(words, env=environment, cwd=None if cwd is None else expand(str(cwd), "cwd"))


_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def expand(text: str, where: str) -> str:
    """Replace `${VAR}` and `${VAR:-default}` by the environment's values.

    Raises:
        ConnectError: a variable is not set and has no default; the text names it and the field.
    """

    def value(found: re.Match[str]) -> str:
        name, default = found.group(1), found.group(2)
        given = os.environ.get(name, default)
        if given is None:
            raise ConnectError(
                f"The configuration's field {where!r} needs the environment variable {name}, which is not set. "
                f"Set it, or write a default: ${{{name}:-…}}."
            )
        return given

    return _VARIABLE.sub(value, text)


def _refuse_url(text: str) -> None:
    if re.match(r"https?://", text, re.IGNORECASE):
        raise UnsupportedFeature(
            "Servers at a URL cannot be reached by this version, only commands and servers in this process."
        )


# Words of a command line that say nothing about the server.
_LAUNCHERS = {"npx", "npm", "node", "uvx", "uv", "python", "docker", "deno", "bun", "bunx", "env", "run", "exec", "sh"}
_PLACES = {"index", "main", "__main__", "cli", "server", "dist", "build", "src", "bin", "lib"}


def _name_of(command: Command) -> str:
    """A name for a command: the first word that says what it is, `everything` for `npx -y @scope/server-everything`."""
    for word in command.args:
        if word.startswith("-"):
            continue
        for part in reversed(word.split("/")):
            stem = re.sub(r"(?<=.)@.*$|\.(py|js|mjs|ts|sh|exe)$", "", part)
            bare = re.sub(r"[\d.]+$", "", stem)
            if bare in _LAUNCHERS:
                break
            if bare and bare not in _PLACES:
                return re.sub(r"^(mcp[-_])?server[-_]|^mcp[-_]", "", stem) or stem
    return Path(command.args[0]).name


class InProcess:
    """The channel to a server object of this process."""

    def __init__(self, server: Serves, limits: Limits) -> None:
        self._server = server
        self._mine, self._theirs = memory_pair(limits)
        self._serving: asyncio.Task[None] | None = None

    async def open(self, receiver: Receiver) -> None:
        self._serving = asyncio.create_task(self._server.serve(self._theirs))
        await self._mine.open(receiver)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        await self._mine.send(message, about=about)

    async def close(self) -> None:
        await self._mine.close()
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving], timeout=1)
