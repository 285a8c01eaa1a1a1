"""TCP under httpx2, on asyncio itself: for servers on this machine, where what a request costs is what one waits for.

httpx2's own way leads over anyio. This one costs a third less: a request goes out in one piece instead of its head and
its body one after the other, and whether an idle connection still stands is known without asking the system.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, cast

import httpcore2

from .pieces import InOnePiece

BUFFERED = 1024 * 1024
"""Bytes that may wait to be read before the sender is slowed down."""


class Network(httpcore2.AsyncNetworkBackend):
    """Makes plain TCP connections."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        local = None if local_address is None else (local_address, 0)
        try:
            async with asyncio.timeout(timeout):
                _, stream = await asyncio.get_running_loop().create_connection(
                    _Stream, host, port, local_addr=local, happy_eyeballs_delay=0.25
                )
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        return stream

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Stream(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """One connection."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._over = False
        self._error: Exception | None = None
        self._news: asyncio.Future[None] | None = None
        """What a reader waits for, or a writer whom the other side slows down."""
        self._writable = True
        self._paused = False

    # What httpcore2 does

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._transport.flush()
        while not self._received:
            if self._over:
                if self._error is not None:
                    raise httpcore2.ReadError(str(self._error)) from self._error
                return b""
            await self._wait(timeout, httpcore2.ReadTimeout)
        data = bytes(self._received[:max_bytes])
        del self._received[:max_bytes]
        if self._paused and len(self._received) <= BUFFERED:
            self._paused = False
            self._transport.resume_reading()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write, together with what comes next, if that comes before the next turn of the event loop."""
        if self._over or self._transport.is_closing():
            raise httpcore2.WriteError("the connection is closed")
        self._transport.write(buffer)
        while not self._writable and not self._over:
            await self._wait(timeout, httpcore2.WriteTimeout)

    async def aclose(self) -> None:
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":  # of an idle connection: that the other side has ended it
            return self._over or bool(self._received)
        return self._transport.get_extra_info(info)

    async def _wait(self, timeout: float | None, late: type[Exception]) -> None:
        self._news = self._loop.create_future()
        if timeout is None:
            await self._news
            return
        try:
            async with asyncio.timeout(timeout):
                await self._news
        except TimeoutError:
            raise late(f"nothing happened for {timeout:g} s") from None

    # What the event loop tells us

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = InOnePiece(cast(asyncio.Transport, transport))

    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) > BUFFERED and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._tell()

    def eof_received(self) -> None:
        self._over = True
        self._tell()

    def connection_lost(self, exc: Exception | None) -> None:
        self._over, self._error = True, self._error or exc
        self._tell()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        self._tell()

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
