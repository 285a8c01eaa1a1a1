"""The stdio transport, client side: a server as a child process.

Source: "stdio" of each revision (basic/transports).
"""

from __future__ import annotations

import asyncio

from ..errors import ConnectionLost, MCPError
from ..jsonrpc import Message, RequestId
from ..limits import DEFAULT_LIMITS, Limits
from .base import Receiver
from .command import Command
from .lines import MessageReader, as_line
from .process import Child

__all__ = ["StdioChannel"]


class StdioChannel:
    """A channel to a server that runs as a child process, in a session of its own.

    Whatever the child does (die, hang, flood its stderr, print rubbish, leave children behind), every wait is bounded
    and nothing of it stays: not after `close`, nor when this process is killed. Whoever makes this has asked for
    consent to the command (CON-1).

    Args:
        command: the server to start.
        limits: what to keep to.
    """

    def __init__(self, command: Command, limits: Limits = DEFAULT_LIMITS) -> None:
        self.command = command
        self._limits = limits
        self._child: Child | None = None
        self._ending: asyncio.Task[None] | None = None
        self._loss: MCPError | None = None

    @property
    def pid(self) -> int | None:
        """The process's id; None before it has started."""
        return self._child.pid if self._child else None

    @property
    def stderr(self) -> str:
        """The end of what the server has written to stderr (`Limits.stderr_tail`)."""
        return self._child.stderr if self._child else ""

    @property
    def exit_status(self) -> int | None:
        """How the process ended: its status, or a negative signal number; None while it runs."""
        return self._child.exit_status if self._child else None

    async def open(self, receiver: Receiver) -> None:
        """Start the server.

        Raises:
            ConnectError: it could not be started; the text says why and what to do.
        """
        self._receiver = receiver
        self._reader = MessageReader(receiver, self._limits.message, forgiving=True)
        child = Child(self.command, self._limits, output=self._reader.feed, lost=self._lost)
        self._child = child
        await child.start()

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        """See `Channel.send`. Once the server is lost, the `ConnectionLost` is a `ServerExited`."""
        data = as_line(message, self._limits.message)
        if self._child is None or self._ending is not None:
            raise self._not_open()
        try:
            await self._child.write(data)
        except BrokenPipeError:
            raise self._not_open() from None

    async def close(self) -> None:
        """Close the server's stdin, then SIGTERM, then SIGKILL, with `Limits.shutdown` seconds for each; the same for
        what the server has started and left behind. What it still says is dropped."""
        self._end(None)
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def _lost(self) -> None:
        if self._ending is None and self._child is not None:
            self._end(self._why_lost(self._child, self._reader.finish()))

    def _why_lost(self, child: Child, cut_off: bool) -> MCPError:
        """The error for a child that was lost, perhaps in the middle of a message."""
        return child.loss(cut_off=cut_off)

    def _end(self, loss: MCPError | None) -> None:
        if self._ending is None and self._child is not None and self._child.pid is not None:
            self._loss = loss
            self._reader.stop()
            self._ending = asyncio.get_running_loop().create_task(self._child.end())
            self._receiver.disconnected(loss)

    def _not_open(self) -> MCPError:
        if self._loss is not None and self._child is not None:
            return self._why_lost(self._child, False)
        return ConnectionLost("This connection is not open: it was closed, or never opened. Connect again.")
