"""One small process that outlives this one, to end the children which a killed kernel leaves behind. POSIX only.

A kernel killed with SIGKILL runs no clean-up. Most servers end when their stdin does, and on Linux each is sent
SIGTERM; a stubborn one, or what it has started, would stay for ever. So with the first child a second interpreter is
started (`end_orphans`) and told over a pipe which process groups live. When the pipe ends, because this process has, it
ends them. Nothing ever waits for it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import threading

from .scripts import script

__all__ = ["WATCHDOG", "Watchdog"]


class Watchdog:
    """This process's side. The other is started with the first group, and anew should it ever be gone."""

    def __init__(self) -> None:
        self.pid: int | None = None
        self._pipe: int | None = None  # a plain number: losing this object must not close it, which ends all groups
        self._groups: dict[int, float] = {}
        self._lock = threading.Lock()

    def watch(self, group: int, grace: float) -> None:
        """End this process group when this process dies: SIGTERM, and after `grace` seconds SIGKILL."""
        with self._lock:
            self._groups[group] = grace
            self._tell(f"+{group} {grace}\n")

    def forget(self, group: int) -> None:
        """The group has ended; its number may come to mean another."""
        with self._lock:
            if self._groups.pop(group, None) is not None:
                self._tell(f"-{group}\n")

    def after_fork(self) -> None:
        """In a forked copy of this process: the children are not the copy's, and the pipe must not live on in it."""
        if self._pipe is not None:
            os.close(self._pipe)
        self._pipe, self.pid, self._groups, self._lock = None, None, {}, threading.Lock()

    def _tell(self, line: str) -> None:
        try:
            if self._pipe is None:
                raise BrokenPipeError
            os.write(self._pipe, line.encode())
        except BrokenPipeError:
            self._start()
        except BlockingIOError:
            pass  # somebody has stopped it and its pipe is full: go on without it

    def _start(self) -> None:
        self._bury()
        command = script("end_orphans.py")
        if command is None or not self._groups:
            return
        reading, writing = os.pipe()
        try:
            self.pid = _start_alone(command, reading)
        except OSError as error:
            os.close(writing)
            logging.getLogger(__name__).warning(
                "No watchdog could start: servers may outlive a killed kernel (%s)", error
            )
            return
        finally:
            os.close(reading)
        os.set_blocking(writing, False)
        self._pipe = writing
        with contextlib.suppress(OSError):
            os.write(writing, "".join(f"+{group} {grace}\n" for group, grace in self._groups.items()).encode())

    def _bury(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
        if self.pid is not None:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, os.WNOHANG)
            self.pid = None


def _start_alone(command: list[str], stdin: int) -> int:
    """Start a process that outlives us; its id."""
    null = subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=stdin, stdout=null, stderr=null, cwd="/", start_new_session=True)
    child.returncode = 0  # so that nobody waits for it, or warns that it still runs
    return child.pid


WATCHDOG = Watchdog()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCHDOG.after_fork)
