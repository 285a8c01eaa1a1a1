"""The round-trip delivery: a question ends the request; the handler waits, parked, until the client comes back.

Source: "Multi Round-Trip Requests" (basic/patterns/mrtr) of 2026-07-28. The client carries a sealed `requestState`
that names the parked call and is bound to who asked and what for; it tells the client nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from ...calls.call import over
from ...errors import LimitExceeded, ProtocolError
from ...jsonrpc import INVALID_PARAMS
from ...limits import Limits
from ...types import InputRequest, InputRequiredResult, Result
from . import Current, Delivery

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


@dataclass(slots=True)
class _Question:
    request: InputRequest
    answer: asyncio.Future[Any]


class RoundTrip:
    """One call that may take several requests. It is the `Delivery` of its handler."""

    def __init__(self, parking: Parking, binding: str) -> None:
        self.id = secrets.token_hex(16)
        self.binding = binding
        """Who asked, and what for, as a digest."""
        self.became: Any = None
        """What its last request was answered with, where the call has become a task."""
        self._parking = parking
        self._questions: dict[str, _Question] = {}
        self._given: dict[str, Any] = {}
        self._way: Delivery | None = None
        self._current: Current | None = None
        self._news = asyncio.Event()
        self._handler: asyncio.Task[Result] | None = None
        self._turning: asyncio.Future[None] | None = None
        """What the handler waits for that wants to go on as a task."""
        self._task: Delivery | None = None
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether there is an outcome, which is kept only for a client that asks for it again."""
        return self._handler is not None and self._handler.done()

    # What the handler does

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        if self._ended:
            raise over()
        if self._way is not None:  # between two rounds there is nobody to tell
            await self._way.tell(method, params)

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        if self._ended:
            raise over()
        if self._task is not None:
            return await self._task.ask(method, params, key)
        key = self._unused(key or f"question_{len(self._questions) + 1}")
        if key in self._given:
            return self._given.pop(key)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._questions[key] = _Question(InputRequest(method=method, params=params or None), answer)
        self._news.set()
        return await answer

    async def become_task(self) -> None:
        if self._current is not None and self._current.late_task and self._turning is None:
            self._turning = asyncio.get_running_loop().create_future()
            self._news.set()
            await self._turning

    # What its requests do

    async def round(
        self,
        way: Delivery,
        current: Current,
        work: Callable[[Delivery], Coroutine[Any, Any, Result]],
        answers: Mapping[str, Any] | None,
    ) -> Result | None:
        """One request of the call: the result, or what must be known first; None where the call is to become a task.

        Args:
            way: how what the handler says meanwhile goes out.
            current: the request; what an earlier one said of its sender no longer holds.
            work: makes the handler, where this is the first request.
            answers: key -> answer, as the client gives them; repeated ones are ignored, and so are those that nobody
                asks for.
        """
        self._way = way
        self._parking.fetch(self)
        if self._current is None:
            self._current = current
        else:
            self._current.become(current)
        for key, answer in (answers or {}).items():
            question = self._questions.get(key)
            if question is None:
                if self._handler is None:
                    self._given[key] = answer  # for a question that is still to come
            elif not question.answer.done():
                question.answer.set_result(answer)
        if self._handler is None:
            self._handler = asyncio.create_task(work(self))
        try:
            await self._done_or_asking(self._handler)
        except asyncio.CancelledError:
            if self._way is way:  # the client no longer wants it
                self.end()
            raise
        finally:
            if self._way is way:
                self._way = None
        if self._handler.done():
            self._parking.keep(self)
            return self._handler.result()
        if not self._open():
            self._parking.keep(self)
            return None
        return InputRequiredResult(
            input_requests={key: question.request for key, question in self._open()},
            request_state=self._parking.park(self),
        )

    async def go_on_in(self, task: Delivery) -> Result:
        """The rest of the call, which has become a task."""
        assert self._handler is not None, "it has begun"
        assert self._turning is not None, "it wants to"
        self._task = self._way = task
        self._turning.set_result(None)
        return await self._handler

    def end(self) -> None:
        """Give it up: its handler is cancelled, and so are its questions, for which a thread may be waiting."""
        if self._task is not None:
            self._parking.forget(self)  # the task goes on
            return
        self._ended = True
        if self._turning is not None:
            self._turning.cancel()
        for _, question in self._open():
            question.answer.cancel()
        if self._handler is not None:
            self._handler.cancel()
        self._parking.forget(self)

    async def _done_or_asking(self, handler: asyncio.Task[Result]) -> None:
        while not handler.done():
            # What it asks at the same moment, it asks at once; and what was answered lets it go on first.
            for _ in range(3):
                await asyncio.sleep(0)
            if handler.done() or self._open() or self._turning is not None:
                return
            self._news.clear()
            news = asyncio.create_task(self._news.wait())
            try:
                await asyncio.wait({handler, news}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                news.cancel()

    def _open(self) -> list[tuple[str, _Question]]:
        return [(key, question) for key, question in self._questions.items() if not question.answer.done()]

    def _unused(self, key: str) -> str:
        number, unused = 2, key
        while unused in self._questions:
            unused, number = f"{key}_{number}", number + 1
        return unused


@dataclass(slots=True)
class Parking:
    """The calls of one server that wait for their clients, or have just ended; bounded in number and time."""

    limits: Limits
    _calls: dict[str, RoundTrip] = field(default_factory=dict)
    _timers: dict[str, asyncio.TimerHandle] = field(default_factory=dict)
    _box: Fernet | None = None

    def find(self, state: str, binding: str) -> RoundTrip:
        """The call that a `requestState` names.

        Raises:
            ProtocolError: the state was not made here for this request, or its time is over.
        """
        from cryptography.fernet import InvalidToken

        try:
            sealed = from_json(self._sealer().decrypt(state.encode(), ttl=int(self.limits.question)))
        except (InvalidToken, ValueError):
            raise ProtocolError(
                INVALID_PARAMS,
                "Invalid requestState: it was changed, has expired, or is from before this server was started. "
                "Make the request anew, without it.",
            ) from None
        call = self._calls.get(sealed["call"])
        if sealed["for"] != binding:
            raise ProtocolError(INVALID_PARAMS, "Invalid requestState: it belongs to another request.")
        if call is None:
            raise ProtocolError(
                INVALID_PARAMS, "Invalid requestState: this call is over. Make the request anew, without it."
            )
        return call

    def park(self, call: RoundTrip) -> str:
        """Keep a call until its client comes back; give the state that leads to it.

        Raises:
            LimitExceeded: too many are parked.
        """
        if call.id not in self._calls and not self._has_room():
            call.end()
            raise LimitExceeded(
                f"More than {self.limits.parked_calls} calls wait for answers here. Try again later.",
                limit="parked_calls",
                allowed=self.limits.parked_calls,
            )
        self.keep(call, always=True)
        return self._sealer().encrypt(to_json({"call": call.id, "for": call.binding, "at": time.time()})).decode()

    def _has_room(self) -> bool:
        """Whether one more can be kept; the oldest that has ended gives way."""
        if len(self._calls) >= self.limits.parked_calls:
            ended = next((call for call in self._calls.values() if call.ended), None)
            if ended is None:
                return False
            self.forget(ended)
        return True

    def keep(self, call: RoundTrip, *, always: bool = False) -> None:
        """Keep a call that was parked for `Limits.question` from now, so that a repeated answer finds its outcome."""
        if not always and call.id not in self._calls:
            return
        self._calls[call.id] = call
        self._stop_timer(call)
        self._timers[call.id] = asyncio.get_running_loop().call_later(self.limits.question, call.end)

    def fetch(self, call: RoundTrip) -> None:
        """Its client has come back: what bounds the waiting for it does not bound the work."""
        self._stop_timer(call)

    def forget(self, call: RoundTrip) -> None:
        """No longer keep it."""
        self._calls.pop(call.id, None)
        self._stop_timer(call)

    def _stop_timer(self, call: RoundTrip) -> None:
        timer = self._timers.pop(call.id, None)
        if timer is not None:
            timer.cancel()

    def _sealer(self) -> Fernet:
        if self._box is None:
            from cryptography.fernet import Fernet

            self._box = Fernet(Fernet.generate_key())
        return self._box


def binding(principal: str | None, method: str, params: Mapping[str, Any]) -> str:
    """A digest of who asks for what, so that a state cannot be used by others or for something else."""
    salient = {key: value for key, value in params.items() if key in ("name", "uri", "arguments")}
    return hashlib.sha256(to_json([principal, method, sorted(salient.items())])).hexdigest()
