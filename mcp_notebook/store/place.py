"""Where a user's state is kept."""

from __future__ import annotations

import os
from pathlib import Path

STATE = "MCP_NOTEBOOK_STATE"
"""The environment variable that moves it."""


def state_path(name: str) -> Path:
    """Where a file or folder of that name belongs: in the user's state directory for this package.

    The environment variable `MCP_NOTEBOOK_STATE` is another directory to take: one on this machine's own disk, where
    the user's is on a network drive. Nothing is made.
    """
    moved = os.environ.get(STATE)
    if moved:
        return Path(moved).expanduser().absolute() / name
    import platformdirs

    return platformdirs.user_state_path("mcp_notebook", appauthor=False) / name
