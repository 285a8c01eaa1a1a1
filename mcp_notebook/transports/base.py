"""What a transport is to the rest: a `Channel` that carries messages, and a `Receiver` that is told of them."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ..errors import LimitExceeded, MCPError
from ..jsonrpc import InvalidMessage, Message, RequestId
from ..limits import Limits
from ..protocol.calls import Occurrence


class Receiver(Protocol):
    """Whoever is told what a channel brings. Its methods are called on the channel's event loop, and never block."""

    def received(self, message: Message) -> None:
        """One message, in the order of the wire."""

    def received_invalid(self, error: InvalidMessage) -> None:
        """Something that is no message, where the transport cannot answer that itself."""

    def faulty(self, reason: str) -> None:
        """The other side broke a rule of the transport, and all goes on."""

    def failed(self, id: RequestId, error: MCPError) -> None:
        """A request of ours did not get through, or its way back broke; the channel itself goes on."""

    def moved(self, id: RequestId, what: Occurrence) -> float:
        """The way back of a request of ours broke (DROP), is sought anew (RESUME), or is there again (RESUMED). Gives
        the seconds for which it should be left alone, at least, before it is sought."""
        ...

    def disconnected(self, error: MCPError | None) -> None:
        """The channel has ended: with the reason why, or None where this side closed it. Called once."""


class Channel(Protocol):
    """One end of a way that carries messages."""

    async def open(self, receiver: Receiver) -> None:
        """Begin. From here on the receiver is told of whatever comes.

        Raises:
            ConnectError: there is no way.
        """

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        """Send a message; return when it is on its way (slowly, where the other side reads slowly).

        Args:
            message: what to send.
            about: the other side's request that the message belongs to, for transports that keep a way open for each.

        Raises:
            ConnectionLost: the channel has ended.
            LimitExceeded: the message is larger than `Limits.message`.
            Unserializable: it holds something that JSON cannot say.
        """

    async def close(self) -> None:
        """End it, within bounds, whatever the other side does. May be called again."""


@runtime_checkable
class RequestWays(Protocol):
    """A channel that keeps a way open for each request of the other side's, which may close and open again."""

    def finish(self, id: RequestId) -> None:
        """Nothing more is said about a request; it need not have been answered."""

    def pause(self, id: RequestId, retry: int) -> None:
        """Close the way for now, where the other side will come back for the rest: after so many milliseconds."""

    def unheard(self, id: RequestId | None) -> float:
        """Seconds since nobody hears what is said about a request, or (None) about none; 0.0 while somebody does."""
        ...


@runtime_checkable
class LetsGo(Protocol):
    """A channel that keeps a way open for each request of ours."""

    def let_go(self, id: RequestId) -> None:
        """Nobody hears the answer to a request of ours any more here; it goes on there."""

    def hurry(self, id: RequestId) -> None:
        """Where the way of a request of ours broke, seek it now, as soon as the other side lets us."""


@runtime_checkable
class InSession(Protocol):
    """A channel to a server that keeps a session for it, in which another channel may go on."""

    @property
    def session(self) -> str | None:
        """The session's id, a secret; None where there is none."""
        ...

    def rejoin(self, id: str | None, version: str | None) -> None:
        """Be in this session from now on, in which that revision is spoken; None: in none."""

    async def listen(self) -> None:
        """Hear what the server says unasked in the session that was rejoined."""

    def leave_session(self) -> None:
        """Closing the channel shall not end the session: something goes on in it."""


def too_large(size: int, limits: Limits) -> LimitExceeded:
    """The error for a message that is larger than allowed."""
    return LimitExceeded(
        f"A message of {size:,} bytes is larger than the limit of {limits.message:,} bytes. "
        "Send less at once, or raise the limit: Limits(message=...).",
        limit="message",
        allowed=limits.message,
    )
