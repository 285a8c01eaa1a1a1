"""`tools`, `resources`, `prompts`: what servers offer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...client.results import Listing
from ...errors import MCPError
from ...protocol.json_schema.words import did_you_mean
from ...render import parts_of
from ...render.parts import Part, Text
from ..brief import CommandError
from ..searching import hits_of
from ..workspace import NOTHING_YET, Kind, Member, each
from .completing import Completing
from .naming import find
from .table import Command, Invocation, Option, Reply

FILTER = Option("--filter", "only what has this text in its name or description", value="TEXT")


def list_tools(invocation: Invocation) -> Reply:
    """All tools of all servers or of one; one tool by its name."""
    workspace = invocation.workspace
    name = next(iter(invocation.at_most(1)), "")
    server = name.partition(".")[0]
    if name not in workspace and (server in workspace or not did_you_mean(name, workspace.names)) and name:
        tool = find(workspace, "tools", name).item
        return Reply(tool, parts_of(tool))
    return _listed(invocation, "tools")


def list_resources(invocation: Invocation) -> Reply:
    """All resources, then all templates."""
    return _listed(invocation, "resources", "templates")


def list_prompts(invocation: Invocation) -> Reply:
    """All prompts."""
    return _listed(invocation, "prompts")


def _listed(invocation: Invocation, *kinds: Kind) -> Reply:
    workspace = invocation.workspace
    member = invocation.chosen()
    members = [member] if member is not None else workspace.connected()
    if not members:
        raise CommandError(f"There are no {kinds[0]} to list: {NOTHING_YET}")
    text = invocation.options.get("filter", "").lower()
    value: Listing[Any] = Listing()
    parts: list[Part] = []
    for member, lists in workspace.wait(each(members, *kinds, fresh=True)):
        if isinstance(lists, MCPError):
            if len(members) == 1:
                raise lists
            shown = parts_of(lists)
        else:
            matching = [[hit.item for hit in hits_of(member.name, items) if hit.holds(text)] for items in lists]
            value += [item for items in matching for item in items]
            shown = [part for items in matching if items for part in parts_of(items)]
        if len(members) > 1:
            parts.append(Text(member.name, "label"))
        parts += shown or [Text(_nothing(member, kinds[0], text), "note")]
    return Reply(value, parts)


def _nothing(member: Member, kind: Kind, text: str) -> str:
    return f"{member.name} has no {kind}" + (f" with {text!r} in its name or description" if text else "")


def complete_server(completing: Completing) -> Iterable[str]:
    """The names of the servers."""
    return completing.workspace.names if not completing.words else ()


def complete_server_or_tool(completing: Completing) -> Iterable[str]:
    """The names of the servers, and of their tools behind them."""
    if completing.words:
        return []
    return completing.names_of("tools") if "." in completing.current else completing.workspace.names


TOOLS = Command(
    name="tools",
    usage="[NAME | NAME.TOOL] [--filter TEXT]",
    summary="list what servers can do, or show one tool's arguments",
    examples=("%mcp tools", "%mcp tools everything", "%mcp tools everything.echo", "%mcp tools --filter file"),
    options=(FILTER,),
    run=list_tools,
    complete=complete_server_or_tool,
)

RESOURCES = Command(
    name="resources",
    usage="[NAME] [--filter TEXT]",
    summary="list what servers have to read",
    examples=("%mcp resources", "%mcp resources everything"),
    options=(FILTER,),
    run=list_resources,
    complete=complete_server,
)

PROMPTS = Command(
    name="prompts",
    usage="[NAME] [--filter TEXT]",
    summary="list the prompts that servers have ready",
    examples=("%mcp prompts", "%mcp prompts everything"),
    options=(FILTER,),
    run=list_prompts,
    complete=complete_server,
)
