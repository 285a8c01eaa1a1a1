"""Streamable HTTP, client side. The only place that knows httpx2.

Each message is a POST. What the server says comes back on the POST's own stream, or (handshake revisions) on one GET
stream for what belongs to no request. The channel serves both eras: a request that bears the metadata of a modern
revision is sent with the headers of those, any other within the session that `initialize` opened.

Source: "Streamable HTTP" of each revision from 2025-03-26 on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

import httpx2

from ...errors import ConnectError, ConnectionLost, HTTPError, LimitExceeded, MCPError, SessionExpired
from ...jsonrpc import (
    ErrorResponse,
    InvalidMessage,
    Message,
    Notification,
    Request,
    RequestId,
    Response,
    dump,
    load,
)
from ...limits import Limits
from ...protocol.headers import VERSION_HEADER, standard
from ...protocol.metadata import is_modern
from ..base import Receiver
from ..memory import too_large
from ..sse import EventReader
from .options import HttpOptions

SESSION_HEADER = "mcp-session-id"
REDIRECTS = 5
"""How many redirects of one request are followed; only those that keep method and body (307, 308)."""
STREAMS_REOPENED = 5
"""How often the GET stream is opened anew without anything heard on it."""
STREAM_OPENED = 1.0
"""Seconds that the GET stream is given to open before other things are asked."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
QUOTED = 500
"""Characters of an error page that are quoted."""


class HttpChannel:
    """The channel to a server at a URL."""

    def __init__(self, url: str, options: HttpOptions, limits: Limits) -> None:
        self.url = url
        self._options = options
        self._limits = limits
        self._posts: dict[RequestId, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._session: str | None = None
        self._version: str | None = None
        self._stream: asyncio.Task[None] | None = None
        self._listening = asyncio.Event()
        self._closed = False

    async def open(self, receiver: Receiver) -> None:
        """Make ready; nothing is sent yet."""
        self._receiver = receiver
        self._client = self._options.client or make_client(self._options, self._limits)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        """See `Channel.send`. A request's answer, or why there is none, is told to the receiver."""
        if self._closed:
            raise ConnectionLost("The connection is closed. Connect again to go on.")
        body = dump(message)
        if len(body) > self._limits.message:
            raise too_large(len(body), self._limits)
        match message:
            case Request():
                self._posts[message.id] = task = asyncio.create_task(self._ask(message, body))
                task.add_done_callback(lambda _: self._posts.pop(message.id, None))
            case Notification(method="notifications/cancelled"):
                await self._cancel(message, body)
            case _:
                await self._tell(message, body)

    async def close(self) -> None:
        """Let everything go, and end the session where there is one."""
        if self._closed:
            return
        self._closed = True
        tasks = {*self._posts.values(), *self._background, *([self._stream] if self._stream else [])}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._limits.shutdown)
        try:
            async with asyncio.timeout(self._limits.shutdown):
                if self._session is not None:
                    await self._client.delete(self.url, headers=self._session_headers())
        except (httpx2.HTTPError, TimeoutError):
            pass  # the server forgets the session by itself
        if self._options.client is None:
            await self._client.aclose()
        self._receiver.disconnected(None)

    # Sending

    async def _ask(self, request: Request, body: bytes) -> None:
        """POST a request, and take in whatever comes on its stream."""
        if request.method == "initialize":
            self._session = self._version = None
        try:
            answered = await self._exchange(request, body)
        except _Told:
            pass
        except MCPError as error:
            self._receiver.failed(request.id, error)
        except httpx2.HTTPError as error:
            self._receiver.failed(request.id, self._failure(error))
        else:
            if not answered:
                self._receiver.failed(
                    request.id,
                    ConnectionLost(
                        f"The server at {self.url} closed the stream before it answered {request.method!r}. "
                        "Whether it was carried out is unknown."
                    ),
                )

    async def _exchange(self, request: Request, body: bytes) -> bool:
        """Whether the request was answered."""
        response = await self._post(body, self._headers_of(request))
        try:
            self._note_session(request, response)
            answered = False
            async for message in self._messages(response, request):
                answered |= isinstance(message, (Response, ErrorResponse)) and message.id == request.id
                self._note_version(request, message)
                self._receiver.received(message)
            return answered
        finally:
            await response.aclose()

    async def _tell(self, message: Message, body: bytes) -> None:
        """POST what has no answer."""
        try:
            response = await self._post(body, {**self._session_headers()})
            try:
                await self._check(response, None)
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            raise self._failure(error) from None
        if isinstance(message, Notification) and message.method == "notifications/initialized":
            await self._listen()

    async def _cancel(self, notification: Notification, body: bytes) -> None:
        """Cancel a request: a modern one by closing its stream, any other by saying so first."""
        id = (notification.params or {}).get("requestId")
        post = self._posts.get(id) if isinstance(id, (str, int)) else None
        if self._session is not None or self._version is not None:
            await self._tell(notification, body)
        if post is not None:
            post.cancel()

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        """The answer's head; its body is still to be read."""
        accepted = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        request = self._client.build_request("POST", self.url, content=body, headers={**accepted, **headers})
        for _ in range(REDIRECTS):
            response = await self._client.send(request, stream=True, follow_redirects=False)
            if response.status_code not in (307, 308) or response.next_request is None:
                return response
            request = response.next_request
            await response.aclose()
        raise HTTPError(f"{self.url} redirects more than {REDIRECTS} times.", status=308)

    def _headers_of(self, request: Request) -> dict[str, str]:
        if is_modern(request.params):
            return {**standard(request.method, request.params), **(request.headers or {})}
        return self._session_headers()

    def _session_headers(self) -> dict[str, str]:
        headers = {}
        if self._session is not None:
            headers[SESSION_HEADER] = self._session
        if self._version is not None:
            headers[VERSION_HEADER] = self._version
        return headers

    def _note_session(self, request: Request, response: httpx2.Response) -> None:
        if request.method == "initialize" and response.is_success:
            self._session = response.headers.get(SESSION_HEADER)

    def _note_version(self, request: Request, message: Message) -> None:
        if request.method == "initialize" and isinstance(message, Response) and isinstance(message.result, dict):
            version = message.result.get("protocolVersion")
            self._version = version if isinstance(version, str) else None

    # Receiving

    async def _messages(self, response: httpx2.Response, request: Request | None) -> AsyncIterator[Message]:
        """The messages of an answer, whichever form it has."""
        await self._check(response, request)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream":
            reader = EventReader(self._limits.message)
            async for data in response.aiter_bytes():
                for event in reader.feed(data):
                    for message in self._loaded(event.data) if event.event == "message" else ():
                        yield message
        elif kind == "application/json":
            for message in self._loaded(await self._read(response)):
                yield message

    def _loaded(self, data: bytes) -> list[Message]:
        try:
            loaded = load(data)
        except InvalidMessage as error:
            self._receiver.received_invalid(error)
            return []
        messages = loaded if isinstance(loaded, list) else [loaded]
        for message in messages:
            if isinstance(message, InvalidMessage):
                self._receiver.received_invalid(message)
        return [message for message in messages if not isinstance(message, InvalidMessage)]

    async def _read(self, response: httpx2.Response) -> bytes:
        parts, size = [], 0
        async for data in response.aiter_bytes():
            size += len(data)
            if size > self._limits.message:
                raise LimitExceeded(
                    f"The server's answer is larger than the limit of {self._limits.message:,} bytes.",
                    limit="message",
                    allowed=self._limits.message,
                )
            parts.append(data)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _check(self, response: httpx2.Response, request: Request | None) -> None:
        """Raise what an HTTP error says; an error of JSON-RPC in its body is told as the request's answer."""
        if response.is_success:
            return
        if response.status_code == 404 and self._session is not None and SESSION_HEADER in response.request.headers:
            raise SessionExpired(f"The server at {self.url} has forgotten the session.")
        body = await self._read(response)
        if request is not None:
            try:
                message = load(body)
            except InvalidMessage:
                message = None
            if isinstance(message, ErrorResponse):
                self._receiver.received(ErrorResponse(request.id, message.code, message.message, message.data))
                raise _Told(message.message)
        raise self._status_error(response, body)

    def _status_error(self, response: httpx2.Response, body: bytes) -> HTTPError:
        status = response.status_code
        advice = ""
        if status == 401:
            advice = " It wants to know who asks: give headers={'Authorization': 'Bearer …'}."
        elif response.has_redirect_location:
            advice = f" It is now at {response.headers['location'][:QUOTED]}: use that URL."
        text = body[:QUOTED].decode("utf-8", "replace").strip()
        said = f": {text}" if text else ""
        return HTTPError(f"{self.url} answered {status} {response.reason_phrase}{said}.{advice}", status=status)

    def _failure(self, error: httpx2.HTTPError) -> MCPError:
        told = str(error) or type(error).__name__
        if isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol)):
            return ConnectError(f"There is no way to {self.url}: {told}. Is the server running, and the URL right?")
        return ConnectionLost(
            f"The connection to {self.url} broke: {told}. Whether the request was carried out is unknown."
        )

    # The GET stream of the handshake revisions

    async def _listen(self) -> None:
        """Open the stream, and wait a moment until it is: what a server asks before is lost with some."""
        if self._stream is not None:
            self._stream.cancel()
        self._listening.clear()
        self._stream = asyncio.create_task(self._keep_listening())
        with suppress(TimeoutError):
            async with asyncio.timeout(STREAM_OPENED):
                await self._listening.wait()

    async def _keep_listening(self) -> None:
        """Hear what belongs to no request, for as long as the server offers it; a stream that ends is opened anew,
        less and less often."""
        silent, pause = 0, FIRST_PAUSE
        while silent < STREAMS_REOPENED:
            try:
                heard, wish = await self._hear()
            except (MCPError, httpx2.HTTPError):
                heard, wish = False, None
            finally:
                self._listening.set()
            if heard is None:
                return  # the server has no such stream
            silent, pause = (0, FIRST_PAUSE) if heard else (silent + 1, min(pause * 2, LONGEST_PAUSE))
            await asyncio.sleep(pause if wish is None else wish / 1000)

    async def _hear(self) -> tuple[bool | None, int | None]:
        """Whether anything was heard (None: there is no such stream), and the pause in ms that the server wants."""
        headers = {"accept": "text/event-stream", **self._session_headers()}
        async with self._client.stream("GET", self.url, headers=headers) as response:
            self._listening.set()
            if response.status_code != 200:
                return None, None
            reader, heard = EventReader(self._limits.message), False
            async for data in response.aiter_bytes():
                for event in reader.feed(data):
                    for message in self._loaded(event.data):
                        heard = True
                        self._receiver.received(message)
            return heard, reader.retry


class _Told(MCPError):
    """The request was answered already; nothing more is to be said of it."""


def make_client(options: HttpOptions, limits: Limits) -> httpx2.AsyncClient:
    """A client of httpx2. How long an answer may take is the connection's to say, so reading has no limit here."""
    return httpx2.AsyncClient(
        headers=dict(options.headers),
        verify=options.verify,
        cert=options.cert,
        proxy=options.proxy,
        auth=options.auth,
        timeout=httpx2.Timeout(None, connect=limits.connect),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=32),
    )
