"""Streamable HTTP, client side.

Each message is a POST. What the server says comes back on the POST's own stream, or (handshake revisions) on one GET
stream for what belongs to no request. The channel serves both eras: a request that bears the metadata of a modern
revision is sent with the headers of those, any other within the session that `initialize` opened.

Source: "Streamable HTTP" of each revision from 2025-03-26 on.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from ...errors import (
    ConnectError,
    ConnectionLost,
    HTTPError,
    InvalidResult,
    LimitExceeded,
    MCPError,
    RequestTimeout,
    SessionExpired,
)
from ...jsonrpc import ErrorResponse, InvalidMessage, Message, Notification, Request, RequestId, Response, dump, load
from ...limits import Limits
from ...protocol.calls import Occurrence
from ...protocol.headers import VERSION_HEADER, standard
from ...protocol.metadata import is_modern
from ...protocol.negotiation import MODERN_ERRORS
from ..base import Receiver, too_large
from ..eager import begin
from ..sse import EventReader
from .options import HttpOptions
from .requests import Answer, Requests

logger = logging.getLogger(__name__)
SESSION_HEADER = "mcp-session-id"
LAST_EVENT = "last-event-id"
POST_HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
LINGER = 1.0
"""Seconds that a stream has to end by itself once the request is answered, so that its connection can serve again."""
STREAMS_REOPENED = 5
"""How often in a row the GET stream is opened anew without anything heard on it."""
STREAM_OPENED = 1.0
"""Seconds that the GET stream is given to open before other things are asked."""
SHORTEST_PAUSE, FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0, 30.0
"""Seconds between two GET streams: at least, at first, at most."""
FIRST_RETURN = 0.2
"""Seconds before a request's stream is gone on with, where the server wishes nothing; more each time in vain."""
OF_HTTP = frozenset({401, 403, 407, 421, 429, 502, 503, 504})
"""Statuses that say more than a JSON-RPC error beside them."""
GUESSED_LEGACY = frozenset({400, 404, 405})
"""Statuses with which what is no Streamable HTTP answers `initialize`."""


class HttpChannel:
    """The channel to a server at a URL."""

    def __init__(self, url: str, options: HttpOptions, limits: Limits) -> None:
        self._url = url
        self._options = options
        self._limits = limits
        self._requests: Requests | None = None
        self._posts: dict[RequestId, asyncio.Task[None]] = {}
        self._waiting: dict[RequestId, asyncio.Event] = {}
        """The requests whose streams are to be gone on with in a moment."""
        self._session: str | None = None
        self._version: str | None = None
        self._stream: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()
        """Set once it is known whether there is a GET stream."""
        self._warned: set[str] = set()
        self._closed = False
        self._left = False

    async def open(self, receiver: Receiver) -> None:
        """Make ready; nothing is sent yet."""
        self._receiver = receiver
        self._requests = Requests(self._url, self._options, self._limits)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        """See `Channel.send`. A request's answer, or why there is none, is told to the receiver."""
        if self._closed or self._requests is None:
            raise ConnectionLost("The connection is closed. Connect again to go on.")
        body = dump(message)
        if len(body) > self._limits.message:
            raise too_large(len(body), self._limits)
        match message:
            case Request():
                self.let_go(message.id)  # a resumed request bears the same id
                task = begin(self._ask(self._requests, message, body), asyncio.get_running_loop())
                if task is not None:
                    self._posts[message.id] = task
                    task.add_done_callback(lambda task: self._forget(message.id, task))
            case Notification(method="notifications/cancelled"):
                await self._cancel(self._requests, message, body)
            case Notification():
                await self._tell(self._requests, message, body)
            case _:
                await self._answer(self._requests, message, body)

    async def close(self) -> None:
        """Let everything go, and end the session where there is one."""
        if self._closed:
            return
        self._closed = True
        tasks = {*self._posts.values(), *([self._stream] if self._stream else [])}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._limits.shutdown)
        if self._requests is not None:
            await self._end_session(self._requests)
            await self._requests.close()
            self._receiver.disconnected(None)

    # The session that `initialize` opened: see `InSession`

    @property
    def session(self) -> str | None:
        return self._session

    def rejoin(self, id: str | None, version: str | None) -> None:
        self._session, self._version = id, version

    async def listen(self) -> None:
        assert self._requests is not None, "it is open"
        await self._listen(self._requests)

    def leave_session(self) -> None:
        self._left = True

    def let_go(self, id: RequestId) -> None:
        """See `LetsGo`."""
        post = self._posts.pop(id, None)
        if post is not None:
            post.cancel()

    def hurry(self, id: RequestId) -> None:
        """See `LetsGo`."""
        if id in self._waiting:
            self._waiting[id].set()

    # Sending

    def _forget(self, id: RequestId, task: asyncio.Task[None]) -> None:
        if self._posts.get(id) is task:
            del self._posts[id]

    async def _ask(self, requests: Requests, request: Request, body: bytes) -> None:
        """POST a request, and take in whatever comes on its stream, and on those that go on with it."""
        reader, session = EventReader(self._limits.message), self._session
        try:
            try:
                if await self._exchange(requests, request, body, reader):
                    return
                error = ConnectionLost(f"{requests} closed the stream before it answered {request.method!r}.")
            except ConnectionLost as raised:
                error = raised
            if reader.last_id and not is_modern(request.params):
                within = self._session if request.method == "initialize" else session
                await self._come_back(requests, request, reader, within, error)
                return
        except MCPError as raised:
            error = raised
        except Exception as raised:  # of an `auth` or a client that the caller gave
            logger.exception("a request to %s failed", requests)
            error = ConnectionLost(f"The request to {requests} failed: {type(raised).__name__}: {raised}")
        self._receiver.failed(request.id, error)

    async def _exchange(self, requests: Requests, request: Request, body: bytes, reader: EventReader) -> bool:
        """Whether the request was answered."""
        headers = self._headers_of(request)
        answer = await requests.send("POST", {**POST_HEADERS, **headers}, body)
        try:
            if request.method == "initialize" and answer.ok:
                self._session, self._version = answer.headers.get(SESSION_HEADER), None
            return await self._take(self._messages(answer, request, headers, reader), request)
        finally:
            await answer.close()

    async def _come_back(
        self, requests: Requests, request: Request, reader: EventReader, session: str | None, error: MCPError
    ) -> None:
        """Hear the rest of a request's stream by GET, as often as the stream ends before its answer came.

        Raises:
            ConnectionLost: the server no longer has it, or lets go again and again without saying anything.
        """
        failures = 0
        while failures < self._limits.resumes:
            least = max(self._receiver.moved(request.id, Occurrence.DROP), (reader.retry or 0) / 1000, SHORTEST_PAUSE)
            await self._wait_at_least(least, _pause(reader.retry, failures), request.id)
            if self._session != session:  # there the id may name the stream of another request
                raise ConnectionLost(f"{requests} has forgotten the session of {request.method!r}.")
            self._receiver.moved(request.id, Occurrence.RESUME)
            last_id, reader = reader.last_id, reader.following()
            try:
                if await self._go_on(requests, request, reader):
                    return
            except MCPError as raised:
                error = raised
                if not _passes(raised):
                    told = f"{requests} does not go on with {request.method!r}: {raised}"
                    raise ConnectionLost(told) from None
            failures = 0 if reader.last_id != last_id else failures + 1
        raise ConnectionLost(
            f"{requests} let go of the stream of {request.method!r} {failures} times without a word in between "
            f"(Limits.resumes): {error}"
        )

    async def _wait_at_least(self, least: float, seconds: float, id: RequestId) -> None:
        """Wait for so long, or less where somebody hurries."""
        hurried = self._waiting[id] = asyncio.Event()
        try:
            await asyncio.sleep(least)
            await asyncio.wait_for(hurried.wait(), max(0.0, seconds - least))
        except TimeoutError:
            pass
        finally:
            del self._waiting[id]

    async def _go_on(self, requests: Requests, request: Request, reader: EventReader) -> bool:
        """Whether the request was answered on a stream that goes on with its own."""
        answer, headers = await self._get(requests, reader)
        try:
            if answer.ok:
                self._receiver.moved(request.id, Occurrence.RESUMED)
            return await self._take(self._messages(answer, None, headers, reader), request)
        finally:
            await answer.close()

    async def _get(self, requests: Requests, reader: EventReader) -> tuple[Answer, dict[str, str]]:
        """The answer to a GET that goes on where a reader is, and the headers it was made with."""
        headers = self._session_headers()
        last = {LAST_EVENT: reader.last_id} if reader.last_id else {}
        return await requests.send("GET", {"accept": "text/event-stream", **headers, **last}), headers

    async def _take(self, messages: AsyncIterator[Message], request: Request) -> bool:
        """Take in the messages of a request's stream; whether its answer was among them."""
        answered = False
        try:
            async with asyncio.timeout(None) as bound:
                async for message in messages:
                    if isinstance(message, ErrorResponse) and message.id is None:
                        message.id = request.id  # on its own stream it can be about nothing else
                    if isinstance(message, (Response, ErrorResponse)) and message.id == request.id:
                        answered = True
                        bound.reschedule(asyncio.get_running_loop().time() + LINGER)
                        if request.method == "initialize" and isinstance(message, Response):
                            self._version = _version_of(message.result)
                    self._receiver.received(message)
        except TimeoutError:
            pass  # all was said, and still the server keeps the stream open
        return answered

    async def _answer(self, requests: Requests, message: Message, body: bytes) -> None:
        """POST an answer to the server. Where the connection breaks, again: who asked waits for it, and nothing else
        would bring it; one that comes twice is passed over there."""
        for failures in range(self._limits.resumes):
            try:
                await self._tell(requests, message, body)
                return
            except (ConnectionLost, ConnectError) as error:
                if isinstance(error, SessionExpired) or failures + 1 == self._limits.resumes:
                    raise
            await asyncio.sleep(_pause(None, failures))

    async def _tell(self, requests: Requests, message: Message, body: bytes) -> None:
        """POST what has no answer."""
        headers = self._session_headers()
        try:
            async with asyncio.timeout(self._limits.request):
                answer = await requests.send("POST", {**POST_HEADERS, **headers}, body)
                try:
                    if not answer.ok:
                        raise self._expired(answer, headers) or answer.error(await answer.read())
                    if answer.status != 202:
                        self._warn(f"{answer.told} to a notification or response, where 202 Accepted is due")
                finally:
                    await answer.close()
        except TimeoutError:
            raise not_taken(str(requests), self._limits) from None
        if isinstance(message, Notification) and message.method == "notifications/initialized":
            await self._listen(requests)

    async def _cancel(self, requests: Requests, notification: Notification, body: bytes) -> None:
        """Cancel a request: a modern one by closing its stream, any other by saying so first."""
        id = (notification.params or {}).get("requestId")
        post = self._posts.get(id) if isinstance(id, (str, int)) else None
        try:
            if self._session is not None or self._version is not None:
                await self._tell(requests, notification, body)
        finally:
            if post is not None:
                post.cancel()

    async def _end_session(self, requests: Requests) -> None:
        if self._session is not None and not self._left:
            with suppress(MCPError, TimeoutError):  # the server forgets the session by itself
                async with asyncio.timeout(self._limits.shutdown):
                    await (await requests.send("DELETE", self._session_headers())).close()

    def _headers_of(self, request: Request) -> Mapping[str, str]:
        if is_modern(request.params):
            return {**standard(request.method, request.params), **(request.headers or {})}
        return {} if request.method == "initialize" else self._session_headers()

    def _session_headers(self) -> dict[str, str]:
        headers = {}
        if self._session is not None:
            headers[SESSION_HEADER] = self._session
        if self._version is not None:
            headers[VERSION_HEADER] = self._version
        return headers

    # Receiving

    async def _messages(
        self, answer: Answer, request: Request | None, sent: Mapping[str, str], reader: EventReader | None = None
    ) -> AsyncIterator[Message]:
        """The messages of an answer, whichever form it has.

        Raises:
            HTTPError: it is an error, and of HTTP alone.
            SessionExpired: the session is forgotten.
            InvalidResult: it has another form than the protocol gives it.
        """
        if not answer.ok:
            yield await self._refusal(answer, request, sent)
        elif answer.kind == "text/event-stream":
            async for event in answer.events(reader or EventReader(self._limits.message)):
                if event.event == "message":
                    for message in loaded(event.data, self._receiver):
                        if not event.again or isinstance(message, (Response, ErrorResponse)):
                            yield message  # else a server sends what had arrived, against what it was told
        elif answer.kind == "application/json":
            messages = loaded(await answer.read(), self._receiver)
            if not messages:
                raise InvalidResult(f"{answer.told} with JSON that is no message of MCP.")
            for message in messages:
                yield message
        else:
            what = f"content of type {answer.kind[:80]!r}" if answer.kind else "no content"
            raise InvalidResult(
                f"{answer.told} with {what}, where MCP has JSON or an event stream. Is this the URL of an MCP endpoint?"
            )

    async def _refusal(self, answer: Answer, request: Request | None, sent: Mapping[str, str]) -> ErrorResponse:
        """The JSON-RPC error in the body of an HTTP error; raises what else the HTTP error says."""
        expired = self._expired(answer, sent)
        if expired is not None:
            raise expired
        body = await answer.read()
        try:
            message = load(body)
        except InvalidMessage:
            message = None
        if request is None or not isinstance(message, ErrorResponse):
            raise answer.error(body)
        if answer.status in OF_HTTP:
            raise answer.error(message.message.encode())
        if request.method == "initialize" and answer.status in GUESSED_LEGACY and message.code not in MODERN_ERRORS:
            raise answer.error(message.message.encode())  # the status says more: there may be another kind of server
        return ErrorResponse(request.id, message.code, message.message, message.data)

    def _expired(self, answer: Answer, sent: Mapping[str, str]) -> SessionExpired | None:
        if answer.status == 404 and SESSION_HEADER in sent:
            return SessionExpired(f"{answer.told}: it has forgotten the session. Connect again to go on.")
        return None

    def _warn(self, reason: str) -> None:
        """Report what the server does wrong all the time once."""
        if reason not in self._warned:
            self._warned.add(reason)
            self._receiver.faulty(reason)

    # The GET stream of the handshake revisions

    async def _listen(self, requests: Requests) -> None:
        """Open the stream, and wait a moment until it is: what a server asks before is lost with some."""
        if self._stream is not None:
            self._stream.cancel()
        self._begun.clear()
        self._stream = asyncio.create_task(self._keep_listening(requests))
        with suppress(TimeoutError):
            async with asyncio.timeout(STREAM_OPENED):
                await self._begun.wait()

    async def _keep_listening(self, requests: Requests) -> None:
        """Hear what belongs to no request, for as long as the server offers it; a stream that ends is opened anew,
        less and less often while nothing comes."""
        silent, reason, reader = 0, "it ends at once", EventReader(self._limits.message)
        while True:
            heard, reader = False, reader.following()
            try:
                heard = await self._hear(requests, reader)
            except MCPError as error:
                if not _passes(error):
                    if not reader.last_id or isinstance(error, SessionExpired):
                        return
                    reader.last_id = None  # what was missed is gone, and what comes is still of interest
                reason = str(error)
            finally:
                self._begun.set()
            silent = 0 if heard else silent + 1
            if silent > STREAMS_REOPENED:
                break
            pause = min(FIRST_PAUSE * 2 ** max(silent - 1, 0), LONGEST_PAUSE)
            await asyncio.sleep(pause if reader.retry is None else max(reader.retry / 1000, SHORTEST_PAUSE))
        self._warn(
            f"the stream for what belongs to no request is given up after {STREAMS_REOPENED} attempts ({reason}); "
            "changes are no longer heard of. Reconnect to hear of them"
        )

    async def _hear(self, requests: Requests, reader: EventReader) -> bool:
        """Whether anything was heard until the stream ended."""
        answer, headers = await self._get(requests, reader)
        self._begun.set()
        heard = False
        try:
            async for message in self._messages(answer, None, headers, reader):
                heard = True
                self._receiver.received(message)
        finally:
            await answer.close()
        return heard


def loaded(data: bytes, receiver: Receiver) -> list[Message]:
    """The messages in some data; the receiver is told of what is none."""
    try:
        found = load(data)
    except InvalidMessage as error:
        receiver.received_invalid(error)
        return []
    messages = []
    for message in found if isinstance(found, list) else [found]:
        if isinstance(message, InvalidMessage):
            receiver.received_invalid(message)
        else:
            messages.append(message)
    return messages


def _pause(retry: int | None, failures: int) -> float:
    """Seconds to wait before going on with a stream: at least what the server wishes, in milliseconds."""
    backoff = 0.0 if retry is not None and not failures else FIRST_RETURN * 2**failures * random.uniform(1, 1.2)
    return max((retry or 0) / 1000, SHORTEST_PAUSE, min(backoff, LONGEST_PAUSE))


def not_taken(url: str, limits: Limits) -> RequestTimeout:
    """The error for a server that does not take a message."""
    return RequestTimeout(f"{url} did not take a message within {limits.request:g} s.", seconds=limits.request)


def _passes(error: MCPError) -> bool:
    """Whether a GET stream may be had later: else the server has none, or the session is forgotten, as the next
    request will tell."""
    if isinstance(error, HTTPError):
        return error.status >= 500
    return not isinstance(error, (SessionExpired, InvalidResult, LimitExceeded))


def _version_of(result: object) -> str | None:
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return version if isinstance(version, str) else None
