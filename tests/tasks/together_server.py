"""A server with a tool of every kind of tasks: in memory, over HTTP, or `python -m tests.tasks.together_server`."""

from __future__ import annotations

import asyncio

from mcp_notebook import Context, ProtocolError, Server, ToolError


def make_server() -> Server:
    server = Server("together")
    let_go = asyncio.Event()

    @server.tool(task="optional")
    async def count(ctx: Context, to: int = 3, wait: bool = False) -> str:
        """Counts, by progress and log."""
        for number in range(1, to + 1):
            await ctx.progress(number, to, f"number {number}")
            await ctx.info(f"line {number}")
            if wait and number == to // 2:
                await let_go.wait()
                let_go.clear()
        return f"counted to {to}"

    @server.tool
    def go_on() -> str:
        """Lets `count` go on."""
        let_go.set()
        return "gone on"

    @server.tool(task="optional")
    async def greet(ctx: Context) -> str:
        """Asks twice."""
        first = await ctx.elicit("First name?", str)
        second = await ctx.elicit("Second name?", str)
        return f"Hello, {first.data} {second.data}"

    @server.tool(task="optional")
    def in_a_thread(ctx: Context) -> str:
        """Is no coroutine."""
        _ = ctx.progress(1)
        answer = ctx.elicit("First name?", str)
        return f"Hello, {answer.data}"  # type: ignore[attr-defined]

    @server.tool(task="optional")
    async def fail(how: str) -> str:
        """Fails."""
        raise ToolError("The disk is full.") if how == "tool" else ProtocolError(-32050, "The API broke.")

    @server.tool(task="required")
    def only() -> str:
        """Must be a task."""
        return "only"

    @server.tool(task="optional")
    async def for_ever() -> None:
        """Never ends."""
        await asyncio.Event().wait()

    return server


if __name__ == "__main__":
    make_server().serve_stdio()
