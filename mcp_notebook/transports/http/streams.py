"""What is said on one SSE stream, numbered and kept for a while: whoever hears it may go, come back and miss nothing.

Source: "Resumability and Redelivery" of the handshake revisions; SEP-1699 (SSE-1, SSE-2).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from ...errors import ConnectionLost
from ...jsonrpc import ErrorResponse, Message, Notification, Response, dump
from ...limits import Limits
from ...protocol.resuming import read_mark
from ..news import News
from .answers import Send

WAITING = 64
"""How many messages may wait for a slow reader before the handler is slowed down."""
COMMENT = b": \n\n"


@dataclass(slots=True)
class _Said:
    """One message. `sent` is when it went out first, in seconds of the monotonic clock; None while it has not."""

    data: bytes
    answer: bool
    gives_way: bool
    sent: float | None = None


@dataclass(slots=True)
class _Marked:
    """Messages that came one after the other, here and in their call: where that began, in both numberings."""

    first: int
    mark: int
    count: int = 1

    def goes_on(self, number: int, mark: int) -> bool:
        """Whether the next of them is this; then it is counted."""
        if (number - self.first, mark - self.mark) != (self.count, self.count):
            return False
        self.count += 1
        return True

    def mark_at(self, number: int) -> int:
        """The number within the call of the last of them up to a number."""
        return self.mark + min(number - self.first, self.count - 1)


class Stream:
    """One stream, from its first message to its last.

    Each message has a number, and its event the id `NAME_NUMBER`. One that was sent is kept for `Limits.replay`, since
    it may not have arrived; one that was not, until somebody comes for it. Beyond the bounds the oldest of those that
    were sent, and of notifications, give way.

    Args:
        name: unique among the streams of its session; None for a stream that nobody can come back to, which keeps
            nothing.
        limits: the bounds to keep.
        bound: how many messages are kept.
        reader: who is about to read it.
    """

    __slots__ = (
        "_at",
        "_bound",
        "_left_at",
        "_limits",
        "_marks",
        "_news",
        "_reader",
        "_retry",
        "_said",
        "_size",
        "ended_at",
        "last",
        "name",
        "sent",
    )

    def __init__(self, name: str | None, limits: Limits, bound: int, reader: object | None = None) -> None:
        self.name = name
        self.last = 0
        """The number of what was said last."""
        self.sent = 0
        """The number of what was sent last."""
        self.ended_at: float | None = None
        self._limits = limits
        self._bound = bound
        self._said: dict[int, _Said] = {}
        self._size = 0
        self._marks: deque[_Marked] | None = None
        self._reader = reader
        self._left_at = time.monotonic()
        self._at = 0
        self._retry: int | None = None
        self._news = News()

    @property
    def ended(self) -> bool:
        """Whether nothing more is said."""
        return self.ended_at is not None

    @property
    def unheard(self) -> float:
        """Seconds since nobody reads it; 0.0 while somebody does."""
        return 0.0 if self._reader is not None else time.monotonic() - self._left_at

    async def put(self, message: Message) -> None:
        """Say something. Waits while somebody reads slowly; not where nobody reads.

        Raises:
            ConnectionLost: the client has gone for good.
            Unserializable: the message holds something that JSON cannot say.
        """
        if self.ended:
            raise ConnectionLost("The client has closed the stream of this request.")
        answer = isinstance(message, (Response, ErrorResponse))
        said = _Said(dump(message), answer, isinstance(message, Notification))
        self.last += 1
        self._said[self.last] = said
        self._size += len(said.data)
        if not answer:
            mark = read_mark(message.params).number
            if mark:
                self._note(mark)
        self._trim()
        self._news.tell()
        while self._reader is not None and self.last - self._at > WAITING:
            await self._news.wait()

    def end(self) -> None:
        """All is said."""
        if not self.ended:
            self.ended_at = time.monotonic()
            self._news.tell()

    def pause(self, retry: int) -> None:
        """Close the connection, once all that was said so far is sent: the client shall come back after so many
        milliseconds. Where nobody reads, nothing happens."""
        if self._reader is not None:
            self._retry = retry
            self._news.tell()

    def leave(self, reader: object) -> None:
        """A reader has gone; where a newer one took over, that is of no interest."""
        if self._reader is reader:
            self._reader, self._retry, self._left_at = None, None, time.monotonic()
            self._news.tell()

    def message(self, number: int) -> bytes:
        """A message that is kept."""
        return self._said[number].data

    def answers(self) -> list[bytes]:
        """The responses that are kept."""
        return [said.data for said in self._said.values() if said.answer]

    def mark_at(self, number: int) -> int:
        """The number within its call (`protocol.resuming.MESSAGE`) of the last message up to that one; 0: none."""
        return max((run.mark_at(number) for run in self._marks or () if run.first <= number), default=0)

    def id(self, number: int) -> bytes:
        """The line that names an event."""
        return b"" if self.name is None else f"id: {self.name}_{number}\n".encode()

    async def something(self, reader: object) -> None:
        """Wait until something was said, or all was, or the reader has gone."""
        while not self.last and not self.ended and self._reader is reader:
            await self._news.wait()

    async def over(self) -> None:
        """Wait until all is said."""
        while not self.ended:
            await self._news.wait()

    def over_at(self, number: int) -> bool:
        """Whether nothing is left to be said after that number."""
        return self.ended and all(kept <= number for kept in self._said)

    async def carry(self, reader: object, send: Send, after: int, keep_alive: float, *, primes: bool) -> None:
        """Send what was said after a number, and go on until all is said, the reader has gone, somebody newer reads, or
        the stream is paused.

        Args:
            reader: stands for whoever reads.
            send: of the ASGI request, whose head is sent already.
            after: the number of the last message that arrived.
            keep_alive: seconds of silence after which a comment shows that the stream is alive.
            primes: whether to begin with an event that holds nothing but an id.
        """
        if self._reader is not reader:
            self._reader, self._retry = reader, None
        self._at = after
        self._news.tell()
        try:
            await _body(send, self.id(after) + b"data: \n\n" if primes else COMMENT)
            while self._reader is reader:
                number = self._next()
                if number is not None:
                    await self._send(number, send)
                elif self.ended:
                    break
                elif self._retry is not None:
                    self.last += 1  # a number of its own, so that the client sees that it goes on
                    await _body(send, self.id(self.last) + f"retry: {self._retry}\ndata: \n\n".encode())
                    break
                else:
                    await self._wait(send, keep_alive)
            await send({"type": "http.response.body", "body": b""})
        finally:
            self.leave(reader)

    def _note(self, mark: int) -> None:
        if self._marks is None:
            self._marks = deque(maxlen=self._bound)
        if not (self._marks and self._marks[-1].goes_on(self.last, mark)):
            self._marks.append(_Marked(self.last, mark))

    def _next(self) -> int | None:
        """The number of the next message for the reader."""
        for number in range(self._at + 1, self.last + 1):
            if number in self._said:
                return number
        return None

    async def _send(self, number: int, send: Send) -> None:
        said = self._said[number]
        self._at, self.sent = number, max(self.sent, number)
        said.sent = said.sent or time.monotonic()
        if self.name is None:
            self._drop(number)
        await _body(send, self.id(number) + b"event: message\ndata: " + said.data + b"\n\n")
        self._news.tell()

    async def _wait(self, send: Send, keep_alive: float) -> None:
        try:
            async with asyncio.timeout(keep_alive):
                await self._news.wait()
        except TimeoutError:
            await _body(send, COMMENT)

    def _trim(self) -> None:
        latest = time.monotonic() - self._limits.replay
        while self._said:
            number, said = next(iter(self._said.items()))
            if said.sent is None or (said.sent >= latest and not self._too_much()):
                break
            self._drop(number)
        while self._too_much():
            surplus = next((number for number, said in self._said.items() if said.sent or said.gives_way), None)
            if surplus is None:
                break
            self._drop(surplus)

    def _too_much(self) -> bool:
        return len(self._said) > self._bound or self._size > self._limits.replay_buffer

    def _drop(self, number: int) -> None:
        self._size -= len(self._said.pop(number).data)


async def _body(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})
