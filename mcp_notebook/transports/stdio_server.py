"""The stdio transport, server side: this process as a server on its own stdin and stdout.

Source: "stdio" of each revision (basic/transports).
"""

from __future__ import annotations

import asyncio
import os
from typing import Protocol

from ..errors import ConnectError, ConnectionLost, MCPError
from ..jsonrpc import Message, RequestId
from ..limits import DEFAULT_LIMITS, Limits
from .base import Receiver
from .lines import MessageReader, as_line
from .pipes import PipeWriter, connect_input, connect_output
from .standard_streams import StandardStreams

__all__ = ["StdioServerChannel"]


class HasFileno(Protocol):
    """An open file, socket or pipe."""

    def fileno(self) -> int:
        """Its file descriptor."""
        ...


class StdioServerChannel(asyncio.Protocol):
    """The channel of a server whose client is at the other end of this process's own stdin and stdout.

    While it is open, file descriptor 1 leads to stderr, so that neither a `print` in a tool nor a child process can
    corrupt the wire, and nobody else reads stdin. It ends with stdin: `disconnected` is told, and answers that are
    still owed can be sent until `close`. Files and terminals serve as well as pipes.

    Args:
        limits: what to keep to: `message`, `send_buffer`, `shutdown`.
        stdin, stdout: other open files or their descriptors to use instead. Both or neither; nothing must
            have been read from `stdin` yet. They stay the caller's to close.
    """

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        *,
        stdin: int | HasFileno | None = None,
        stdout: int | HasFileno | None = None,
    ) -> None:
        if (stdin is None) != (stdout is None):
            raise ValueError("Give both stdin and stdout, or neither.")
        self._limits = limits
        self._given = None if stdin is None or stdout is None else (stdin, stdout)
        self._standard: StandardStreams | None = None
        self._writer: PipeWriter | None = None
        self._ended = False
        self._closing: asyncio.Task[None] | None = None

    async def open(self, receiver: Receiver) -> None:
        """Take stdin and stdout.

        Raises:
            ConnectError: one of them is closed.
        """
        self._receiver = receiver
        self._reader = MessageReader(receiver, self._limits.message, forgiving=False)
        try:
            stdin, stdout = self._take()
        except OSError as error:
            raise ConnectError(f"There is no stdin and stdout to serve on: {error.strerror}.") from error
        writer = PipeWriter(self._limits.send_buffer, self._output_lost)
        await connect_output(stdout, writer)
        self._writer = writer
        self._input = await connect_input(stdin, self)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        """See `Channel.send`."""
        data = as_line(message, self._limits.message)
        try:
            if self._writer is None:
                raise BrokenPipeError
            await self._writer.write(data)
        except BrokenPipeError:
            raise ConnectionLost("The client no longer reads: this server's stdout is closed.") from None

    async def close(self) -> None:
        """Write what waits to be written, for at most `Limits.shutdown` seconds, and give stdin and stdout back."""
        if self._writer is None:
            return
        self._end(None)
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(self._writer))
        await asyncio.shield(self._closing)

    def _take(self) -> tuple[int, int]:
        if self._given is not None:
            stdin, stdout = (os.dup(file if isinstance(file, int) else file.fileno()) for file in self._given)
            return stdin, stdout
        self._standard = StandardStreams()
        return self._standard.stdin, self._standard.stdout

    async def _close(self, writer: PipeWriter) -> None:
        self._input.close()
        writer.close()
        try:
            await asyncio.wait_for(writer.closed.wait(), self._limits.shutdown)
        except TimeoutError:
            writer.abort()
        finally:
            if self._standard is not None:
                self._standard.give_back()

    def _end(self, loss: MCPError | None) -> None:
        if not self._ended:
            self._ended = True
            self._reader.stop()
            self._receiver.disconnected(loss)

    def _output_lost(self) -> None:
        self._end(ConnectionLost("The client no longer reads: this server's stdout is closed."))

    # What the event loop tells us of stdin.

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ended:
            self._reader.finish()
            self._end(ConnectionLost("The client has ended the connection: this server's stdin is closed."))
