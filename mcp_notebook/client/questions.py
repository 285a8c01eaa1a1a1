"""Each question of a server's is answered once, also where it comes again after a drop (RR-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ..jsonrpc import Request
from ..protocol.calls import Occurrence
from ..types import Result

if TYPE_CHECKING:
    from .calls import CallHandle

asking: ContextVar[CallHandle | None] = ContextVar("asking", default=None)
"""The call whose question is being answered, where that is known."""

Answer = Callable[[str, "dict[str, Any] | None", "CallHandle | None"], Awaitable[Result]]


async def answer_once(request: Request, call: CallHandle | None, answer: Answer) -> Result:
    """The answer to a question; the one that was given before, or is being given, where it is known.

    The questions of a resumable call belong to the call, not to the connection: while somebody thinks about an answer,
    connections may come and go.
    """
    if call is None or not call.lasts():
        return await answer(request.method, request.params, call)
    pending = call.questions.get(request.id)
    if pending is None:
        pending = call.questions[request.id] = asyncio.ensure_future(answer(request.method, request.params, call))
    elif not pending.done():
        call.moved(Occurrence.ASKED)  # it was dropped meanwhile
    return await asyncio.shield(pending)
