"""Each question of a server's is answered once, also where it comes again after a drop (RR-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from ..jsonrpc import Request, RequestId
from ..protocol.calls import Occurrence
from ..protocol.peer import same
from ..types import Result

if TYPE_CHECKING:
    from .call import ClientCall
    from .calls import CallHandle

asking: ContextVar[CallHandle | None] = ContextVar("asking", default=None)
"""The call whose question is being answered, where that is known."""

Answer = Callable[[str, "dict[str, Any] | None", "ClientCall | None"], Awaitable[Result]]


Given: TypeAlias = "dict[RequestId, tuple[Request, Result]]"
"""The answers that were given on a connection: the id of a question -> the question and its answer."""
GIVEN = 100
"""How many of them are remembered."""


async def answer_once(request: Request, call: ClientCall | None, given: Given, answer: Answer) -> Result:
    """The answer to a question; the one that was given before, or is being given, where it is known.

    The questions of a resumable call belong to the call, not to the connection: while somebody thinks about an answer,
    connections may come and go. Others are known by their id and what they ask.
    """
    if call is None or not call.lasts():
        return await _answer_anew(request, call, given, answer)
    pending = call.questions.get(request.id)
    if pending is None:
        pending = call.questions[request.id] = asyncio.ensure_future(answer(request.method, request.params, call))
    elif not pending.done():
        call.moved(Occurrence.ASKED)  # it was dropped meanwhile
    return await asyncio.shield(pending)


async def _answer_anew(request: Request, call: ClientCall | None, given: Given, answer: Answer) -> Result:
    earlier = given.get(request.id)
    if earlier is not None and same(earlier[0], request):
        return earlier[1]
    result = await answer(request.method, request.params, call)
    given[request.id] = request, result
    if len(given) > GIVEN:
        del given[next(iter(given))]
    return result
