"""This package."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ..cases import HANDSHAKE_REVISION, LINE, MODERN_REVISION, Era, Session, Target, Transport, Way, picture_data
from .sdk import Sdk, SdkSession, echo, echo_in_thread, nothing


class Ours(Sdk):
    package = "mcp_notebook"
    ways: tuple[Way, ...] = ("stream", "request")
    imports = "from mcp_notebook import connect"

    def server(self, tools: int) -> Any:
        # The annotations of tools are looked up among the module's globals.
        global Context
        from mcp_notebook import Context, Server
        from mcp_notebook.types import ImageContent, TextContent

        server = Server("bench")

        server.tool(echo)
        server.tool(echo_in_thread)

        @server.tool(name="text")
        async def make_text(size: int) -> TextContent:
            """A large text."""
            return TextContent(text="x" * size)

        @server.tool
        async def picture(size: int) -> ImageContent:
            """A large picture."""
            return ImageContent(data=picture_data(size), mime_type="image/png")

        never = asyncio.Event()

        @server.tool(resumable=True)
        async def talk(lines: int, ctx: Context) -> None:  # pyright: ignore[reportInvalidTypeForm]
            """Say lines, and never end."""
            for number in range(lines):
                await ctx.info(f"{number}{LINE}")
            await never.wait()

        for number in range(tools):
            server.tool(name=f"tool_{number:05d}")(nothing)
        return server

    def serve_stdio(self, server: Any) -> None:
        server.serve_stdio()

    def serve_http(self, server: Any, transport: Transport, port: int) -> None:
        server.serve_http(port=port, token=None, stream=transport != "http-json")

    @asynccontextmanager
    async def connect(self, target: Target, transport: Transport, era: Era | None) -> AsyncIterator[Session]:
        from mcp_notebook import connect

        revision = MODERN_REVISION if era == "modern" else HANDSHAKE_REVISION
        async with connect(target, revision=revision) as client:
            yield SdkSession(client)
