"""The exact bytes of a client, at each handshake revision."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import Client, MCPError, connect
from mcp_notebook.jsonrpc import Message, dump, load
from mcp_notebook.transports.base import Channel
from mcp_notebook.types import Implementation

from ..wires import NoFaults, Wire

pytestmark = pytest.mark.anyio

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
each_revision = pytest.mark.parametrize("revision", REVISIONS)


class FarEnd(NoFaults, Wire):
    """A server object that is the test's end of the wire."""

    name = "wire"

    def __init__(self) -> None:
        super().__init__()
        self._over = asyncio.Event()
        self._sending: list[asyncio.Task[None]] = []

    async def serve(self, channel: Channel) -> None:
        self._channel = channel
        await channel.open(self)
        await self._over.wait()

    def received(self, message: Message) -> None:
        self.sent.append(dump(message))
        self._news.set()

    def disconnected(self, error: MCPError | None) -> None:
        self._over.set()

    def says(self, *messages: bytes) -> None:
        for data in messages:
            message = load(data)
            assert not isinstance(message, list)
            self._sending.append(asyncio.create_task(self._channel.send(message)))


def connecting(wire: FarEnd, revision: str, **answering: Any) -> asyncio.Task[Client]:
    info = Implementation(name="us", version="1")
    return asyncio.create_task(connect(wire, revision=revision, client_info=info, **answering).__aenter__())


def id_of(message: bytes) -> bytes:
    """The id of a request, which differs each time."""
    before, after = b'{"jsonrpc":"2.0","id":"', b'","method"'
    assert message.startswith(before)
    return message[len(before) : message.index(after)]


@contextlib.asynccontextmanager
async def at_work(revision: str, **answering: Any) -> AsyncIterator[tuple[Client, FarEnd]]:
    """A client that has shaken hands."""
    wire = FarEnd()
    opening = connecting(wire, revision, **answering)
    wire.says(
        b'{"jsonrpc":"2.0","id":"'
        + id_of(await wire.bytes())
        + b'","result":{"protocolVersion":"'
        + revision.encode()
        + b'","capabilities":{"tools":{},"resources":{},"logging":{}},"serverInfo":{"name":"them","version":"1"}}}'
    )
    client = await opening
    assert await wire.bytes() == b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
    try:
        yield client, wire
    finally:
        await client.close()


TASKS = b'"tasks":{"list":{},"cancel":{},"requests":{"elicitation":{"create":{}},"sampling":{"createMessage":{}}}},'
CAPABILITIES = b'"resumableRequests":{},"streams":{},"roots":{"listChanged":true},"sampling":{}'
ELICITATION = b',"elicitation":{"form":{}}'


@each_revision
async def test_the_handshake(revision: str) -> None:
    wire = FarEnd()
    opening = connecting(wire, revision, roots=[], sampling=str, elicitation=str)
    message = await wire.bytes()
    assert message == (
        b'{"jsonrpc":"2.0","id":"'
        + id_of(message)
        + b'","method":"initialize","params":{"protocolVersion":"'
        + revision.encode()
        + b'","capabilities":{'
        + (TASKS if revision >= "2025-11-25" else b"")
        + CAPABILITIES
        + (ELICITATION if revision >= "2025-06-18" else b"")
        + b"}"
        + b',"clientInfo":{"name":"us","version":"1"}}}'
    )
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert wire.rest() == []  # "initialize" is not cancelled


@each_revision
async def test_a_call(revision: str) -> None:
    async with at_work(revision) as (client, wire):
        calling = asyncio.create_task(client.call_tool("add", {"a": 1, "b": None}))
        message = await wire.bytes()
        id = id_of(message)
        assert message == (
            b'{"jsonrpc":"2.0","id":"' + id + b'","method":"tools/call","params":{"name":"add",'
            b'"arguments":{"a":1,"b":null},"_meta":{"progressToken":"' + id + b'"}}}'
        )
        wire.says(b'{"jsonrpc":"2.0","id":"' + id + b'","result":{"content":[{"type":"text","text":"1"}]}}')
        assert (await calling).text == "1"
        assert wire.rest() == []


@each_revision
async def test_a_cancelled_call(revision: str) -> None:
    async with at_work(revision) as (client, wire):
        handle = client.begin_call("add")
        id = id_of(await wire.bytes())
        handle.cancel()
        # Why it was cancelled is the person's own affair; the server is told that it may stop.
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"'
            + id
            + b'","reason":"no longer wanted"}}'
        )


@each_revision
async def test_a_call_that_took_too_long(revision: str) -> None:
    async with at_work(revision) as (client, wire):
        calling = asyncio.create_task(client.call_tool("add", timeout=0.05))
        id = id_of(await wire.bytes())
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"'
            + id
            + b'","reason":"no answer within 0.05 s"}}'
        )
        with pytest.raises(TimeoutError):
            await calling


@each_revision
async def test_further_requests(revision: str) -> None:
    async with at_work(revision) as (client, wire):
        for verb, method, params in (
            (client.ping(), b"ping", b""),
            (client.list_tools(), b"tools/list", b""),
            (client.read_resource("a:b"), b"resources/read", b'"uri":"a:b",'),
            (client.set_logging_level("error"), b"logging/setLevel", b'"level":"error",'),
        ):
            asking = asyncio.create_task(verb)
            message = await wire.bytes()
            id = id_of(message)
            assert message == (
                b'{"jsonrpc":"2.0","id":"'
                + id
                + b'","method":"'
                + method
                + b'","params":{'
                + params
                + b'"_meta":{"progressToken":"'
                + id
                + b'"}}}'
            )
            wire.says(b'{"jsonrpc":"2.0","id":"' + id + b'","result":{"tools":[],"contents":[]}}')
            await asking


@each_revision
async def test_answers_to_the_servers_questions(revision: str) -> None:
    async with at_work(
        revision, roots=["file:///a"], sampling=lambda params: "Hi", elicitation=lambda params: None
    ) as (
        _,
        wire,
    ):
        wire.says(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        assert await wire.bytes() == b'{"jsonrpc":"2.0","id":1,"result":{}}'
        wire.says(b'{"jsonrpc":"2.0","id":"r","method":"roots/list"}')
        assert await wire.bytes() == b'{"jsonrpc":"2.0","id":"r","result":{"roots":[{"uri":"file:///a"}]}}'
        wire.says(b'{"jsonrpc":"2.0","id":2,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}')
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","id":2,"result":{"role":"assistant","content":{"type":"text","text":"Hi"},'
            b'"model":"unknown","stopReason":"endTurn"}}'
        )
        wire.says(
            b'{"jsonrpc":"2.0","id":3,"method":"elicitation/create",'
            b'"params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}'
        )
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","id":3,"result":{"action":"cancel"}}'
            if revision >= "2025-06-18"
            else b'{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found: elicitation/create"}}'
        )
