"""HTTP+SSE of 2024-11-05: what a client falls back to, and where it does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import (
    ConnectionLost,
    HTTPError,
    LimitExceeded,
    Limits,
    MCPError,
    NegotiationError,
    ProtocolError,
    RequestTimeout,
    connect,
)

from ...scripted import until
from .loopback import TEXT, Asked, Puppet, event, handshake, reply, stream

pytestmark = pytest.mark.anyio


class OldServer:
    """A server of 2024-11-05.

    Attributes:
        refuses: how it answers a POST to the URL of its stream.
        first: what its stream begins with.
    """

    def __init__(self, endpoint: str = "/messages?session=1") -> None:
        self.refuses = reply(405, b"Method Not Allowed", "text/plain")
        self.first = f"event: endpoint\ndata: {endpoint}\n\n".encode()
        self.takes: bytes = reply(202, b"Accepted", "text/plain")
        self.silent_on: set[str] = set()
        self.says: asyncio.Queue[bytes | None] = asyncio.Queue()

    def __call__(self, asked: Asked) -> Any:
        if asked.method == "GET":
            return self._stream()
        if asked.path == "/mcp":
            return self.refuses
        message = asked.json
        results = {
            "initialize": {
                "protocolVersion": "2024-11-05",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"},
            },
            "tools/call": TEXT,
        }
        if message.get("method") in results and message["method"] not in self.silent_on:
            self.says.put_nowait(event({"id": message["id"], "result": results[message["method"]]}))
        return self.takes

    async def _stream(self) -> AsyncIterator[bytes]:
        yield stream(self.first)
        while (said := await self.says.get()) is not None:
            yield said


async def test_an_old_server_is_found_and_used() -> None:  # FM#853
    async with Puppet(OldServer()) as puppet:
        async with connect(puppet.url, headers={"Authorization": "Bearer x"}) as client:
            assert client.profile.revision.name == "2024-11-05"
            assert client.profile.server_info.name == "old"
            assert (await client.call_tool("x")).text == "done"
        assert [(asked.says, asked.path) for asked in puppet.asked] == [
            ("server/discover", "/mcp"),
            ("initialize", "/mcp"),
            ("GET", "/mcp"),
            ("initialize", "/messages?session=1"),
            ("notifications/initialized", "/messages?session=1"),
            ("tools/call", "/messages?session=1"),
        ]
        assert all(asked.headers["authorization"] == "Bearer x" for asked in puppet.asked)
        await until(lambda: [asked.says for asked in puppet.gone] == ["GET"])


@pytest.mark.parametrize("status", [400, 404, 405])
@pytest.mark.parametrize(
    "body",
    [b"", b"Missing sessionId parameter", b'{"detail": "Method Not Allowed"}',
     b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "No session"}}'],
)  # fmt: skip
async def test_the_statuses_and_bodies_that_lead_to_it(status: int, body: bytes) -> None:
    old = OldServer()
    old.refuses = reply(status, body)
    async with Puppet(old) as puppet, connect(puppet.url) as client:
        assert client.profile.revision.name == "2024-11-05"


@pytest.mark.parametrize("status", [401, 403, 402, 410, 429, 500, 503])
async def test_the_statuses_that_do_not(status: int) -> None:
    old = OldServer()
    old.refuses = reply(status)
    async with Puppet(old) as puppet:
        with pytest.raises(HTTPError) as caught:
            await connect(puppet.url)
        assert caught.value.status == status
        assert puppet.requests("GET") == []


@pytest.mark.parametrize("code", [-32020, -32021, -32022])
async def test_a_modern_error_does_not(code: int) -> None:
    old = OldServer()
    error = {"code": code, "message": "no", "data": {"supported": ["2099-01-01"], "requested": "x"}}
    old.refuses = reply(400, {"jsonrpc": "2.0", "id": None, "error": error})
    async with Puppet(old) as puppet:
        with pytest.raises((NegotiationError, ProtocolError)):
            await connect(puppet.url)
        assert puppet.requests("GET") == []


async def test_a_revision_of_the_handshake_era_can_be_wanted() -> None:
    async with Puppet(OldServer()) as puppet:
        async with connect(puppet.url, revision="2024-11-05") as client:
            assert client.profile.revision.name == "2024-11-05"
        assert puppet.requests("server/discover") == []
        assert puppet.requests("initialize")[-1].json["params"]["protocolVersion"] == "2024-11-05"


async def test_where_a_modern_revision_is_wanted_nothing_old_is_tried() -> None:
    async with Puppet(OldServer()) as puppet:
        with pytest.raises(NegotiationError, match="405"):
            await connect(puppet.url, revision="2026-07-28")
        assert [asked.says for asked in puppet.asked] == ["server/discover"]


@pytest.mark.parametrize(
    "answer",
    [reply(404, b"gone", "text/plain"), reply(405), reply(200, b"<html>", "text/html"), reply(401), stream(), b"",
     stream(b"event: message\ndata: {}\n\n"), stream(b"event: endpoint\ndata:\n\n")],
    ids=["404", "405", "page", "401", "empty stream", "nothing", "no endpoint", "empty endpoint"],
)  # fmt: skip
async def test_where_there_is_no_such_stream_either_the_first_refusal_is_told(answer: bytes) -> None:
    old = OldServer()
    old.refuses = reply(404, b"There is no MCP here", "text/plain")
    async with Puppet(lambda asked: answer if asked.method == "GET" else old(asked)) as puppet:
        with pytest.raises(HTTPError, match="404 Status: There is no MCP here"):
            await connect(puppet.url)


async def test_a_stream_that_never_names_an_endpoint_is_given_up() -> None:
    old = OldServer()
    old.first = b": wait\n\n"
    async with Puppet(old) as puppet:
        async with asyncio.timeout(3):
            with pytest.raises(HTTPError, match="405"):
                await connect(puppet.url, limits=Limits(probe=0.1))


@pytest.mark.parametrize(
    ("endpoint", "path"),
    [("/messages", "/messages"), ("messages?x=1", "/messages?x=1"), ("?session=2", "/mcp?session=2"),
     ("//127.0.0.1:{port}/m", "/m"), ("http://127.0.0.1:{port}/m", "/m")],
)  # fmt: skip
async def test_an_endpoint_is_relative_to_the_stream(endpoint: str, path: str) -> None:
    async with Puppet(lambda asked: b"") as puppet:
        old = OldServer(endpoint.format(port=puppet.port))
        puppet.answer = lambda asked: (
            old(asked) if asked.path != "/mcp?session=2" else old(Asked("POST", "/m", asked.headers, asked.body))
        )
        async with connect(puppet.url) as client:
            assert (await client.call_tool("x")).text == "done"
        assert puppet.requests("tools/call")[0].path == path


@pytest.mark.parametrize(
    "endpoint",
    ["http://127.0.0.1:{other}/m", "https://127.0.0.1:{port}/m", "//evil.example/m", "http://[", "file:///m"],
)
async def test_an_endpoint_elsewhere_is_refused(endpoint: str) -> None:
    async with Puppet(lambda asked: reply(202)) as other, Puppet(lambda asked: b"") as puppet:
        puppet.answer = OldServer(endpoint.format(port=puppet.port, other=other.port))
        with pytest.raises(MCPError):
            await connect(puppet.url, headers={"Authorization": "Bearer x"})
        assert other.asked == []
        assert [asked.path for asked in puppet.asked] == ["/mcp"] * 3


async def test_a_second_endpoint_changes_nothing() -> None:
    old = OldServer()
    old.first += b"event: endpoint\ndata: http://evil.example/\n\n"
    async with Puppet(old) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("x")).text == "done"


async def test_questions_and_notifications_come_on_the_stream() -> None:
    old = OldServer()
    told: list[str] = []
    async with (
        Puppet(old) as puppet,
        connect(puppet.url, roots=["/tmp"], on_notification=lambda one: told.append(one.method)),
    ):
        old.says.put_nowait(event({"method": "notifications/tools/list_changed"}))
        old.says.put_nowait(event({"id": 7, "method": "roots/list"}))
        await until(lambda: puppet.requests("response"))
        assert puppet.requests("response")[0].json["result"]["roots"][0]["uri"].startswith("file://")
        assert told == ["notifications/tools/list_changed"]


async def test_the_end_of_the_stream_is_the_end_of_the_connection() -> None:
    old = OldServer()
    old.silent_on = {"tools/call"}
    async with Puppet(old) as puppet:
        client = await connect(puppet.url)
        call = client.begin_call("x")
        await until(lambda: puppet.requests("tools/call"))
        old.says.put_nowait(None)
        with pytest.raises(ConnectionLost, match="closed its stream"):
            await call
        assert client.state == "lost"
        old.silent_on = set()
        await client.reconnect()
        assert (await client.call_tool("x")).text == "done"
        await client.close()


async def test_a_request_that_is_not_taken_fails_alone() -> None:
    old = OldServer()
    async with Puppet(old) as puppet, connect(puppet.url) as client:
        old.takes = reply(413, b"too large", "text/plain")
        old.silent_on = {"tools/call"}
        with pytest.raises(HTTPError, match="413 Status: too large"):
            await client.call_tool("x")
        assert client.state == "connected"


async def test_a_time_limit_tells_the_server() -> None:
    old = OldServer()
    old.silent_on = {"tools/call"}
    async with Puppet(old) as puppet, connect(puppet.url) as client:
        with pytest.raises(RequestTimeout):
            await client.call_tool("x", timeout=0.1)
        await until(lambda: puppet.requests("notifications/cancelled"))


async def test_garbage_on_the_stream_is_reported_and_an_endless_event_ends_it() -> None:
    old = OldServer()
    async with Puppet(old) as puppet, connect(puppet.url, limits=Limits(message=10_000)) as client:
        old.says.put_nowait(b"data: {garbage\n\n")
        await until(lambda: client.session.faults)
        assert (await client.call_tool("x")).text == "done"
        old.says.put_nowait(b"data: " + b"x" * 20_000)
        await until(lambda: client.state == "lost")
        assert isinstance(client.error, LimitExceeded)


async def test_a_streamable_server_is_not_taken_for_an_old_one() -> None:
    async with Puppet(handshake({"GET": stream(b"event: endpoint\ndata: /old\n\n")})) as puppet:
        async with connect(puppet.url) as client:
            assert client.profile.revision.name == "2025-11-25"
            assert (await client.call_tool("x")).text == "done"
        assert {asked.path for asked in puppet.asked} == {"/mcp"}


def test_nothing_is_sent_before_the_channel_is_open_or_after_it_is_closed() -> None:
    from mcp_notebook.jsonrpc import Notification
    from mcp_notebook.transports.http.http_sse import HttpSseChannel
    from mcp_notebook.transports.http.options import HttpOptions

    async def send() -> None:
        channel = HttpSseChannel("http://127.0.0.1:1/", HttpOptions(), Limits())
        with pytest.raises(ConnectionLost):
            await channel.send(Notification("x"))
        await channel.close()
        await channel.close()
        with pytest.raises(ConnectionLost):
            await channel.send(Notification("x"))

    asyncio.run(send())
