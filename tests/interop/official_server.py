"""A server made with the official Python SDK, over stdio: `python -m tests.interop.official_server`."""

from __future__ import annotations

import asyncio
import sys
import warnings
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import Completion, SamplingMessage, TextContent
from pydantic import BaseModel

warnings.simplefilter("ignore")  # logging, sampling and roots are deprecated there, and spoken here
server = MCPServer("official", version="7", instructions="Be kind.")


class Name(BaseModel):
    first: str
    times: int = 1


@server.tool()
def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    raise ToolError("no such city")


@server.tool()
async def count(n: int, ctx: Context[Any, Any]) -> str:
    for step in range(1, n + 1):
        await ctx.report_progress(step, n, f"step {step}")
    return "counted"


@server.tool()
async def log(ctx: Context[Any, Any]) -> str:
    await ctx.info("a line")
    await ctx.error({"b": 1}, logger_name="mine")
    return "logged"


@server.tool()
async def wait() -> str:
    try:
        await asyncio.sleep(1000)
    except asyncio.CancelledError:
        print("the handler was cancelled", file=sys.stderr, flush=True)
        raise
    return "done"


@server.tool()
async def ask(ctx: Context[Any, Any]) -> str:
    answer = await ctx.elicit("Your name?", Name)
    return f"{answer.action} {getattr(answer, 'data', None)!r}"


@server.tool()
async def think(ctx: Context[Any, Any]) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Hi"))
    said = await ctx.session.create_message([message], max_tokens=5)
    return f"{said.model}: {said.content.text}"  # pyright: ignore[reportAttributeAccessIssue]


@server.tool()
async def roots(ctx: Context[Any, Any]) -> str:
    found = await ctx.session.list_roots()
    return " ".join(str(root.uri) for root in found.roots)


@server.resource("notes://readme", mime_type="text/markdown")
def readme() -> str:
    return "# x"


@server.resource("notes://of/{name}")
def note(name: str) -> str:
    return f"note of {name}"


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    return Completion(values=[name for name in ("Ada", "Alan", "Grace") if name.startswith(argument.value)])


if __name__ == "__main__":
    server.run("stdio")
