"""`Call`: a running handler and the numbered log of what it has said, which somebody who comes and goes can follow.

The handler runs in a task of its own, and knows nothing of who follows it. What particular ways to show a call on the
wire add (a policy to resume it, the life of a task) stands in the classes made of this one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from ..errors import CallCancelled, ConnectionLost, MCPError, ProtocolError
from ..jsonrpc import INTERNAL_ERROR, Request, RequestId, as_json, data_of
from ..limits import Limits
from ..protocol.calls import CallEvent, CallLog, EventKind
from ..protocol.resuming import mark
from ..transports.cancelled import let_go
from ..transports.connection import Connection
from ..transports.news import News

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
    asked: Connection | None = None
    """The connection on which the question was asked last, where somebody heard it."""

    @property
    def settled(self) -> bool:
        """Whether nobody need hear it any more."""
        return self.answer is not None and self.answer.done()


@dataclass(slots=True, eq=False)
class _Follower:
    """Somebody who follows a call."""

    connection: Connection
    about: RequestId | None
    told: int = 0
    """The number of the last message that it was told, or had heard before."""

    @property
    def unheard(self) -> float:
        """Seconds since nobody hears what is sent there; 0.0 while somebody does."""
        return self.connection.unheard(self.about)


_NO_QUESTIONS: Mapping[int, Said] = MappingProxyType({})


class Superseded(Exception):
    """Somebody newer follows the call (RR-12); whoever followed it before ends without a word."""


class Call:
    """One call whose messages are kept. It is the `Delivery` of its handler.

    Args:
        request_id: the id of the request that began it.
        prefix: begins the ids of its questions, which must hold across connections.
        limits: the bounds to keep.
    """

    __slots__ = (
        "_follower",
        "_handed_over",
        "_handler",
        "_log",
        "_news",
        "_prefix",
        "limits",
        "questions",
        "request_id",
        "told",
    )

    def __init__(self, request_id: RequestId, prefix: str, limits: Limits) -> None:
        self.request_id = request_id
        self.limits = limits
        self.told = False
        """Whether somebody who follows it was given its outcome."""
        self.questions = _NO_QUESTIONS
        """Those that are still open: number -> question."""
        self._prefix = prefix
        self._log = CallLog(limits.call_events)
        self._handed_over = 0
        self._news = News()
        self._follower: _Follower | None = None
        self._handler: asyncio.Future[Any] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of request {self.request_id!r}>"

    def start(self: Self, work: Work[Self]) -> None:
        """Let the handler run."""
        self._handler = asyncio.create_task(work(self))
        self._handler.add_done_callback(self._handler_ended)

    # What the handler does

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        self._say(_KINDS.get(method, "note"), Said(method, params))
        await asyncio.sleep(0)  # a handler that says much lets it go out

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        question = Said(method, params, answer, key)
        number = self._say("question", question).number
        self.questions = {**self.questions, number: question}
        self.asked()
        try:
            async with asyncio.timeout(self.limits.question + self.patience):
                return await answer
        except TimeoutError:
            raise MCPError(f"Nobody answered {method!r} in time.") from None
        finally:
            self.questions = {other: one for other, one in self.questions.items() if other != number}
            self.answered()

    async def become_task(self) -> None:
        pass  # it goes on already, whatever becomes of its request

    def asked(self) -> None:
        """A question was added."""

    def answered(self) -> None:
        """A question was settled, in whichever way."""

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
        me = self._follower = _Follower(connection, about)
        self._news.tell()
        self.touch()
        passed_over = self.passed_over(connection, after)
        if after is None:
            after = self._handed_over
        else:
            self._log.confirm(after)
        me.told = after
        try:
            for event in passed_over:
                await self._send(event, me)
            while True:
                last = self._log.last
                for event in self._log.since(after):
                    await self._send(event, me)
                    if not me.unheard:
                        self._handed_over = max(self._handed_over, event.number)
                after = max(after, last)
                if self._log.last > after:
                    continue
                if self.over:
                    self.told = True
                    return self.last_word(self.conclusion(), me.told)
                await self._news.wait()
                self._check(me)
        finally:
            if self._follower is me:
                self._follower = None
                self.touch()

    def touch(self) -> None:
        """Somebody showed that they are still there. What that is good for, kinds of calls know."""

    async def outcome(self) -> Any:
        """Wait for the result, without what is said before it. Raises ProtocolError."""
        while not self.over:
            await self._news.wait()
        return self.conclusion()

    @property
    def over(self) -> bool:
        """Whether it has its outcome."""
        return self._handler is not None and self._handler.done()

    def conclusion(self) -> Any:
        """The result of one that is over. Raises ProtocolError."""
        assert self._handler is not None, "it has begun"
        return self._outcome(self._handler)

    def end(self) -> None:
        """Give it up."""
        if self._handler is not None:
            self._handler.cancel()

    def passed_over(self, connection: Connection, after: int | None) -> list[CallEvent]:
        """The open questions from before the place where somebody begins to follow, which are to be asked all the same.
        Parameters: see `follow`."""
        return []

    def stamped(self, said: Said, number: int, after: int | None = None) -> dict[str, Any]:
        """The parameters to send: they say which call a message belongs to, which message of it it is, and which one
        whoever hears it was told before."""
        return {**said.params, "_meta": mark(said.params.get("_meta"), self.request_id, number, after)}

    def last_word(self, result: Any, after: int) -> Any:
        """The result as it is sent to somebody who was told what was said up to that number."""
        return result

    def question_id(self, number: int) -> str:
        """The id of the request that asks a question, on whichever connection."""
        return f"{self._prefix}-{self.request_id}-{number}"

    # Within

    async def _send(self, event: CallEvent, to: _Follower) -> None:
        if not _is_settled(event):
            after, to.told = to.told, to.told if event.kind == "dropped" else max(to.told, event.number)
            await self._send_to(event, to.connection, to.about, after)
        self._check(to)

    async def _send_to(
        self, event: CallEvent, connection: Connection, about: RequestId | None, after: int | None = None
    ) -> None:
        method, params = self._as_sent(event, after)
        answer = event.data.answer if event.kind == "question" else None
        if answer is None:
            await connection.notify(method, params, about=about)
        elif not answer.done():
            id = self.question_id(event.number)
            event.data.asked = connection
            answered = await connection.ask(Request(id, method, params), about=about)
            answered.add_done_callback(_settle(answer))
            if connection.unheard(about):
                event.data.asked = None

    def _as_sent(self, event: CallEvent, after: int | None = None) -> tuple[str, dict[str, Any]]:
        """The method and the parameters that tell of an event."""
        if event.kind == "dropped":
            return "notifications/message", {"level": "notice", "data": f"{event.data} log lines were dropped"}
        return event.data.method, self.stamped(event.data, event.number, after)

    def _check(self, follower: _Follower) -> None:
        if self._follower is not follower:
            raise Superseded

    def _outcome(self, handler: asyncio.Future[Any]) -> Any:
        if handler.cancelled():
            raise ProtocolError(INTERNAL_ERROR, "This request was cancelled.")
        error = handler.exception()
        if error is None:
            return handler.result()
        if isinstance(error, ProtocolError):
            raise error.with_traceback(None)
        logger.error("the handler of %r failed", self, exc_info=error)
        raise ProtocolError(INTERNAL_ERROR, str(error) if isinstance(error, MCPError) else "Internal error")

    def _outcome_data(self, handler: asyncio.Future[Any]) -> tuple[Any, dict[str, Any] | None]:
        """The outcome as JSON data: the result, or the error in its place."""
        from pydantic_core import from_json

        try:
            return from_json(as_json(self._outcome(handler))), None
        except ProtocolError as error:
            return None, data_of(error)
        except MCPError as error:  # it is no JSON
            return None, {"code": INTERNAL_ERROR, "message": str(error)}

    def _say(self, kind: EventKind, said: Said) -> CallEvent:
        event = self._log.append(kind, said)
        self._news.tell()
        return event

    def _handler_ended(self, handler: asyncio.Task[Any]) -> None:
        let_go(handler)
        self._news.tell()


def over() -> CallCancelled:
    """What a handler gets that goes on after its call is over, as a thread may: it cannot be cancelled."""
    return CallCancelled("The call that this belongs to is over: it was cancelled, or answered.")


def _is_settled(event: CallEvent) -> bool:
    return event.kind == "question" and event.data.settled


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
