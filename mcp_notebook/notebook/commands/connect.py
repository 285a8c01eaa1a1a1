"""`connect`: to a command, a Python object, or the servers of an mcp.json file."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ...client import Client
from ...client.targets import Served, Serves, destination
from ...errors import MCPError
from ...limits import DEFAULT_LIMITS
from ...render import parts_of
from ...render.parts import Card, Part, Text
from ...transports.command import Command as Program
from ...transports.relay import kept as kept_server
from .. import kept
from ..brief import CommandError, hinted
from ..call_view import clock
from ..interpolation import Names
from ..live import Live
from ..words import Word
from ..workspace import Kind, Member, Target, Workspace, target_of
from .calls import under_way
from .completing import Completing
from .configuration import servers_of
from .listing import complete_server
from .servers import ALL, card, chosen, next_step
from .table import Command, Invocation, Option, Reply, seconds

_USAGE = "It is written: %mcp connect NAME -- command arguments…, or %mcp connect NAME server_object"
_NAME = re.compile(r"[^\W_][\w.\-]*")


@dataclass(frozen=True, slots=True)
class Connect:
    """What to connect to: names, and where each leads; a client stands for itself.

    Attributes:
        targets: where the names lead.
        failed: the entries of a file that lead nowhere, and why.
    """

    targets: Mapping[str, Target | Client]
    failed: Mapping[str, MCPError] = field(default_factory=dict)


def parse_connect(invocation: Invocation) -> Connect:
    """Understand the line.

    Raises:
        MCPError: it leads nowhere; the text says how it is written.
    """
    words = [*invocation.words, *(invocation.rest or ())]
    if not invocation.words:
        raise _nameless(invocation, words)
    entries = servers_of(words[0], invocation.names)
    if entries is not None:
        return _of_entries(invocation, entries, [invocation.names.text(word) for word in words[1:]])
    name = invocation.names.text(words[0])
    if not _NAME.fullmatch(name):
        raise CommandError(f"{name!r} is no name for a server: that is made of letters, digits, - and _. {_USAGE}")
    value = _object(invocation, words[-1]) if len(words) <= 2 and invocation.rest is None else None
    known = invocation.workspace.get(name)
    if len(words) == 1 and known is not None and not isinstance(value, Serves):
        return Connect({name: known.target})
    if isinstance(value, Client):
        return Connect({name: value})
    if value is None and len(words) == 1 and name in kept.names(invocation.workspace.place):
        return Connect({name: Target(destination(kept_server(kept.full_name(name, invocation.workspace.place))))})
    if value is None:
        value = _program(invocation, name, words[1:])
    return Connect({name: target_of(value, **_options(invocation, name))})


def _nameless(invocation: Invocation, words: Sequence[Word]) -> CommandError:
    if not words:
        return CommandError(_USAGE)
    line = " ".join(word.raw for word in words)
    name = destination([invocation.names.text(word) for word in words]).name
    return CommandError(f"The server needs a name of your choice: %mcp connect {name} -- {line}")


def _object(invocation: Invocation, word: Word) -> Any:
    """The Python object that a word names, if something can be connected to it."""
    if word.expression is not None:
        value = invocation.names.evaluate(word.expression)
        if not _connectable(value):
            raise CommandError(
                f"{word.raw} is of type {type(value).__name__}, to which nothing can be connected. A Server, a Client, "
                "a Command, a list of words or an entry of an mcp.json file can."
            )
        return value
    value = invocation.names.get(word.raw)
    return value if _connectable(value) else None


def _connectable(value: Any) -> bool:
    return isinstance(value, (Serves, Served, Client, Program, list, tuple, Mapping, str)) and not isinstance(
        value, type
    )


def _program(invocation: Invocation, name: str, words: Sequence[Word]) -> list[str] | str:
    """A command line, in which `~` leads to the home folder as in a shell; or an address."""
    texts = [(word, invocation.names.text(word)) for word in words]
    args = [os.path.expanduser(text) if word.raw.startswith("~") else text for word, text in texts]
    if not args:
        raise CommandError(f"What is {name!r} to be connected to? {_USAGE}")
    if args[0].startswith("-"):
        raise CommandError(f"A command cannot begin with {args[0]!r}. Does the server's name stand first? {_USAGE}")
    return args[0] if len(args) == 1 and "://" in args[0] else args


def _options(invocation: Invocation, name: str) -> dict[str, Any]:
    options = {name.replace("-", "_"): value for name, value in invocation.options.items()}
    if "keep" in options:
        options["keep_for"] = options["keep"]
        options["keep"] = kept.full_name(name, invocation.workspace.place)
    if "env" in options:
        options["env"] = dict(options["env"])
    headers = [*options.pop("header", ()), *options.pop("token_env", ())]
    return options | {"headers": dict(headers)} if headers else options


def _of_entries(invocation: Invocation, entries: Mapping[str, Any], names: Sequence[str]) -> Connect:
    for name in names:
        if name not in entries:
            missing = hinted(f"There is no server {name!r} in {invocation.words[0].raw}", name, entries)
            raise CommandError(f"{missing} There are {', '.join(entries)}.")
    targets: dict[str, Target | Client] = {}
    failed: dict[str, MCPError] = {}
    for name in names or entries:
        try:
            targets[name] = target_of(entries[name], **_options(invocation, name))
        except MCPError as error:
            failed[name] = error
    return Connect(targets, failed)


# Doing it

_Outcome: TypeAlias = tuple[Member, Mapping[Kind, int | None]] | MCPError
"""A connection and how much its server offers; or why there is none."""


def run_connect(invocation: Invocation) -> Reply:
    """Connect to one server, or to several side by side."""
    return _connect(invocation, parse_connect(invocation))


def run_reconnect(invocation: Invocation) -> Reply:
    """Make connections anew."""
    return _connect(invocation, Connect({member.name: member.target for member in chosen(invocation)}))


def _connect(invocation: Invocation, wanted: Connect) -> Reply:
    workspace = invocation.workspace
    notes = {name: _replaces(workspace.get(name), target) for name, target in wanted.targets.items()}
    live = Live(workspace.runtime)
    try:
        with live.showing(_connecting(wanted)):
            outcomes = workspace.wait(_connect_all(workspace, wanted))
        parts = _told(workspace, outcomes, notes)
    except BaseException:
        if live.drawn:
            live.finish([Card("drop", "not connected", name=", ".join(wanted.targets))])
        raise
    clients = {name: outcome[0].client for name, outcome in outcomes.items() if not isinstance(outcome, MCPError)}
    if live.drawn or not invocation.used or len(clients) < len(outcomes):
        live.finish(parts)
    if not clients:
        raise CommandError("None of the servers is connected; if any was asked for, the reasons stand above.")
    return Reply(next(iter(clients.values())) if len(outcomes) == 1 else clients)


def _replaces(old: Member | None, target: Target | Client) -> str:
    if old is None or not old.connected or target in (old.target, old.client):
        return ""
    if isinstance(target, Target) and old.relay is not None and old.relay == target.relay:
        return ""
    return f"It replaces the connection to {old.target}."


def _connecting(wanted: Connect) -> Callable[[], list[Part]]:
    began = time.monotonic()
    return lambda: [Card("work", "connecting", name=", ".join(wanted.targets), aside=clock(time.monotonic() - began))]


async def _connect_all(workspace: Workspace, wanted: Connect) -> dict[str, _Outcome]:
    """Connect side by side: what does not work does not stop the rest."""

    async def connect(name: str, target: Target | Client) -> _Outcome:
        try:
            if isinstance(target, Client):
                member = await workspace.adopt(name, target)
            else:
                member = await workspace.connect(name, target)
        except MCPError as error:
            return error
        return member, await member.counts()

    done = await asyncio.gather(*(connect(name, target) for name, target in wanted.targets.items()))
    return {**dict(zip(wanted.targets, done, strict=True)), **wanted.failed}


def _told(workspace: Workspace, outcomes: Mapping[str, _Outcome], notes: Mapping[str, str]) -> list[Part]:
    """A card for each. Raises the error of the only one."""
    parts: list[Part] = []
    connected: list[str] = []
    for name, outcome in outcomes.items():
        if not isinstance(outcome, MCPError):
            connected.append(name)
            note = " ".join(filter(None, [notes[name], _kept_note(outcome[0])]))
            parts.append(card(*outcome, note=note, whole=len(outcomes) == 1))
            parts += under_way(workspace.left_at(name, outcome[0].client.destination))
        elif len(outcomes) == 1:
            raise outcome
        else:
            parts += [Text(name, "label"), *parts_of(outcome)]
    return [*parts, next_step(connected[0])] if connected else parts


def _kept_note(member: Member) -> str:
    before, member.process = member.process, member.client.session.process
    return kept.told(member, before)


def complete_connect(completing: Completing) -> Iterable[str]:
    """Files; servers that were connected before; objects that one can connect to."""
    names = completing.names
    objects = [name for name in names.visible() if isinstance(names[name], (Serves, Client, Program))]
    match completing.words:
        case []:
            files = [path.name for path in sorted(Path().glob("*.json"))]
            return [*completing.workspace.names, *completing.kept(), *objects, *files]
        case [word]:
            return [*(_entries_of(word, names) or objects)]
        case [word, *_]:
            return _entries_of(word, names)
    return []


def _entries_of(word: Word, names: Names) -> Iterable[str]:
    try:
        return servers_of(word, names) or ()
    except CommandError:
        return ()


def _environment(text: str) -> tuple[str, str]:
    """`KEY=VALUE`, or `KEY` for what this process has under that name."""
    key, equals, value = text.partition("=")
    if not equals and key not in os.environ:
        raise CommandError(f"There is no {key} in this kernel's environment. Write --env {key}=VALUE.")
    return key, value if equals else os.environ[key]


def _header(text: str) -> tuple[str, str]:
    """`Name: value`."""
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise CommandError(f"{text!r} is no HTTP header. It is written --header 'Name: value'.")
    return name.strip(), value.strip()


def _hours(text: str) -> float:
    """As seconds."""
    return 3600 * seconds(text)


def _token(variable: str) -> tuple[str, str]:
    """The header for a token that stands in the environment, where no notebook shows it."""
    if not os.environ.get(variable):
        raise CommandError(f"There is no {variable} in this kernel's environment: set it outside the notebook.")
    return "Authorization", f"Bearer {os.environ[variable]}"


CONNECT = Command(
    name="connect",
    usage="NAME -- command arguments…",
    summary="connect to a server: a command to start, a URL, an object",
    about=(
        "NAME is what you call the server from now on. A command is shown before it starts, and starts when you "
        "allow it. In its place may stand a URL, or a Python object: a Server of this notebook, a Client, a list "
        "of words, an entry of an mcp.json file. Of an mcp.json file all servers are connected, or those that are "
        "named. Connecting again makes the connection anew. client = %mcp connect … keeps the Client. With --keep the "
        "server outlives the kernel: after a restart %mcp connect NAME comes back to it, with all that it has in "
        "memory. %mcp disconnect NAME --stop ends it."
    ),
    examples=(
        "%mcp connect everything -- npx -y @modelcontextprotocol/server-everything",
        "%mcp connect files --env TOKEN --timeout 120 -- uvx some-server --root {folder}",
        "%mcp connect lab http://localhost:8000/mcp --token-env LAB_TOKEN",
        "%mcp connect demo demo",
        "%mcp connect mcp.json",
        "%mcp connect mcp.json files github",
        "%mcp connect long --keep -- python simulation.py",
    ),
    options=(
        Option(
            "--env",
            "KEY=VALUE for the command's environment, or KEY to hand on yours",
            value="KEY[=VALUE]",
            read=_environment,
            many=True,
        ),
        Option("--cwd", "the folder that the command runs in", value="FOLDER", read=os.path.expanduser),
        Option("--header", "an HTTP header for a URL", value="'Name: value'", read=_header, many=True),
        Option("--token-env", "the variable that holds a URL's bearer token", value="VAR", read=_token, many=True),
        Option("--timeout", "seconds of silence after which a request is given up", value="SECONDS", read=seconds),
        Option("--revision", "the protocol revision to speak; found out by default", value="DATE"),
        Option(
            "--keep",
            "let it outlive the kernel, and end after HOURS (1) alone",
            value="HOURS",
            read=_hours,
            bare=DEFAULT_LIMITS.relay_keep,
        ),
        Option("--remember-arguments", "keep what calls are called with in the journal, too, by which they outlive it"),
        Option("--trust", "start the command without asking, where nobody can be asked"),
    ),
    run=run_connect,
    complete=complete_connect,
)

RECONNECT = Command(
    name="reconnect",
    usage="[NAME] [--all]",
    summary="end a connection and make it anew",
    examples=("%mcp reconnect everything",),
    options=(ALL,),
    run=run_reconnect,
    complete=complete_server,
)
