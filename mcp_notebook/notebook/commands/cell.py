"""`server`: a server written in a cell."""

from __future__ import annotations

from ...protocol.json_schema import required_of
from ...render import parts_of
from ...render.parts import Card, Part, Text
from ..brief import CommandError
from ..cell_server import run_cell
from .table import Command, Invocation, Reply


def run_server(invocation: Invocation) -> Reply:
    """Run the cell, and serve its functions."""
    names = invocation.at_most(1)
    if invocation.body is None or not names:
        raise CommandError(f"It begins a cell: {invocation.command.line}, and functions below it.")
    served = run_cell(invocation.workspace, names[0], invocation.body)
    server = served.server
    tools = [entry.item for entry in server.registry.tools.values()]
    counts = {
        "resource": len(server.registry.resources) + len(server.registry.templates),
        "prompt": len(server.registry.prompts),
    }
    also = " · ".join(f"{count} {noun}{'s' if count > 1 else ''}" for noun, count in counts.items() if count)
    parts: list[Part] = [Text("It has no tools: define functions in the cell.", "note")]
    if tools:
        parts = parts_of(tools)
    parts += [Text(f"and {also}", "note")] if also else []
    parts += [Text(served.changes, "note")] if served.changes else []
    title = "changed" if served.again else "connected"
    shown: list[Part] = [Card("done", title, parts, name=server.name, about="runs in this kernel")]
    if tools and not served.again:
        needed = [f"{name}=…" for name in required_of(tools[0].input_schema)]
        shown.append(Text(" ".join([f"Next: %mcp call {server.name}.{tools[0].name}", *needed]), "note"))
    return Reply(server, shown)


SERVER = Command(
    name="server",
    usage="NAME",
    summary="write a server: the functions of the cell become its tools",
    about=(
        "Every function that the cell defines, and whose name does not begin with _, becomes a tool of a Server "
        "that is called NAME, here in Python too, and is connected under that name. Annotations say what a tool "
        'takes and gives, docstrings what it does. @NAME.resource("notes://{id}") and @NAME.prompt offer a '
        "function as something else. Running the cell again replaces what it offered; if it fails, the server "
        "stays as it was."
    ),
    examples=('%%mcp server demo\ndef add(a: int, b: int = 0) -> int:\n    "Add two numbers."\n    return a + b',),
    run=run_server,
    body="always",
)
