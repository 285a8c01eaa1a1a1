"""The half of a relay that stays: it owns the server, and keeps what it says for whoever is attached, now or later."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import logging
import os
import secrets
import signal
import socket
import time
from dataclasses import dataclass
from typing import Any, cast

from ...errors import ConnectError
from ...limits import Limits
from ..command import Command
from ..lines import LineBuffer
from ..process_tree import ending_in_words
from . import OVERTAKEN, SERVER_ENDED, TAKEN_OVER, Attached
from .backlog import Backlog
from .frames import VERSION, FrameReader, Kind, data_frames, json_frame, number_frame, number_in
from .place import Place, is_own
from .server import RelayedServer

__all__ = ["Identity", "Keeper"]

_NOT_STARTED = 127


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a relay is: `id` names its socket, `name` is what a person called it, if anybody did."""

    id: str
    name: str | None = None


class Keeper:
    """Runs one server from the first attachment on, until it has ended, is stopped, or nobody wants it any more.

    Args:
        identity: who this relay is.
        command: what starts the server.
        place: where the socket is.
        listener: the socket, listening.
        keep: how many seconds the server stays while nobody is attached. An attachment may say it anew.
        limits: `relay_buffer`, `message`, `send_buffer`, `stderr_tail`, `shutdown` and `linger` are kept.
    """

    def __init__(
        self, identity: Identity, command: Command, place: Place, listener: socket.socket, keep: float, limits: Limits
    ) -> None:
        self.limits = limits
        self._identity = identity
        self._command = command
        self._place = place
        self._listener = listener
        self._keep = keep
        self._name = secrets.token_hex(8)
        self._since = time.time()
        self._server: RelayedServer | None = None
        self._feeding: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._end: tuple[int, str] | None = None
        self._output = LineBuffer(limits.message)
        self._backlog = Backlog(limits.relay_buffer, limits.send_buffer)
        self._unheard = bytearray()
        self._input: asyncio.Queue[tuple[Visitor, bytes]] = asyncio.Queue()  # bounded by what visitors are allowed
        self._attached: Visitor | None = None
        self._attachments = 0
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._away: asyncio.TimerHandle | None = None
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Keep the server until the end."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._over.set)
        loop.add_signal_handler(signal.SIGHUP, lambda: None)
        logging.getLogger().addHandler(_ToStderr(self))
        listening = await loop.create_unix_server(lambda: Visitor(self), sock=self._listener)
        self._nobody_is_here()
        await self._over.wait()
        with self._place.locked():
            self._place.remove(self._identity.id)
        listening.close()
        await self._finish()

    # Visitors

    def greeted(self, visitor: Visitor, hello: dict[str, Any]) -> None:
        """Somebody came, and said what for."""
        match hello.get("do"):
            case _ if hello.get("version") != VERSION:
                visitor.end(1, "this relay was started by another version of mcp_notebook; stop it with --stop.")
            case "attach":
                self._spawn(self._attach(visitor, hello))
            case "tell":
                visitor.say(json_frame(Kind.HELLO, self._account()))
            case "stop":  # whoever asked sees the connection end when it is done
                self._over.set()
            case _:
                visitor.leave()

    def sent(self, visitor: Visitor, data: bytes) -> None:
        """The client sent this."""
        self._input.put_nowait((visitor, data))

    def read(self, visitor: Visitor, count: int) -> None:
        """The client has read so much."""
        if visitor is self._attached:
            self._backlog.read(count)
            self._give()

    def left(self, visitor: Visitor) -> None:
        """A visitor has gone."""
        if visitor is not self._attached:
            return
        self._attached = None
        self._backlog.rewind()
        if self._end is not None and not self._backlog.size:
            self._over.set()
        else:
            self._nobody_is_here()

    async def _attach(self, visitor: Visitor, hello: dict[str, Any]) -> None:
        async with self._turn:  # the newest wins, after all who came before it
            if (why := self._why_not(hello)) is not None:
                visitor.end(1, why)
                return
            if self._attached is not None:
                await self._vacate(self._attached)
            if self._over.is_set():
                visitor.leave()  # too late; it comes back, and meets a new relay
            elif not visitor.closed.is_set() and await self._started(visitor):
                self._let_in(visitor, hello["keep"])

    def _why_not(self, hello: dict[str, Any]) -> str | None:
        if hello["args"] is None or (hello["args"], hello["cwd"]) == (
            list(self._command.args),
            self._command.directory,
        ):
            return None
        return (
            f"the relay {self._identity.name!r} runs another command: {self._command} (in {self._command.directory}). "
            "End that one first (in a notebook: %mcp disconnect NAME --stop), or choose another name."
        )

    async def _vacate(self, old: Visitor) -> None:
        """Have whoever is attached leave; in good order, so that what its client has sent and read is known."""
        old.end(TAKEN_OVER, OVERTAKEN, drop=True)
        try:
            await asyncio.wait_for(old.closed.wait(), self.limits.linger)
        except TimeoutError:
            old.leave()
            await old.closed.wait()

    async def _started(self, visitor: Visitor) -> bool:
        """See to it that the server runs, or did; whether that is so."""
        if self._server is not None:
            return True
        server = RelayedServer(
            self._command, self.limits, output=self._said, errors=self.complained, lost=self._server_is_lost
        )
        try:
            await server.start()
        except ConnectError as error:
            visitor.end(_NOT_STARTED, str(error))
            self._over.set()
            return False
        self._server = server
        self._feeding = asyncio.create_task(self._feed(server))
        return True

    def _let_in(self, visitor: Visitor, keep: float | None) -> None:
        if self._away is not None:
            self._away.cancel()
        self._attached = visitor
        self._attachments += 1
        self._keep = self._keep if keep is None else keep
        # It may send at once, so that it hears of a client that leaves at once before it gives it anything.
        allowed = self.limits.send_buffer if self._input.empty() else 0
        attached = Attached(self._name, self._attachments, self._since, self._keep)
        visitor.welcome(dataclasses.asdict(attached), allowed)
        if not allowed:
            self.sent(visitor, b"")  # it may when all is done that earlier ones sent
        visitor.say(b"".join(data_frames(Kind.STDERR, bytes(self._unheard))))
        self._unheard.clear()
        self._give()

    def _nobody_is_here(self) -> None:
        self._away = asyncio.get_running_loop().call_later(self._keep, self._over.set)

    def _account(self) -> dict[str, Any]:
        """How it stands, for `--list`."""
        return {
            "id": self._identity.id,
            "name": self._identity.name,
            "keeper": os.getpid(),
            "server": self._server.pid if self._server else None,
            "ended": self._end is not None,
            "since": self._since,
            "attached": self._attached is not None,
            "waiting": self._backlog.size,
            "command": str(self._command),
            "cwd": self._command.directory,
        }

    # From the client to the server

    async def _feed(self, server: RelayedServer) -> None:
        """Pass on whole lines: the half of a line that a killed client has sent must not spoil the next one's first."""
        with contextlib.suppress(BrokenPipeError):
            while True:
                visitor, data = await self._input.get()
                lines = [self._whole(*line) for line in visitor.lines.feed(data)]
                if lines:
                    await server.write(b"".join(lines))
                visitor.allow(len(data) or self.limits.send_buffer)

    # From the server to the client

    def _said(self, data: bytes) -> None:
        for line in self._output.feed(data):
            self._backlog.add(self._whole(*line))
        self._give()

    def complained(self, data: bytes) -> None:
        """Something for stderr; the end of it is kept where nobody reads it."""
        if self._attached is not None and self._attached.waiting < self.limits.send_buffer:
            self._attached.say(b"".join(data_frames(Kind.STDERR, data)))
        else:
            self._unheard += data
            del self._unheard[: max(0, len(self._unheard) - self.limits.stderr_tail)]

    def _give(self) -> None:
        """Give the attached client what it can take, and let the server go on if there is room."""
        visitor = self._attached
        if visitor is not None:
            given = b"".join(iter(self._backlog.take, None))
            visitor.say(b"".join(data_frames(Kind.DATA, given)))
            if self._end is not None and self._backlog.all_given:
                visitor.end(*self._end)
        if self._server is not None and self._ending is None:
            self._server.listen(not self._backlog.full)

    def _whole(self, line: bytes | bytearray, size: int) -> bytes:
        """A line with its end. Of one that is too long both ends go on, from which it can be refused by its id, with a
        control character between, so that nobody takes them for a message."""
        if size > self.limits.message:
            middle = len(line) // 2
            line = line[:middle] + b"\x1a" + line[middle:]
            text = f"relay: a line of {size:,} bytes was cut, since Limits.message allows {self.limits.message:,}.\n"
            self.complained(text.encode())
        return bytes(line) + b"\n"

    # The end

    def _server_is_lost(self) -> None:
        if self._ending is None and self._server is not None:
            self._ending = self._spawn(self._wind_up(self._server))

    async def _wind_up(self, server: RelayedServer) -> None:
        """The server has ended, or hung up: take in its last words, end what is left of it, and say so."""
        server.listen(True)
        if server.exit_status is None:
            await server.end()
        else:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(server.silent.wait(), self.limits.linger)
        rest, size = self._output.take()
        if size:
            self._backlog.add(self._whole(rest, size)[:-1])
        status = server.exit_status or 0
        text = f"{SERVER_ENDED} (pid {server.pid}) {ending_in_words(server.exit_status)}."
        self._end = (128 - status if status < 0 else status), text
        self._give()
        if self._attached is None and not self._backlog.size:
            self._over.set()
        await server.end()
        if self._feeding is not None:
            self._feeding.cancel()

    async def _finish(self) -> None:
        """End the server, and give whoever is attached the time to hear of it."""
        if self._away is not None:
            self._away.cancel()
        self._server_is_lost()
        if self._ending is not None:
            await asyncio.wait({self._ending})
        if self._attached is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._attached.closed.wait(), self.limits.shutdown)

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


class Visitor(asyncio.Protocol):
    """One connection to the keeper: a front, or somebody with a question."""

    def __init__(self, keeper: Keeper) -> None:
        self.closed = asyncio.Event()
        self.lines = LineBuffer(keeper.limits.message)
        self._keeper = keeper
        self._frames = FrameReader()
        self._allowed = self._told_allowed = 0
        self._greeted = False
        self._told_the_end = False

    @property
    def waiting(self) -> int:
        """How many bytes wait to be sent to it."""
        return self._transport.get_write_buffer_size()

    def say(self, data: bytes) -> None:
        """Send frames; nothing happens where it has gone."""
        if not self._transport.is_closing():
            self._transport.write(data)

    def welcome(self, attachment: dict[str, Any], allowed: int) -> None:
        """Let it in; it may send so many bytes."""
        self._allowed = self._told_allowed = allowed
        self.say(json_frame(Kind.HELLO, {**attachment, "allowed": allowed}))

    def allow(self, more: int) -> None:
        """It may send so many bytes more. It hears of it when that matters: not after each message."""
        self._allowed += more
        if self._allowed - self._told_allowed >= self._keeper.limits.send_buffer // 2:
            self._told_allowed = self._allowed
            self.say(number_frame(Kind.ALLOWED, self._allowed))

    def end(self, status: int, text: str, *, drop: bool = False) -> None:
        """Say the last word, once; then it leaves by itself."""
        if not self._told_the_end:
            self._told_the_end = True
            self.say(json_frame(Kind.END, {"status": status, "text": text, "drop": drop}))

    def leave(self) -> None:
        """Have it gone."""
        self._transport.abort()

    # What the event loop tells us.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if not is_own(self._transport.get_extra_info("socket")):
            self.leave()

    def data_received(self, data: bytes) -> None:
        try:
            for kind, payload in self._frames.feed(data):
                self._hear(kind, payload)
        except ValueError:  # it does not speak our language
            self.leave()

    def eof_received(self) -> None:
        self.leave()  # it has said all; what it is still being told does not matter

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()
        self._keeper.left(self)

    def _hear(self, kind: Kind, payload: bytes) -> None:
        if not self._greeted and kind is Kind.HELLO:
            self._greeted = True
            self._keeper.greeted(self, json.loads(payload))
        elif kind is Kind.DATA:
            self._keeper.sent(self, payload)
        elif kind is Kind.READ:
            self._keeper.read(self, number_in(payload))


class _ToStderr(logging.Handler):
    """What goes wrong in the keeper is told where the server's own complaints are: it has no stderr itself."""

    def __init__(self, keeper: Keeper) -> None:
        super().__init__(logging.WARNING)
        self._keeper = keeper
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        text = f"relay: {self.format(record)}\n".encode()
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._keeper.complained, text)
