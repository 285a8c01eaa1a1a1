"""The channels of an HTTP endpoint: one for each session of the handshake revisions, one for each modern request."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Iterable
from typing import Any

from ...errors import ConnectionLost
from ...jsonrpc import ErrorResponse, Message, Notification, Request, RequestId, Response
from ...limits import Limits
from ...protocol.revision import Revision
from ..base import Receiver
from .answers import EVENT_STREAM, Receive, Send
from .exchange import Exchange, event


class SessionChannel:
    """The channel of one session. What is said about a request goes out on that request's own POST; what belongs to
    none waits in an outbox for the client's GET stream. Each message goes out once (SSE-5)."""

    def __init__(self, limits: Limits, principal: str | None, revision: Revision) -> None:
        self.id = secrets.token_urlsafe(32)
        self.principal = principal
        self.revision = revision
        self.used = 0.0
        """When the client last asked something, in seconds of the monotonic clock."""
        self.streaming = 0
        """How many of its streams are open."""
        self.ended = False
        self._exchanges: dict[RequestId, Exchange] = {}
        self._receiver: Receiver | None = None
        self._early: list[Message] = []
        self._outbox: deque[Message] = deque(maxlen=limits.outbox)
        self._news = asyncio.Event()
        self._reader: object | None = None

    # The Channel, for the server

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        early, self._early = self._early, []
        for message in early:
            receiver.received(message)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        if self.ended:
            raise ConnectionLost("The client has ended its session.")
        id = message.id if isinstance(message, (Response, ErrorResponse)) else about
        exchange = self._exchanges.get(id) if id is not None else None
        answers = isinstance(message, (Response, ErrorResponse))
        if exchange is not None and not exchange.gone and (answers or exchange.forms.stream):
            await exchange.put(message)
        elif not answers:  # an answer that nobody waits for any more falls away
            self._outbox.append(message)
            self._news.set()

    async def close(self) -> None:
        if not self.ended:
            self.ended = True
            self._news.set()
            for exchange in set(self._exchanges.values()):
                exchange.end()
            if self._receiver is not None:
                self._receiver.disconnected(None)

    # For the endpoint

    def busy(self, ids: Iterable[RequestId]) -> bool:
        """Whether one of these ids is in use."""
        return any(id in self._exchanges for id in ids)

    def deliver(self, messages: Iterable[Message], exchange: Exchange | None, ids: Iterable[RequestId]) -> None:
        """Hand over what one POST brought."""
        if exchange is not None:
            self._exchanges.update(dict.fromkeys(ids, exchange))
        for message in messages:
            if self._receiver is None:
                self._early.append(message)
            else:
                self._receiver.received(message)
            if isinstance(message, Notification) and message.method == "notifications/cancelled":
                self._withdrawn((message.params or {}).get("requestId"))

    def answered(self, exchange: Exchange, ids: Iterable[RequestId]) -> None:
        """The POST of these requests is over."""
        for id in ids:
            if self._exchanges.get(id) is exchange:
                del self._exchanges[id]

    async def stream(self, send: Send, receive: Receive, keep_alive: float) -> None:
        """Answer a GET: what belongs to no request, until the client goes, or asks anew (the newest GET wins)."""
        reader = self._reader = object()
        self._news.set()  # an older stream ends
        watch = asyncio.create_task(self._until_gone(receive, reader))
        self.streaming += 1
        try:
            await send({"type": "http.response.start", "status": 200, "headers": list(EVENT_STREAM)})
            await send({"type": "http.response.body", "body": b": \n\n", "more_body": True})
            while self._reader is reader and not self.ended:
                await self._send_news(send, reader, keep_alive)
            await send({"type": "http.response.body", "body": b""})
        finally:
            self.streaming -= 1
            watch.cancel()

    async def _send_news(self, send: Send, reader: object, keep_alive: float) -> None:
        self._news.clear()
        while self._outbox and self._reader is reader:
            body = event(self._outbox.popleft())
            await send({"type": "http.response.body", "body": body, "more_body": True})
        try:
            async with asyncio.timeout(keep_alive):
                await self._news.wait()
        except TimeoutError:
            await send({"type": "http.response.body", "body": b": \n\n", "more_body": True})

    def _withdrawn(self, id: Any) -> None:
        exchange = self._exchanges.get(id) if isinstance(id, (str, int)) else None
        if exchange is not None:
            exchange.withdraw(id)

    async def _until_gone(self, receive: Receive, reader: object) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        if self._reader is reader:
            self._reader = None
        self._news.set()


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
