"""Answering the questions of one server: each once, also where it comes again after a drop (RR-5)."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..errors import InvalidResult, ProtocolError
from ..jsonrpc import INTERNAL_ERROR, Request
from ..protocol.calls import Occurrence
from ..protocol.peer import same
from ..protocol.revision import Profile
from ..types import InputRequest, InputRequiredResult, Result
from ..types.problems import first_problem
from .answering import QUESTIONS, Answering, answer
from .visits import Visits

if TYPE_CHECKING:
    from .call import ClientCall
    from .heard import HeardCalls

asking_call: ContextVar[Any] = ContextVar("asking_call", default=None)
"""The call whose question is being answered, where that is known: the `CallHandle` that people have of it."""

GIVEN = 100
"""How many answers to questions of no particular call are remembered."""


class Questions:
    """What a server asks on one connection, and the answers.

    Args:
        answering: what answers.
        visits: the URLs that it asked to visit.
        calls: the calls that may have asked.
        seconds: how long an answer may take.
    """

    def __init__(self, answering: Answering, visits: Visits, calls: HeardCalls, seconds: float) -> None:
        self._answering = answering
        self._visits = visits
        self._calls = calls
        self._seconds = seconds

    async def answer_once(self, profile: Profile, request: Request, call: ClientCall | None) -> Result:
        """The answer to a question; the one that was given before, or is being given, where it is known.

        The questions of a resumable call belong to the call, not to the connection: while somebody thinks about an
        answer, connections may come and go. Others are known by their id and what they ask.
        """
        if call is None:
            return await self._answer_anew(profile, request, None)
        if not call.lasts():
            return await self._answered_while_it_runs(profile, request, call)
        pending = call.questions.get(request.id)
        if pending is None:
            answering = self.answer(profile, request.method, request.params, call)
            pending = call.questions[request.id] = asyncio.ensure_future(answering)
        elif not pending.done():
            call.moved(Occurrence.ASKED)  # it was dropped meanwhile
        return await asyncio.shield(pending)

    async def supplied(
        self, profile: Profile, params: dict[str, Any], raw: Any, number: int, call: ClientCall | None
    ) -> dict[str, Any]:
        """The parameters of a request anew, with what the server wants to know first; its state goes back as it came,
        byte for byte.

        Args:
            profile: what was negotiated.
            params: the parameters of the request.
            raw: what it was answered with.
            number: how often it was answered so before.
            call: the call that the questions belong to.

        Raises:
            InvalidResult: the answer is broken, or asks for what was not declared.
        """
        try:
            wanted = InputRequiredResult.model_validate(raw)
        except ValidationError as error:
            raise InvalidResult(f"The server's question is broken: {first_problem(error)}.") from None
        if wanted.input_requests is None and wanted.request_state is None:
            raise InvalidResult("The server's question is broken: it has neither 'inputRequests' nor 'requestState'.")
        supplied = {**params}
        if wanted.input_requests:
            answering = (self.answer_input(profile, one, call) for one in wanted.input_requests.values())
            answers = await asyncio.gather(*answering)
            supplied["inputResponses"] = dict(zip(wanted.input_requests, answers, strict=True))
        else:
            await asyncio.sleep(min(0.1 * 2**number, 2.0))  # "not yet": there is nothing to answer
        if wanted.request_state is not None:
            supplied["requestState"] = wanted.request_state
        return supplied

    async def answer_input(self, profile: Profile, asked: InputRequest, call: ClientCall | None) -> Any:
        """The answer to a question inside a result, as JSON data.

        Raises:
            InvalidResult: the server asks for what was not declared.
        """
        if asked.method not in QUESTIONS or not profile.client_has(asked.method):
            raise InvalidResult(f"The server asks for {asked.method[:80]!r}, which this client did not declare.")
        return (await self.answer(profile, asked.method, asked.params, call)).wire()

    async def answer(
        self, profile: Profile, method: str, params: dict[str, Any] | None, call: ClientCall | None
    ) -> Result:
        """The answer to a question, which may belong to a call. Raises ProtocolError."""
        if call is None:
            return await self._answer_in_time(profile, method, params)
        call.asked(params)
        asking_call.set(call)
        try:
            result = await self._answer_in_time(profile, method, params)
        except BaseException as error:
            call.answered(error, params)
            raise
        call.answered(result, params)
        return result

    async def _answered_while_it_runs(self, profile: Profile, request: Request, call: ClientCall) -> Result:
        """Whoever cancels a call is not asked for it any longer, whether its server takes the question back or not."""
        answering = asyncio.ensure_future(self._answer_anew(profile, request, call))
        call.pushed = (*call.pushed, answering)
        try:
            return await answering
        except asyncio.CancelledError:
            if not call.done():
                raise
            ended = f"The call of {call.tool!r} that asked this was cancelled."
            raise ProtocolError(INTERNAL_ERROR, ended) from None
        finally:
            answering.cancel()
            call.pushed = tuple(one for one in call.pushed if one is not answering)

    async def _answer_anew(self, profile: Profile, request: Request, call: ClientCall | None) -> Result:
        given = self._calls.given if self._calls else {}
        earlier = given.get(request.id)
        if earlier is not None and same(earlier[0], request):
            return earlier[1]
        result = await self.answer(profile, request.method, request.params, call)
        given[request.id] = request, result
        if len(given) > GIVEN:
            del given[next(iter(given))]
        return result

    async def _answer_in_time(self, profile: Profile, method: str, params: dict[str, Any] | None) -> Result:
        try:
            async with asyncio.timeout(self._seconds):
                return await answer(self._answering, self._visits, profile, method, params)
        except TimeoutError:
            raise ProtocolError(INTERNAL_ERROR, f"No answer within {self._seconds:g} s.") from None
