"""A server for processes of its own, whose tools write what they do to a file. `python kept_server.py FOLDER`"""

import asyncio
import os
import sys
from pathlib import Path

from mcp_notebook import Context, Server
from mcp_notebook.types import ToolAnnotations

server = Server("kept")
folder = Path(sys.argv[1])
gate, diary = folder / "gate", folder / "diary"


def note(word: str) -> None:
    with diary.open("a") as file:
        file.write(f"{word}\n")


async def work(ctx: Context, ask: bool = False) -> str:
    """Work until the gate is open."""
    note("begun")
    try:
        await ctx.progress(1, 2)
        if ask:
            await ctx.elicit("Go on?", bool)
        while not gate.exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        note("cancelled")
        raise
    note("done")
    return f"done in {os.getpid()}"


server.tool(work)
server.tool(name="keep", resumable=True)(work)
server.tool(name="look", annotations=ToolAnnotations(read_only_hint=True))(work)


@server.tool
def end(status: int) -> None:
    """End the process."""
    note("ending")
    os._exit(status)


server.serve_stdio()
