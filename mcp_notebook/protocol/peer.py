"""One end of a conversation, as pure bookkeeping: messages in, events out. It knows no loop, no clock, no method.

It keeps the ids of both directions, what is pending in each, and which progress belongs to which request. Whoever
drives it sends what `open`, `answer`, `refuse` and `cancel` return, and feeds what arrives to `receive`.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..jsonrpc import (
    INVALID_REQUEST,
    ErrorResponse,
    Message,
    Notification,
    Request,
    RequestId,
    Response,
)

REPEATS = frozenset({"requests/resume"})
"""Methods that may bear the id of a request still at work: they take its place (RR-4)."""

ASKED_AGAIN = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
"""Questions of a server's, which come again after a drop where it cannot know that they arrived (RR-5): the answer that
is being given is for both."""

WITHOUT_ID = frozenset({"stream/resume"})
"""Methods whose requests may come without an id, and then have no answer (ST-9)."""

GIVEN_UP = frozenset({"subscriptions/listen"})
"""Methods whose requests the side that was asked may end by a cancellation of its own (basic/patterns/cancellation)."""


@dataclass(slots=True, eq=False)
class Outgoing:
    """A request of ours that waits for its answer. Its progress token is its id."""

    request: Request
    state: Any = None
    """Whatever the driver keeps with it."""

    @property
    def id(self) -> RequestId:
        return self.request.id


@dataclass(slots=True, eq=False)
class Incoming:
    """A request of the other side that we work on."""

    request: Request
    state: Any = None

    @property
    def id(self) -> RequestId:
        return self.request.id


@dataclass(slots=True)
class Asked:
    """The other side asks."""

    incoming: Incoming


@dataclass(slots=True)
class Told:
    """The other side tells something that belongs to no request of ours."""

    notification: Notification


@dataclass(slots=True)
class Answered:
    """A request of ours is answered."""

    outgoing: Outgoing
    result: Any


@dataclass(slots=True)
class Refused:
    """A request of ours is answered with an error."""

    outgoing: Outgoing
    error: ErrorResponse


@dataclass(slots=True)
class Progressed:
    """A request of ours has come further."""

    outgoing: Outgoing
    params: dict[str, Any]


@dataclass(slots=True)
class Withdrawn:
    """The other side no longer wants an answer."""

    incoming: Incoming
    reason: str | None


@dataclass(slots=True)
class Faulty:
    """The other side broke a rule; `reply` says so to it, where it can be told."""

    reason: str
    reply: ErrorResponse | None = None


@dataclass(slots=True)
class Ignored:
    """Something that came too late to matter, as messages may."""


Event: TypeAlias = Asked | Told | Answered | Refused | Progressed | Withdrawn | Faulty | Ignored


@dataclass(slots=True, eq=False)
class Peer:
    """The bookkeeping of one end.

    Our ids are strings with a random prefix for each connection, so that an id taken up again on a new connection
    cannot meet a new one.
    """

    prefix: str = ""
    outgoing: dict[RequestId, Outgoing] = field(default_factory=dict)
    incoming: dict[RequestId, Incoming] = field(default_factory=dict)
    _count: int = 0

    def open(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        progress: bool = False,
        id: RequestId | None = None,
    ) -> Outgoing:
        """Begin a request; with `progress` it bears a token, so that the other side may tell how far it is.

        `id` is the id of a request that is gone on with; by default it is new.
        """
        if id is None:
            self._count += 1
            self.prefix = self.prefix or secrets.token_hex(4)
            id = f"{self.prefix}-{self._count}"
        if progress:
            params = {**(params or {})}
            params["_meta"] = {**(params.get("_meta") or {}), "progressToken": id}
        outgoing = self.outgoing[id] = Outgoing(Request(id, method, params))
        return outgoing

    def adopt(self, request: Request) -> Outgoing:
        """Wait for the answer to a request that has its id already, and may have been sent before."""
        outgoing = self.outgoing.get(request.id)
        if outgoing is None:
            outgoing = self.outgoing[request.id] = Outgoing(request)
        return outgoing

    def drop(self, incoming: Incoming) -> bool:
        """Leave a request without an answer. False where that was so already, or another took its place."""
        return self._finish(incoming)

    def abandon(self, outgoing: Outgoing) -> bool:
        """Stop waiting for an answer. False where it is no longer awaited."""
        id = outgoing.id
        if self.outgoing.get(id) is not outgoing:
            return False  # answered, or gone on with under the same id
        del self.outgoing[id]
        return True

    def cancel(self, outgoing: Outgoing, reason: str) -> Notification | None:
        """Stop waiting, and what to tell the other side of it; None where it was answered already."""
        if not self.abandon(outgoing) or outgoing.request.method == "initialize":
            return None  # "initialize" must not be cancelled (basic/utilities/cancellation)
        return Notification("notifications/cancelled", {"requestId": outgoing.id, "reason": reason})

    def answer(self, incoming: Incoming, result: Any) -> Response | None:
        """The answer to a request; None where it is no longer wanted."""
        return Response(incoming.id, result) if self._finish(incoming) else None

    def refuse(self, incoming: Incoming, code: int, message: str, data: Any = None) -> ErrorResponse | None:
        """The refusal of a request; None where it is no longer wanted."""
        return ErrorResponse(incoming.id, code, message, data) if self._finish(incoming) else None

    def receive(self, message: Message) -> Event:
        """Take in one message."""
        match message:
            case Response():
                outgoing = self.outgoing.pop(message.id, None)
                return Answered(outgoing, message.result) if outgoing else Ignored()
            case Request():
                return self._asked(message)
            case Notification():
                return self._told(message)
            case ErrorResponse():
                outgoing = self.outgoing.pop(message.id, None) if message.id is not None else None
                if outgoing:
                    return Refused(outgoing, message)
                return Faulty(f"an error that answers nothing: {message.message}") if message.id is None else Ignored()

    def close(self) -> tuple[list[Outgoing], list[Incoming]]:
        """The conversation is over: what was still pending, in either direction."""
        outgoing, incoming = list(self.outgoing.values()), list(self.incoming.values())
        self.outgoing.clear()
        self.incoming.clear()
        return outgoing, incoming

    def _finish(self, incoming: Incoming) -> bool:
        id = incoming.id
        if self.incoming.get(id) is not incoming:
            return False
        del self.incoming[id]
        return True

    def _asked(self, request: Request) -> Event:
        earlier = self.incoming.get(request.id)
        if earlier is not None and request.method in ASKED_AGAIN and same(earlier.request, request):
            return Ignored()
        if earlier is not None and request.method not in REPEATS:
            reason = f"request id {request.id!r} is in use"
            return Faulty(reason, ErrorResponse(request.id, INVALID_REQUEST, f"Invalid request: {reason}"))
        incoming = self.incoming[request.id] = Incoming(request)
        return Asked(incoming)

    def _told(self, notification: Notification) -> Event:
        params = notification.params or {}
        match notification.method:
            case "notifications/progress":
                token = params.get("progressToken")
                outgoing = self.outgoing.get(token) if isinstance(token, (str, int)) else None
                return Progressed(outgoing, params) if outgoing else Ignored()
            case "notifications/cancelled":
                id, reason = params.get("requestId"), params.get("reason")
                incoming = self.incoming.pop(id, None) if isinstance(id, (str, int)) else None
                if incoming is not None:
                    return Withdrawn(incoming, reason if isinstance(reason, str) else None)
                outgoing = self.outgoing.get(id) if isinstance(id, (str, int)) else None
                if outgoing is None or outgoing.request.method not in GIVEN_UP:
                    return Ignored()
                self.abandon(outgoing)
                return Answered(outgoing, {})
            case _:
                return Told(notification)


def same(one: Request, other: Request) -> bool:
    """Whether two requests ask the same, whatever their `_meta` says of it."""
    return one.method == other.method and {**(one.params or {}), "_meta": None} == {
        **(other.params or {}),
        "_meta": None,
    }
