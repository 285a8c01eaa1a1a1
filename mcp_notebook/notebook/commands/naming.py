"""Finding what a person means by a name: `[NAME.]TOOL`, `[NAME.]PROMPT`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..brief import CommandError, hinted
from ..workspace import NOTHING_YET, Kind, Member, Workspace, each

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Found:
    """A tool or prompt, and the server that has it."""

    member: Member
    item: Any

    @property
    def full_name(self) -> str:
        return f"{self.member.name}.{self.item.name}"


def find(workspace: Workspace, kind: Kind, name: str) -> Found:
    """The tool or prompt that a name means. With a server's name before it, only that server is asked.

    Raises:
        CommandError: there is none, or several servers have it.
        MCPError: the server that was named does not answer.
    """
    what = kind.removesuffix("s")
    if not len(workspace):
        raise CommandError(f"There is no {what} {name!r}: {NOTHING_YET}")
    named = [member for member in workspace if name.startswith(f"{member.name}.")]
    for member in sorted(named, key=lambda member: -len(member.name)):
        items = workspace.wait(member.offered(kind))
        for item in items:
            if item.name == name.removeprefix(f"{member.name}."):
                return Found(member, item)
    there = everything(workspace, kind)
    found = [one for one in there if one.item.name == name]
    if len(found) == 1:
        return found[0]
    if found:
        candidates = " or ".join(one.full_name for one in found)
        raise CommandError(f"Several servers have a {what} {name!r}. Say which: {candidates}.")
    raise CommandError(_unknown(workspace, what, name, there))


def everything(workspace: Workspace, kind: Kind) -> list[Found]:
    """What all connected servers offer of a kind; a server that does not answer offers nothing."""
    return workspace.wait(offered(workspace, kind))


async def offered(workspace: Workspace, kind: Kind) -> list[Found]:
    """The same, on the background loop."""
    lists = await each(workspace.connected(), kind)
    return [Found(member, item) for member, found in lists if isinstance(found, list) for item in found[0]]


def _unknown(workspace: Workspace, what: str, name: str, found: list[Found]) -> str:
    known = [one.full_name for one in found] if "." in name else [one.item.name for one in found]
    start = hinted(f"No connected server has a {what} {name!r}", name, known)
    if start.endswith("?"):
        return start
    lost = [member.name for member in workspace if not member.connected]
    there = ", ".join(known[:_SHOWN]) + (", …" if len(known) > _SHOWN else "")
    more = f" There are: {there}." if known else ""
    again = f" Not connected at the moment: {', '.join(lost)} (%mcp reconnect NAME)." if lost else ""
    return f"{start}{more}{again} %mcp {what}s lists them."
