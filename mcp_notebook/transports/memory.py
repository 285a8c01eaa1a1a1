"""Two channels joined in memory: what one sends the other receives, as the same bytes that any wire would carry."""

from __future__ import annotations

import asyncio

from ..errors import ConnectionLost
from ..jsonrpc import InvalidMessage, Message, RequestId, dump, load
from ..limits import DEFAULT_LIMITS, Limits
from .base import Receiver, too_large

SENDS_WITHOUT_A_PAUSE = 64
"""After so many messages a sender lets the event loop have a turn."""


class MemoryChannel:
    """One of two joined ends; both live on the same event loop. `memory_pair` makes them.

    A message is delivered within `send`: nothing is gained by waiting for a turn of the event loop. It waits for one
    where the other end takes in an earlier message at that moment, or has earlier ones waiting: so they come in order,
    and two ends that answer each other at once do not pile up on the stack.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._other: MemoryChannel | None = None
        self._receiver: Receiver | None = None
        self._early: list[bytes] = []
        self._sent = 0
        self._on_the_way = 0
        self._taking_in = False

    async def open(self, receiver: Receiver) -> None:
        self._receiver = receiver
        early, self._early = self._early, []
        for data in early:
            self._deliver(data)
        if self._other is None:
            asyncio.get_running_loop().call_soon(self._other_closed)

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        data = dump(message)
        if len(data) > self._limits.message:
            raise too_large(len(data), self._limits)
        other = self._other
        if other is None:
            raise ConnectionLost("The other end, in this process, is closed. Connect again to go on.")
        if other._on_the_way or other._taking_in:
            other._on_the_way += 1
            asyncio.get_running_loop().call_soon(other._arrive, data)
        else:
            other._take(data)
        self._sent += 1
        if self._sent % SENDS_WITHOUT_A_PAUSE == 0:
            await asyncio.sleep(0)

    async def close(self) -> None:
        other, self._other = self._other, None
        self._tell_end(None)
        if other is not None and other._other is self:
            # Behind what is still on its way, so that nothing sent before the end is lost.
            asyncio.get_running_loop().call_soon(other._other_closed)

    def _arrive(self, data: bytes) -> None:
        self._on_the_way -= 1
        self._take(data)

    def _take(self, data: bytes) -> None:
        if self._receiver is None and self._other is not None:
            self._early.append(data)
            return
        self._taking_in = True
        try:
            self._deliver(data)
        finally:
            self._taking_in = False

    def _deliver(self, data: bytes) -> None:
        if self._receiver is None:
            return
        try:
            message = load(data)
        except InvalidMessage as error:
            self._receiver.received_invalid(error)
            return
        assert not isinstance(message, list)  # our own end sends no batches
        self._receiver.received(message)

    def _other_closed(self) -> None:
        self._other = None
        self._tell_end(ConnectionLost("The other end, in this process, was closed. Connect again to go on."))

    def _tell_end(self, error: ConnectionLost | None) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.disconnected(error)


def memory_pair(limits: Limits = DEFAULT_LIMITS) -> tuple[MemoryChannel, MemoryChannel]:
    """Two channels, each the other's far end."""
    one, two = MemoryChannel(limits), MemoryChannel(limits)
    one._other, two._other = two, one
    return one, two
