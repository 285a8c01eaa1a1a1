"""A TCP proxy at which connections meet faults, byte by byte."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias
from urllib.parse import urlsplit

from .record import Record

__all__ = ["ByteFaults", "ConnectionFaults", "FaultyProxy", "random_connections"]

HOST = "127.0.0.1"
_CHUNK = 64 * 1024
_FAREWELL = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteFaults:
    """What happens to the bytes of one way of a connection.

    Args:
        cut: after so many bytes, which still arrive, the connection is cut, both ways.
        pieces: bytes are passed on in pieces of 1 to so many.
        delay: seconds before each piece.
        repeat: the piece with this byte goes twice. (No TCP does that; broken things on the way do.)
    """

    cut: int | None = None
    pieces: int | None = None
    delay: float = 0.0
    repeat: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFaults:
    """What happens to one connection.

    Args:
        up: from the client to the server.
        down: from the server to the client.
        refuse: it is reset as soon as it is made.
        reset: where it is cut, it is reset; else it looks like a proper end.
    """

    up: ByteFaults = ByteFaults()
    down: ByteFaults = ByteFaults()
    refuse: bool = False
    reset: bool = False


NO_FAULTS = ConnectionFaults()
Plan: TypeAlias = Callable[[int], ConnectionFaults]
"""The faults of a connection, by its number from 1."""


def random_connections(
    seed: object,
    *,
    cut: float = 0.0,
    within: int = 20_000,
    split: float = 0.0,
    delay: float = 0.0,
    seconds: float = 0.005,
    repeat: float = 0.0,
    refuse: float = 0.0,
) -> Plan:
    """Faults anywhere.

    Args:
        seed: anything that has a text.
        cut, split, delay, repeat: how probable each is, for each way of a connection.
        within: cuts and repetitions come within so many bytes; early ones are as probable as late ones.
        seconds: the longest delay of a piece.
        refuse: how probable it is that a connection is refused.
    """

    def way(chance: random.Random) -> ByteFaults:
        drawn = {name: chance.random() for name in ("cut", "split", "delay", "repeat")}
        place = int(within ** chance.random())
        return ByteFaults(
            cut=place if drawn["cut"] < cut else None,
            pieces=chance.choice([1, 3, 20, 200]) if drawn["split"] < split else None,
            delay=chance.uniform(0, seconds) if drawn["delay"] < delay else 0.0,
            repeat=int(within ** chance.random()) if drawn["repeat"] < repeat else None,
        )

    def plan(number: int) -> ConnectionFaults:
        chance = random.Random(f"{seed}/{number}")
        return ConnectionFaults(
            refuse=chance.random() < refuse, reset=chance.random() < 0.5, up=way(chance), down=way(chance)
        )

    return plan


class FaultyProxy:
    """Listens on a port of its own, and passes on to another port of this machine. Use it as `async with`.

    Args:
        port: where the server listens.
        plan: the faults of each connection.
    """

    def __init__(self, port: int, plan: Plan = lambda number: NO_FAULTS) -> None:
        self.port = 0
        """Where clients connect."""
        self.record = Record()
        self.connections = 0
        """How many there have been."""
        self._server_port = port
        self._plan = plan
        self._listening: asyncio.Server | None = None
        self._open: set[_Connection] = set()

    @classmethod
    def before(cls, url: str, plan: Plan = lambda number: NO_FAULTS) -> Self:
        """A proxy before the server at a URL."""
        port = urlsplit(url).port
        assert port is not None, url
        return cls(port, plan)

    async def __aenter__(self) -> Self:
        await self.accept()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.refuse()
        for connection in self._open:
            connection.abort()
        if self._open:
            await asyncio.wait({connection.task for connection in self._open}, timeout=_FAREWELL)

    def url(self, path: str = "/mcp") -> str:
        """Where an HTTP client connects."""
        return f"http://{HOST}:{self.port}{path}"

    async def refuse(self) -> None:
        """Refuse new connections from now on; open ones stay."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    async def accept(self) -> None:
        """Accept connections, on the same port as before."""
        self._listening = await asyncio.start_server(self._accepted, HOST, self.port)
        self.port = self._listening.sockets[0].getsockname()[1]

    def cut(self, *, reset: bool = False) -> int:
        """Cut all open connections now; how many those were."""
        for connection in (found := list(self._open)):
            connection.cut("now", reset=reset)
        return len(found)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        faults = self._plan(self.connections)
        connection = _Connection(self.connections, faults, (reader, writer), self.record)
        self._open.add(connection)
        try:
            await connection.run(self._server_port)
        finally:
            self._open.discard(connection)


_Side: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Connection:
    def __init__(self, number: int, faults: ConnectionFaults, client: _Side, record: Record) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.task = task
        self._number = number
        self._faults = faults
        self._client = client
        self._record = record
        self._server: _Side | None = None
        self._cut = False

    async def run(self, port: int) -> None:
        if self._faults.refuse:
            self._note("refuse", "at once")
            self._hang_up(reset=True)
            return
        try:
            self._server = await asyncio.open_connection(HOST, port)
        except OSError:  # nobody listens there
            self._hang_up(reset=True)
            return
        try:
            await asyncio.gather(
                self._pass_on("up", self._client[0], self._server[1], self._faults.up),
                self._pass_on("down", self._server[0], self._client[1], self._faults.down),
            )
        finally:
            self._hang_up(reset=False)

    def cut(self, where: str, *, reset: bool) -> None:
        if not self._cut:
            self._cut = True
            self._note("reset" if reset else "cut", where)
            self._hang_up(reset=reset)

    def abort(self) -> None:
        """End it without a word."""
        self._cut = True
        for side in (self._client, self._server):
            if side is not None:
                side[1].transport.abort()

    async def _pass_on(
        self, way: Literal["up", "down"], reader: asyncio.StreamReader, writer: asyncio.StreamWriter, faults: ByteFaults
    ) -> None:
        passed = 0
        with contextlib.suppress(OSError):  # the other side has gone
            async for piece in _pieces(reader, faults, random.Random(f"{self._number}/{way}")):
                if self._cut:
                    return
                if faults.cut is not None and passed + len(piece) >= faults.cut:
                    writer.write(piece[: faults.cut - passed])
                    await writer.drain()
                    self.cut(f"{way} after {faults.cut} bytes", reset=self._faults.reset)
                    return
                await asyncio.sleep(faults.delay)
                writer.write(piece)
                if faults.repeat is not None and passed <= faults.repeat < passed + len(piece):
                    self._note("repeat", f"{way}, {len(piece)} bytes from {passed}")
                    writer.write(piece)
                await writer.drain()
                passed += len(piece)
            writer.write_eof()

    def _hang_up(self, *, reset: bool) -> None:
        for side in (self._client, self._server):
            if side is None:
                continue
            writer = side[1]
            if reset:
                peer: socket.socket = writer.get_extra_info("socket")
                with contextlib.suppress(OSError):
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.close()

    def _note(self, kind: str, where: str) -> None:
        self._record.note(kind, f"connection {self._number}, {where}")


async def _pieces(reader: asyncio.StreamReader, faults: ByteFaults, chance: random.Random) -> AsyncIterator[bytes]:
    while data := await reader.read(_CHUNK):
        for piece in _split(data, faults.pieces, chance):
            yield piece


def _split(data: bytes, largest: int | None, chance: random.Random) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        size = len(data) if largest is None else chance.randint(1, largest)
        yield data[start : start + size]
        start += size
