"""The MCP endpoint as an ASGI application: sessions of the handshake revisions and modern requests on one path.

Source: "Streamable HTTP" of each revision from 2025-03-26 on.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
from collections.abc import Mapping
from typing import Protocol

from ...errors import ProtocolError
from ...jsonrpc import INVALID_REQUEST, PARSE_ERROR, InvalidMessage, Message, Notification, Request, RequestId, load
from ...limits import DEFAULT_LIMITS, Limits
from ...protocol.extensions import RESUMING
from ...protocol.headers import VERSION_HEADER
from ...protocol.metadata import is_modern, read
from ...protocol.negotiation import agreed_revision
from ...protocol.peer import REPEATS, WITHOUT_ID
from ...protocol.revisions import ALL, LATEST_MODERN, MODERN
from ..base import Channel
from ..eager import begin
from .answers import Receive, Refusal, Scope, Send, send_bytes
from .channels import RequestChannel, SessionChannel
from .exchange import Exchange, Forms
from .guard import Guard
from .sessions import Sessions

logger = logging.getLogger("mcp_notebook.http")
SESSION_HEADER = "mcp-session-id"
LAST_EVENT = "last-event-id"
RESUMES = frozenset(dialect.resume_method for dialect in RESUMING)


class Serve(Protocol):
    """What serves a client over a channel, until it goes."""

    async def __call__(self, channel: Channel, *, principal: str | None = None) -> None: ...


class HttpApp:
    """The application. `Server.asgi_app` makes it.

    Args:
        serve: serves one client.
        path: where the endpoint is.
        guard: who may ask.
        stream: answer every request by SSE where the client takes it; else only where there is more to say than a
            prompt response.
        limits: the bounds to keep.
    """

    def __init__(
        self,
        serve: Serve,
        *,
        path: str = "/mcp",
        guard: Guard | None = None,
        stream: bool = False,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._serve = serve
        self._path = f"/{path.strip('/')}"
        self._guard = guard or Guard()
        self._stream = stream
        self._limits = limits
        self._sessions = Sessions(limits)
        self._serving: set[asyncio.Task[None]] = set()
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            try:
                await self._handle(scope, receive, send)
            except Refusal as refusal:
                await refusal.send(send)

    async def close(self) -> None:
        """End all sessions and requests."""
        for session in self._sessions.clear():
            await session.close()
        for task in list(self._serving):
            task.cancel()
        if self._serving:
            await asyncio.wait(set(self._serving), timeout=self._limits.shutdown)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (scope["path"].rstrip("/") or "/") != self._path:
            raise Refusal(404, INVALID_REQUEST, f"There is nothing here; the MCP endpoint is at {self._path}.")
        headers = _headers(scope)
        principal = self._guard.admit(headers)
        if self._open >= self._limits.streams:
            raise Refusal(503, INVALID_REQUEST, "Too many requests at once; try again later.")
        self._open += 1
        try:
            match scope["method"]:
                case "POST":
                    await self._post(headers, principal, receive, send)
                case "GET":
                    session = self._session(headers, principal)
                    _accepts(headers, "text/event-stream")
                    await session.stream(send, receive, self._limits.keep_alive, headers.get(LAST_EVENT))
                    self._sessions.touch(session)
                case "DELETE":
                    session = self._session(headers, principal)
                    await self._end(session)
                    await send_bytes(send, 200)
                case _:
                    allow = ((b"allow", b"POST, GET, DELETE"),)
                    raise Refusal(405, INVALID_REQUEST, "POST, GET or DELETE only.", headers=allow)
        finally:
            self._open -= 1

    # POST

    async def _post(self, headers: Mapping[str, str], principal: str | None, receive: Receive, send: Send) -> None:
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refusal(415, INVALID_REQUEST, "The body must be JSON: Content-Type: application/json.")
        if not (_accepted(headers, "application/json") or _accepted(headers, "text/event-stream")):
            raise Refusal(406, INVALID_REQUEST, "Accept must list application/json and text/event-stream.")
        found = _loaded(await self._body(headers, receive))
        if isinstance(found, (Request, Notification)) and _modern(found, headers):
            await self._post_modern(found, headers, principal, receive, send)
        else:
            await self._post_to_session(found, headers, principal, receive, send)

    async def _post_modern(
        self,
        message: Request | Notification,
        headers: Mapping[str, str],
        principal: str | None,
        receive: Receive,
        send: Send,
    ) -> None:
        if isinstance(message, Notification):
            await send_bytes(send, 202)  # the only one there is, a cancellation, is the closing of a stream here
            return
        try:
            revision = MODERN.get(read(message.params).version, LATEST_MODERN)
        except ProtocolError as error:
            raise Refusal(400, error.code, error.message, data=error.data, id=message.id) from None
        message.headers = headers
        exchange = Exchange([message.id], self._forms(headers), None, self._limits)
        channel = RequestChannel(message, exchange)
        self._start(channel, principal)
        try:
            await exchange.answer(
                send,
                receive,
                headers=(),
                statuses=revision.http_statuses,
                keep_alive=self._limits.keep_alive,
                primes=False,
                on_gone=channel.cancel,
            )
        finally:
            channel.end()

    async def _post_to_session(
        self,
        found: Message | list[Message],
        headers: Mapping[str, str],
        principal: str | None,
        receive: Receive,
        send: Send,
    ) -> None:
        _check_version(headers)
        messages = found if isinstance(found, list) else [found]
        opening = next((one for one in messages if isinstance(one, Request) and one.method == "initialize"), None)
        if opening is not None and isinstance(found, list):
            raise Refusal(400, INVALID_REQUEST, "'initialize' must come alone.")
        session = self._session(headers, principal) if opening is None else self._new_session(opening, principal)
        if isinstance(found, list) and not session.revision.batches:
            raise Refusal(400, INVALID_REQUEST, f"Protocol revision {session.revision.name} has no batches.")
        unnamed: list[RequestId] = []
        for at, message in enumerate(messages):
            if isinstance(message, Notification) and message.method in WITHOUT_ID:
                unnamed.append(secrets.token_hex(16))
                messages[at] = Request(unnamed[-1], message.method, message.params)
        asked = [message for message in messages if isinstance(message, Request)]
        ids = [request.id for request in asked]
        fresh = [request.id for request in asked if request.method not in REPEATS]
        for request in asked:
            if request.method in RESUMES and LAST_EVENT in headers:
                request.params = session.marked(request, headers[LAST_EVENT])
        if session.busy(fresh) or len(set(ids)) < len(ids):
            raise Refusal(400, INVALID_REQUEST, "A request id is in use already.")
        if not ids:
            session.deliver(messages)
            await send_bytes(send, 202)
            return
        exchange = session.begin(ids, self._forms(headers), unnamed)
        session.deliver(messages)
        session.streaming += 1
        try:
            await exchange.answer(
                send,
                receive,
                headers=((SESSION_HEADER.encode(), session.id.encode()),) if opening is not None else (),
                statuses={},
                keep_alive=self._limits.keep_alive,
                primes=session.revision.polling,
                on_gone=lambda: None,
            )
        finally:
            session.streaming -= 1
            session.answered(exchange)
            self._sessions.touch(session)

    def _forms(self, headers: Mapping[str, str]) -> Forms:
        stream = _accepted(headers, "text/event-stream")
        return Forms(json=_accepted(headers, "application/json") and not (stream and self._stream), stream=stream)

    async def _body(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        limit = self._limits.message
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > limit:
            raise self._too_large(limit)
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._limits.body):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, INVALID_REQUEST, "The body was cut short.")
                    part = message.get("body", b"")
                    size += len(part)
                    if size > limit:
                        raise self._too_large(limit)
                    parts.append(part)
                    if not message.get("more_body"):
                        return parts[0] if len(parts) == 1 else b"".join(parts)
        except TimeoutError:
            raise Refusal(408, INVALID_REQUEST, f"The body did not come within {self._limits.body:g} s.") from None

    @staticmethod
    def _too_large(limit: int) -> Refusal:
        return Refusal(413, INVALID_REQUEST, f"The body is larger than the limit of {limit:,} bytes.")

    # Sessions

    def _session(self, headers: Mapping[str, str], principal: str | None) -> SessionChannel:
        id = headers.get(SESSION_HEADER)
        if id is None:
            raise Refusal(400, INVALID_REQUEST, "Mcp-Session-Id is missing; it is in the answer to 'initialize'.")
        session = self._sessions.find(id, principal)
        if session is None:
            raise Refusal(404, INVALID_REQUEST, "There is no such session (any more). Initialize anew.")
        self._sessions.touch(session)
        return session

    def _new_session(self, opening: Request, principal: str | None) -> SessionChannel:
        revision = agreed_revision((opening.params or {}).get("protocolVersion"))
        session = SessionChannel(self._limits, principal, revision)
        leaving = self._sessions.add(session)
        if leaving is None:
            raise Refusal(503, INVALID_REQUEST, "Too many sessions at once; try again later.")
        for one in leaving:
            self._keep(asyncio.create_task(one.close()))
        self._start(session, principal)
        return session

    async def _end(self, session: SessionChannel) -> None:
        self._sessions.remove(session)
        await session.close()

    def _start(self, channel: Channel, principal: str | None) -> None:
        task = begin(self._run(channel, principal), asyncio.get_running_loop())
        if task is not None:
            self._keep(task)

    async def _run(self, channel: Channel, principal: str | None) -> None:
        await self._serve(channel, principal=principal)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by name in lower case. Values of one that comes several times are joined, so that nobody on the way
    can have read another of them than we do."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _loaded(body: bytes) -> Message | list[Message]:
    """A message, or a batch of them."""
    try:
        found = load(body)
    except InvalidMessage as error:
        raise Refusal(400, error.code, _invalid(error), id=error.id) from None
    if not isinstance(found, list):
        return found
    for message in found:
        if isinstance(message, InvalidMessage):
            raise Refusal(400, message.code, _invalid(message), id=message.id)
    return [message for message in found if not isinstance(message, InvalidMessage)]


def _invalid(error: InvalidMessage) -> str:
    return f"{'Parse error' if error.code == PARSE_ERROR else 'Invalid request'}: {error}"


def _modern(message: Request | Notification, headers: Mapping[str, str]) -> bool:
    return is_modern(message.params) or headers.get(VERSION_HEADER) in MODERN


def _check_version(headers: Mapping[str, str]) -> None:
    version = headers.get(VERSION_HEADER)
    if version is not None and version not in ALL:
        raise Refusal(
            400, INVALID_REQUEST, f"Unsupported protocol version {version[:40]!r}; {', '.join(ALL)} are spoken."
        )


def _accepted(headers: Mapping[str, str], kind: str) -> bool:
    """Whether the client takes this media type; one that says nothing takes any."""
    accept = headers.get("accept")
    return not accept or bool(_kinds(accept) & {kind, f"{kind.partition('/')[0]}/*", "*/*"})


@functools.lru_cache(maxsize=100)
def _kinds(accept: str) -> frozenset[str]:
    return frozenset(part.partition(";")[0].strip().lower() for part in accept.split(","))


def _accepts(headers: Mapping[str, str], kind: str) -> None:
    if not _accepted(headers, kind):
        raise Refusal(406, INVALID_REQUEST, f"Accept must list {kind}.")
