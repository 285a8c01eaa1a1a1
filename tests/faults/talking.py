"""A server and clients of one line each way, good and bad at surviving faults: what the tests of the faults use.

A client sends `NUMBER\\n`; the server runs a handler, which says `NUMBER said 1`, `NUMBER said 2`, and `NUMBER result`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from .ledger import Ledger
from .proxy import HOST

SAYS = ["said 1", "said 2", "said 3", "result"]


class Careful:
    """A server that runs a handler once for each call, and says all again to whoever asks again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: set[str] = set()

    def handle(self, call: str) -> list[str]:
        if call not in self._known:
            self._run(call)
        self._known.add(call)
        return SAYS

    def _run(self, call: str) -> None:
        self._ledger.note("ran", call)
        for number in (1, 2, 3):
            self._ledger.note("said", call, number)


class Forgetful(Careful):
    """A server that runs the handler whenever it is asked."""

    def handle(self, call: str) -> list[str]:
        self._run(call)
        return SAYS


@contextlib.asynccontextmanager
async def serving(server: Careful) -> AsyncIterator[int]:
    """The port on which a server listens."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while (line := await reader.readline()).endswith(b"\n"):
                for word in server.handle(line.decode().strip()):
                    writer.write(f"{line.decode().strip()} {word}\n".encode())
                    await writer.drain()
        writer.close()

    listening = await asyncio.start_server(talk, HOST, 0)
    async with listening:
        yield listening.sockets[0].getsockname()[1]


async def hear(port: int, call: str, heard: list[str]) -> bool:
    """Make a call, and put what is said into a list; whether the result was among it."""
    with contextlib.suppress(ConnectionError):
        reader, writer = await asyncio.open_connection(HOST, port)
        try:
            writer.write(f"{call}\n".encode())
            await writer.drain()
            while (line := await reader.readline()).endswith(b"\n"):
                heard.append(line.decode().strip().partition(" ")[2])
                if heard[-1] == "result":
                    return True
        finally:
            writer.close()
    return False


async def naive(port: int, call: str, ledger: Ledger) -> None:
    """Calls once, and takes what comes."""
    ledger.note("began", call, "result")
    heard: list[str] = []
    await hear(port, call, heard)
    _enter(ledger, call, heard)


async def stubborn(port: int, call: str, ledger: Ledger) -> None:
    """Calls until there is a result, and takes all that comes."""
    ledger.note("began", call, "result")
    heard: list[str] = []
    while not await hear(port, call, heard):
        pass
    _enter(ledger, call, heard)


async def careful(port: int, call: str, ledger: Ledger) -> None:
    """Calls until there is a result, and passes over what it has heard before."""
    ledger.note("began", call, "result")
    heard: list[str] = []
    while not await hear(port, call, heard):
        pass
    _enter(ledger, call, list(dict.fromkeys(heard)))


def _enter(ledger: Ledger, call: str, heard: list[str]) -> None:
    for word in heard:
        if word == "result":
            ledger.note("received", call, word)
        else:
            ledger.note("heard", call, int(word.removeprefix("said ")))
