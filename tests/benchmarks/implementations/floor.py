"""Floors: JSON there and back over each transport, with no protocol at all. They bound what is possible."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from ..cases import Era, Session, Target, Transport, Way, picture_data, run_uvicorn

LINE = 64 << 20
"""Bytes of the longest line."""
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "string", "default": "x"},
        "c": {"type": "boolean", "default": False},
    },
    "required": ["a"],
}


class _Session:
    """A client over a function that carries bytes there and the answer's back."""

    def __init__(self, carry: Callable[[bytes], Awaitable[bytes]]) -> None:
        self._carry = carry

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        block = (await self._ask("tools/call", {"name": tool, "arguments": arguments}))["content"][0]
        return block["text"] if block["type"] == "text" else block["data"]

    async def list_tools(self) -> int:
        return len((await self._ask("tools/list", {}))["tools"])

    async def _ask(self, method: str, params: dict[str, Any]) -> Any:
        return json.loads(await self._carry(_dump({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})))[
            "result"
        ]


class Floor:
    package = "httpx2"
    eras: tuple[Era | None, ...] = (None,)
    transports: tuple[Transport, ...] = ("memory", "stdio", "http-json")
    ways: tuple[Way, ...] = ()
    imports = "import httpx2, anyio, pydantic; pydantic.BaseModel"

    def server(self, tools: int) -> Any:
        about = {"description": "A tool that does nothing in particular.", "inputSchema": SCHEMA}
        return [{"name": f"tool_{number:05d}", **about} for number in range(tools)]

    def serve_stdio(self, server: Any) -> None:
        asyncio.run(_serve_pipes(server))

    def serve_http(self, server: Any, transport: Transport, port: int) -> None:
        from starlette.applications import Starlette
        from starlette.requests import Request
        from starlette.responses import Response
        from starlette.routing import Route

        async def answer(request: Request) -> Response:
            return Response(_answer(server, await request.body()), media_type="application/json")

        run_uvicorn(Starlette(routes=[Route("/mcp", answer, methods=["POST"])]), port)

    @asynccontextmanager
    async def connect(self, target: Target, transport: Transport, era: Era | None) -> AsyncIterator[Session]:
        way = {"memory": _memory, "stdio": _pipes, "http-json": _http}[transport]
        async with way(target) as carry:
            yield _Session(carry)


def _dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _answer(tools: list[Any], data: bytes) -> bytes:
    message = json.loads(data)
    if message["method"] == "tools/list":
        result: Any = {"tools": tools}
    else:
        arguments = message["params"]["arguments"]
        result = {"content": [_block(message["params"]["name"], arguments)], "isError": False}
    return _dump({"jsonrpc": "2.0", "id": message["id"], "result": result})


def _block(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if tool == "picture":
        return {"type": "image", "data": picture_data(arguments["size"]), "mimeType": "image/png"}
    return {"type": "text", "text": "x" * arguments["size"] if tool == "text" else arguments["text"]}


@asynccontextmanager
async def _memory(tools: Any) -> AsyncIterator[Callable[[bytes], Awaitable[bytes]]]:
    """Two queues, with a task that reads each."""
    asked: asyncio.Queue[bytes] = asyncio.Queue()
    answered: asyncio.Queue[bytes] = asyncio.Queue()
    waiting: asyncio.Queue[asyncio.Future[bytes]] = asyncio.Queue()

    async def serve() -> None:
        while True:
            answered.put_nowait(_answer(tools, await asked.get()))

    async def receive() -> None:
        while True:
            data = await answered.get()
            waiting.get_nowait().set_result(data)

    async def carry(data: bytes) -> bytes:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        waiting.put_nowait(future)
        asked.put_nowait(data)
        return await future

    tasks = [asyncio.create_task(serve()), asyncio.create_task(receive())]
    try:
        yield carry
    finally:
        for task in tasks:
            task.cancel()


@asynccontextmanager
async def _pipes(command: list[str]) -> AsyncIterator[Callable[[bytes], Awaitable[bytes]]]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=LINE)
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    waiting: asyncio.Queue[asyncio.Future[bytes]] = asyncio.Queue()

    async def receive() -> None:
        while line := await stdout.readline():
            waiting.get_nowait().set_result(line)

    async def carry(data: bytes) -> bytes:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        waiting.put_nowait(future)
        stdin.write(data + b"\n")
        return await future

    task = asyncio.create_task(receive())
    try:
        await _Session(carry).call("echo", {"text": "ready"})
        yield carry
    finally:
        stdin.close()
        await process.wait()
        await task


async def _serve_pipes(tools: Any) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    writer, _ = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    while line := await reader.readline():
        writer.write(_answer(tools, line) + b"\n")


@asynccontextmanager
async def _http(url: str) -> AsyncIterator[Callable[[bytes], Awaitable[bytes]]]:
    import httpx2

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
    headers = {"content-type": "application/json", "accept": "application/json"}
    async with httpx2.AsyncClient(timeout=60, limits=limits, headers=headers) as client:

        async def carry(data: bytes) -> bytes:
            return (await client.post(url, content=data)).content

        await _Session(carry).call("echo", {"text": "ready"})
        yield carry
