"""The channels of an HTTP endpoint: one for each session of the handshake revisions, one for each modern request."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Collection, Iterable
from typing import Any

from ...errors import ConnectionLost
from ...jsonrpc import INVALID_REQUEST, ErrorResponse, Message, Notification, Request, RequestId, Response
from ...limits import Limits
from ...protocol.resuming import mark, read_mark
from ...protocol.revision import Revision
from ..base import Receiver
from .answers import EVENT_STREAM, Receive, Refusal, Send
from .exchange import Exchange, Forms
from .streams import Stream
from .watch import Watch


class SessionChannel:
    """The channel of one session. What is said about a request goes out on that request's own stream; what belongs to
    none waits in an outbox for the client's GET stream. Each message goes out on one stream only (SSE-5), and each
    stream can be gone on with by GET with `Last-Event-ID`."""

    def __init__(self, limits: Limits, principal: str | None, revision: Revision) -> None:
        self.id = secrets.token_urlsafe(32)
        self.principal = principal
        self.revision = revision
        self.used = 0.0
        """When the client last asked something, in seconds of the monotonic clock."""
        self.streaming = 0
        """How many of its streams are open."""
        self.ended = False
        self._limits = limits
        self._exchanges: dict[RequestId, Exchange] = {}
        self._receiver: Receiver | None = None
        self._early: list[Message] = []
        self._tag = secrets.token_hex(3)  # an event id that is shown to another session finds nothing there
        self._named = 0
        self._outbox = Stream(f"{self._tag}.0", limits, limits.outbox)
        """What belongs to no request."""
        self._streams = {self._outbox.name: self._outbox}
        self._tidying: asyncio.TimerHandle | None = None

    # The Channel, for the server

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        early, self._early = self._early, []
        for message in early:
            receiver.received(message)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        if self.ended:
            raise ConnectionLost("The client has ended its session.")
        answers = isinstance(message, (Response, ErrorResponse))
        id = message.id if about is None and answers else about
        exchange = self._exchanges.get(id) if id is not None else None
        if exchange is not None and not exchange.gone and (answers or exchange.forms.stream):
            await exchange.put(message)
        elif not answers:  # an answer that nobody waits for any more falls away
            await self._outbox.put(message)
        if answers and message.last:
            self.finish(id)

    async def close(self) -> None:
        if not self.ended:
            self.ended = True
            for stream in self._streams.values():
                stream.end()
            for exchange in self._exchanges.values():
                exchange.end()
            if self._tidying is not None:
                self._tidying.cancel()
            if self._receiver is not None:
                self._receiver.disconnected(None)

    # The RequestWays, for the server

    def finish(self, id: RequestId | None) -> None:
        exchange = self._exchanges.pop(id, None) if id is not None else None
        if exchange is not None:
            exchange.finish(id)

    def pause(self, id: RequestId, retry: int) -> None:
        exchange = self._exchanges.get(id)
        if exchange is not None and self.revision.polling:
            exchange.stream.pause(retry)

    def unheard(self, id: RequestId | None) -> float:
        if id is None:
            return self._outbox.unheard
        exchange = self._exchanges.get(id)
        return exchange.stream.unheard if exchange is not None else 0.0

    # For the endpoint

    def busy(self, ids: Iterable[RequestId]) -> bool:
        """Whether one of these ids is in use."""
        return any(id in self._exchanges for id in ids)

    def deliver(self, messages: Iterable[Message]) -> None:
        """Hand over what one POST brought."""
        for message in messages:
            if self._receiver is None:
                self._early.append(message)
            else:
                self._receiver.received(message)
            if isinstance(message, Notification) and message.method == "notifications/cancelled":
                id = (message.params or {}).get("requestId")
                self.finish(id if isinstance(id, (str, int)) else None)

    def begin(self, ids: Collection[RequestId], forms: Forms, unnamed: Collection[RequestId] = ()) -> Exchange:
        """The exchange of one POST's requests. One that goes on with a request at work takes its place. Those that are
        `unnamed` have their ids only here."""
        for id in ids:
            self.finish(id)
        self._named += 1
        name = f"{self._tag}.{self._named}"
        exchange = Exchange(ids, forms, name, self._limits, unnamed)
        self._streams[name] = exchange.stream
        self._exchanges.update(dict.fromkeys(ids, exchange))
        return exchange

    def answered(self, exchange: Exchange) -> None:
        """The POST is over. Where the client may come back for the rest, the stream is kept."""
        if not exchange.streamed:
            self._streams.pop(exchange.stream.name or "", None)
            return
        if len(self._streams) > self._limits.replay_streams:
            oldest = next((name for name, stream in self._streams.items() if stream.ended), "")
            self._streams.pop(oldest, None)
        if self._tidying is None and not self.ended:
            self._tidy()

    async def stream(self, send: Send, receive: Receive, keep_alive: float, last_id: str | None) -> None:
        """Answer a GET, until the client goes, or asks for the same anew (the newest wins).

        Args:
            send, receive: of the ASGI request.
            keep_alive: seconds of silence after which a comment shows that the stream is alive.
            last_id: the last event that arrived, of the stream to go on with; None: what belongs to no request.

        Raises:
            Refusal: there is no such stream, or nothing is left of it. (One that ended at once would have a client that
                takes no error for an answer, as the TypeScript SDK's, come back again and again.)
        """
        stream, after = (self._outbox, self._outbox.sent) if last_id is None else self._found(last_id)
        if stream.over_at(after):
            allow = ((b"allow", b"POST, DELETE"),)
            raise Refusal(405, INVALID_REQUEST, "This stream has ended, and all of it has been said.", headers=allow)
        reader = object()
        watch = Watch(receive, lambda: stream.leave(reader))
        watch.start_in(0)
        self.streaming += 1
        try:
            await send({"type": "http.response.start", "status": 200, "headers": list(EVENT_STREAM)})
            await stream.carry(reader, send, after, keep_alive, primes=self.revision.polling)
        finally:
            self.streaming -= 1
            watch.stop()

    def marked(self, request: Request, last_id: str) -> dict[str, Any]:
        """The parameters of a request that goes on with a call, with the number of the last message that arrived, as
        far as that is known (RR-10)."""
        params = request.params or {}
        meta = params.get("_meta")
        if read_mark(params).number:
            return params  # it says so itself
        try:
            stream, number = self._found(last_id)
        except Refusal:
            return params
        return {**params, "_meta": mark(meta if isinstance(meta, dict) else None, request.id, stream.mark_at(number))}

    def _found(self, id: str) -> tuple[Stream, int]:
        name, _, number = id.rpartition("_")
        stream = self._streams.get(name)
        if stream is None or not number.isdecimal() or len(number) > 15:
            raise Refusal(400, INVALID_REQUEST, "Last-Event-ID names no stream of this session (any more).")
        return stream, int(number)

    def _tidy(self) -> None:
        """Forget the streams that ended long ago."""
        latest = time.monotonic() - self._limits.replay
        for name, stream in list(self._streams.items()):
            if stream.ended_at is not None and stream.ended_at < latest:
                del self._streams[name]
        more = len(self._streams) > 1
        again = asyncio.get_running_loop().call_later
        self._tidying = again(self._limits.replay, self._tidy) if more else None


class RequestChannel:
    """The channel of one modern request: it brings that request, and carries what is said about it."""

    def __init__(self, request: Request, exchange: Exchange) -> None:
        self._request = request
        self._exchange = exchange
        self._receiver: Receiver | None = None
        self._over = False

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        receiver.received(self._request)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        if self._over:
            raise ConnectionLost("The request is over.")
        await self._exchange.put(message)
        if isinstance(message, (Response, ErrorResponse)):
            self.end()

    async def close(self) -> None:
        self.end()

    def cancel(self) -> None:
        """The client closed the stream, which in the modern revisions cancels the request."""
        if self._receiver is not None:
            params = {"requestId": self._request.id, "reason": "the client closed the stream"}
            self._receiver.received(Notification("notifications/cancelled", params))

    def end(self) -> None:
        """All is said."""
        if not self._over:
            self._over = True
            self._exchange.end()
            if self._receiver is not None:
                self._receiver.disconnected(None)
