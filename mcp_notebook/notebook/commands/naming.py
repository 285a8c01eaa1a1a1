"""Finding what a person means by a name: `[NAME.]TOOL`, `[NAME.]PROMPT`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..brief import CommandError, hinted
from ..workspace import COUNTING, NOTHING_YET, OFFERS, Kind, Member, Workspace, each

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Found:
    """A tool or prompt, and the server that has it."""

    member: Member
    item: Any

    @property
    def full_name(self) -> str:
        """The server's name, a dot, its own: what always means it."""
        return f"{self.member.name}.{self.item.name}"


def find(workspace: Workspace, kind: Kind, name: str) -> Found:
    """The tool or prompt that a name means.

    Where no list that is known has it, the servers are asked anew: what has just come to be may not have been heard of.

    Raises:
        CommandError: there is none, or several servers have it.
        ConnectionLost: the server that was named is not connected.
    """
    what = OFFERS[kind].noun
    if not len(workspace):
        raise CommandError(f"There is no {what} {name!r}: {NOTHING_YET}")
    named = [member for member in workspace if name.startswith(f"{member.name}.")]
    there: list[Found] = []
    for members, fresh in ((named or workspace, False), (workspace, True)):
        there = workspace.wait(offered(members, kind, fresh=fresh))
        found = [one for one in there if one.full_name == name] or [one for one in there if one.item.name == name]
        if len(found) == 1:
            return found[0]
        if found:
            candidates = " or ".join(one.full_name for one in found)
            raise CommandError(f"Several servers have a {what} {name!r}. Say which: {candidates}.")
    for member in named:
        member.check()
    if name in workspace:
        raise CommandError(_is_server(workspace.member(name), what, there))
    raise CommandError(_unknown(workspace, kind, name, there))


async def offered(members: Iterable[Member], kind: Kind, *, fresh: bool = False) -> list[Found]:
    """What connected servers offer of a kind; one that does not answer soon offers nothing. On the background loop."""
    lists = await each([member for member in members if member.connected], kind, seconds=COUNTING, fresh=fresh)
    return [Found(member, item) for member, found in lists if isinstance(found, list) for item in found[0]]


def _is_server(member: Member, what: str, found: list[Found]) -> str:
    member.check()
    own = [one.item.name for one in found if one.member is member]
    if not own:
        return f"{member.name} is a server, and has no {what}s."
    return f"{member.name} is a server; its {what}s are: {_some(own)}. A dot joins them: {member.name}.{own[0]}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


def _unknown(workspace: Workspace, kind: Kind, name: str, found: list[Found]) -> str:
    what = OFFERS[kind].noun
    lost = [member for member in workspace if not member.connected]
    for member in lost:
        if any(item.name == name for item in member.last(kind)):
            return (
                f"{member.name}, which has the {what} {name!r}, is not connected at the moment: "
                f"%mcp reconnect {member.name} connects it again."
            )
    known = [one.full_name for one in found] if "." in name else [one.item.name for one in found]
    start = hinted(f"No connected server has a {what} {name!r}", name, known)
    names = ", ".join(member.name for member in lost)
    again = f" Not connected at the moment: {names} (%mcp reconnect NAME)." if lost else ""
    if start.endswith("?"):
        return f"{start}{again}"
    more = f" There are: {_some(known)}." if known else ""
    return f"{start}{again}{more} %mcp {what}s lists them."
