"""Servers, a row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ...errors import MCPError, ServerExited
from ...render.letters import excerpt, one_line
from ...transports.process_tree import ending_in_words
from ..workspace import Kind, Member

UNKNOWN = "…"
"""What is being asked for."""
UNTOLD = "–"
"""What a server did not say in good time."""
_WHY = 160


@dataclass(frozen=True, slots=True)
class Row:
    """A server, as it is to be seen.

    Attributes:
        name: what it is called here.
        state: how it is connected, in a word; `colour` is that word's.
        revision, era, transport: how it speaks; "" where it is not connected.
        why: why the connection was lost.
        counts: how much it offers.
        latency: how long it takes to answer.
    """

    name: str
    state: str
    colour: Literal["done", "fail", "drop", "work"]
    revision: str = ""
    era: str = ""
    transport: str = ""
    why: str = ""
    counts: Mapping[Kind, str] | None = None
    latency: str = UNTOLD

    @property
    def connection(self) -> str:
        """How it is connected, or why it is not, in a line."""
        if self.revision:
            return f"{self.state} · {self.transport} · {self.revision} ({self.era})"
        return f"{self.state}: {self.why}" if self.why else self.state

    def count(self, kind: Kind) -> str:
        """How much there is of a kind."""
        return (self.counts or {}).get(kind, UNTOLD)


def row_of(member: Member, counts: Mapping[Kind, str], latency: str, trouble: MCPError | None = None) -> Row:
    """A server's row.

    Args:
        member: the server.
        counts: how much it offers, as far as that is known.
        latency: how long it takes to answer.
        trouble: why it could not be connected again.
    """
    name, client = member.name, member.client
    if client.state == "connected":
        revision, transport = client.profile.revision, client.destination.transport
        return Row(name, "connected", "done", revision.name, revision.era, transport, counts=counts, latency=latency)
    why = _reason(trouble or client.error)
    return Row(name, "lost", "fail", why=why) if client.state == "lost" else Row(name, "disconnected", "drop", why=why)


def _reason(error: MCPError | None) -> str:
    """Why it is not connected, in a line; of a process that ended the last that it wrote."""
    if error is None:
        return ""
    if not isinstance(error, ServerExited):
        return excerpt(one_line(str(error)), _WHY)
    last = one_line(error.stderr.strip().rpartition("\n")[2])
    return excerpt(f"{ending_in_words(error.exit_status)}{': ' if last else ''}{last}", _WHY)


def said_count(count: int | None) -> str:
    """How many there are, if that was said."""
    return UNTOLD if count is None else f"{count:,}"


def said_latency(seconds: float | None) -> str:
    """How long an answer took, if there was one."""
    return UNTOLD if seconds is None else f"{seconds * 1000:.1f} ms"
