"""FastMCP."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ..cases import LINE, MODERN_REVISION, Era, Session, Target, Transport, picture_data, run_uvicorn
from .sdk import Sdk, SdkSession, echo, echo_in_thread, nothing


class FastMCP(Sdk):
    package = "fastmcp"
    imports = "from fastmcp import Client"

    def server(self, tools: int) -> Any:
        # The annotations of tools are looked up among the module's globals.
        global Context, ImageContent, TextContent
        from fastmcp import Context, FastMCP
        from mcp_types import ImageContent, TextContent

        server: Any = FastMCP("bench")

        server.tool(echo)
        server.tool(echo_in_thread)

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
            yield SdkSession(client)
