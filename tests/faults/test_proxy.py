"""The proxy does the faults that it is told to, and the same again for the same seed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

import pytest

from .ledger import Ledger
from .proxy import HOST, ByteFaults, ConnectionFaults, FaultyProxy, random_connections
from .talking import Careful, Forgetful, careful, naive, serving, stubborn

pytestmark = pytest.mark.anyio
BOUND = 10


@contextlib.asynccontextmanager
async def echoing(*, silent: bool = False) -> AsyncIterator[tuple[int, list[bytes]]]:
    """The port of a server that says what it hears (or nothing), and what it has heard in each connection."""
    heard: list[bytes] = []

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(heard)
        heard.append(b"")
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                heard[number] += data
                writer.write(b"" if silent else data)
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(echo, HOST, 0) as server:
        yield server.sockets[0].getsockname()[1], heard


async def exchange(port: int, data: bytes) -> tuple[bytes, str]:
    """What comes back, and how it ends."""
    async with asyncio.timeout(BOUND):
        back = b""
        try:
            reader, writer = await asyncio.open_connection(HOST, port)
            with contextlib.closing(writer):
                writer.write(data)
                writer.write_eof()
                while more := await reader.read(65536):
                    back += more
        except ConnectionRefusedError:
            return back, "refused"
        except ConnectionError:
            return back, "reset"
        return back, "end"


def connections(**faults: ByteFaults | bool) -> Callable[[int], ConnectionFaults]:
    """The same faults for each connection."""
    return lambda number: ConnectionFaults(**faults)  # pyright: ignore[reportArgumentType]


async def test_without_faults_everything_passes_both_ways() -> None:
    data = b"x" * 1_000_000 + b"end"
    async with echoing() as (port, heard), FaultyProxy(port) as proxy:
        assert await exchange(proxy.port, data) == (data, "end")
        assert heard == [data]
        assert str(proxy.record) == "faults: none"
        assert proxy.url("/path") == f"http://127.0.0.1:{proxy.port}/path"


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("cut", [0, 1, 500, 150_000])
async def test_a_connection_is_cut_after_exactly_so_many_bytes_from_the_server(cut: int, reset: bool) -> None:
    data = bytes(range(256)) * 1000
    async with echoing() as (port, _), FaultyProxy(port, connections(down=ByteFaults(cut=cut), reset=reset)) as proxy:
        back, end = await exchange(proxy.port, data)
        assert back == data[:cut]
        assert end == ("reset" if reset else "end")
        assert proxy.record.lines == [f"connection 1, down after {cut} bytes: {'reset' if reset else 'cut'}"]


@pytest.mark.parametrize("cut", [0, 1, 500, 150_000])
async def test_a_connection_is_cut_after_exactly_so_many_bytes_from_the_client(cut: int) -> None:
    data = bytes(range(256)) * 1000
    faults = connections(up=ByteFaults(cut=cut))
    async with echoing(silent=True) as (port, heard), FaultyProxy(port, faults) as proxy:
        await exchange(proxy.port, data)
        async with asyncio.timeout(BOUND):
            while heard != [data[:cut]]:  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        assert proxy.record.counts == {"cut": 1}


async def test_bytes_come_in_small_pieces_that_together_are_the_same() -> None:
    pieces: list[bytes] = []
    async with echoing() as (port, _), FaultyProxy(port, connections(down=ByteFaults(pieces=3, delay=0.001))) as proxy:
        reader, writer = await asyncio.open_connection(HOST, proxy.port)
        writer.write(b"0123456789" * 3)
        writer.write_eof()
        async with asyncio.timeout(BOUND):
            while piece := await reader.read(100):
                pieces.append(piece)
        writer.close()
    assert b"".join(pieces) == b"0123456789" * 3
    assert len(pieces) > 3


async def test_a_delay_delays() -> None:
    async with echoing() as (port, _), FaultyProxy(port, connections(up=ByteFaults(delay=0.2))) as proxy:
        start = time.monotonic()
        assert await exchange(proxy.port, b"late") == (b"late", "end")
        assert time.monotonic() - start > 0.15


async def test_the_piece_with_a_byte_goes_twice() -> None:
    async with echoing() as (port, heard), FaultyProxy(port, connections(up=ByteFaults(repeat=2))) as proxy:
        await exchange(proxy.port, b"abc")
        assert heard == [b"abcabc"]
        assert proxy.record.lines == ["connection 1, up, 3 bytes from 0: repeat"]


async def test_it_refuses_for_a_while_and_cuts_when_it_is_told_to() -> None:
    async with echoing() as (port, _), FaultyProxy(port, lambda number: ConnectionFaults(refuse=number == 3)) as proxy:
        reader, writer = await asyncio.open_connection(HOST, proxy.port)
        writer.write(b"a")
        assert await reader.readexactly(1) == b"a"
        await proxy.refuse()
        assert await exchange(proxy.port, b"b") == (b"", "refused")
        writer.write(b"c")
        assert await reader.readexactly(1) == b"c"
        await proxy.accept()
        assert await exchange(proxy.port, b"d") == (b"d", "end")
        assert await exchange(proxy.port, b"e") == (b"", "reset")
        assert proxy.cut() == 1
        assert await asyncio.wait_for(reader.read(), BOUND) == b""
        writer.close()
        assert proxy.connections == 3
        assert proxy.record.counts == {"refuse": 1, "cut": 1}


async def test_nobody_behind_it_is_an_end_not_a_hang() -> None:
    async with echoing() as (port, _):
        pass
    async with FaultyProxy(port) as proxy:
        assert (await exchange(proxy.port, b"a"))[0] == b""


async def test_a_seed_does_the_same_again_and_another_does_something_else() -> None:
    def first(seed: int) -> list[ConnectionFaults]:
        plan = random_connections(seed, cut=0.5, split=0.5, delay=0.5, repeat=0.2, refuse=0.1)
        return [plan(number) for number in range(1, 51)]

    assert first(1) == first(1)
    assert first(1) != first(2)
    cuts = [faults.down.cut for faults in first(1) if faults.down.cut is not None]
    assert len(cuts) > 10
    assert min(cuts) < 50
    assert max(cuts) > 500


# What the ledger says of clients behind it


async def outcome(client: Callable[[int, str, Ledger], object], server: Callable[[Ledger], Careful]) -> Ledger:
    """The books of 200 calls through a proxy that cuts anywhere."""
    ledger = Ledger()
    plan = random_connections(7, cut=0.3, within=60, split=0.5, refuse=0.1)
    async with serving(server(ledger)) as port, FaultyProxy(port, plan) as proxy:
        for call in range(200):
            await asyncio.wait_for(client(proxy.port, str(call), ledger), BOUND)  # pyright: ignore[reportArgumentType]
        assert proxy.record.counts["cut"] + proxy.record.counts["reset"] > 50
    return ledger


def wrong(ledger: Ledger) -> set[str]:
    return {row for row, calls in ledger.wrong().items() if calls}


async def test_a_naive_client_loses_results_and_the_ledger_says_so() -> None:
    ledger = await outcome(naive, Forgetful)
    assert wrong(ledger) == {"results lost"}
    lost = len(ledger.wrong()["results lost"])
    assert 20 < lost < 180
    assert f"results received{200 - lost:>16}" in ledger.table()
    with pytest.raises(AssertionError, match=rf"results lost +{lost}\n"):
        ledger.check()


async def test_a_stubborn_client_of_a_forgetful_server_runs_handlers_twice_and_hears_things_again() -> None:
    ledger = await outcome(stubborn, Forgetful)
    assert wrong(ledger) == {"delivered twice", "handlers run twice", "order broken"}


async def test_a_careful_client_of_a_careful_server_loses_doubles_and_breaks_nothing() -> None:
    ledger = await outcome(careful, Careful)
    ledger.check()
    assert "results received             200" in ledger.table()
    assert ledger.unknown == []
