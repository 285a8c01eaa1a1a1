"""What is written piece by piece goes out in one: HTTP libraries write a head and its body one after the other."""

from __future__ import annotations

import asyncio
from typing import Any

ENOUGH = 64 * 1024
"""Bytes that are not held back for others to come."""


class InOnePiece:
    """A transport that sends together what is written within one turn of the event loop. Each sending costs a call of
    the system, and at the other side a turn of its loop and another such call.

    Args:
        transport: the transport; whatever is asked of this one and is not here is asked of that.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._unsent: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send it, soon."""
        if not data:
            return
        if not self._unsent:
            self._loop.call_soon(self.flush)
        self._unsent.append(data)
        if len(data) >= ENOUGH:
            self.flush()

    def flush(self) -> None:
        """Send what was written so far."""
        if self._unsent:
            data = self._unsent[0] if len(self._unsent) == 1 else b"".join(self._unsent)
            self._unsent.clear()
            self._transport.write(data)

    def close(self) -> None:
        """Send what was written, then close."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Close, whatever was written."""
        self._unsent.clear()
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
