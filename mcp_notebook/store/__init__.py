"""Where calls and work under way are remembered: in memory, or in a file that outlives the process."""

from __future__ import annotations

import os

from ..limits import DEFAULT_LIMITS, Limits
from .base import Record, Store
from .memory import MemoryStore
from .place import state_path

__all__ = ["MemoryStore", "Record", "Store", "open_store", "state_path"]


def open_store(path: str | os.PathLike[str] | None = None, *, limits: Limits = DEFAULT_LIMITS) -> Store:
    """A store in the file at `path`, which is made where there is none; without a path, one in memory.

    Raises:
        StoreError: the file cannot be used; it is left as it is.
    """
    if path is None:
        return MemoryStore()
    from .sqlite import SqliteStore  # which imports sqlite3

    return SqliteStore(path, limits=limits)
