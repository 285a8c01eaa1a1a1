"""A server for processes of its own whose tools go on when their client does not. `lasting_server.py FOLDER WAY`

WAY is `http`, `streams` (the same, for clients of resumable streams alone), or `stdio`.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

from mcp_notebook import Context, Server
from mcp_notebook.protocol.extensions import resumable_streams
from mcp_notebook.server import session

folder, way = Path(sys.argv[1]), sys.argv[2]
server = Server("lasting")
token = sys.argv[3] if len(sys.argv) > 3 else None


async def work(ctx: Context, name: str) -> str:
    """Say three lines; when the gate opens, three more."""
    (folder / f"{name}.begun").open("a").write("begun\n")
    await ctx.progress(1, 2)
    for number in (1, 2, 3):
        await ctx.info(f"line {number}")
    await _gate()
    for number in (4, 5, 6):
        await ctx.info(f"line {number}")
    await ctx.progress(2, 2)
    return f"{name} is done"


async def question(ctx: Context, name: str) -> str:
    """Ask, and go on with the answer."""
    (folder / f"{name}.begun").open("a").write("begun\n")
    await ctx.info("line 1")
    answer = await ctx.elicit("Which colour?", str)
    await ctx.info("line 2")
    return f"{name} is {answer.data}"


async def _gate() -> None:
    while not (folder / "gate").exists():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


how: dict[str, Any] = {"task": "optional", "resumable": True}
for function in (work, question):
    server.tool(**how)(function)


@server.tool
async def plain(name: str) -> str:
    """Work, and say nothing of it."""
    (folder / f"{name}.begun").open("a").write("begun\n")
    await _gate()
    return f"{name} is done"


if way == "stdio":
    server.serve_stdio()
else:
    if way == "streams":
        session.DIALECTS = (resumable_streams.DIALECT,)
    server.serve_http(token=token)
