"""Keep a server running while its clients come and go."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from typing import Any

from ..errors import MCPError
from ..limits import DEFAULT_LIMITS
from ..transports.command import Command
from ..transports.relay import PREFIX
from ..visible import visible

__all__ = ["add_arguments", "run"]

MORE = """
A client starts this in place of the server's own command, and talks to the server through it. When the client ends, or
closes stdin, it is detached: the server runs on, and what it says is kept. Started again, with the same command in
the same folder and environment (or the same --name), this attaches to the running server and delivers what was kept,
whole lines, each at least once. The newest client wins; the one before it ends with status 75. With --name and no
command it attaches only, and starts nothing.

The server ends by itself, by --stop, or when nobody has been attached for --keep seconds.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = MORE
    parser.usage = "python -m mcp_notebook relay [OPTION ...] -- COMMAND ..."
    parser.add_argument("--name", help="call the server so, whatever its environment is")
    parser.add_argument(
        "--keep",
        type=_seconds,
        metavar="SECONDS",
        help=f"how long the server stays while nobody is attached (default: {DEFAULT_LIMITS.relay_keep:g})",
    )
    parser.add_argument("--announce", action="store_true", help="say first which server this is, as a notification")
    parser.add_argument("--list", action="store_true", help="show the servers that are kept")
    parser.add_argument("--json", action="store_true", help="with --list: for programs, one object a line")
    parser.add_argument("--stop", metavar="NAME", help="end the server of this name or id")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="what starts the server")


def run(options: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        The exit status: that of the server, if it has ended; 0 where the client has detached.
    """
    if sys.platform == "win32":
        return _complain("this needs Unix sockets and process groups, which Windows lacks. Start the server directly.")
    from ..transports.relay import starting  # it cannot be imported on Windows

    try:
        if options.list:
            return _list(starting.running(), as_json=options.json)
        if options.stop is not None:
            return _say_stopped(options.stop, starting.stop(options.stop))
        words = options.command[1:] if options.command[:1] == ["--"] else options.command
        if not words and options.name is None:
            return _complain("which command? Give it after `--`.", status=2)
        command = Command(words, os.environ, os.getcwd()) if words else None
        return starting.attach(command, name=options.name, keep=options.keep, announce=options.announce)
    except (MCPError, OSError) as error:
        return _complain(str(error))


def _list(relays: list[dict[str, Any]], *, as_json: bool) -> int:
    for one in relays:
        print(json.dumps(one) if as_json else _in_a_line(one))
    if not relays and not as_json:
        print("No server is kept.")
    return 0


def _in_a_line(one: dict[str, Any]) -> str:
    state = "ended" if one["ended"] else "attached" if one["attached"] else "alone"
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["since"]))
    name = visible(one["name"]) if one["name"] is not None else one["id"]
    kept = f"{one['waiting']:,} bytes kept"
    return f"{name}  {state} since {since}, {kept}, pid {one['server']} (keeper {one['keeper']}): {one['command']}"


def _say_stopped(name: str, stopped: bool) -> int:
    if stopped:
        print(f"Stopped {visible(name)}.")
        return 0
    return _complain(f"no server {visible(name)!r} is kept. See --list.")


def _complain(text: str, status: int = 1) -> int:
    print(f"{PREFIX}{text}", file=sys.stderr)
    return status


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError
    return value
