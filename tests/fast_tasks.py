"""FastMCP's tasks: they take a FastMCP of their own, older than the one that the other tests have."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from .cache import kept

__all__ = ["overlay"]

PACKAGES = (
    "fastmcp-slim==4.1.4",
    "fastmcp-tasks==4.1.4",
    "pydocket==0.27.0",
    "redis==8.0.1",
    "burner-redis==0.1.7",
    "annotated-doc==0.0.7",
    "cloudpickle==3.1.3",
    "cronsim==2.8",
    "shellingham==1.5.4",
    "typer==0.29.2",
)


def overlay() -> Path:
    """The folder to put before the packages of the tests' environment, which has the rest of what these need.

    Raises:
        Unavailable: they could not be installed.
    """
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256("\n".join(PACKAGES).encode()).hexdigest()[:12]
    return kept(f"fastmcp-tasks-{python}-{digest}", _install)


def _install(folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *PACKAGES]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
