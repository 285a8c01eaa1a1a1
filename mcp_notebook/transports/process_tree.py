"""A child process and all that it has started, as one thing that is set apart, signalled and found gone.

Everything that differs between operating systems about processes stands in this file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

from .scripts import script
from .watchdog import WATCHDOG

__all__ = ["TREE", "ProcessTrees", "ending_in_words"]


class ProcessTrees(Protocol):
    """How one operating system treats trees of processes. A tree is known by its first process's id."""

    options: dict[str, Any]
    """What `subprocess.Popen` is told, so that the child begins a tree of its own."""

    def arguments(self, args: list[str]) -> list[str]:
        """The command line to start in order to run `args`."""
        ...

    def watch(self, pid: int, grace: float) -> None:
        """See to it that the tree ends should this process die; it then has `grace` seconds after SIGTERM."""

    def forget(self, pid: int) -> None:
        """The tree has ended."""

    def lives(self, pid: int) -> bool:
        """Whether any process of the tree is left, as far as can be told."""
        ...

    def terminate(self, pid: int) -> None:
        """Ask the whole tree to end."""

    def kill(self, pid: int) -> None:
        """End the whole tree."""


class PosixTrees:
    """A tree is a session, and so a process group: signals from a terminal or an interrupted kernel do not reach it.

    What leaves its group (a daemon that starts a session of its own) is no longer part of the tree.
    """

    options: dict[str, Any] = {"start_new_session": True}

    def arguments(self, args: list[str]) -> list[str]:
        first = script("die_with_parent.py") if sys.platform == "linux" else None
        return [*first, str(os.getpid()), *args] if first else args

    def watch(self, pid: int, grace: float) -> None:
        WATCHDOG.watch(pid, grace)

    def forget(self, pid: int) -> None:
        WATCHDOG.forget(pid)

    def lives(self, pid: int) -> bool:
        try:
            os.killpg(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it became another user's: not ours to end
            return False
        return not _has_ended(pid)

    def terminate(self, pid: int) -> None:
        self._signal(pid, signal.SIGTERM)

    def kill(self, pid: int) -> None:
        self._signal(pid, signal.SIGKILL)

    def _signal(self, pid: int, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)


def _has_ended(group: int) -> bool:
    """Whether all that is left of a process group waits to be reaped, for which the first process of a container may
    take seconds. Only Linux can tell."""
    if sys.platform != "linux":
        return False
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, its_group, *_ = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if int(its_group) == group and state not in (b"Z", b"X"):
                    return False
    return True


class WindowsTrees:
    """A tree is what `taskkill /T` finds under a process, while that process lives. Not under test."""

    options: dict[str, Any] = {
        "creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
    }

    def arguments(self, args: list[str]) -> list[str]:
        return args

    def watch(self, pid: int, grace: float) -> None:
        pass

    def forget(self, pid: int) -> None:
        pass

    def lives(self, pid: int) -> bool:
        return False  # beyond the first process, which its owner watches, nothing can be found

    def terminate(self, pid: int) -> None:
        self._taskkill(pid)

    def kill(self, pid: int) -> None:
        self._taskkill(pid, "/F")

    def _taskkill(self, pid: int, *options: str) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            command = ["taskkill", "/T", "/PID", str(pid), *options]
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=False)


TREE: ProcessTrees = WindowsTrees() if sys.platform == "win32" else PosixTrees()


def ending_in_words(status: int | None) -> str:
    """What became of a process, after "The process …": `status` as `subprocess` gives it, negative for a signal."""
    if status is None:
        return "is still running"
    if status >= 0:
        return f"ended with status {status}"
    try:
        name = f" ({signal.Signals(-status).name})"
    except ValueError:
        name = ""
    return f"was killed by signal {-status}{name}"
