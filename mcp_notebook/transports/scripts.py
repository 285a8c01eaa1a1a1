"""Scripts of ours that a second interpreter runs, with nothing but the standard library."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["script"]


def script(name: str) -> list[str] | None:
    """The command line that runs the file of this name in this folder.

    None where that cannot be: this program is frozen or embedded, or the package is in an archive.
    """
    path = Path(__file__).with_name(name)
    if getattr(sys, "frozen", False) or not sys.executable or not path.is_file():
        return None
    return [sys.executable, "-I", "-S", str(path)]
