"""A server of tasks (the extension `io.modelcontextprotocol/tasks`) made with FastMCP: it prints its port.

It runs as a program, with the FastMCP of its own that `fastmcp-tasks` wants.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension  # pyright: ignore[reportMissingImports]
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

OPTIONAL = TaskConfig(mode="optional", poll_interval=timedelta(milliseconds=50))
REQUIRED = TaskConfig(mode="required", poll_interval=timedelta(milliseconds=50))
NAME = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
server = FastMCP("fast")
server.add_extension(TasksExtension())


@server.tool(task=OPTIONAL)
async def count(n: int, ctx: Context) -> str:
    for step in range(1, n + 1):
        await ctx.report_progress(step, n, f"step {step}")
        await asyncio.sleep(0.05)
    return "counted"


@server.tool(task=OPTIONAL)
async def fail() -> str:
    raise ValueError("no such city")


@server.tool(task=REQUIRED)
async def ask(ctx: Context) -> Any:
    """In a task, FastMCP has no `ctx.elicit`: the function is called anew with the answers."""
    if ctx.input_responses is None:
        question = ElicitRequest(params=ElicitRequestFormParams(message="Name?", requested_schema=NAME))
        return InputRequiredResult(input_requests={"name": question})
    answer: Any = ctx.input_responses["name"]
    return f"{answer.action} {answer.content['value']}"


@server.tool(task=REQUIRED)
async def wait(ctx: Context) -> str:
    await ctx.report_progress(0, message="waiting")
    await asyncio.sleep(1000)
    return "waited"


@server.tool
async def plain() -> str:
    return "plain"


async def main() -> None:
    http = uvicorn.Server(uvicorn.Config(server.http_app(), host="127.0.0.1", port=0, log_config=None))
    serving = asyncio.create_task(http.serve())
    while not http.started and not serving.done():  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    print(http.servers[0].sockets[0].getsockname()[1], flush=True)
    await serving


if __name__ == "__main__":
    asyncio.run(main())
