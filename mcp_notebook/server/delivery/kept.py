"""The kept delivery: what a call says is kept until it is known to have arrived, and the client may go and come back.

It speaks both drafts for that (`protocol/extensions`): resumable requests and resumable streams. The handler runs in a
task of its own, and knows nothing of who follows it. Source: rows 1 and 2 of the seeds (RR-1 to RR-12, ST-1 to ST-9).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
from dataclasses import dataclass, field
from typing import Any

from ...calls.call import Call, Said
from ...errors import ProtocolError
from ...jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RequestId
from ...limits import Limits
from ...protocol.calls import CallEvent, EventKind
from ...protocol.resuming import Dialect, ResumePolicy, ResumeTerms, WorkState, WorkStatus, mark
from ...store import Store
from ...transports.connection import Connection
from ...types import Result
from .expiry import Expiry
from .remembered import KIND, Remembered, ended_record, recall, working_record

audit = logging.getLogger("mcp_notebook.audit")


class KeptCall(Call):
    """One call with a policy to resume it."""

    __slots__ = ("_calls", "_ended", "_expiry", "_touched", "dialect", "digest", "policy", "principal")

    def __init__(
        self, calls: KeptCalls, dialect: Dialect, policy: ResumePolicy, principal: str | None, digest: bytes
    ) -> None:
        super().__init__(policy.request_id, calls.prefix, calls.limits)
        self.digest = digest
        """Of its token."""
        self.dialect = dialect
        self.policy = policy
        self.principal = principal
        self._calls = calls
        self._touched = asyncio.get_running_loop().time()
        self._ended = False
        self._expiry = calls.expiry()
        self._expiry.add(self)

    @property
    def patience(self) -> float:
        return self.policy.max_wait or self.limits.kept

    def passed_over(self, connection: Connection, after: int | None) -> list[CallEvent]:
        """Whoever has heard a question may have answered it in vain; it is known by its id (RR-5)."""
        return [
            CallEvent(number, "question", said) for number, said in self.questions.items() if number <= (after or 0)
        ]

    def last_word(self, result: Any, after: int) -> Any:
        """The result, which says what must have been heard before it, as messages do."""
        if isinstance(result, Result):
            return result.model_copy(update={"meta": mark(result.meta, self.request_id, after=after)})
        return {**result, "_meta": mark(result.get("_meta"), self.request_id, after=after)}

    # What clients do

    def touch(self) -> None:
        """The client showed that it is still there: its time begins anew (RR-8)."""
        self._touched = asyncio.get_running_loop().time()

    def status(self) -> WorkStatus:
        """How it stands (RR-9)."""
        unsaid = [event.data for event in self._log.since(self._handed_over) if not _settled(event)]
        state: WorkState = "processing"
        if self._handler is not None and self._handler.done():
            failed = self._handler.cancelled() or self._handler.exception() is not None
            state = "failed" if failed else "completed"
        return WorkStatus(state=state, pending=bool(unsaid) or state != "processing", asks=bool(self.questions))

    def cancel(self) -> None:
        """The client no longer wants it: a later resume gets an error (RR-7)."""
        audit.info("%r was cancelled by its client", self)
        self.end()

    def end(self) -> None:
        """Give it up, and forget it."""
        if not self._ended:
            self._ended = True
            super().end()
            self._calls.forget(self)
            self._expiry.is_over()

    # Beyond a restart

    def remembered(self, handler: asyncio.Task[Any]) -> Remembered:
        """What is to be remembered of it, now that its handler is done."""
        said: list[tuple[int, EventKind, str, dict[str, Any]]] = [
            (event.number, event.kind, event.data.method, event.data.params)
            for event in self._log.since(0)
            if isinstance(event.data, Said) and event.kind != "question"
        ]
        return Remembered(self.dialect, self.policy, said, self._log.last, *self._outcome_data(handler))

    def become(self, remembered: Remembered) -> None:
        """Be what it was before the restart."""
        for number, kind, method, params in remembered.said:
            self._log.skip_to(number)
            self._log.append(kind, Said(method, params))
        self._log.skip_to(remembered.last + 1)

        outcome = self._handler = asyncio.get_running_loop().create_future()
        try:
            outcome.set_result(remembered.outcome())
        except ProtocolError as error:
            outcome.set_exception(error)
            outcome.exception()  # perhaps nobody comes for it

    def _handler_ended(self, handler: asyncio.Task[Any]) -> None:
        super()._handler_ended(handler)
        if not self._ended:
            self._calls.ended(self, handler)

    # Its time

    def due(self) -> float | None:
        if self._ended:
            return None
        heard = self._touched
        if self._follower is not None:
            heard = max(heard, asyncio.get_running_loop().time() - self._follower.unheard)
        return heard + (self.policy.max_wait if self.policy.max_wait is not None else self.limits.kept)

    def expire(self) -> None:
        audit.info("%r was given up: its client did not come back in time", self)
        self.end()


@dataclass(slots=True)
class KeptCalls:
    """The kept calls of one server, found by the digest of their token; bounded in number."""

    limits: Limits
    store: Store | None = None
    """What remembers them beyond a restart; None: nothing does."""
    prefix: str = field(default_factory=lambda: f"q{secrets.token_hex(4)}")
    """Begins the ids of questions, which must hold across connections."""
    _calls: dict[bytes, KeptCall] = field(default_factory=dict)
    _expiry: Expiry | None = None

    def open(self, dialect: Dialect, terms: ResumeTerms, id: RequestId, principal: str | None) -> KeptCall:
        """A new call, with a token of its own.

        Raises:
            ProtocolError: too many are kept already.
        """
        if not self._has_room():
            raise ProtocolError(INTERNAL_ERROR, f"More than {self.limits.kept_calls} calls are kept; try again later.")
        policy = ResumePolicy(
            request_id=id,
            token=secrets.token_urlsafe(32),
            min_wait=terms.min_wait,
            max_wait=terms.max_wait if terms.max_wait is not None else int(self.limits.kept),
            stream_id=None if dialect.same_id else secrets.token_hex(16),
        )
        call = self._keep(dialect, policy, principal, _digest(policy.token))
        if self.store is not None:
            self.store.add(working_record(call.digest, principal, dialect, policy))
        return call

    def _keep(self, dialect: Dialect, policy: ResumePolicy, principal: str | None, digest: bytes) -> KeptCall:
        call = self._calls[digest] = KeptCall(self, dialect, policy, principal, digest)
        return call

    def ended(self, call: KeptCall, handler: asyncio.Task[Any]) -> None:
        """It has its outcome, which outlives a restart where there is a store for that."""
        if self.store is not None:
            self.store.update(ended_record(call.digest, call.principal, call.remembered(handler)))

    def _has_room(self) -> bool:
        """Whether one more can be kept; the oldest whose outcome was sent gives way."""
        if len(self._calls) >= self.limits.kept_calls:
            told = next((call for call in self._calls.values() if call.told), None)
            if told is None:
                return False
            told.end()
        return True

    def find(self, dialect: Dialect, name: RequestId | None, token: str | None, principal: str | None) -> KeptCall:
        """The call of a token, if it is that of this request or stream, and of whoever asks.

        Raises:
            ProtocolError: it is not; nothing is told of what there is (RR-6, ST-3).
        """
        digest = _digest(token or "")
        call = self._calls.get(digest) or self._recalled(digest, principal)
        own = None if call is None else call.policy.request_id if dialect.same_id else call.policy.stream_id
        if call is None or call.dialect is not dialect or own != name or call.principal != principal:
            audit.warning("an unknown resume token was used")
            raise ProtocolError(INVALID_PARAMS, "There is nothing to resume under this id and token (any more).")
        return call

    def forget(self, call: KeptCall) -> None:
        """No longer keep it."""
        self._calls.pop(call.digest, None)
        if self.store is not None:
            self.store.delete(call.principal or "", KIND, call.digest.hex())

    def _recalled(self, digest: bytes, principal: str | None) -> KeptCall | None:
        """A call from before a restart."""
        remembered = None if self.store is None else recall(self.store, digest, principal)
        if remembered is None or not self._has_room():
            return None
        call = self._keep(remembered.dialect, remembered.policy, principal, digest)
        call.become(remembered)
        return call

    def expiry(self) -> Expiry:
        """What gives calls up on the event loop that runs here. A server may be served on one after the other."""
        loop = asyncio.get_running_loop()
        if self._expiry is None or self._expiry.loop is not loop:
            self._expiry = Expiry(loop)
        return self._expiry

    def __len__(self) -> int:
        return len(self._calls)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _settled(event: CallEvent) -> bool:
    return isinstance(event.data, Said) and event.data.settled
