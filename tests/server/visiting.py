"""A plain client to test servers with: it shakes hands, asks, and remembers what it is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from mcp_notebook import Server
from mcp_notebook.errors import MCPError, ProtocolError
from mcp_notebook.jsonrpc import METHOD_NOT_FOUND, Notification, Request, RequestId
from mcp_notebook.transports.connection import Connection
from mcp_notebook.transports.memory import memory_pair

__all__ = ["Visitor", "visiting"]


class Visitor:
    """The client.

    Args:
        answers: what the server may ask: method -> a result, or a function (asynchronous or not) of the parameters.
    """

    def __init__(self, connection_end: Any, answers: dict[str, Any]) -> None:
        self.connection = Connection(connection_end, self)
        self.told: list[Notification] = []
        self.progressed: list[dict[str, Any]] = []
        self.asked: list[Request] = []
        self.answers = answers

    async def ask(self, method: str, on_sent: Callable[[RequestId], None] | None = None, **params: Any) -> Any:
        """Ask; parameters called `_meta` and so on may be given as `**{"_meta": …}`."""
        return await self.connection.request(
            method, params, timeout=10, on_progress=self.progressed.append, on_sent=on_sent
        )

    async def refused(self, method: str, **params: Any) -> ProtocolError:
        """Ask, and be refused."""
        try:
            answer = await self.ask(method, **params)
        except ProtocolError as error:
            return error
        raise AssertionError(f"not refused but answered: {answer}")

    async def call(self, name: str, arguments: Any = None) -> Any:
        """Call a tool."""
        return await self.ask("tools/call", name=name, arguments=arguments or {})

    async def text(self, name: str, arguments: Any = None) -> str:
        """Call a tool, and give the only text of its answer."""
        (block,) = (await self.call(name, arguments))["content"]
        return block["text"]

    async def settle(self) -> None:
        """Let what has been said have its consequences; then ask something, so that all of that is heard."""
        await asyncio.sleep(0)
        await self.ask("ping")

    def heard(self, method: str) -> list[dict[str, Any]]:
        """The parameters of the notifications of this method so far."""
        return [one.params or {} for one in self.told if one.method == method]

    # The connection's Handler

    async def on_request(self, request: Request) -> Any:
        self.asked.append(request)
        if request.method not in self.answers:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found")
        answer = self.answers[request.method]
        if callable(answer):
            answer = answer(request.params)
        return await answer if asyncio.iscoroutine(answer) else answer

    def on_notification(self, notification: Notification) -> None:
        self.told.append(notification)

    def on_fault(self, reason: str) -> None:
        raise AssertionError(reason)

    def on_disconnected(self, error: MCPError | None) -> None:
        pass


@contextlib.asynccontextmanager
async def visiting(
    server: Server,
    revision: str = "2025-11-25",
    *,
    capabilities: dict[str, Any] | None = None,
    shake_hands: bool = True,
    **answers: Any,
) -> AsyncIterator[Visitor]:
    """A client of the server.

    Args:
        server: the server.
        revision: what the client proposes.
        capabilities: what it declares.
        shake_hands: whether it opens with the handshake.
        answers: as of `Visitor`, with "__" in place of "/".
    """
    mine, theirs = memory_pair()
    serving = asyncio.create_task(server.serve(theirs))
    visitor = Visitor(mine, {method.replace("__", "/"): answer for method, answer in answers.items()})
    await visitor.connection.open()
    try:
        if shake_hands:
            await visitor.ask(
                "initialize",
                protocolVersion=revision,
                capabilities=capabilities or {},
                clientInfo={"name": "visitor", "version": "1"},
            )
            await visitor.connection.notify("notifications/initialized")
        yield visitor
    finally:
        await visitor.connection.close()
        await asyncio.wait_for(serving, 10)
