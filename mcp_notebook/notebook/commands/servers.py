"""The overview, `servers`, `disconnect`, `reconnect`, `log`: the connections themselves."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable, Mapping, Sequence

from ...render.parts import Card, Fold, Part, Table, Text, listing, text
from .. import kept
from ..brief import CommandError, hinted
from ..call_view import log_line
from ..frontend import wants_widgets
from ..overview.rows import Row, row_of, said_count, said_latency
from ..overview.under_way import heading, open_calls, open_questions, parts_of_calls
from ..workspace import KINDS, OFFERS, Kind, Member, Workspace
from .completing import Completing
from .listing import complete_server
from .table import Command, Invocation, Option, Reply

ALL = Option("--all", "all of them")
LINES = 50
"""How many of the last lines of a log are shown."""

_BEGINNING = [
    ("%mcp connect NAME -- command arguments…", "start a server and connect to it"),
    ("%%mcp server NAME", "write a server: the functions of the cell become its tools"),
    ("%mcp help", "list all commands"),
]


_COLUMNS = {
    "server": lambda row: row.name,
    "connection": lambda row: row.connection,
    **{kind: functools.partial(Row.count, kind=kind) for kind in KINDS},
    "latency": lambda row: row.latency,
}


def overview(invocation: Invocation) -> Reply:
    """All servers and how to go on; where there are none, how to begin."""
    workspace = invocation.workspace
    clients = {member.name: member.client for member in workspace}
    if invocation.used:
        return Reply(clients)
    if not clients:
        parts = [Table(("to begin", ""), _BEGINNING), *_kept(workspace)]
        return Reply(clients, [Card("", "", parts, name="nothing is connected yet")])
    runtime = workspace.runtime
    if runtime.answers_widgets and wants_widgets(runtime.frontend()):
        from ..widgets.overview.card import show_overview

        notes = _kept(workspace)
        show_overview(workspace, notes, lambda rows: _parts(workspace, rows, notes))
        return Reply(clients)
    return Reply(clients, _parts(workspace, _rows(workspace), _kept(workspace)))


def _parts(workspace: Workspace, rows: Sequence[Row], kept: Sequence[Part]) -> list[Part]:
    """All that the overview tells."""
    name, about = heading(len(rows), len(open_calls(workspace)), len(open_questions(workspace)))
    first = next(iter(workspace.connected() or workspace)).name
    notes = [next_step(first), *_lost(workspace), *kept]
    return [Card("", "", listing(rows, _COLUMNS), name=name, about=about), *parts_of_calls(workspace), *notes]


def list_servers(invocation: Invocation) -> Reply:
    """All servers, or all about one."""
    member = invocation.chosen()
    if member is None:
        clients = {member.name: member.client for member in invocation.workspace}
        return Reply(clients, listing(_rows(invocation.workspace), _COLUMNS) if clients else overview(invocation).parts)
    member.check()
    counts = invocation.workspace.wait(member.counts())
    return Reply(member.client, [card(member, counts, note=kept.told(member), whole=True, opened=True)])


def _rows(workspace: Workspace) -> list[Row]:
    async def ask(member: Member) -> Row:
        counts, latency = await asyncio.gather(member.counts(), member.latency())
        return row_of(member, {kind: said_count(count) for kind, count in counts.items()}, said_latency(latency))

    async def ask_all() -> list[Row]:
        return await asyncio.gather(*map(ask, workspace))

    return workspace.wait(ask_all())


def _lost(workspace: Workspace) -> list[Part]:
    lost = [member.name for member in workspace if not member.connected]
    return [Text(f"%mcp reconnect {lost[0]} connects it again.", "note")] if lost else []


def _kept(workspace: Workspace) -> list[Part]:
    """What runs on from before, and is not connected."""
    names = [name for name in kept.names(workspace.place) if name not in workspace]
    if not names:
        return []
    return [Text(f"Kept running from before: {', '.join(names)}. %mcp connect {names[0]} comes back to it.", "note")]


def next_step(name: str) -> Text:
    """What one does with a connection."""
    return Text(
        f"Next: %mcp tools {name} lists what it can do, %mcp call {name}.TOOL key=value does it.",
        "note",
    )


def card(
    member: Member, counts: Mapping[Kind, int | None], *, note: str = "", whole: bool = False, opened: bool = False
) -> Card:
    """A connection: who the server is, and what it offers.

    Args:
        member: the connection.
        counts: how much it offers of each kind.
        note: something to add.
        whole: with the server's instructions.
        opened: these not folded away.
    """
    profile = member.client.profile
    offers = [f"{count} {OFFERS[kind].noun}{'s' if count > 1 else ''}" for kind, count in counts.items() if count]
    parts: list[Part] = [Text(" · ".join(offers) or "It offers nothing so far.", "prose")]
    if note:
        parts.append(Text(note, "note"))
    if whole and profile.instructions:
        instructions = text(profile.instructions, "client.profile.instructions", "prose")
        if opened:
            parts += [Text("its instructions", "label"), *instructions]
        else:
            parts.append(Fold("its instructions", instructions, repeats=True))
    info = profile.server_info
    title = f"{info.label} {info.version}".removesuffix(" 0").strip()
    about = " · ".join([*([title] if title != member.name else []), member.client.destination.transport])
    return Card("done", "connected", parts, name=member.name, about=about, aside=profile.revision.name)


def disconnect(invocation: Invocation) -> Reply:
    """End connections; `reconnect` makes them anew."""
    workspace, stop = invocation.workspace, bool(invocation.options.get("stop"))
    name = next(iter(invocation.texts()), "")
    if stop and name and name not in workspace:
        return _stopped(invocation, name)
    members = chosen(invocation)

    async def close() -> None:
        await asyncio.gather(*(member.client.close() for member in members))

    notes = {member.name: kept.left(member) for member in members}
    workspace.wait(close())
    return Reply(None, [_disconnected(member, notes[member.name], stop) for member in members])


def _disconnected(member: Member, note: str, stop: bool) -> Card:
    if stop and member.relay is not None:
        kept.stop(member.relay)
        return Card("drop", "stopped", name=member.name)
    return Card("drop", "disconnected", [Text(note, "note")] if note else [], name=member.name)


def _stopped(invocation: Invocation, name: str) -> Reply:
    """End a kept server to which this kernel is not connected. Raises CommandError."""
    running = kept.names(invocation.workspace.place)
    invocation.at_most(1)
    if name not in running:
        raise CommandError(hinted(f"No server {name!r} is kept running here", name, running))
    kept.stop(kept.full_name(name, invocation.workspace.place))
    return Reply(None, [Card("drop", "stopped", name=name)])


def complete_disconnect(completing: Completing) -> Iterable[str]:
    """What is connected, and what is kept."""
    return [*complete_server(completing), *([] if completing.words else completing.kept())]


def chosen(invocation: Invocation) -> list[Member]:
    """The server that was named, the only one there is, or all of them. Raises CommandError."""
    if invocation.options.get("all"):
        invocation.at_most(0)
        return list(invocation.workspace)
    return [invocation.one()]


def show_log(invocation: Invocation) -> Reply:
    """The last lines that a server logged, wrote to stderr, and got wrong."""
    member = invocation.one()
    lines, stderr, faults = _said(member)
    parts: list[Part] = []
    for title, said in (("log", lines), ("stderr", stderr), ("broken messages", faults)):
        if said:
            more = f" (the last {LINES} of {len(said)} lines)" if len(said) > LINES else ""
            parts += [Text(title + more, "label"), Text("\n".join(said[-LINES:]))]
    return Reply(lines, parts or [Text(f"{member.name} has said nothing so far.", "note")])


def _said(member: Member) -> tuple[list[str], list[str], list[str]]:
    client = member.client
    if not member.connected:
        return [], str(getattr(client.error, "stderr", "")).splitlines(), []
    session = client.session
    stderr = getattr(session.connection.channel, "stderr", "")
    return [log_line(line) for line in session.log], stderr.splitlines(), list(session.faults)


SERVERS = Command(
    name="servers",
    usage="[NAME]",
    summary="list the servers of this notebook, or show all about one",
    examples=("%mcp servers", "%mcp servers everything"),
    run=list_servers,
    complete=complete_server,
)

DISCONNECT = Command(
    name="disconnect",
    usage="[NAME] [--all]",
    summary="end a connection, and the server's process",
    about="A server that was connected with --keep runs on, unless --stop is given.",
    examples=("%mcp disconnect everything", "%mcp disconnect long --stop"),
    options=(ALL, Option("--stop", "end also a server that is kept running")),
    run=disconnect,
    complete=complete_disconnect,
)

LOG = Command(
    name="log",
    usage="[NAME]",
    summary="show the last lines that a server logged or wrote to stderr",
    about="Where several are connected, NAME says which.",
    examples=("%mcp log everything",),
    run=show_log,
    complete=complete_server,
)
