"""A server with something of everything, for the matrix: an object, or a program (`python -m tests.feature_server`)."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcp_notebook import Context, Server, ToolError
from mcp_notebook.types import (
    LOGGING_LEVELS,
    Annotations,
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    Icon,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    ToolAnnotations,
    UnknownContent,
)

ICON = Icon(src="data:image/png;base64,", sizes=["any"])

BLOCKS: list[ContentBlock] = [
    TextContent(text="text", annotations=Annotations(audience=["user"], priority=0.5), meta={"a": None}),
    ImageContent(data="AAE=", mime_type="image/png"),
    AudioContent(data="AAE=", mime_type="audio/wav"),
    ResourceLink(uri="notes://a", name="a", title="A"),
    EmbeddedResource(resource=ResourceContents(uri="notes://a", text="note")),
    EmbeddedResource(resource=ResourceContents(uri="notes://b", blob="AAE=")),
]
"""A block of every type."""


@dataclass
class Name:
    first: str
    times: int = 1


def make_server() -> Server:
    """The server. What its handlers have seen, its tool `seen` tells."""
    server = Server("features", version="1", title="Features", instructions="Be kind.", icons=[ICON], page_size=4)
    seen: list[str] = []

    @server.tool(title="Adder", annotations=ToolAnnotations(read_only_hint=True), icons=[ICON], meta={"a": 1})
    def add(a: Annotated[int, "the first"], b: int = 0) -> int:
        "Add two numbers."
        return a + b

    @server.tool
    def fail() -> int:
        raise ToolError("There is no such city.")

    @server.tool
    def echo(value: Any) -> Any:
        return {"value": value}

    @server.tool(name="seen")
    def tell_seen() -> list[str]:
        return seen

    @server.tool
    async def count(n: int, ctx: Context) -> str:
        for step in range(1, n + 1):
            await ctx.progress(step, n, f"step {step}")
        return "counted"

    @server.tool
    async def log(ctx: Context) -> None:
        for level in LOGGING_LEVELS:
            await ctx.log(level, {"level": level}, logger="features")

    @server.tool
    async def wait(ctx: Context) -> None:
        seen.append("waiting")
        await ctx.progress(1)
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    @server.tool
    def content() -> CallToolResult:
        video = UnknownContent.model_validate({"type": "video", "frames": 2})
        return CallToolResult(content=[*BLOCKS, video], meta={"of": "the result"})

    @server.tool
    def content_known() -> CallToolResult:
        return CallToolResult(content=BLOCKS)

    @server.tool
    async def ask(ctx: Context) -> str:
        answer = await ctx.elicit("Your name?", Name)
        return f"{answer.action} {answer.data}"

    @server.tool
    async def ask_and_give_up(ctx: Context) -> str:
        try:
            await asyncio.wait_for(ctx.elicit("Your name?", Name), 0.05)
        except TimeoutError:
            return "gave up"
        return "?"

    @server.tool
    async def think(ctx: Context) -> str:
        said = await ctx.sample("Hi", max_tokens=5)
        assert isinstance(said.content, TextContent)
        return said.content.text

    @server.tool
    def roots(ctx: Context) -> list[str]:
        found: Any = ctx.list_roots()  # blocks: this runs in a thread
        return [root.uri for root in found]

    @server.tool
    def change() -> None:
        def changed() -> None:
            for number in range(10):
                server.tool(name=f"new-{number}")(lambda: "new")
            for number in range(10):
                server.remove_tool(f"new-{number}")

        thread = threading.Thread(target=changed)
        thread.start()
        thread.join()

    @server.tool
    def touch(uri: str) -> None:
        server.notify_resource_updated(uri)

    @server.resource("notes://readme", mime_type="text/markdown", size=3, annotations=Annotations(priority=1))
    def readme() -> str:
        "Read me."
        return "# x"

    @server.resource("notes://bytes")
    def some_bytes() -> bytes:
        return b"\x00\x01"

    @server.resource("notes://of/{name}")
    def note(name: Literal["ada", "alan"]) -> dict[str, str]:
        return {"name": name}

    @server.prompt(title="Greeting")
    def greet(name: str, times: int = 1) -> str:
        "Greet somebody."
        return " ".join(["Hello", name] * times)

    @server.prompt
    def talk() -> list[Any]:
        return ["Hi", {"role": "assistant", "content": "Hello"}, ImageContent(data="AAE=", mime_type="image/png")]

    @server.completion("greet", "name")
    def names(value: str, others: dict[str, str]) -> list[str]:
        return [name for name in ("Ada", "Alan", "Grace") if name.startswith(value)]

    return server


if __name__ == "__main__":
    make_server().serve_stdio()
