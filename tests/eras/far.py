"""Modern requests as bytes, to our server: over memory or over HTTP. The tests are the client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from mcp_notebook import MCPError, Server
from mcp_notebook.jsonrpc import ErrorResponse, Message, Response, dump, load
from mcp_notebook.transports.memory import memory_pair

from ..transports.http.asgi import Asking, headers_of, modern
from ..wires import NoFaults

BOUND = 10.0


class Exchange:
    """One request under way, and what was said of it."""

    def __init__(self) -> None:
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.status: int | None = None
        """The HTTP status, where there is one."""

    def hear(self, message: dict[str, Any]) -> None:
        self._said.put_nowait(message)

    async def next(self) -> dict[str, Any]:
        """The next message of it."""
        async with asyncio.timeout(BOUND):
            return await self._said.get()

    async def all(self) -> list[dict[str, Any]]:
        """All messages up to the response."""
        messages = [await self.next()]
        while "id" not in messages[-1]:
            messages.append(await self.next())
        return messages

    async def answer(self) -> dict[str, Any]:
        """The response."""
        return (await self.all())[-1]

    async def result(self) -> dict[str, Any]:
        answer = await self.answer()
        assert "result" in answer, answer
        return answer["result"]

    async def error(self) -> dict[str, Any]:
        answer = await self.answer()
        assert "error" in answer, answer
        return answer["error"]


class Memory(NoFaults):
    """A server in memory. Messages are told apart by their id, progress token or subscription."""

    name = "memory"

    def __init__(self, server: Server) -> None:
        self._mine, theirs = memory_pair(server.limits)
        self._serving = asyncio.create_task(server.serve(theirs))
        self._open = False
        self._exchanges: dict[Any, Exchange] = {}
        self.rest: list[dict[str, Any]] = []
        """What belongs to no request that is known."""

    async def ask(self, message: Mapping[str, Any], **headers: str | None) -> Exchange:
        await self._begin()
        exchange = self._exchanges[message["id"]] = Exchange()
        await self._send(message)
        return exchange

    async def cancel(self, message: Mapping[str, Any], exchange: Exchange) -> None:
        """Withdraw a request."""
        params = {"requestId": message["id"]}
        await self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    async def close(self) -> None:
        await self._mine.close()
        await asyncio.wait([self._serving], timeout=5)

    async def shut_down(self) -> None:
        """The server ends on its own."""
        await self._begin()
        self._serving.cancel()

    async def _begin(self) -> None:
        if not self._open:
            self._open = True
            await self._mine.open(self)

    async def _send(self, message: Mapping[str, Any]) -> None:
        found = load(json.dumps(message))
        assert not isinstance(found, list)
        await self._mine.send(found)

    def received(self, message: Message) -> None:
        said = json.loads(dump(message))
        if isinstance(message, (Response, ErrorResponse)):
            key = message.id
        else:
            params = said.get("params", {})
            key = params.get("_meta", {}).get("io.modelcontextprotocol/subscriptionId", params.get("progressToken"))
        exchange = self._exchanges.get(key)
        if exchange is None and len(self._exchanges) == 1:
            exchange = next(iter(self._exchanges.values()))
        if exchange is not None:
            exchange.hear(said)
        else:
            self.rest.append(said)

    def disconnected(self, error: MCPError | None) -> None:
        pass


class Http:
    """A server over HTTP, without a network."""

    name = "HTTP"

    def __init__(self, server: Server, **how: Any) -> None:
        self._app = server.asgi_app(**how)
        self._askings: dict[int, Asking] = {}
        self._readers: list[asyncio.Task[None]] = []

    async def ask(self, message: Mapping[str, Any], **headers: str | None) -> Exchange:
        """Ask; `headers` are added to those that the request wants, None leaves one out."""
        exchange = Exchange()
        asking = Asking(self._app, body=message, headers={**headers_of(message), **_hyphened(headers)})
        self._askings[id(exchange)] = asking
        self._readers.append(asyncio.create_task(self._read(asking, exchange)))
        return exchange

    async def cancel(self, message: Mapping[str, Any], exchange: Exchange) -> None:
        self._askings[id(exchange)].go()

    async def close(self) -> None:
        await self._app.close()
        for reader in self._readers:
            reader.cancel()

    async def shut_down(self) -> None:
        await self._app.close()

    async def _read(self, asking: Asking, exchange: Exchange) -> None:
        exchange.status = await asking.head()
        if asking.headers.get("content-type") == "text/event-stream":
            while True:
                exchange.hear(await asking.message())
        for message in await asking.messages():
            exchange.hear(message)


def _hyphened(headers: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def call(id: Any, tool: str, arguments: Any = None, *, meta: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """`tools/call`, with a progress token that is its id."""
    return modern(
        id, "tools/call", name=tool, arguments=arguments or {}, meta={"progressToken": id, **(meta or {})}, **more
    )
