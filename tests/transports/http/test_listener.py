"""A real port on loopback, and clients that misuse it. Whatever they do, others are answered meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from mcp_notebook import Context, Limits, MCPError, Server, connect
from mcp_notebook.limits import DEFAULT_LIMITS
from mcp_notebook.transports.http.listener import Listener

from ...scripted import until
from .asgi import Asking, Session, headers_of, modern, opening, request
from .loopback import listening

pytestmark = pytest.mark.anyio

HEAD = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: */*\r\n"


class Patient(Server):
    """A server whose tool `work` goes on until it is let go."""

    def __init__(self, **limits: Any) -> None:
        super().__init__("demo", limits=Limits(**limits))
        self.begun = self.ended = 0
        self.free = asyncio.Event()

        @self.tool
        async def add(a: int, b: int = 0) -> int:
            return a + b

        @self.tool
        async def work(ctx: Context) -> str:
            self.begun += 1
            try:
                await ctx.info("begun")
                await self.free.wait()
            finally:
                self.ended += 1
            return "done"


class Raw:
    """A connection whose bytes the test writes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes | str) -> None:
        self.writer.write(data if isinstance(data, bytes) else data.encode("latin-1"))

    def post(self, message: Any, **headers: str | None) -> None:
        """A whole request."""
        body = json.dumps(message).encode()
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.send(f"{HEAD}{lines}content-length: {len(body)}\r\n\r\n".encode() + body)

    async def rest(self) -> bytes:
        """All that comes until the server closes the connection, however it does."""
        data = b""
        async with asyncio.timeout(10):
            with contextlib.suppress(ConnectionError):
                while piece := await self.reader.read(65536):
                    data += piece
        return data

    async def until(self, end: bytes) -> bytes:
        async with asyncio.timeout(10):
            return await self.reader.readuntil(end)


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[Raw]:
    address = urlsplit(url)
    raw = Raw(*await asyncio.open_connection(address.hostname, address.port))
    try:
        yield raw
    finally:
        raw.writer.close()


async def answers(url: str) -> None:
    """The server answers others, and at once."""
    began = time.monotonic()
    async with connected(url) as raw:
        raw.post(opening(), connection="close")
        assert b'"protocolVersion":"2025-11-25"' in await raw.rest()
    assert time.monotonic() - began < 5


# Heads and bodies that do not come


async def test_heads_that_trickle_in_are_cut() -> None:  # slow-loris
    async with listening(Patient(idle=0.3)) as url, contextlib.AsyncExitStack() as stack:
        slow = [await stack.enter_async_context(connected(url)) for _ in range(50)]
        ends = [asyncio.create_task(one.rest()) for one in slow]
        began = time.monotonic()
        number = 0
        while not all(end.done() for end in ends):
            for one in slow:
                with contextlib.suppress(ConnectionError):
                    one.send("POST /mcp HTTP/1.1\r\n" if number == 0 else f"x-{number}: y\r\n")
            number += 1
            await asyncio.sleep(0.02)
            assert time.monotonic() - began < 5
        await answers(url)


async def test_silent_connections_are_cut() -> None:
    async with listening(Patient(idle=0.2)) as url, connected(url) as raw:
        assert await raw.rest() == b""
        await answers(url)


async def test_a_connection_kept_alive_is_cut_when_its_next_head_trickles_in() -> None:
    async with listening(Patient(idle=0.3)) as url, connected(url) as raw:
        raw.post(opening())
        await raw.until(b"}}")
        ended = asyncio.create_task(raw.rest())
        async with asyncio.timeout(5):
            while not ended.done():
                raw.send("P")
                await asyncio.sleep(0.02)


async def test_a_request_at_work_is_not_idle() -> None:
    server = Patient(idle=0.1)
    async with listening(server) as url, connected(url) as raw:
        message = modern(1, "tools/call", name="work", arguments={})
        raw.post(message, **headers_of(message))
        await until(lambda: server.begun)
        await asyncio.sleep(0.3)
        server.free.set()
        assert b'"done"' in await raw.until(b'"done"')


async def test_a_body_that_trickles_in_is_refused() -> None:
    async with listening(Patient(body=0.2, idle=0.2)) as url, connected(url) as raw:
        raw.send(f"{HEAD}content-length: 1000000\r\n\r\n")
        ended = asyncio.create_task(raw.rest())
        async with asyncio.timeout(5):
            while not ended.done():
                raw.send(" ")
                await asyncio.sleep(0.02)
        assert (await ended).startswith(b"HTTP/1.1 408")
        await answers(url)


async def test_a_body_that_is_refused_may_not_come_for_ever() -> None:
    async with listening(Patient(message=1000, idle=0.3)) as url, connected(url) as raw:
        raw.send(f"{HEAD}content-length: 1000000000\r\n\r\n")
        assert b"413" in await raw.until(b"\r\n")
        ended = asyncio.create_task(raw.rest())
        async with asyncio.timeout(5):
            while not ended.done():
                raw.send(b" " * 1000)
                await asyncio.sleep(0.01)
        await answers(url)


async def test_a_body_that_never_ends_is_refused_at_the_limit() -> None:
    async with listening(Patient(message=100_000, idle=0.3)) as url, connected(url) as raw:
        raw.send(f"{HEAD}transfer-encoding: chunked\r\n\r\n")
        ended = asyncio.create_task(raw.rest())
        async with asyncio.timeout(5):
            while not ended.done():
                raw.send(b"2710\r\n" + b" " * 10_000 + b"\r\n")
                await asyncio.sleep(0.002)
        assert b"HTTP/1.1 413" in await ended
        await answers(url)


# What is no HTTP


@pytest.mark.parametrize(
    "data",
    [
        b"garbage\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100 + b"\r\n\r\n",
        b"POST /mcp HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n\r\n",  # no host
        b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: 127.0.0.1\r\n\r\n",
        HEAD.encode() + b"content-length: ten\r\n\r\n",
        HEAD.encode() + b"content-length: -1\r\n\r\n",
        HEAD.encode() + b"content-length: 5\r\ncontent-length: 6\r\n\r\n",
        HEAD.encode() + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        HEAD.encode() + b"transfer-encoding: gzip\r\n\r\n",
        HEAD.encode() + b"x y: z\r\n\r\n",
        HEAD.encode() + b"x: a\x00b\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_refused_and_cut(data: bytes) -> None:
    async with listening(Patient(idle=1)) as url, connected(url) as raw:
        raw.send(data)
        status = int((await raw.rest()).split()[1])
        assert 400 <= status <= 421 or status == 501
        await answers(url)


async def test_a_head_over_the_limit_is_refused() -> None:
    async with listening(Patient(head=20_000)) as url:
        async with connected(url) as raw:
            raw.send(HEAD + "x: " + "y" * 300_000)
            assert b"HTTP/1.1 400" in await raw.rest()
        async with connected(url) as raw:
            raw.post(opening(), x="y" * 15_000)
            assert b"HTTP/1.1 200" in await raw.until(b"\r\n")


async def test_a_body_longer_than_it_says_is_cut_there() -> None:
    async with listening(Patient(idle=1)) as url, connected(url) as raw:
        body = json.dumps(opening())
        raw.send(f"{HEAD}content-length: {len(body)}\r\n\r\n{body}and more\r\n\r\n")
        told = await raw.rest()
        assert told.startswith(b"HTTP/1.1 200")
        assert b"HTTP/1.1 400" in told
        await answers(url)


async def test_a_body_shorter_than_it_says_reaches_nobody() -> None:
    server = Patient()
    async with listening(server) as url:
        async with connected(url) as raw:
            body = json.dumps(opening())
            raw.send(f"{HEAD}content-length: {len(body) + 1}\r\n\r\n{body}")
            await asyncio.sleep(0.05)
        await answers(url)
    assert len(server._sessions) == 0


async def test_an_attempt_to_open_a_websocket_is_an_ordinary_request() -> None:
    async with listening(Patient()) as url, connected(url) as raw:
        raw.send(
            "GET /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            "sec-websocket-key: x\r\nsec-websocket-version: 13\r\n\r\n"
        )
        assert b"HTTP/1.1 400" in await raw.until(b"\r\n")


# Many


async def test_connections_over_the_limit_are_cut_and_the_others_stay() -> None:
    async with listening(Patient(connections=5)) as url, contextlib.AsyncExitStack() as stack:
        kept = [await stack.enter_async_context(connected(url)) for _ in range(5)]
        for one in kept:
            one.post(opening())
            await one.until(b"}}")
        more = await stack.enter_async_context(connected(url))
        assert await more.rest() == b""
        for one in kept:
            one.post(opening())
            assert b"200" in await one.until(b"\r\n")
        kept[0].writer.close()
        await asyncio.sleep(0.1)
        await answers(url)


async def test_a_thousand_streams_at_once_are_served() -> None:
    _allow_files(5000)
    server = Patient()
    async with listening(server) as url, contextlib.AsyncExitStack() as stack:
        raws = [await stack.enter_async_context(connected(url)) for _ in range(1000)]
        for number, raw in enumerate(raws):
            message = modern(number, "tools/call", name="work", arguments={}, meta=LOGGED)
            raw.post(message, **headers_of(message))
        await until(lambda: server.begun == 1000)
        await answers(url)
        server.free.set()
        for number, raw in enumerate(raws):
            told = await raw.until(b'"done"')
            assert b"text/event-stream" in told
            assert f'"id":{number},'.encode() in told
    assert server.ended == 1000


async def test_ten_thousand_sessions_opened_and_left_are_bounded() -> None:
    server = Patient()
    app = server.asgi_app()
    first = await Session.open(app)
    tasks = len(asyncio.all_tasks())
    for _ in range(10_000):
        assert await Asking(app, body=opening()).head() == 200
    last = await Session.open(app)
    await asyncio.sleep(0.1)
    assert len(asyncio.all_tasks()) < tasks + 1.1 * DEFAULT_LIMITS.sessions
    assert len(server._sessions) <= DEFAULT_LIMITS.sessions
    assert await first.post(request(1, "ping")).head() == 404
    assert await last.post(request(1, "ping")).head() == 200
    await app.close()


# Clients that do not read


LOGGED = {"io.modelcontextprotocol/logLevel": "debug"}


async def test_a_client_that_reads_nothing_is_cut_and_its_call_cancelled() -> None:
    server = Patient(stall=0.2)
    over = asyncio.Event()

    @server.tool
    async def flood(ctx: Context) -> None:
        try:
            while True:
                await ctx.info("x" * 100_000)
        finally:
            over.set()

    async with listening(server) as url:
        with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port)) as lazy:
            message = modern(1, "tools/call", name="flood", arguments={}, meta=LOGGED)
            body = json.dumps(message).encode()
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers_of(message).items())
            lazy.sendall(f"{HEAD}{lines}content-length: {len(body)}\r\n\r\n".encode() + body)
            async with asyncio.timeout(10):
                await over.wait()
            await answers(url)


async def test_a_client_that_reads_slowly_gets_everything() -> None:
    server = Patient(stall=0.2)

    @server.tool
    async def large() -> str:
        return "x" * 8_000_000

    async with listening(server) as url, connected(url) as raw:
        message = modern(1, "tools/call", name="large", arguments={})
        raw.post(message, connection="close", **headers_of(message))
        size = 0
        while piece := await raw.reader.read(400_000):
            size += len(piece)
            await asyncio.sleep(0.02)
        assert size > 8_000_000


# Beginning and ending


async def test_a_busy_port_is_named() -> None:
    async with listening(Patient()) as url:
        port = urlsplit(url).port
        assert port is not None
        with pytest.raises(MCPError, match=f"port {port} of 127.0.0.1") as caught:
            Listener(Patient().asgi_app(), "127.0.0.1", port, DEFAULT_LIMITS)
        assert "port=0" in str(caught.value)


@pytest.mark.parametrize("host", ["x" * 64, "192.0.2.1"])
async def test_an_address_that_is_not_ours_is_named(host: str) -> None:
    with pytest.raises(MCPError, match=host):
        Listener(Patient().asgi_app(), host, 0, DEFAULT_LIMITS)


async def test_closing_ends_streams_in_bounded_time_and_frees_the_port() -> None:
    server = Patient(shutdown=0.5)
    stubborn = asyncio.Event()

    @server.tool
    async def stay() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        stubborn.set()
        await asyncio.sleep(3)

    listener = Listener(server.asgi_app(), "127.0.0.1", 0, server.limits)
    await listener.start()
    url = f"http://127.0.0.1:{listener.port}/mcp"
    async with connected(url) as one, connected(url) as two, connected(url) as idle:
        one.post(modern(1, "tools/call", name="work", arguments={}, meta=LOGGED),
                 **headers_of(modern(1, "tools/call", name="work")))  # fmt: skip
        await one.until(b"begun")
        two.post(modern(1, "tools/call", name="stay", arguments={}),
                 **headers_of(modern(1, "tools/call", name="stay")))  # fmt: skip
        idle.post(opening())
        await idle.until(b"}}")
        began = time.monotonic()
        await listener.close()
        assert time.monotonic() - began < 2
        for raw in (one, two, idle):
            await raw.rest()
    Listener(server.asgi_app(), "127.0.0.1", listener.port, server.limits)._socket.close()


async def test_closing_ends_subscriptions_in_good_order() -> None:
    server = Patient()
    listener = Listener(server.asgi_app(), "127.0.0.1", 0, server.limits)
    await listener.start()
    async with connected(f"http://127.0.0.1:{listener.port}/mcp") as raw:
        message = modern(7, "subscriptions/listen", notifications={"toolsListChanged": True})
        raw.post(message, **headers_of(message))
        await raw.until(b"acknowledged")
        await listener.close()
        told = await raw.rest()
    assert b'"id":7,"result":' in told
    assert b'"io.modelcontextprotocol/subscriptionId":7' in told
    assert told.endswith(b"0\r\n\r\n")


async def test_nothing_is_logged_of_what_strangers_do(caplog: pytest.LogCaptureFixture) -> None:
    async with listening(Patient(idle=0.1)) as url:
        for data in (b"garbage\r\n\r\n", HEAD.encode(), b"GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n"):
            async with connected(url) as raw:
                raw.send(data)
                await raw.rest()
    assert caplog.records == []


async def test_a_server_and_its_client_share_a_loop() -> None:
    async with listening(Patient()) as url, connect(url) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).data == 3


def _allow_files(number: int) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(number, hard), hard))
