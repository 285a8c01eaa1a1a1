"""What tests install and keep, so that only the first run waits for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

__all__ = ["Unavailable", "kept"]


class Unavailable(Exception):
    """Something from outside that tests need is not to be had here; tests that need it are skipped."""


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made the first time and kept.

    It is kept under `MCP_NOTEBOOK_TEST_CACHE`, or else in the folder for temporary files. It is made elsewhere and
    moved into place whole, so that a broken one is never found.

    Args:
        name: the folder's name; what is in the folder must not change while the name stays.
        make: fills a new folder, with `subprocess.run(..., check=True, capture_output=True, text=True)`.

    Raises:
        Unavailable: it could not be made.
    """
    default = Path(tempfile.gettempdir()) / f"mcp-notebook-tests-{os.getuid() if hasattr(os, 'getuid') else 0}"
    folder = Path(os.environ.get("MCP_NOTEBOOK_TEST_CACHE", default)).absolute() / name
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder.parent))
    try:
        make(making)
        making.rename(folder)
    except (subprocess.SubprocessError, OSError) as error:
        if not folder.exists():  # or else another test run was faster
            last = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1:]
            raise Unavailable(f"{name} could not be made: {' '.join(last)}") from None
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder
