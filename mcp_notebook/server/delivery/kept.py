"""The kept delivery: what a call says is kept until it is known to have arrived, and the client may go and come back.

It speaks both drafts for that (`protocol/extensions`): resumable requests and resumable streams. The handler runs in a
task of its own, and knows nothing of who follows it. Source: rows 1 and 2 of the seeds (RR-1 to RR-12, ST-1 to ST-9).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import ConnectionLost, MCPError, ProtocolError
from ...jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Request, RequestId
from ...limits import Limits
from ...protocol.calls import CallEvent, CallLog, EventKind
from ...protocol.resuming import Dialect, ResumePolicy, ResumeTerms, WorkState, WorkStatus, mark
from ...transports.connection import Connection

audit = logging.getLogger("mcp_notebook.audit")
logger = logging.getLogger("mcp_notebook.server")

Work = Callable[["KeptCall"], Coroutine[Any, Any, Any]]
"""Runs the handler with its delivery, and gives the result in the form in which it is sent."""
_KINDS: Mapping[str, EventKind] = {"notifications/progress": "progress", "notifications/message": "log"}


@dataclass(slots=True)
class _Said:
    """One thing that was said: a notification, or a question with its answer to come."""

    method: str
    params: dict[str, Any]
    answer: asyncio.Future[Any] | None = None

    @property
    def settled(self) -> bool:
        """Whether nobody need hear it any more."""
        return self.answer is not None and self.answer.done()


class Superseded(Exception):
    """Somebody newer follows the call (RR-12); whoever followed it before ends without a word."""


class KeptCall:
    """One call whose messages are kept. It is the `Delivery` of its handler."""

    def __init__(self, calls: KeptCalls, dialect: Dialect, policy: ResumePolicy, principal: str | None) -> None:
        self.dialect = dialect
        self.policy = policy
        self.principal = principal
        self._calls = calls
        self._log = CallLog(calls.limits.call_events)
        self._handed_over = 0
        self._news = asyncio.Event()
        self._follower: object | None = None
        self._unheard: Callable[[], float] = lambda: 0.0
        self._touched = asyncio.get_running_loop().time()
        self._handler: asyncio.Task[Any] | None = None
        self._expiry: asyncio.TimerHandle | None = None

    def __repr__(self) -> str:
        return f"<KeptCall of request {self.policy.request_id!r}>"

    def start(self, work: Work) -> None:
        """Let the handler run."""
        self._handler = asyncio.create_task(work(self))
        self._handler.add_done_callback(lambda _: self._tell_news())

    # What the handler does

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        self._say(_KINDS.get(method, "note"), _Said(method, params))
        await asyncio.sleep(0)  # a handler that says much lets it go out

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._say("question", _Said(method, params, answer))
        limits = self._calls.limits
        try:
            async with asyncio.timeout(limits.question + (self.policy.max_wait or limits.kept)):
                return await answer
        except TimeoutError:
            raise MCPError(f"Nobody answered {method!r} in time.") from None

    # What clients do

    async def follow(self, connection: Connection, about: RequestId | None, after: int = 0) -> Any:
        """Send what was said after a number, and go on until the outcome: the result, or a ProtocolError.

        Raises:
            Superseded: somebody newer follows.
            ConnectionLost: the client has gone; the call goes on without it.
        """
        me = self._follower = object()
        self._unheard = lambda: connection.unheard(about) if about is not None else 0.0
        self._tell_news()
        self.touch()
        self._log.confirm(after)
        try:
            return await self._follow(me, connection, about, after)
        finally:
            if self._follower is me:
                self._follower = None
                self.touch()

    def touch(self) -> None:
        """The client showed that it is still there: its time begins anew (RR-8)."""
        self._touched = asyncio.get_running_loop().time()
        self._expire_in(self._wait)

    def status(self) -> WorkStatus:
        """How it stands (RR-9)."""
        unsaid = [event.data for event in self._log.since(self._handed_over) if not _settled(event)]
        asks = any(event.kind == "question" and not _settled(event) for event in self._log.since(0))
        state: WorkState = "processing"
        if self._handler is not None and self._handler.done():
            failed = self._handler.cancelled() or self._handler.exception() is not None
            state = "failed" if failed else "completed"
        return WorkStatus(state=state, pending=bool(unsaid) or state != "processing", asks=asks)

    def cancel(self) -> None:
        """The client no longer wants it: a later resume gets an error (RR-7)."""
        audit.info("%r was cancelled by its client", self)
        self.end()

    def end(self) -> None:
        """Give it up, and forget it."""
        self._stop_expiry()
        if self._handler is not None:
            self._handler.cancel()
        self._calls.forget(self)

    # Within

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
        said: _Said = event.data
        params = {**said.params, "_meta": mark(said.params.get("_meta"), self.policy.request_id, event.number)}
        if said.answer is None:
            await connection.notify(said.method, params, about=about)
        elif not said.answer.done():
            id = f"{self._calls.prefix}-{self.policy.request_id}-{event.number}"
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

    def _say(self, kind: EventKind, said: _Said) -> None:
        self._log.append(kind, said)
        self._tell_news()

    def _tell_news(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _stop_expiry(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    @property
    def _wait(self) -> float:
        return self.policy.max_wait if self.policy.max_wait is not None else self._calls.limits.kept

    def _expire_in(self, seconds: float) -> None:
        self._stop_expiry()
        self._expiry = asyncio.get_running_loop().call_later(seconds, self._expire)

    def _expire(self) -> None:
        away = asyncio.get_running_loop().time() - self._touched
        if self._follower is not None:
            away = min(away, self._unheard())
        if away < self._wait - 0.001:
            self._expire_in(self._wait - away)
            return
        audit.info("%r was given up: its client did not come back in time", self)
        self.end()


@dataclass(slots=True)
class KeptCalls:
    """The kept calls of one server, found by the digest of their token; bounded in number."""

    limits: Limits
    prefix: str = field(default_factory=lambda: f"q{secrets.token_hex(4)}")
    """Begins the ids of questions, which must hold across connections."""
    _calls: dict[str, KeptCall] = field(default_factory=dict)

    def open(self, dialect: Dialect, id: RequestId, terms: ResumeTerms, principal: str | None) -> KeptCall:
        """A new call, with a token of its own.

        Raises:
            ProtocolError: too many are kept already.
        """
        if len(self._calls) >= self.limits.kept_calls:
            raise ProtocolError(INTERNAL_ERROR, f"More than {self.limits.kept_calls} calls are kept; try again later.")
        policy = ResumePolicy(
            request_id=id,
            token=secrets.token_urlsafe(32),
            min_wait=terms.min_wait,
            max_wait=terms.max_wait if terms.max_wait is not None else int(self.limits.kept),
            stream_id=secrets.token_hex(16),
        )
        call = self._calls[_digest(policy.token)] = KeptCall(self, dialect, policy, principal)
        return call

    def find(self, dialect: Dialect, name: RequestId | None, token: str | None, principal: str | None) -> KeptCall:
        """The call of a token, if it is that of this request or stream, and of whoever asks.

        Raises:
            ProtocolError: it is not; nothing is told of what there is (RR-6, ST-3).
        """
        call = self._calls.get(_digest(token or ""))
        own = None if call is None else call.policy.request_id if dialect.same_id else call.policy.stream_id
        if call is None or call.dialect is not dialect or own != name or call.principal != principal:
            audit.warning("an unknown resume token was used")
            raise ProtocolError(INVALID_PARAMS, "There is nothing to resume under this id and token (any more).")
        return call

    def forget(self, call: KeptCall) -> None:
        """No longer keep it."""
        self._calls.pop(_digest(call.policy.token), None)

    def __len__(self) -> int:
        return len(self._calls)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _settled(event: CallEvent) -> bool:
    return isinstance(event.data, _Said) and event.data.settled


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
