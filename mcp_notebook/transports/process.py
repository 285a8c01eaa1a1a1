"""A child process on three pipes: started, written to, read from, and ended with all that it has started.

Source: "stdio" and "Shutdown" of each revision (basic/transports, basic/lifecycle).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from ..errors import ConnectError, ServerExited
from ..limits import Limits
from ..visible import excerpt, quote
from .command import Command
from .pipes import PipeWriter
from .process_tree import TREE, ending_in_words
from .program import find_program, why_not

__all__ = ["Child", "last_words"]

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_NAMES = {_STDIN: "stdin", _STDOUT: "stdout"}
_QUOTED_LINES = 5


class Child(asyncio.SubprocessProtocol):
    """A command that runs as a child, in a session of its own (on Windows in a process group of its own).

    Args:
        command: what to run.
        limits: `stderr_tail`, `send_buffer`, `shutdown` and `linger` are kept.
        output: called with whatever the child writes to stdout.
        lost: called once when the child has ended, or closed its stdin or stdout, after its last words have come; not
            for what `end` does.
    """

    def __init__(
        self, command: Command, limits: Limits, *, output: Callable[[bytes], None], lost: Callable[[], None]
    ) -> None:
        self.command = command
        self.pid: int | None = None
        self.exit_status: int | None = None
        self._limits = limits
        self._output = output
        self._lost = lost
        self._stderr = bytearray()
        self._stdin = PipeWriter(limits.send_buffer, self._changed)
        self._closed_pipes: set[int] = set()
        self._silent = asyncio.Event()  # it has ended, and said all that it had to say
        self._winding_up: asyncio.Task[None] | None = None
        self._ending = False

    @property
    def stderr(self) -> str:
        """The end of what it has written to stderr (`Limits.stderr_tail`)."""
        return self._stderr.decode("utf-8", "replace")

    async def start(self) -> None:
        """Start it.

        Raises:
            ConnectError: it could not be started, and why.
        """
        program = find_program(self.command)
        try:
            transport, _ = await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *TREE.arguments([program, *self.command.args[1:]]),
                env=self.command.environment(),
                cwd=self.command.directory,
                **TREE.options,
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise ConnectError(f"The program {quote(program)} could not be started: {why_not(error)}") from error
        TREE.watch(transport.get_pid(), self._limits.shutdown)

    async def write(self, data: bytes) -> None:
        """Write to its stdin; return at once unless more than `Limits.send_buffer` waits to be written.

        Raises:
            BrokenPipeError: it no longer reads, or `end` has begun. If it was lost, `lost` has been called.
        """
        try:
            await self._stdin.write(data)
        except BrokenPipeError:
            if not self._ending:
                await self._stdin.closed.wait()
                await self._wound_up()
            raise

    async def end(self) -> None:
        """End it and its whole tree: close stdin, then SIGTERM, then SIGKILL, each after `Limits.shutdown` seconds.

        Cancelled, it kills at once.
        """
        assert self.pid is not None
        self._ending = True
        self._stdin.close()
        try:
            if not await self._until(lambda: self.exit_status is not None) or TREE.lives(self.pid):
                TREE.terminate(self.pid)
                await self._until(self._is_gone)
        finally:
            if not self._is_gone():
                TREE.kill(self.pid)
                await self._until(self._is_gone)  # a matter of milliseconds
            TREE.forget(self.pid)
            self._stdin.abort()
            self._transport.close()

    def loss(self, *, cut_off: bool = False) -> ServerExited:
        """The error that says how it was lost: its status in words and its last lines of stderr.

        Args:
            cut_off: its output ended in the middle of a message.
        """
        text = (
            f"The server's process ({quote(self.command.args[0])}, pid {self.pid}) {ending_in_words(self.exit_status)}"
        )
        if self.exit_status is None:
            closed = [name for fd, name in _NAMES.items() if fd in self._closed_pipes]
            text += f" but has closed its {' and '.join(closed)}"
        if cut_off:
            text += " in the middle of a message"
        return ServerExited(f"{text}. {last_words(self.stderr)}", exit_status=self.exit_status, stderr=self.stderr)

    # What the event loop tells us.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self.pid = self._transport.get_pid()
        stdin = self._transport.get_pipe_transport(_STDIN)
        assert stdin is not None
        self._stdin.connection_made(stdin)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDOUT:
            self._output(data)
            return
        self._stderr += data
        del self._stderr[: max(0, len(self._stderr) - self._limits.stderr_tail)]

    def pause_writing(self) -> None:
        self._stdin.pause_writing()

    def resume_writing(self) -> None:
        self._stdin.resume_writing()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._closed_pipes.add(fd)
        if fd == _STDIN:
            self._stdin.connection_lost(exc)
        else:
            self._changed()

    def process_exited(self) -> None:
        self.exit_status = self._transport.get_returncode()
        self._changed()

    def _changed(self) -> None:
        if self.exit_status is not None and self._closed_pipes >= {_STDOUT, _STDERR}:
            self._silent.set()
        if (
            self._winding_up is None
            and not self._ending
            and (self.exit_status is not None or self._closed_pipes & _NAMES.keys())
        ):
            self._winding_up = asyncio.get_running_loop().create_task(self._wind_up())

    async def _wind_up(self) -> None:
        try:
            await asyncio.wait_for(self._silent.wait(), self._limits.linger)
        except TimeoutError:
            pass
        self._lost()

    async def _wound_up(self) -> None:
        if self._winding_up is not None:
            await asyncio.wait({self._winding_up})

    def _is_gone(self) -> bool:
        return self.exit_status is not None and self.pid is not None and not TREE.lives(self.pid)

    async def _until(self, condition: Callable[[], bool]) -> bool:
        """Wait for a condition, `Limits.shutdown` seconds at most; whether it came true."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._limits.shutdown
        pause = 0.002
        while not condition():
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.05)
        return True


def last_words(stderr: str) -> str:
    """The last lines of what a process wrote to stderr, in a sentence."""
    lines = [line for line in stderr.splitlines() if line.strip()][-_QUOTED_LINES:]
    if not lines:
        return "It wrote nothing to stderr; run the command in a terminal to see more."
    return "The end of its stderr:" + "".join(f"\n  {excerpt(line.expandtabs(4).rstrip())}" for line in lines)
