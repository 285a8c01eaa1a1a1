"""Programs from outside that tests need: where they are, and how to get what npm has.

Node.js comes with the extra `test` (from PyPI). The packages in `tests/node/package.json`, and in those of the folders
there, are installed the first time they are asked for.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from .cache import Unavailable, kept

__all__ = ["chromium", "everything_command", "find", "node_modules"]

_NODE = Path(__file__).parent / "node"


def find(name: str) -> str:
    """The path of a program: beside this Python first, then on PATH.

    Raises:
        Unavailable: there is none.
    """
    path = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if path is None:
        raise Unavailable(f"{name} is not installed")
    return path


def chromium() -> str:
    """The path of a Chromium: `MCP_NOTEBOOK_CHROMIUM`, or else one that is on PATH.

    Raises:
        Unavailable: there is none.
    """
    for name in (os.environ.get("MCP_NOTEBOOK_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise Unavailable("no Chromium is installed")


def node_modules(folder: str = "") -> Path:
    """The folder with the npm packages that `tests/node/package.json` names, or the one in a folder there.

    Raises:
        Unavailable: there is no Node.js, or they could not be installed.
    """
    wanted = (_NODE / folder / "package.json").read_bytes()

    def install(folder: Path) -> None:
        npm = find("npm")
        (folder / "package.json").write_bytes(wanted)
        subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"],
            cwd=folder,
            env={**os.environ, "PATH": os.pathsep.join([os.path.dirname(npm), os.environ.get("PATH", "")])},
            check=True,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return kept(f"node-{hashlib.sha256(wanted).hexdigest()[:12]}", install) / "node_modules"


def everything_command() -> list[str]:
    """The command line that starts the npm package server-everything on stdio.

    Raises:
        Unavailable: see `node_modules`.
    """
    script = node_modules() / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    return [find("node"), str(script), "stdio"]
