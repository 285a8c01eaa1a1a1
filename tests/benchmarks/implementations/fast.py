"""FastMCP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ..cases import (
    ERAS,
    LINE,
    MODERN_REVISION,
    TRANSPORTS,
    Era,
    Session,
    Target,
    Transport,
    Way,
    picture_data,
    run_uvicorn,
)


class _Session:
    def __init__(self, client: Any) -> None:
        self._client = client

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        block = (await self._client.call_tool(tool, arguments)).content[0]
        return block.text if block.type == "text" else block.data

    async def list_tools(self) -> int:
        return len(await self._client.list_tools())


class FastMCP:
    package = "fastmcp"
    eras: tuple[Era | None, ...] = ERAS
    transports: tuple[Transport, ...] = TRANSPORTS
    ways: tuple[Way, ...] = ("stream",)
    imports = "from fastmcp import Client"

    def server(self, tools: int) -> Any:
        # The annotations of tools are looked up among the module's globals.
        global Context, ImageContent, TextContent
        from fastmcp import Context, FastMCP
        from mcp_types import ImageContent, TextContent

        server: Any = FastMCP("bench")

        @server.tool
        async def echo(text: str) -> str:
            """Echo the text."""
            return text

        @server.tool
        def echo_in_thread(text: str) -> str:
            """Echo the text."""
            return text

        @server.tool(name="text", output_schema=None)
        async def make_text(size: int) -> TextContent:  # pyright: ignore[reportInvalidTypeForm]
            """A large text."""
            return TextContent(type="text", text="x" * size)

        @server.tool(output_schema=None)
        async def picture(size: int) -> ImageContent:  # pyright: ignore[reportInvalidTypeForm]
            """A large picture."""
            return ImageContent(type="image", data=picture_data(size), mime_type="image/png")

        never = asyncio.Event()

        @server.tool
        async def talk(lines: int, ctx: Context) -> None:  # pyright: ignore[reportInvalidTypeForm]
            """Say lines, and never end."""
            for number in range(lines):
                await ctx.info(f"{number}{LINE}")
            await never.wait()

        async def nothing(a: int, b: str = "x", c: bool = False) -> str:
            """A tool that does nothing in particular."""
            return b

        for number in range(tools):
            server.tool(nothing, name=f"tool_{number:05d}")
        return server

    def serve_stdio(self, server: Any) -> None:
        server.run("stdio", show_banner=False)

    def serve_http(self, server: Any, transport: Transport, port: int) -> None:
        how: dict[str, Any] = {}
        if transport == "http-kept":
            from fastmcp.server.event_store import EventStore

            how["event_store"] = EventStore(max_events_per_stream=1000)
        run_uvicorn(server.http_app(path="/mcp", json_response=transport == "http-json", **how), port)

    @asynccontextmanager
    async def connect(self, target: Target, transport: Transport, era: Era | None) -> AsyncIterator[Session]:
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        where: Any = target
        if transport == "stdio":
            where = StdioTransport(target[0], target[1:], env=dict(os.environ), keep_alive=False)
        async with Client(where, mode=MODERN_REVISION if era == "modern" else "legacy") as client:
            yield _Session(client)
