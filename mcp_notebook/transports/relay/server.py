"""The server behind a relay: a child process whose stdout can be left unread, so that it has to wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from ...limits import Limits
from ..command import Command
from ..process import Child

__all__ = ["RelayedServer"]

_STDOUT, _STDERR = 1, 2


class RelayedServer(Child):
    """A child as `Child` has it.

    Args:
        command, limits, output, lost: as `Child` has them.
        errors: called with whatever the child writes to stderr.
    """

    def __init__(
        self,
        command: Command,
        limits: Limits,
        *,
        output: Callable[[bytes], None],
        errors: Callable[[bytes], None],
        lost: Callable[[], None],
    ) -> None:
        super().__init__(command, limits, output=output, lost=lost)
        self.silent = asyncio.Event()
        """Set when its stdout has ended."""
        self._errors = errors
        self._listening = True

    def listen(self, on: bool) -> None:
        """Read its stdout, or leave it unread."""
        if on == self._listening or self.silent.is_set():
            return
        self._listening = on
        stdout = cast(asyncio.ReadTransport | None, self._transport.get_pipe_transport(_STDOUT))
        if stdout is None:
            return
        if on:
            stdout.resume_reading()
        else:
            stdout.pause_reading()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        super().pipe_data_received(fd, data)
        if fd == _STDERR:
            self._errors(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDOUT:
            self.silent.set()
        super().pipe_connection_lost(fd, exc)
