"""`Call`: a running handler and the numbered log of what it has said, which somebody who comes and goes can follow.

The handler runs in a task of its own, and knows nothing of who follows it. What particular ways to show a call on the
wire add (a policy to resume it, the life of a task) stands in the classes made of this one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import ConnectionLost, MCPError, ProtocolError
from ..jsonrpc import INTERNAL_ERROR, Request, RequestId
from ..limits import Limits
from ..protocol.calls import CallEvent, CallLog, EventKind
from ..protocol.resuming import mark
from ..transports.connection import Connection

logger = logging.getLogger("mcp_notebook.calls")

Self = TypeVar("Self", bound="Call")
Work = Callable[[Self], Coroutine[Any, Any, Any]]
"""Runs the handler with its delivery, and gives the result in the form in which it is sent."""
_KINDS: Mapping[str, EventKind] = {"notifications/progress": "progress", "notifications/message": "log"}


@dataclass(slots=True)
class Said:
    """One thing that was said: a notification, or a question with its answer to come."""

    method: str
    params: dict[str, Any]
    answer: asyncio.Future[Any] | None = None
    key: str | None = None
    """The question's name within the call, if it has one."""

    @property
    def settled(self) -> bool:
        """Whether nobody need hear it any more."""
        return self.answer is not None and self.answer.done()


class Superseded(Exception):
    """Somebody newer follows the call (RR-12); whoever followed it before ends without a word."""


class Call:
    """One call whose messages are kept. It is the `Delivery` of its handler.

    Args:
        request_id: the id of the request that began it.
        prefix: begins the ids of its questions, which must hold across connections.
        limits: the bounds to keep.
    """

    def __init__(self, request_id: RequestId, prefix: str, limits: Limits) -> None:
        self.request_id = request_id
        self.limits = limits
        self._prefix = prefix
        self._log = CallLog(limits.call_events)
        self._handed_over = 0
        self._news = asyncio.Event()
        self._follower: object | None = None
        self._unheard: Callable[[], float] = lambda: 0.0
        self._handler: asyncio.Task[Any] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of request {self.request_id!r}>"

    def start(self: Self, work: Work[Self]) -> None:
        """Let the handler run."""
        self._handler = asyncio.create_task(work(self))
        self._handler.add_done_callback(lambda _: self._tell_news())

    # What the handler does

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        self._say(_KINDS.get(method, "note"), Said(method, params))
        await asyncio.sleep(0)  # a handler that says much lets it go out

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._say("question", Said(method, params, answer, key))
        try:
            async with asyncio.timeout(self.limits.question + self.patience):
                return await answer
        except TimeoutError:
            raise MCPError(f"Nobody answered {method!r} in time.") from None

    @property
    def patience(self) -> float:
        """Seconds that a question waits for somebody to follow the call, beside those for answering it."""
        return 0.0

    # What others do

    async def follow(self, connection: Connection, about: RequestId | None, after: int | None = None) -> Any:
        """Send what was said after a number, and go on until the outcome: the result, or a ProtocolError.

        Args:
            connection: where to send it.
            about: the request that it answers there, if any.
            after: the number of the last message that is known to have arrived; None: of the last that was sent.

        Raises:
            Superseded: somebody newer follows.
            ConnectionLost: the client has gone; the call goes on without it.
        """
        me = self._follower = object()
        self._unheard = lambda: connection.unheard(about) if about is not None else 0.0
        self._tell_news()
        if after is None:
            after = self._handed_over
        else:
            self._log.confirm(after)
        try:
            return await self._follow(me, connection, about, after)
        finally:
            if self._follower is me:
                self._follower = None

    async def outcome(self) -> Any:
        """Wait for the result, without what is said before it. Raises ProtocolError."""
        assert self._handler is not None, "it has begun"
        await asyncio.wait([self._handler])
        return self._outcome(self._handler)

    def end(self) -> None:
        """Give it up."""
        if self._handler is not None:
            self._handler.cancel()

    def stamped(self, said: Said, number: int) -> dict[str, Any]:
        """The parameters to send: they say which call a message belongs to, and which message of it it is."""
        return {**said.params, "_meta": mark(said.params.get("_meta"), self.request_id, number)}

    # Within

    @property
    def questions(self) -> list[tuple[int, Said]]:
        """The questions that are still open, with their numbers."""
        return [
            (event.number, event.data)
            for event in self._log.since(0)
            if event.kind == "question" and not event.data.settled
        ]

    async def _follow(self, me: object, connection: Connection, about: RequestId | None, after: int) -> Any:
        while True:
            news = self._news
            for event in self._log.since(after):
                await self._send(event, connection, about)
                if self._follower is not me:
                    raise Superseded
                after = max(after, event.number)
                if not self._unheard():
                    self._handed_over = max(self._handed_over, after)
            if self._handler is not None and self._handler.done() and after >= self._log.last:
                return self._outcome(self._handler)
            await news.wait()
            if self._follower is not me:
                raise Superseded

    async def _send(self, event: CallEvent, connection: Connection, about: RequestId | None) -> None:
        if event.kind == "dropped":
            told = {"level": "notice", "data": f"{event.data} log lines were dropped"}
            await connection.notify("notifications/message", told, about=about)
            return
        said: Said = event.data
        params = self.stamped(said, event.number)
        if said.answer is None:
            await connection.notify(said.method, params, about=about)
        elif not said.answer.done():
            id = f"{self._prefix}-{self.request_id}-{event.number}"
            answered = await connection.ask(Request(id, said.method, params), about=about)
            answered.add_done_callback(_settle(said.answer))

    def _outcome(self, handler: asyncio.Task[Any]) -> Any:
        if handler.cancelled():
            raise ProtocolError(INTERNAL_ERROR, "This request was cancelled.")
        error = handler.exception()
        if error is None:
            return handler.result()
        if isinstance(error, ProtocolError):
            raise error.with_traceback(None)
        logger.error("the handler of %r failed", self, exc_info=error)
        raise ProtocolError(INTERNAL_ERROR, str(error) if isinstance(error, MCPError) else "Internal error")

    def _say(self, kind: EventKind, said: Said) -> None:
        self._log.append(kind, said)
        self._tell_news()

    def _tell_news(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def _settle(answer: asyncio.Future[Any]) -> Callable[[asyncio.Future[Any]], None]:
    """Pass an answer on, unless there is one already; where the client went first, the question stays open."""

    def settle(done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            return
        error = done.exception()
        if answer.done() or isinstance(error, ConnectionLost):
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(done.result())

    return settle
