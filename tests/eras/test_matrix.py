"""Every cell of the compatibility matrix of "Versioning and Compatibility" (2026-07-28), on every transport.

A client of one era alone is one that is told a revision; one of both finds out. Servers of one era alone are `kinds`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import Limits, MCPError, NegotiationError, connect
from mcp_notebook.errors import ConnectionLost, HTTPError
from mcp_notebook.jsonrpc import Message, dump, load
from mcp_notebook.transports.base import Channel

from ..transports.http.loopback import Asked, Puppet, listening, reply
from ..wires import NoFaults
from . import kinds
from .dual import make_server
from .kinds import KINDS, LEGACY, MODERN, Exits, Kind

pytestmark = pytest.mark.anyio

CLIENTS = {"modern": MODERN, "dual": None, "legacy": LEGACY[-1]}
LEGACY_KINDS = [name for name in KINDS if name.startswith("legacy")]
TRANSPORTS = ["memory", "stdio", "HTTP"]
PATIENCE = Limits(probe=0.3, connect=5)

each_transport = pytest.mark.parametrize("transport", TRANSPORTS)


class InMemory(NoFaults):
    """A server of a kind, in this process."""

    def __init__(self, kind: Kind) -> None:
        self.name = "kind"
        self._kind = kind
        self._sending: list[asyncio.Task[None]] = []

    async def serve(self, channel: Channel) -> None:
        self._channel = channel
        self._over = asyncio.Event()
        await channel.open(self)
        await self._over.wait()

    def received(self, message: Message) -> None:
        try:
            answer = self._kind(json.loads(dump(message)))
        except Exits:
            self._sending.append(asyncio.create_task(self._channel.close()))
            return
        if answer is not None:
            found = load(json.dumps(answer))
            assert not isinstance(found, list)
            self._sending.append(asyncio.create_task(self._channel.send(found)))

    def disconnected(self, error: MCPError | None) -> None:
        self._over.set()


def over_http(kind: Kind) -> Any:
    """How a server of a kind answers over HTTP."""

    async def answer(asked: Asked) -> bytes:
        if asked.method != "POST":
            return reply(405)
        try:
            said = kind(asked.json)
        except Exits:
            return b""
        if said is None and "id" in asked.json:
            await asyncio.sleep(60)
        if said is None:
            return reply(202, kind=None)
        code = said.get("error", {}).get("code")
        if code is None:
            return reply(200, said)
        if kind in (kinds.modern, kinds.later):
            return reply(404 if code == -32601 else 400, said)
        return reply(400, b"Bad Request: no session", "text/plain")

    return answer


@contextlib.asynccontextmanager
async def served(kind: str, transport: str) -> AsyncIterator[Any]:
    """What to connect to."""
    if transport == "stdio":
        yield [sys.executable, "-m", "tests.eras.kinds", kind]
    elif kind == "dual":
        if transport == "memory":
            yield make_server()
        else:
            async with listening(make_server()) as url:
                yield url
    elif transport == "memory":
        yield InMemory(KINDS[kind])
    else:
        async with Puppet(over_http(KINDS[kind])) as puppet:
            yield puppet.url


@contextlib.asynccontextmanager
async def trying(client: str, server: str, transport: str) -> AsyncIterator[Any]:
    """A client of this kind, connected to a server of that kind."""
    cwd = Path(__file__).parents[2] if transport == "stdio" else None
    async with (
        served(server, transport) as target,
        connect(target, revision=CLIENTS[client], cwd=cwd, limits=PATIENCE) as connected,
    ):
        yield connected


async def spoken(client: str, server: str, transport: str) -> str:
    """The revision that the two come to speak; they do speak it."""
    async with trying(client, server, transport) as connected:
        assert (await connected.call_tool("x")).text == "done"
        return connected.profile.revision.name


@each_transport
@pytest.mark.parametrize("client", ["modern", "dual"])
@pytest.mark.parametrize("server", ["modern", "dual"])
async def test_modern_and_modern_speak_what_is_modern(client: str, server: str, transport: str) -> None:
    assert await spoken(client, server, transport) == MODERN


@each_transport
@pytest.mark.parametrize("client", ["legacy", "dual"])
@pytest.mark.parametrize("server", ["legacy", "legacy_invalid", "legacy_of_its_own", "legacy_silent"])
async def test_a_legacy_server_is_served_its_handshake(client: str, server: str, transport: str) -> None:
    assert await spoken(client, server, transport) == LEGACY[-1]


@each_transport
async def test_a_legacy_client_is_served_by_a_server_of_both_eras(transport: str) -> None:
    assert await spoken("legacy", "dual", transport) == LEGACY[-1]


@each_transport
@pytest.mark.parametrize("server", ["legacy", "legacy_invalid", "legacy_of_its_own"])
async def test_a_modern_client_fails_at_a_legacy_server_and_says_what_to_do(server: str, transport: str) -> None:
    with pytest.raises(NegotiationError, match="Connect without a revision"):
        await spoken("modern", server, transport)


@each_transport
async def test_a_modern_client_does_not_wait_for_ever_for_a_silent_legacy_server(transport: str) -> None:
    limits = Limits(connect=0.3)
    cwd = Path(__file__).parents[2] if transport == "stdio" else None
    async with served("legacy_silent", transport) as target:
        with pytest.raises(NegotiationError, match="Connect without a revision"):
            await connect(target, revision=MODERN, cwd=cwd, limits=limits)


@each_transport
async def test_a_legacy_client_fails_at_a_modern_server_and_hears_what_it_speaks(transport: str) -> None:
    with pytest.raises((NegotiationError, HTTPError), match=MODERN):
        await spoken("legacy", "modern", transport)


@each_transport
async def test_a_modern_server_of_other_revisions_is_no_legacy_server(transport: str) -> None:
    for client in ("modern", "dual"):
        with pytest.raises(NegotiationError, match="2099-01-01"):
            await spoken(client, "later", transport)


async def test_a_process_that_ends_at_the_probe_is_started_anew_for_the_handshake_alone() -> None:
    async with trying("dual", "legacy_fragile", "stdio") as client:
        assert client.profile.revision.name == LEGACY[-1]
        assert (await client.call_tool("x")).text == "done"


async def test_where_the_revision_is_known_it_is_not_started_twice() -> None:
    with pytest.raises(ConnectionLost, match="what is this"):
        await spoken("modern", "legacy_fragile", "stdio")
    assert await spoken("legacy", "legacy_fragile", "stdio") == LEGACY[-1]


async def test_a_process_that_ends_at_everything_is_tried_twice_and_its_first_words_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = (
        f"import sys; open({str(log)!r}, 'a').write('x'); sys.stdin.readline(); sys.exit('no such module: everything')"
    )
    with pytest.raises(ConnectionLost, match="no such module: everything"):
        await connect([sys.executable, "-c", script], limits=PATIENCE)
    assert log.read_text() == "xx"


@each_transport
@pytest.mark.parametrize("revision", LEGACY)
async def test_every_legacy_revision_is_served_by_a_server_of_both_eras(revision: str, transport: str) -> None:
    cwd = Path(__file__).parents[2] if transport == "stdio" else None
    async with served("dual", transport) as target, connect(target, revision=revision, cwd=cwd) as client:
        assert client.profile.revision.name == revision
        assert (await client.call_tool("x")).text == "done"


@pytest.mark.parametrize("transport", ["memory", "HTTP"])
async def test_both_eras_are_served_at_the_same_time(transport: str) -> None:
    async with (
        served("dual", transport) as target,
        connect(target, revision=MODERN) as new,
        connect(target, revision=LEGACY[-1]) as old,
    ):
        for client in (new, old, new):
            assert (await client.call_tool("x")).text == "done"
