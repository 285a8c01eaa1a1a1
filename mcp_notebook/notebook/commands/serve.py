"""`serve`: a server of this notebook, over HTTP."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...render.parts import Card, Text
from ...server import Server
from ...server.serving import HttpServing
from ..brief import CommandError, hinted
from ..live import show
from .completing import Completing
from .table import Command, Invocation, Option, Reply


def run_serve(invocation: Invocation) -> Reply:
    """Serve it beside the cells, and give what stops it."""
    names = invocation.at_most(1)
    if not names:
        raise CommandError(f"Which server? {invocation.command.say_usage()}")
    server = invocation.names.get(names[0])
    if not isinstance(server, Server):
        known = [name for name in invocation.names.visible() if isinstance(invocation.names[name], Server)]
        missing = hinted(f"There is no Server called {names[0]!r} in this notebook", names[0], known)
        raise CommandError(f"{missing} %%mcp server {names[0]} begins a cell that makes one.")
    serving = server.serve_http(port=invocation.options.get("port", 0), token=not invocation.options.get("no-token"))
    assert serving is not None  # in a notebook it comes back at once
    if invocation.used:  # what would be shown of it has its address, which people need all the same
        show([Text(_how_to_connect(server.name, serving), "note")])
    parts = [Text(serving.url, "mono")]
    if serving.token is not None:
        told = "Clients need its token: serving.headers has it, where serving = %mcp serve …, or _ right after this."
        parts.append(Text(told, "note"))
    parts.append(Text("It ends with the kernel, or by its close().", "note"))
    return Reply(serving, [Card("done", "served", parts, name=server.name, about="on this computer only")])


def _how_to_connect(name: str, serving: HttpServing) -> str:
    token = " --token-env VARIABLE, with .token of what this gives in VARIABLE" if serving.token is not None else ""
    return f"{name} is served at {serving.url}. To connect: %mcp connect NAME {serving.url}{token}."


def complete_serve(completing: Completing) -> Iterable[str]:
    """The servers of this notebook."""
    names = completing.names
    return [name for name in names.visible() if isinstance(names[name], Server)] if not completing.words else ()


def _port(text: str) -> Any:
    port = int(text)
    if not 0 <= port < 65536:
        raise ValueError(text)
    return port


SERVE = Command(
    name="serve",
    usage="NAME",
    summary="serve a server of this notebook over HTTP",
    about=(
        "Programs on this computer reach it at a URL, while this notebook goes on. They need a token, which is made "
        "for it and shown nowhere. serving = %mcp serve NAME keeps what has .url, .token, .headers and .close(); "
        "%mcp connect OTHER $serving connects to it in this notebook."
    ),
    examples=("serving = %mcp serve demo", "%mcp serve demo --port 8000"),
    options=(
        Option("--port", "the port; one that is free by default", value="PORT", read=_port),
        Option("--no-token", "let every program on this computer use it"),
    ),
    run=run_serve,
    complete=complete_serve,
)
