"""The overview, `servers`, `disconnect`, `reconnect`, `log`: the connections themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...render.letters import excerpt, one_line
from ...render.parts import Card, Fold, Part, Table, Text, listing, text
from .. import kept
from ..brief import CommandError, hinted
from ..call_view import log_line, state_card
from ..host import NotebookHost
from ..workspace import Kind, Member, Workspace
from .completing import Completing
from .listing import complete_server
from .table import Command, Invocation, Option, Reply

ALL = Option("--all", "all of them")
SHOWN = 10
"""How many of the open calls the overview shows."""
LINES = 50
"""How many of the last lines of a log are shown."""
_WHY = 120

_BEGINNING = [
    ("%mcp connect NAME -- command arguments…", "start a server and connect to it"),
    ("%%mcp server NAME", "write a server: the functions of the cell become its tools"),
    ("%mcp help", "list all commands"),
]


@dataclass(frozen=True, slots=True)
class Row:
    """A server in the overview."""

    member: Member
    counts: Mapping[Kind, int | None]
    latency: float | None

    def connection(self) -> str:
        """How it is connected, or why it is not."""
        client = self.member.client
        if client.state == "connected":
            revision = client.profile.revision
            return f"connected · {client.destination.transport} · {revision.name} ({revision.era})"
        return f"lost: {excerpt(one_line(str(client.error)), _WHY)}" if client.state == "lost" else "disconnected"

    def count(self, kind: Kind) -> str:
        count = self.counts.get(kind)
        return "–" if count is None else str(count)


_COLUMNS = {
    "server": lambda row: row.member.name,
    "connection": Row.connection,
    "tools": lambda row: row.count("tools"),
    "resources": lambda row: row.count("resources"),
    "templates": lambda row: row.count("templates"),
    "prompts": lambda row: row.count("prompts"),
    "latency": lambda row: "–" if row.latency is None else f"{row.latency * 1000:.1f} ms",
}


def overview(invocation: Invocation) -> Reply:
    """All servers and how to go on; where there are none, how to begin."""
    workspace = invocation.workspace
    clients = {member.name: member.client for member in workspace}
    if not clients:
        parts = [Table(("to begin", ""), _BEGINNING), *_kept(workspace)]
        return Reply(clients, [Card("", "", parts, name="nothing is connected yet")])
    rows = _rows(workspace)
    first = next(iter(workspace.connected() or workspace)).name
    count = f"{len(rows)} server{'s' if len(rows) > 1 else ''}"
    notes = [next_step(first), *_lost(workspace), *_kept(workspace)]
    open_calls = [call for call in workspace.calls.values() if not call.done()]
    questions = _questions(workspace)
    about = " · ".join(
        _counted(len(some), word) for some, word in ((open_calls, "call"), (questions, "question")) if some
    )
    under_way = [state_card(call) for call in open_calls[-SHOWN:]]
    return Reply(
        clients, [Card("", "", listing(rows, _COLUMNS), name=count, about=about), *under_way, *questions, *notes]
    )


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count > 1 else ''} open"


def _questions(workspace: Workspace) -> list[Part]:
    """What waits for the person."""
    host = workspace.runtime.host
    waiting = host.unheard if isinstance(host, NotebookHost) else ()
    return [
        Card("ask", "needs your answer", [Text(f"{about}. It is asked in the next cell that waits.")])
        for about in waiting
    ]


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
        return Row(member, counts, latency)

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


_NOUNS: Mapping[Kind, str] = {"tools": "tool", "resources": "resource", "templates": "template", "prompts": "prompt"}


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
    offers = [f"{count} {_NOUNS[kind]}{'s' if count > 1 else ''}" for kind, count in counts.items() if count]
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
    examples=("%mcp log everything",),
    run=show_log,
    complete=complete_server,
)
