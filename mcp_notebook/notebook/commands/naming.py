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
    raise CommandError(_unknown(workspace, what, name, there))


async def offered(members: Iterable[Member], kind: Kind, *, fresh: bool = False) -> list[Found]:
    """What connected servers offer of a kind; one that does not answer soon offers nothing. On the background loop."""
    lists = await each([member for member in members if member.connected], kind, seconds=COUNTING, fresh=fresh)
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
