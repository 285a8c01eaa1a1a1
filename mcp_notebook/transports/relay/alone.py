"""A copy of this process that outlives it: no signal, terminal, pipe or parent of it is left to the copy."""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["run_alone"]


def run_alone(run: Callable[[], None], keep: int) -> None:
    """Run something in a copy of this process, in a session of its own that no terminal can belong to.

    This process must have only one thread. Returns when the copy is on its way.

    Args:
        run: what the copy does before it ends.
        keep: the one open file that it keeps.
    """
    first = os.fork()
    if first:
        os.waitpid(first, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.closerange(3, keep)
        os.closerange(keep + 1, os.sysconf("SC_OPEN_MAX"))
        run()
    finally:
        os._exit(0)
