"""One POST: its requests, and the way on which what is said about them goes back: one JSON object, or SSE."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ...jsonrpc import INTERNAL_ERROR, ErrorResponse, Message, RequestId, Response
from ...limits import Limits
from .answers import EVENT_STREAM, JSON, Header, Receive, Refusal, Send, send_bytes
from .streams import Stream
from .watch import Watch

PROMPT = 0.05
"""Seconds in which most answers are there, so that nobody need watch whether the client is still."""


@dataclass(frozen=True, slots=True)
class Forms:
    """Which forms an answer may have; where both, JSON serves for a response alone."""

    json: bool
    stream: bool


class Exchange:
    """What is said about the requests of one POST, in order, until each is answered.

    Args:
        ids: the requests.
        forms: the forms that the answer may have.
        name: the stream's name; None where the client cannot come back to it.
        limits: the bounds to keep.
        unnamed: those of the requests that came without an id, and have one only here.
    """

    __slots__ = ("_first", "_unanswered", "_unnamed", "forms", "gone", "stream", "streamed")

    def __init__(
        self,
        ids: Collection[RequestId],
        forms: Forms,
        name: str | None,
        limits: Limits,
        unnamed: Collection[RequestId] = (),
    ) -> None:
        self.forms = forms
        self._unnamed = unnamed
        self.stream = Stream(name, limits, limits.replay_messages, self)
        self.streamed = False
        """Whether SSE was begun."""
        self.gone = False
        """Whether the client has gone, and cannot come back for it."""
        self._unanswered = set(ids)
        self._first: Message | None = None

    async def put(self, message: Message) -> None:
        """Say something. Waits while the client reads slowly.

        Raises:
            ConnectionLost: the client has gone for good.
        """
        if isinstance(message, (Response, ErrorResponse)) and message.id in self._unnamed:
            if isinstance(message, Response):
                return
            message = ErrorResponse(None, message.code, message.message, message.data)
        self._first = self._first or message
        await self.stream.put(message)

    def finish(self, id: RequestId | None) -> None:
        """Nothing more is said about a request, which was answered, or will not be."""
        self._unanswered.discard(id)  # pyright: ignore[reportArgumentType]
        if not self._unanswered:
            self.stream.end()

    async def answer(
        self,
        send: Send,
        receive: Receive,
        *,
        headers: Collection[Header],
        statuses: Mapping[int, int],
        keep_alive: float,
        primes: bool,
        on_gone: Callable[[], None],
    ) -> None:
        """Answer the POST.

        Args:
            send, receive: of the ASGI request.
            headers: further headers.
            statuses: JSON-RPC error code -> HTTP status, where an error is all there is to say.
            keep_alive: seconds of silence after which a comment shows that the stream is alive.
            primes: whether SSE begins with an id, and where nothing is said at once, so that the client can come back.
            on_gone: called where the client goes before the end.
        """
        watch = Watch(receive, lambda: self._leave(on_gone))
        try:
            await self._hear_first(watch, primes)
            if watch.saw_it_go:
                return
            first, ended = self._first, self.stream.ended
            if ended and first is None:
                await self._nothing(send, headers)
                return
            status = 200
            if isinstance(first, ErrorResponse):
                status = statuses.get(first.code, 200) if first.id is not None else 400
            if (self.forms.json or status != 200) and first is not None and ended and self.stream.last == 1:
                await send_bytes(send, status, self.stream.message(1), (JSON, *headers))
            elif self.forms.stream:
                self.streamed = True
                await send({"type": "http.response.start", "status": 200, "headers": [*EVENT_STREAM, *headers]})
                watch.start_in(0)
                await self.stream.carry(self, send, 0, keep_alive, primes=primes)
            else:
                await self._only_the_answers(send, headers)
        finally:
            self.gone = not self.streamed
            self.stream.leave(self)
            watch.stop()

    async def _hear_first(self, watch: Watch, primes: bool) -> None:
        """Wait for the first word; where the stream can begin without it, not for long."""
        if self.stream.last or self.stream.ended:
            return
        watch.start_in(PROMPT)
        bound = None if not (primes and self.forms.stream) else PROMPT if self.forms.json else 0.0
        with suppress(TimeoutError):
            async with asyncio.timeout(bound):
                await self.stream.something(self)

    async def _only_the_answers(self, send: Send, headers: Collection[Header]) -> None:
        """For a client that takes JSON only: notifications fall away, and several responses are one array."""
        self.stream.leave(self)
        await self.stream.over()
        bodies = self.stream.answers()
        body = bodies[0] if len(bodies) == 1 else b"[" + b",".join(bodies) + b"]"
        await send_bytes(send, 200, body, (JSON, *headers))

    async def _nothing(self, send: Send, headers: Collection[Header]) -> None:
        """The requests came to an end before anything was said."""
        if self._unanswered:
            await Refusal(503, INTERNAL_ERROR, "The session or the server is closing.").send(send)
        else:  # they were cancelled, and cancelled requests have no answer
            await send_bytes(send, 200, b"", (*EVENT_STREAM, *headers))

    def end(self) -> None:
        """Nothing more is said, answered or not."""
        self.stream.end()

    def _leave(self, on_gone: Callable[[], None]) -> None:
        if self.stream.name is None:
            self.stream.end()
        self.gone = not self.streamed
        self.stream.leave(self)
        on_gone()
