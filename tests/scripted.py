"""A server whose every answer the test writes, to be connected to like any server object.

Its methods run on the event loop of the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from mcp_notebook.errors import ConnectionLost, MCPError, ProtocolError
from mcp_notebook.jsonrpc import (
    METHOD_NOT_FOUND,
    ErrorResponse,
    Message,
    Notification,
    Request,
    Response,
)
from mcp_notebook.transports.base import Channel

from .wires import NoFaults

__all__ = ["EVERYTHING", "NEVER", "Scripted", "until"]

NEVER = object()
"""An answer that never comes."""

EVERYTHING: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}
"""All capabilities of a server."""


class Scripted(NoFaults):
    """The server.

    Args:
        answers: method -> a result as JSON data, a ProtocolError, NEVER, or a function (asynchronous or not) of the
            request that gives one of these.
        revision: the one it agrees on.
        capabilities: what it declares.
    """

    def __init__(
        self,
        answers: Mapping[str, Any] | None = None,
        *,
        revision: str = "2025-11-25",
        capabilities: Mapping[str, Any] = EVERYTHING,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.messages: list[Message] = []
        """What has come from the client."""
        self.answers: dict[str, Any] = {
            "initialize": {
                "protocolVersion": revision,
                "capabilities": dict(capabilities),
                "serverInfo": {"name": name, "version": "1"},
            },
            "ping": {},
            **(answers or {}),
        }
        self._channel: Channel | None = None
        self._working: set[asyncio.Task[None]] = set()
        self._asked: dict[Any, asyncio.Future[Any]] = {}
        self._over = asyncio.Event()

    # What the test does

    def requests(self, method: str) -> list[Request]:
        """The requests of this method that have come."""
        return [one for one in self.messages if isinstance(one, Request) and one.method == method]

    def notifications(self, method: str) -> list[dict[str, Any]]:
        """The parameters of the notifications of this method that have come."""
        return [one.params or {} for one in self.messages if isinstance(one, Notification) and one.method == method]

    async def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification."""
        await self.send(Notification(method, params))

    async def progress(self, request: Request, progress: float, **more: Any) -> None:
        """Tell how far a request is."""
        token = (request.params or {})["_meta"]["progressToken"]
        await self.tell("notifications/progress", {"progressToken": token, "progress": progress, **more})

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """Ask the client, and wait for the answer."""
        return await (await self.begin(method, params))

    async def begin(self, method: str, params: dict[str, Any] | None = None) -> asyncio.Future[Any]:
        """Ask the client; the future is of its answer. The id is the number of requests so far, from 1."""
        id = len(self._asked) + 1
        future = self._asked[id] = asyncio.get_running_loop().create_future()
        await self.send(Request(id, method, params))
        return future

    async def send(self, message: Message) -> None:
        """Send any message."""
        assert self._channel is not None
        await self._channel.send(message)

    async def hang_up(self) -> None:
        """End the connection."""
        assert self._channel is not None
        await self._channel.close()

    # What makes it a server

    async def serve(self, channel: Channel) -> None:
        self._channel = channel
        self._over = asyncio.Event()
        await channel.open(self)
        await self._over.wait()

    def received(self, message: Message) -> None:
        self.messages.append(message)
        match message:
            case Request():
                task = asyncio.get_running_loop().create_task(self._answer(message))
                self._working.add(task)
                task.add_done_callback(self._working.discard)
            case Response():
                self._asked[message.id].set_result(message.result)
            case ErrorResponse():
                self._asked[message.id].set_exception(message.as_error())
            case _:
                pass

    def disconnected(self, error: MCPError | None) -> None:
        self._over.set()

    async def _answer(self, request: Request) -> None:
        answer = self.answers.get(request.method, ProtocolError(METHOD_NOT_FOUND, "Method not found"))
        try:
            if callable(answer):
                answer = answer(request)
            if inspect.isawaitable(answer):
                answer = await answer
        except ProtocolError as error:
            answer = error
        with contextlib.suppress(ConnectionLost):
            if isinstance(answer, ProtocolError):
                await self.send(ErrorResponse(request.id, answer.code, answer.message, answer.data))
            elif answer is not NEVER:
                await self.send(Response(request.id, answer))


async def until(condition: Callable[[], Any], bound: float = 10) -> Any:
    """Wait until the condition gives something true, and give that; fail after `bound` seconds."""
    async with asyncio.timeout(bound):
        while not (value := condition()):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        return value
