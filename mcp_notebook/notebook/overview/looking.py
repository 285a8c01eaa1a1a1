"""What is known of servers at the moment, without waiting for any; what is not known is asked for meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any

from ...errors import MCPError
from ..searching import Hit, hits_of
from ..workspace import COUNTING, KINDS, Kind, Member, Workspace
from .rows import UNKNOWN, UNTOLD, Row, row_of, said_count, said_latency

AGAIN = 2.0
"""Seconds between two requests for a list that changes all the time."""
LATER = 30.0
"""Seconds after which a list is asked for once more that was not told, or not in good time."""


@dataclass(slots=True)
class _Known:
    """What is known of a server as long as its session lasts.

    Attributes:
        session: its session.
        asking: what is being asked for.
        failed: what it did not tell, or not in good time.
        next: when a list may be asked for once more, by the loop's clock.
        latency: how long it takes to answer.
    """

    session: Any
    asking: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    next: dict[str, float] = field(default_factory=dict)
    latency: float | None = None


class Looking:
    """Looks at all servers. All of it happens on the background loop.

    Args:
        workspace: the servers.

    Attributes:
        version: another one whenever more, or something else, is known.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.version = 0
        self._workspace = workspace
        self._known: dict[str, _Known] = {}
        self._hits: dict[tuple[str, Kind], tuple[list[Any], list[Hit]]] = {}
        self._reconnecting: set[str] = set()
        self._troubles: dict[str, tuple[Any, MCPError | None]] = {}

    def begin(self) -> None:
        """Ask for what is not known, each server aside from the others. To be called again and again."""
        now = asyncio.get_running_loop().time()
        for member in self._workspace.connected():
            if (known := self._of(member)) is None:
                continue
            for kind in KINDS:
                self._of_kind(member, kind)  # made ready before anybody searches it
                if member.known(kind) is None and kind not in known.asking and known.next.get(kind, 0) <= now:
                    known.next[kind] = now + AGAIN
                    self._ask(known, kind, member.offered(kind))
            if "latency" not in known.next:
                known.next["latency"] = now
                self._ask(known, "latency", self._time(member, known))

    async def settled(self) -> None:
        """Wait for what was asked for so far."""
        tasks = [task for known in self._known.values() for task in known.asking.values()]
        if tasks:
            await asyncio.wait(tasks)

    def rows(self) -> list[Row]:
        """The servers."""
        return [self._row(member) for member in self._workspace]

    def hits(self, kinds: Iterable[Kind]) -> list[Hit]:
        """What can be found of some kinds, as far as it is known."""
        kinds = list(kinds)
        return [hit for member in self._workspace for kind in kinds for hit in self._of_kind(member, kind)]

    def unknown(self, kinds: Iterable[Kind]) -> list[str]:
        """The servers that are still being asked for one of some kinds, or did not tell."""
        kinds = set(kinds)
        connected = {member.name for member in self._workspace.connected()}
        lacking = {name for name, known in self._known.items() if kinds & (known.failed | set(known.asking))}
        return sorted(lacking & connected)

    def close(self) -> None:
        """Ask no more."""
        for known in self._known.values():
            for task in known.asking.values():
                task.cancel()

    async def reconnect(self, name: str) -> None:
        """Have a server connected anew, as far as it is not being connected already."""
        member = self._workspace.get(name)
        if member is None or name in self._reconnecting:
            return
        self._reconnecting.add(name)
        self._troubles.pop(name, None)
        try:
            # It goes on where nobody looks any more: a newer overview, say, has taken the place of this one.
            await asyncio.shield(asyncio.ensure_future(member.client.reconnect()))
        except MCPError as error:
            self._troubles[name] = member.client, error
        finally:
            self._reconnecting.discard(name)

    # Within

    def _of(self, member: Member) -> _Known | None:
        """What is known of a server; None where it is not connected, or no longer."""
        try:
            session, known = member.client.session, self._known.get(member.name)
        except MCPError:
            return None
        if known is None or known.session is not session:
            known = self._known[member.name] = _Known(session)
        return known

    def _ask(self, known: _Known, what: str, asked: Coroutine[Any, Any, Any]) -> None:
        async def ask() -> None:
            try:
                async with asyncio.timeout(COUNTING):
                    await asked
                known.failed.discard(what)
            except (MCPError, TimeoutError):
                known.failed.add(what)
                known.next[what] = asyncio.get_running_loop().time() + LATER
            finally:
                known.asking.pop(what, None)
                self.version += 1

        known.asking[what] = asyncio.ensure_future(ask())

    async def _time(self, member: Member, known: _Known) -> None:
        known.latency = await member.client.ping()

    def _row(self, member: Member) -> Row:
        if member.name in self._reconnecting:
            return Row(member.name, "connecting", "work")
        client, trouble = self._troubles.get(member.name, (None, None))
        if (known := self._of(member)) is None:
            return row_of(member, {}, UNTOLD, trouble if client is member.client else None)
        counts: dict[Kind, str] = {kind: self._count(member, known, kind) for kind in KINDS}
        return row_of(member, counts, UNKNOWN if "latency" in known.asking else said_latency(known.latency))

    def _count(self, member: Member, known: _Known, kind: Kind) -> str:
        items = member.known(kind)
        if items is not None:
            return said_count(len(items))
        return UNTOLD if kind in known.failed else UNKNOWN  # which is to be asked for, at least

    def _of_kind(self, member: Member, kind: Kind) -> list[Hit]:
        items = member.known(kind)
        before, hits = self._hits.get((member.name, kind), (None, []))
        if not member.connected:
            return []
        if items is not None and before is not items:  # what changes just now is found as it was
            hits = hits_of(member.name, items)
            self._hits[member.name, kind] = items, hits
        return hits
