"""What one can connect to, and the channel that leads there."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import ConnectError
from ..limits import Limits
from ..transports.base import Channel, Receiver
from ..transports.command import Command
from ..transports.http.options import HttpOptions
from ..transports.memory import memory_pair
from ..transports.relay import behind, is_relay, name_of, relayed
from ..types.problems import first_problem


@runtime_checkable
class Serves(Protocol):
    """A server in this process: `mcp_notebook.Server`."""

    @property
    def name(self) -> str: ...

    async def serve(self, channel: Channel) -> None: ...


@runtime_checkable
class Served(Protocol):
    """A server that is served at a URL from this process: what `Server.serve_http` gives."""

    @property
    def url(self) -> str: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


Target: TypeAlias = Serves | Command | str | Sequence[str] | Mapping[str, Any]
"""A server object, a command (a `Command`, a list, or a line), a URL, or an entry of an `mcp.json` file."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a target leads: a command to start, or a server in this process."""

    name: str
    """A name for it, where the caller gives none."""
    command: Command | None = None
    server: Serves | None = None
    url: str | None = None
    http: HttpOptions | None = field(default=None, repr=False)

    @property
    def transport(self) -> str:
        """In a word, how it is reached."""
        if self.command is not None:
            return "stdio, kept running" if is_relay(self.command) else "stdio"
        return "HTTP" if self.url is not None else "this process"

    @property
    def lasts(self) -> bool:
        """Whether what is there outlives a connection to it, so that one can connect anew and find it as it was."""
        return self.command is None or is_relay(self.command)

    @property
    def address(self) -> str | None:
        """What names it for other processes, too: a URL, or a relay's name. None where it ends with this process."""
        return self.url if self.url is not None else self.command and name_of(self.command)

    @property
    def has_headers(self) -> bool:
        """Whether the transport says things in headers, too."""
        return self.url is not None


def destination(
    target: Any,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    http: HttpOptions | None = None,
    keep: str | None = None,
    keep_for: float | None = None,
) -> Destination:
    """Understand a target.

    Args:
        target: see `Target`.
        env: additions to the environment of a command.
        cwd: the folder it runs in.
        http: how a URL is reached.
        keep: the name under which the server that a command starts is kept running behind a relay.
        keep_for: how many seconds it stays without a client.

    Raises:
        ConnectError: it is nothing to connect to, or it cannot be kept.
    """
    where = _destination(target, env, cwd, http)
    return where if keep is None else replace(where, command=_kept(where, keep, keep_for))


def _kept(where: Destination, name: str, seconds: float | None) -> Command:
    if where.command is None:
        raise ConnectError(
            f"Only a server that a command starts can be kept running. {where.name} runs where it is, and lasts as "
            "long as that does."
        )
    if sys.platform == "win32":
        raise ConnectError("Keeping a server running needs Unix sockets and process groups, which Windows lacks.")
    return where.command if is_relay(where.command) else relayed(where.command, name=name, keep=seconds)


def _destination(
    target: Any, env: Mapping[str, str] | None, cwd: str | Path | None, http: HttpOptions | None
) -> Destination:
    if isinstance(target, Destination):
        return target
    if isinstance(target, Served):
        http = http or HttpOptions()
        return _of_url(target.url, replace(http, headers={**target.headers, **http.headers}))
    if isinstance(target, Serves) and not isinstance(target, type):
        return Destination(target.name, server=target)
    if isinstance(target, Mapping):
        target = _entry(target)
    if isinstance(target, _Entry) and target.url is not None:
        return _of_url(expand(target.url, "url"), _with_headers(http, target))
    if isinstance(target, str) and _URL.match(target):
        return _of_url(target, http)
    try:
        command = _command(target)
    except ValueError as error:
        raise ConnectError(f"This is no command: {error}") from None
    if env or cwd is not None:
        command = replace(
            command, env={**command.env, **(env or {})}, cwd=command.cwd if cwd is None else os.fspath(cwd)
        )
    return Destination(_name_of(behind(command)), command=command)


def _of_url(url: str, http: HttpOptions | None) -> Destination:
    parts = urlsplit(url)
    if not parts.hostname:
        raise ConnectError(f"There is no host in the URL {url!r}.")
    return Destination(parts.hostname, url=url, http=http)


def _with_headers(http: HttpOptions | None, entry: _Entry) -> HttpOptions:
    headers = {key: expand(value, f"headers.{key}") for key, value in (entry.headers or {}).items()}
    http = http or HttpOptions()
    return replace(http, headers={**headers, **http.headers})


class _Entry(BaseModel):
    """One server of an `mcp.json` file; what else stands there is for others."""

    model_config = ConfigDict(coerce_numbers_to_str=True, defer_build=True)

    command: str | None = None
    args: list[str] | None = None
    env: dict[str, str] | None = None
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] | None = None


def _entry(entry: Mapping[str, Any]) -> _Entry:
    """The entry itself, or the only one of a whole `mcp.json` file."""
    servers = entry.get("mcpServers") or entry.get("servers")
    if isinstance(servers, Mapping):
        if len(servers) != 1:
            names = ", ".join(map(str, servers))
            raise ConnectError(
                f"This configuration has {len(servers)} servers ({names}); give one: config['mcpServers'][NAME]."
            )
        entry = next(iter(servers.values()))
    try:
        return _Entry.model_validate(entry)
    except ValidationError as error:
        raise ConnectError(f"This configuration entry cannot be used: {first_problem(error)}.") from None


def _command(target: Any) -> Command:
    """The command that a target is. Raises ValueError for one without a program."""
    if isinstance(target, Command):
        return target
    if isinstance(target, str):
        return Command.parse(target)
    if isinstance(target, _Entry):
        return _command_of_entry(target)
    if isinstance(target, Sequence) and target and all(isinstance(part, (str, os.PathLike)) for part in target):
        return Command([os.fspath(part) for part in target])
    raise ConnectError(
        f"There is no way to connect to {type(target).__name__!r}. Give a command as a list such as "
        "['npx', '-y', 'some-package'], a URL, a Server object, or an entry of an mcp.json file."
    )


def _command_of_entry(entry: _Entry) -> Command:
    if entry.command is None:
        raise ConnectError(
            "A configuration entry needs 'command' (and may have 'args', 'env', 'cwd'), or 'url' (and 'headers')."
        )
    args = [expand(word, f"args[{index}]") for index, word in enumerate(entry.args or ())]
    environment = {key: expand(value, f"env.{key}") for key, value in (entry.env or {}).items()}
    cwd = None if entry.cwd is None else expand(entry.cwd, "cwd")
    return Command([expand(entry.command, "command"), *args], env=environment, cwd=cwd)


_URL = re.compile(r"https?://", re.IGNORECASE)
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
        self.send = self._mine.send
        self._serving: asyncio.Task[None] | None = None

    async def open(self, receiver: Receiver) -> None:
        self._serving = asyncio.create_task(self._server.serve(self._theirs))
        await self._mine.open(receiver)

    async def close(self) -> None:
        await self._mine.close()
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait([self._serving], timeout=1)
