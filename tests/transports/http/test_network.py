"""The network under httpx2 for servers on this machine. The other side is a bare socket of the test's."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpcore2
import pytest

from mcp_notebook.limits import DEFAULT_LIMITS
from mcp_notebook.transports.http.network import BUFFERED, Network
from mcp_notebook.transports.http.options import HttpOptions
from mcp_notebook.transports.http.requests import Requests

from ...scripted import until

pytestmark = pytest.mark.anyio


class Peer(asyncio.Protocol):
    """The server's end of the connection."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.answer: bytes | None = None
        self.ended = asyncio.Event()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.pieces.append(data)
        if self.answer is not None:
            self.transport.write(self.answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()

    async def received(self, size: int) -> bytes:
        await until(lambda: sum(map(len, self.pieces)) >= size)
        return b"".join(self.pieces)


@asynccontextmanager
async def joined() -> AsyncIterator[tuple[httpcore2.AsyncNetworkStream, Peer]]:
    accepted: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

    def accept() -> Peer:
        peer = Peer()
        accepted.set_result(peer)
        return peer

    server = await asyncio.get_running_loop().create_server(accept, "127.0.0.1", 0)
    try:
        stream = await Network().connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1], timeout=10)
        peer = await accepted
        try:
            yield stream, peer
        finally:
            await stream.aclose()
            peer.transport.abort()
    finally:
        server.close()


async def flood(stream: httpcore2.AsyncNetworkStream) -> None:
    """Write until that would have to wait."""
    for _ in range(1000):
        await stream.write(b"x" * 100_000, timeout=0.1)


async def test_what_is_written_piece_by_piece_goes_out_in_one_once_something_is_read() -> None:
    async with joined() as (stream, peer):
        peer.answer = b"answer"
        await stream.write(b"head ")
        await stream.write(b"body")
        await stream.write(b"")
        assert await stream.read(100) == b"answer"
        assert peer.pieces == [b"head body"]


async def test_what_is_written_goes_out_though_nothing_is_read() -> None:
    async with joined() as (stream, peer):
        await stream.write(b"a")
        assert await peer.received(1) == b"a"
        await stream.write(b"b")
        assert await peer.received(2) == b"ab"


async def test_no_more_is_read_at_once_than_is_asked_for() -> None:
    async with joined() as (stream, peer):
        peer.transport.write(b"abcdef")
        assert [await stream.read(4), await stream.read(4)] == [b"abcd", b"ef"]


async def test_a_writer_waits_while_the_other_side_does_not_read() -> None:
    async with joined() as (stream, peer):
        peer.transport.pause_reading()
        with pytest.raises(httpcore2.WriteTimeout):
            await flood(stream)
        peer.transport.resume_reading()
        await stream.write(b"end", timeout=10)
        await until(lambda: peer.pieces and peer.pieces[-1].endswith(b"end"))


async def test_a_large_body_arrives_whole() -> None:
    async with joined() as (stream, peer):
        body = bytes(range(256)) * 40_000
        await stream.write(b"head")
        await stream.write(body, timeout=10)
        assert await peer.received(len(body) + 4) == b"head" + body


async def test_the_other_side_is_slowed_down_while_nobody_reads_here() -> None:
    async with joined() as (stream, peer):
        size = 30 * BUFFERED
        peer.transport.write(b"x" * size)
        await asyncio.sleep(0.2)
        left = peer.transport.get_write_buffer_size()
        assert left > 0
        read = 0
        async with asyncio.timeout(10):
            while read < size:
                read += len(await stream.read(65_536))
        assert peer.transport.get_write_buffer_size() == 0


async def test_the_end_is_read_after_what_came_before_it() -> None:
    async with joined() as (stream, peer):
        peer.transport.write(b"last")
        peer.transport.close()
        assert [await stream.read(100), await stream.read(100)] == [b"last", b""]


async def test_a_reader_is_told_that_the_connection_broke() -> None:
    async with joined() as (stream, peer):
        reading = asyncio.ensure_future(stream.read(100))
        await asyncio.sleep(0)
        linger = b"\1\0\0\0\0\0\0\0"  # closing it resets it
        peer.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        peer.transport.abort()
        with pytest.raises(httpcore2.ReadError):
            await reading
        with pytest.raises(httpcore2.WriteError):
            await stream.write(b"more")


async def test_a_reader_waits_no_longer_than_it_wants() -> None:
    async with joined() as (stream, _):
        with pytest.raises(httpcore2.ReadTimeout):
            await stream.read(100, timeout=0.01)


async def test_whether_an_idle_connection_still_stands_is_known() -> None:
    async with joined() as (stream, peer):
        assert not stream.get_extra_info("is_readable")
        peer.transport.close()
        await until(lambda: stream.get_extra_info("is_readable"))


async def test_closing_ends_it_for_the_other_side_though_that_does_not_read() -> None:
    async with joined() as (stream, peer):
        peer.transport.pause_reading()
        with pytest.raises(httpcore2.WriteTimeout):
            await flood(stream)
        await stream.aclose()
        peer.transport.resume_reading()
        async with asyncio.timeout(10):
            await peer.ended.wait()


async def test_where_nobody_listens_there_is_no_way() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(httpcore2.ConnectError):
        await Network().connect_tcp("127.0.0.1", port, timeout=10)


async def test_connecting_takes_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: Any, **__: Any) -> Any:
        await asyncio.sleep(1000)

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never)
    with pytest.raises(httpcore2.ConnectTimeout):
        await Network().connect_tcp("127.0.0.1", 1, timeout=0.01)


async def test_requests_to_this_machine_go_out_in_one_piece() -> None:
    peers: list[Peer] = []

    def accept() -> Peer:
        peer = Peer()
        peer.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
        peers.append(peer)
        return peer

    server = await asyncio.get_running_loop().create_server(accept, "127.0.0.1", 0)
    requests = Requests(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", HttpOptions(), DEFAULT_LIMITS)
    try:
        for _ in range(2):
            answer = await requests.send("POST", {}, b"body")
            assert await answer.read() == b"ok"
            await answer.close()
    finally:
        await requests.close()
        server.close()
    (peer,) = peers
    assert [piece[-4:] for piece in peer.pieces] == [b"body", b"body"]
