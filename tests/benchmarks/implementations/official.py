"""The official Python SDK."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ..cases import LINE, MODERN_REVISION, Era, Session, Target, Transport, picture_data, run_uvicorn
from .sdk import Sdk, SdkSession, echo, echo_in_thread, nothing


class _Session(SdkSession):
    async def list_tools(self) -> int:
        number, cursor = 0, None
        while True:
            page = await self._client.list_tools(cursor=cursor, cache_mode="bypass")
            number += len(page.tools)
            cursor = page.next_cursor
            if cursor is None:
                return number


class OfficialSDK(Sdk):
    package = "mcp"
    imports = "from mcp import Client"

    def server(self, tools: int) -> Any:
        # The annotations of tools are looked up among the module's globals.
        global Context, ImageContent, TextContent
        from mcp.server import MCPServer
        from mcp.server.mcpserver import Context
        from mcp_types import ImageContent, TextContent

        server = MCPServer("bench", log_level="WARNING")

        server.tool()(echo)
        server.tool()(echo_in_thread)

        @server.tool(name="text", structured_output=False)
        async def make_text(size: int) -> TextContent:  # pyright: ignore[reportInvalidTypeForm]
            """A large text."""
            return TextContent(type="text", text="x" * size)

        @server.tool(structured_output=False)
        async def picture(size: int) -> ImageContent:  # pyright: ignore[reportInvalidTypeForm]
            """A large picture."""
            return ImageContent(type="image", data=picture_data(size), mime_type="image/png")

        never = asyncio.Event()

        @server.tool()
        async def talk(lines: int, ctx: Context) -> None:  # pyright: ignore[reportInvalidTypeForm]
            """Say lines, and never end."""
            for number in range(lines):
                await ctx.info(f"{number}{LINE}")
            await never.wait()

        for number in range(tools):
            server.add_tool(nothing, name=f"tool_{number:05d}")
        return server

    def serve_stdio(self, server: Any) -> None:
        server.run("stdio")

    def serve_http(self, server: Any, transport: Transport, port: int) -> None:
        how: dict[str, Any] = {"event_store": _event_store()} if transport == "http-kept" else {}
        run_uvicorn(server.streamable_http_app(json_response=transport == "http-json", **how), port)

    @asynccontextmanager
    async def connect(self, target: Target, transport: Transport, era: Era | None) -> AsyncIterator[Session]:
        from mcp import Client

        where = _transport(target, transport)
        async with Client(where, mode=MODERN_REVISION if era == "modern" else "legacy") as client:
            yield _Session(client)


def _event_store() -> Any:
    """The least that an event store can be, since the SDK has none: lists of messages in memory, without a bound."""
    from mcp.server.streamable_http import EventMessage, EventStore

    class Lists(EventStore):
        def __init__(self) -> None:
            self._streams: dict[str, list[Any]] = {}

        async def store_event(self, stream_id: str, message: Any) -> str:
            said = self._streams.setdefault(stream_id, [])
            said.append(message)
            return f"{stream_id}/{len(said)}"

        async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
            stream_id, _, number = last_event_id.rpartition("/")
            for at, message in enumerate(self._streams.get(stream_id, [])[int(number) :], int(number) + 1):
                if message is not None:
                    await send_callback(EventMessage(message, f"{stream_id}/{at}"))
            return stream_id

    return Lists()


def _transport(target: Target, transport: Transport) -> Any:
    if transport == "memory":
        return target
    if transport == "stdio":
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        return stdio_client(StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ)))
    from mcp.client.streamable_http import streamable_http_client

    return streamable_http_client(target, max_sse_event_size=None)  # by default 1 MiB, less than the large results
