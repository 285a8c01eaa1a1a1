"""HTTP+SSE, client side: the transport of 2024-11-05, for servers that speak nothing newer.

One GET stream brings all that the server says. Its first event names the endpoint to which messages are POSTed.

Source: "HTTP with SSE" of 2024-11-05; "Backwards Compatibility" of the later revisions.
"""

from __future__ import annotations

import asyncio

from ...errors import ConnectError, ConnectionLost, MCPError
from ...jsonrpc import Message, Request, RequestId, dump
from ...limits import Limits
from ..base import Receiver, too_large
from ..sse import EventReader
from .client import POST_HEADERS, loaded, not_taken
from .options import HttpOptions
from .requests import Answer, Requests


class HttpSseChannel:
    """The channel to a server at the URL of its event stream."""

    def __init__(self, url: str, options: HttpOptions, limits: Limits) -> None:
        self._url = url
        self._options = options
        self._limits = limits
        self._requests: Requests | None = None
        self._stream: asyncio.Task[None] | None = None
        self._posts: set[asyncio.Task[None]] = set()
        self._closed = False
        self._ended = False

    async def open(self, receiver: Receiver) -> None:
        """Open the stream, and wait for the endpoint.

        Raises:
            ConnectError: there is no such stream, or it names no endpoint of the same origin in time.
        """
        self._receiver = receiver
        self._requests = requests = Requests(self._url, self._options, self._limits)
        self._endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._stream = asyncio.create_task(self._read(requests))
        try:
            async with asyncio.timeout(self._limits.probe):
                await self._endpoint
        except TimeoutError:
            raise ConnectError(f"{requests} sent no 'endpoint' event within {self._limits.probe:g} s.") from None

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        """See `Channel.send`."""
        if self._closed or self._requests is None:
            raise ConnectionLost("The connection is closed. Connect again to go on.")
        body = dump(message)
        if len(body) > self._limits.message:
            raise too_large(len(body), self._limits)
        if not isinstance(message, Request):
            await self._post(self._requests, body)
            return
        task = asyncio.create_task(self._ask(self._requests, message.id, body))
        self._posts.add(task)
        task.add_done_callback(self._posts.discard)

    async def close(self) -> None:
        """Close the stream, which is the end of it for the server, too."""
        if self._closed:
            return
        self._closed = True
        tasks = {*self._posts, *([self._stream] if self._stream else [])}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._limits.shutdown)
        if self._requests is not None:
            await self._requests.close()
            self._end(None)

    async def _ask(self, requests: Requests, id: RequestId, body: bytes) -> None:
        try:
            await self._post(requests, body)
        except MCPError as error:
            self._receiver.failed(id, error)

    async def _post(self, requests: Requests, body: bytes) -> None:
        try:
            async with asyncio.timeout(self._limits.request):
                answer = await requests.send("POST", POST_HEADERS, body, to=self._endpoint.result())
                try:
                    if not answer.ok:
                        raise answer.error(await answer.read())
                finally:
                    await answer.close()
        except TimeoutError:
            raise not_taken(str(requests), self._limits) from None

    async def _read(self, requests: Requests) -> None:
        error: MCPError = ConnectionLost(f"{requests} closed its stream. Connect again to go on.")
        try:
            answer = await requests.send("GET", {"accept": "text/event-stream"})
            try:
                await self._hear(requests, answer)
            finally:
                await answer.close()
        except MCPError as raised:
            error = raised
        if self._endpoint.done():
            self._end(error)
        else:
            self._endpoint.set_exception(error)

    async def _hear(self, requests: Requests, answer: Answer) -> None:
        if not answer.ok or answer.kind != "text/event-stream":
            raise answer.error(await answer.read())
        async for event in answer.events(EventReader(self._limits.message)):
            if event.event == "endpoint" and not self._endpoint.done():
                self._endpoint.set_result(requests.within(answer, event.data.decode("utf-8", "replace")))
            elif event.event == "message":
                for message in loaded(event.data, self._receiver):
                    self._receiver.received(message)

    def _end(self, error: MCPError | None) -> None:
        if not self._ended:
            self._ended = True
            self._receiver.disconnected(error)
