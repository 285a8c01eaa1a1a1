"""What is the same for every SDK: its place in the tables, tools that need nothing of it, how its client is asked."""

from __future__ import annotations

from typing import Any

from ..cases import ERAS, TRANSPORTS, Era, Transport, Way


class Sdk:
    eras: tuple[Era | None, ...] = ERAS
    transports: tuple[Transport, ...] = TRANSPORTS
    ways: tuple[Way, ...] = ("stream",)


class SdkSession:
    """A client that gives content blocks as objects, and all tools at once."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        block = (await self._client.call_tool(tool, arguments)).content[0]
        return block.text if block.type == "text" else block.data

    async def list_tools(self) -> int:
        return len(await self._client.list_tools())


async def echo(text: str) -> str:
    """Echo the text."""
    return text


def echo_in_thread(text: str) -> str:
    """Echo the text."""
    return text


async def nothing(a: int, b: str = "x", c: bool = False) -> str:
    """A tool that does nothing in particular."""
    return b
