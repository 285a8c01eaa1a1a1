"""The ways of going on with a call after a drop, and what cuts them."""

from __future__ import annotations

import contextlib
import os
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mcp_notebook import Limits
from mcp_notebook.client.answering import Answering
from mcp_notebook.protocol.extensions import RESUMING
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.relay import relayed, starting
from mcp_notebook.transports.relay.channel import RelayChannel
from mcp_notebook.types import ClientCapabilities

from ...transports.http.loopback import listening
from ..channel import FaultyStdio
from ..messages import Plan, randomly
from ..proxy import ByteFaults, ConnectionFaults, FaultyProxy
from .calls import CLIENTS, Share
from .server import working

CUT = 0.9
"""How many of all connections over HTTP are cut."""
CALL = 3000
"""How many bytes go one way for a call, about."""
FORGOTTEN = 0.02
"""How often a session is forgotten when a call in it is to be resumed."""
RESUMES = [f'"{dialect.resume_method}"'.encode() for dialect in RESUMING]
ROOT = Path(__file__).parents[3]
Reach = Callable[[Share], contextlib.AbstractAsyncContextManager[list[Any]]]


@contextlib.asynccontextmanager
async def sse(share: Share) -> AsyncIterator[list[Any]]:
    """Over HTTP, by the last event id alone: the calls themselves cannot be resumed."""
    share.knows_ids = True
    server = working(share.ledger.note, resumable=False)
    async with listening(server.asgi_app()) as url, _cut(share, url) as faulty:
        yield [faulty] * CLIENTS


@contextlib.asynccontextmanager
async def over_http(share: Share) -> AsyncIterator[list[Any]]:
    """Over HTTP, at a server that keeps few streams and forgets sessions, so that calls have to be resumed."""
    server = working(share.ledger.note, resumable=True)
    app = Forgetful(server.asgi_app(), share)
    async with listening(app, Limits()) as url, _cut(share, url) as faulty:
        yield [faulty] * CLIENTS


@contextlib.asynccontextmanager
async def over_relay(share: Share) -> AsyncIterator[list[Any]]:
    """Over stdio, through relays whose fronts are killed."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {"XDG_RUNTIME_DIR": folder}):
        share.patience = 5.0  # behind a relay, what may have arrived is waited for
        notes, here = Path(folder) / "notes", os.getcwd()
        notes.touch()
        stdio = FaultyStdio(lambda number: _any_message(f"{share.seed}/{number}"), kill=True, form=RelayChannel)
        share.record = stdio.record
        words = [sys.executable, "-m", "tests.faults.soak.server", str(notes)]
        env = {"PYTHONPATH": str(ROOT), "XDG_RUNTIME_DIR": folder}
        names = [f"soak-{number}" for number in range(CLIENTS)]
        try:
            with patch("mcp_notebook.transports.relay.channel.RelayChannel", stdio):
                yield [relayed(Command(words, env, str(ROOT)), name=name, keep=30) for name in names]
        finally:
            for name in names:
                starting.stop(name)
            os.chdir(here)
            share.ledger.read(notes)


@contextlib.asynccontextmanager
async def _cut(share: Share, url: str) -> AsyncIterator[str]:
    """A URL behind which most connections are cut."""
    plan = partial(_any_byte, share.seed)
    async with FaultyProxy.before(url, plan) as proxy:
        share.record = proxy.record
        yield proxy.url()


def _any_byte(seed: int, number: int) -> ConnectionFaults:
    """The faults of a connection: cut somewhere in what a call needs, in pieces, late."""
    chance = random.Random(f"{seed}/{number}")
    cut: dict[str, int | None] = {"up": None, "down": None}
    if chance.random() < CUT:
        cut[chance.choice(["up", "down", "down", "down"])] = chance.randrange(CALL)
    pieces = chance.choice([None, None, 5, 50, 200])
    up, down = (ByteFaults(cut=cut[way], pieces=pieces, delay=chance.choice([0, 0, 0.001])) for way in ("up", "down"))
    return ConnectionFaults(up=up, down=down, reset=chance.random() < 0.5, refuse=chance.random() < 0.02)


def _any_message(seed: str) -> Plan:
    """The faults of a connection through a relay: cut at some message, late; what comes may come twice."""
    both, incoming = randomly(seed, cut=0.004, delay=0.01), randomly(f"{seed}/twice", duplicate=0.02)
    return lambda way, number, message: (
        both(way, number, message) or (incoming(way, number, message) if way == "in" else None)
    )


class Forgetful:
    """An HTTP endpoint that gives no event ids half of the time, and forgets a session now and then when it is to go on
    with a call."""

    def __init__(self, app: Any, share: Share) -> None:
        self._app = app
        self._share = share
        self._chance = random.Random(f"{share.seed}/forgetful")

    async def close(self) -> None:
        await self._app.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        nameless, forgets = self._chance.random() < 0.5, self._chance.random() < FORGOTTEN

        async def received() -> Any:
            message = await receive()
            if forgets and any(method in message.get("body", b"") for method in RESUMES):
                self._share.record.note("forget", "a session")
                await self._app({**scope, "method": "DELETE"}, receive, _nowhere)
            return message

        async def sent(message: Any) -> None:
            body = message.get("body", b"")
            if nameless and body.startswith(b"id: "):
                message = {**message, "body": body.partition(b"\n")[2]}
            await send(message)

        await self._app(scope, received, sent)


async def _nowhere(message: Any) -> None:
    pass


def _knows_streams_alone(answering: Answering) -> ClientCapabilities:
    return _capabilities(answering).model_copy(update={"resumable_requests": None})


_capabilities = Answering.capabilities


def _streams(reach: Reach) -> Reach:
    """The same, by the earlier draft: the client does not know the later one."""

    @contextlib.asynccontextmanager
    async def streams(share: Share) -> AsyncIterator[list[Any]]:
        with patch.object(Answering, "capabilities", _knows_streams_alone):
            async with reach(share) as targets:
                yield targets

    return streams


MECHANISMS: Mapping[str, Reach] = {
    "sse": sse,
    "requests-http": over_http,
    "streams-http": _streams(over_http),
    "requests-relay": over_relay,
    "streams-relay": _streams(over_relay),
}
"""By name: Last-Event-ID, requests/resume, stream/resume."""
