"""Pipes on an event loop: without a thread where the loop can watch them, with one where it cannot."""

from __future__ import annotations

import asyncio
import os
import queue
import stat
import sys
import threading
from collections.abc import Callable
from typing import cast

__all__ = ["PipeWriter", "connect_input", "connect_output"]

_CHUNK = 64 * 1024


class PipeWriter(asyncio.BaseProtocol):
    """Writes to a pipe, and slows the writer down where the other side reads slowly.

    It is the protocol of its transport: `connection_made` must come first.

    Args:
        high: how many bytes may wait before writers are slowed down.
        lost: called when the pipe has ended, for whatever reason.
    """

    def __init__(self, high: int, lost: Callable[[], None]) -> None:
        self.closed = asyncio.Event()
        self._high = high
        self._lost = lost
        self._writable = asyncio.Event()
        self._writable.set()

    async def write(self, data: bytes) -> None:
        """Write; return at once unless more than `high` waits to be written.

        Raises:
            BrokenPipeError: the pipe has ended, or ended while this waited.
        """
        self._require_open()
        self._transport.write(data)
        if not self._writable.is_set():
            await self._writable.wait()
            self._require_open()

    def close(self) -> None:
        """Write what waits, then close. `closed` tells when; nobody waits in `write` any longer."""
        self._transport.close()
        self._writable.set()

    def abort(self) -> None:
        """Close, whatever waits."""
        self._transport.close()
        if self._transport.get_write_buffer_size():  # else asyncio would tell of the end twice
            self._transport.abort()

    def _require_open(self) -> None:
        if self.closed.is_set() or self._transport.is_closing():
            raise BrokenPipeError

    # What the transport tells us.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)
        self._transport.set_write_buffer_limits(high=self._high)

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()
        self._writable.set()
        self._lost()


async def connect_input(fd: int, protocol: asyncio.Protocol) -> asyncio.BaseTransport:
    """Have `protocol` told of what can be read from `fd`, which then belongs to the transport."""
    if not _is_watchable(fd):
        return _ThreadedInput(fd, protocol)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: protocol, open(fd, "rb", buffering=0))  # noqa: ASYNC230, SIM115
    return transport


async def connect_output(fd: int, protocol: asyncio.BaseProtocol) -> None:
    """Give `protocol` a transport that writes to `fd`, which then belongs to the transport."""
    if not _is_watchable(fd):
        _ThreadedOutput(fd, protocol)
        return
    loop = asyncio.get_running_loop()
    await loop.connect_write_pipe(lambda: protocol, open(fd, "wb", buffering=0))  # noqa: ASYNC230, SIM115


def _is_watchable(fd: int) -> bool:
    """Whether an event loop can watch it. A terminal could be, but it is shared: it must not become non-blocking."""
    mode = os.fstat(fd).st_mode
    return sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


class _ThreadedInput(asyncio.ReadTransport):
    """Reads in a daemon thread (nothing can wake it, so nothing may wait for it), a piece at a time."""

    def __init__(self, fd: int, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._fd = fd
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._closing = False
        self._taken = threading.Event()
        protocol.connection_made(self)
        threading.Thread(target=self._read, name="mcp-stdin", daemon=True).start()

    def close(self) -> None:
        self._closing = True

    def is_closing(self) -> bool:
        return self._closing

    def _read(self) -> None:
        try:
            while not self._closing and (data := os.read(self._fd, _CHUNK)):
                self._loop.call_soon_threadsafe(self._take, data)
                self._taken.wait()
                self._taken.clear()
        except OSError:
            pass
        except RuntimeError:
            return  # the loop is closed: nobody is left to be told
        finally:
            os.close(self._fd)
        _tell(self._loop, self._protocol.connection_lost)

    def _take(self, data: bytes) -> None:
        self._taken.set()
        if not self._closing:
            self._protocol.data_received(data)


class _ThreadedOutput(asyncio.WriteTransport):
    """Writes in a daemon thread, so that a reader which does not read blocks neither the loop nor the program's end."""

    def __init__(self, fd: int, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self._fd = fd
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._high = _CHUNK
        self._closing = False
        self._aborted = False
        protocol.connection_made(self)
        threading.Thread(target=self._write, name="mcp-stdout", daemon=True).start()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = _CHUNK if high is None else high

    def get_write_buffer_size(self) -> int:
        return self._waiting

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._waiting += len(data)
        self._queue.put(bytes(data))
        if self._waiting > self._high:
            self._protocol.pause_writing()

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._queue.put(None)

    def abort(self) -> None:
        self._aborted = True
        self.close()

    def _write(self) -> None:
        try:
            while data := self._queue.get():
                left = memoryview(data)
                while left and not self._aborted:
                    left = left[os.write(self._fd, left) :]
                self._loop.call_soon_threadsafe(self._written, len(data))
        except OSError:
            self._closing = True
        except RuntimeError:
            return  # the loop is closed
        finally:
            os.close(self._fd)
        _tell(self._loop, self._protocol.connection_lost)

    def _written(self, size: int) -> None:
        self._waiting -= size
        if self._waiting <= self._high // 4:
            self._protocol.resume_writing()


def _tell(loop: asyncio.AbstractEventLoop, connection_lost: Callable[[Exception | None], None]) -> None:
    try:
        loop.call_soon_threadsafe(connection_lost, None)
    except RuntimeError:
        pass  # the loop is closed
