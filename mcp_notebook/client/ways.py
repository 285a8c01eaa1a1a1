"""The ways that may lead to a destination, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import HTTPError, MCPError, NegotiationError, ServerExited
from ..limits import Limits
from ..protocol.revision import Revision
from ..protocol.revisions import LATEST_HANDSHAKE, LATEST_MODERN
from ..transports.base import Channel
from ..transports.command import Command
from ..transports.http.options import HttpOptions
from ..transports.relay import is_relay
from .targets import Destination, InProcess, Serves

OLD_STATUSES = frozenset({400, 404, 405})
"""Statuses with which a server of the old HTTP+SSE answers a POST to its stream's URL; never 401 or 403."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way.

    Attributes:
        channel: makes a channel.
        serves: whether it may lead on where the way before it failed so, and this revision is wanted (None: any).
        revision: the only one that is spoken on it, where nothing else is wanted; None: that is found out.
    """

    channel: Callable[[Limits], Channel]
    serves: Callable[[MCPError, Revision | None], bool] = lambda error, revision: False
    revision: Revision | None = None


def ways_to(destination: Destination, found: Revision | None) -> list[Way]:
    """The ways to a destination, the likeliest first; `found` is what it spoke the last time, if that is known."""
    if destination.command is not None:
        return _to_command(destination.command)
    if destination.url is not None:
        return _to_url(destination.url, destination.http or HttpOptions(), found)
    assert destination.server is not None
    return _to_server(destination.server)


def _to_command(command: Command) -> list[Way]:
    from ..transports.relay.channel import RelayChannel
    from ..transports.stdio import StdioChannel

    kind = RelayChannel if is_relay(command) else StdioChannel

    def channel(limits: Limits) -> Channel:
        return kind(command, limits=limits)

    return [Way(channel), Way(channel, _died_of_the_probe, LATEST_HANDSHAKE)]


def _to_url(url: str, options: HttpOptions, found: Revision | None) -> list[Way]:
    def streamable(limits: Limits) -> Channel:
        from ..transports.http.client import HttpChannel

        return HttpChannel(url, options, limits)

    def with_sse(limits: Limits) -> Channel:
        from ..transports.http.http_sse import HttpSseChannel

        return HttpSseChannel(url, options, limits)

    known = (
        []
        if found is None
        else [Way(streamable, revision=LATEST_MODERN if found.era == "modern" else LATEST_HANDSHAKE)]
    )
    return [*known, Way(streamable, _speaks_otherwise), Way(with_sse, _knows_nothing_newer, LATEST_HANDSHAKE)]


def _to_server(server: Serves) -> list[Way]:
    return [Way(lambda limits: InProcess(server, limits))]


def _died_of_the_probe(error: MCPError, revision: Revision | None) -> bool:
    """Some old servers end at a first request that they do not know: they get the handshake alone."""
    return revision is None and isinstance(error, ServerExited)


def _speaks_otherwise(error: MCPError, revision: Revision | None) -> bool:
    """The server is there, and has changed its era since the last time."""
    return isinstance(error, (NegotiationError, HTTPError))


def _knows_nothing_newer(error: MCPError, revision: Revision | None) -> bool:
    """What the specification says of servers that speak only HTTP+SSE ("Backward Compatibility")."""
    handshake = revision is None or revision.era == "handshake"
    return handshake and isinstance(error, HTTPError) and error.status in OLD_STATUSES
