"""One POST: its requests, and the way on which what is said about them goes back: one JSON object, or SSE."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from ...errors import ConnectionLost
from ...jsonrpc import INTERNAL_ERROR, ErrorResponse, Message, RequestId, Response, dump
from .answers import EVENT_STREAM, JSON, Header, Receive, Refusal, Send, send_bytes

WAITING = 64
"""How many messages may wait for a slow reader before the handler is slowed down."""
PROMPT = 0.05
"""Seconds in which most answers are there, so that nobody need watch whether the client is still."""


@dataclass(frozen=True, slots=True)
class Forms:
    """Which forms an answer may have; where both, JSON serves for a response alone."""

    json: bool
    stream: bool


class Exchange:
    """What is said about the requests of one POST, in order, until each is answered."""

    def __init__(self, ids: Collection[RequestId], forms: Forms) -> None:
        self.forms = forms
        self.gone = False
        """Whether nobody hears it any more."""
        self._unanswered = set(ids)
        self._queue: asyncio.Queue[Message | None] = asyncio.Queue(WAITING)

    async def put(self, message: Message) -> None:
        """Say something. Waits while the client reads slowly.

        Raises:
            ConnectionLost: the client has gone.
        """
        if self.gone:
            raise ConnectionLost("The client has closed the stream of this request.")
        await self._queue.put(message)

    async def answer(
        self,
        send: Send,
        receive: Receive,
        *,
        headers: Collection[Header],
        statuses: Mapping[int, int],
        keep_alive: float,
        on_gone: Callable[[], None],
    ) -> None:
        """Answer the POST.

        Args:
            send, receive: of the ASGI request.
            headers: further headers.
            statuses: JSON-RPC error code -> HTTP status, where an error is all there is to say.
            keep_alive: seconds of silence after which a comment shows that the stream is alive.
            on_gone: called where the client goes before the end.
        """
        watch = _Watch(receive, lambda: self._leave(on_gone))
        try:
            first = await self._first(watch)
            if first is None:
                await self._nothing(watch, send, headers)
                return
            status = statuses.get(first.code, 200) if isinstance(first, ErrorResponse) else 200
            if (self.forms.json or status != 200) and self._ends(first):
                await send_bytes(send, status, dump(first), (JSON, *headers))
            elif self.forms.stream:
                await self._stream(first, send, headers, keep_alive, watch)
            else:
                await self._only_the_ends(first, send, headers)
        finally:
            self.gone = True
            watch.stop()

    async def _first(self, watch: _Watch) -> Message | None:
        if self._queue.empty():
            watch.start_in(PROMPT)
        return await self._queue.get()

    def _ends(self, message: Message) -> bool:
        """Whether with this message all is said."""
        if isinstance(message, (Response, ErrorResponse)):
            self._unanswered.discard(message.id)  # pyright: ignore[reportArgumentType]
        return not self._unanswered

    async def _stream(
        self, message: Message, send: Send, headers: Collection[Header], keep_alive: float, watch: _Watch
    ) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [*EVENT_STREAM, *headers]})
        watch.start_in(0)
        following: Message | None = message
        while following is not None:
            await send({"type": "http.response.body", "body": event(following), "more_body": True})
            following = None if self._ends(following) else await self._next(send, keep_alive)
        await send({"type": "http.response.body", "body": b""})

    async def _next(self, send: Send, keep_alive: float) -> Message | None:
        while True:
            try:
                async with asyncio.timeout(keep_alive):
                    return await self._queue.get()
            except TimeoutError:
                await send({"type": "http.response.body", "body": b": \n\n", "more_body": True})

    async def _only_the_ends(self, first: Message, send: Send, headers: Collection[Header]) -> None:
        """For a client that takes JSON only: notifications fall away, and several responses are one array."""
        message: Message | None = first
        bodies = []
        while message is not None:
            if isinstance(message, (Response, ErrorResponse)):
                bodies.append(dump(message))
            message = None if self._ends(message) else await self._queue.get()
        body = bodies[0] if len(bodies) == 1 else b"[" + b",".join(bodies) + b"]"
        await send_bytes(send, 200, body, (JSON, *headers))

    async def _nothing(self, watch: _Watch, send: Send, headers: Collection[Header]) -> None:
        """The requests came to an end before anything was said."""
        if watch.saw_it_go:
            return
        if self._unanswered:
            await Refusal(503, INTERNAL_ERROR, "The session or the server is closing.").send(send)
        else:  # they were cancelled, and cancelled requests have no answer
            await send_bytes(send, 200, b"", (*EVENT_STREAM, *headers))

    def withdraw(self, id: RequestId) -> None:
        """A request was cancelled, so there will be no answer to it."""
        self._unanswered.discard(id)
        if not self._unanswered:
            self.end()

    def end(self) -> None:
        """Nothing more is said, answered or not."""
        self.gone = True
        while not self._queue.empty():  # whoever waits to put something must not wait for ever
            self._queue.get_nowait()
        self._queue.put_nowait(None)

    def _leave(self, on_gone: Callable[[], None]) -> None:
        self.end()
        on_gone()


def event(message: Message) -> bytes:
    """One server-sent event."""
    return b"event: message\ndata: " + dump(message) + b"\n\n"


class _Watch:
    """Watches whether the client goes. Starting it late spares a task where the answer comes at once."""

    def __init__(self, receive: Receive, on_gone: Callable[[], None]) -> None:
        self._receive = receive
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None
        self.saw_it_go = False

    def start_in(self, seconds: float) -> None:
        if self._task is None and self._timer is None:
            self._timer = self._loop.call_later(seconds, self._start)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = self._loop.create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.saw_it_go = True
        self._on_gone()
