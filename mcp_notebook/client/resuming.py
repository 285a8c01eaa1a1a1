"""Going on with a call after a drop. Source: rows 1 and 2 of the seeds; architecture, "lost in flight".

Where the server announced that a call can be resumed, it is, with growing pauses and within bounds. Where it did not,
nobody can know whether the call was carried out: one that is safe to repeat (`readOnlyHint`, `idempotentHint`) is sent
again, and of any other the outcome is unknown, which is said. Behind a relay the server works on, and its answer comes
on the next connection, as long as the same process answers there.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..errors import (
    ConnectError,
    ConnectionLost,
    HTTPError,
    MCPError,
    OutcomeUnknown,
    ProtocolError,
    RequestTimeout,
    ResumeRefused,
    ServerExited,
    SessionExpired,
    TakenOver,
)
from ..jsonrpc import INVALID_PARAMS
from ..protocol.calls import Occurrence
from ..types import Tool
from . import resume_requests

if TYPE_CHECKING:
    from .call import ClientCall
    from .session import ClientSession

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 30.0
CANCELLING = 5.0
"""Seconds given to resuming a call only to cancel it (RR-7)."""
DROPS = (ConnectionLost, ConnectError, HTTPError, RequestTimeout)
"""What ends a wait without ending the call."""


def never_done(error: MCPError) -> bool:
    """Whether a failure says that nobody took the request, so that nothing was done."""
    refused = isinstance(error, HTTPError) and error.status < 500
    return refused or isinstance(error, (ConnectError, SessionExpired))


Attach = Callable[[], Awaitable["ClientSession"]]
"""The connection to go on with: the same, or one made anew."""


async def go_on(call: ClientCall, attach: Attach, tool: Tool | None, error: MCPError, timeout: float | None) -> Any:
    """The raw result of a call whose first connection was lost.

    Args:
        call: the call, which has run into `error`.
        attach: gives the connection to go on with.
        tool: what is known of the tool.
        error: what happened.
        timeout: seconds of silence after which one looks anew.

    Raises:
        ResumeRefused: the server no longer has the call.
        OutcomeUnknown: it cannot be resumed, and must not be repeated.
        MCPError: the last thing that was tried failed.
    """
    if isinstance(error, ServerExited):
        raise _ended(call, tool, error) from error
    _require_a_way(call, tool, error)
    try:
        return await _tried(call, attach, tool, error, timeout)
    except asyncio.CancelledError:
        if call.outlives_its_connection:
            await _cancel_there(call, attach)
        raise


def safe_to_repeat(tool: Tool | None) -> bool:
    """Whether calling the tool twice does no more than calling it once, by its own word."""
    hints = tool.annotations if tool is not None else None
    return hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)


def _require_a_way(call: ClientCall, tool: Tool | None, error: MCPError) -> None:
    """Raise OutcomeUnknown where a call can neither be gone on with nor sent again."""
    if not (call.outlives_its_connection or safe_to_repeat(tool)):
        what = f"The connection was lost while {call.tool!r} ran, and this server cannot resume it"
        raise lost(call, what, tool, error) from error


def lost(call: ClientCall, what: str, tool: Tool | None, error: MCPError | None = None) -> OutcomeUnknown:
    """Nobody can know what became of a call, and it was not sent again: that might do it twice."""
    call.moved(Occurrence.LOSE)
    harmless = "Calling it again does no harm, as the server says of it"
    again = harmless if safe_to_repeat(tool) else "Call it again only if that does no harm"
    why = "" if error is None else f" ({error})"
    return OutcomeUnknown(f"{what}. Whether it was carried out is unknown, so it was not sent again. {again}.{why}")


def _ended(call: ClientCall, tool: Tool | None, error: MCPError | None = None) -> OutcomeUnknown:
    """What ran there has ended with the server's process; nothing is left to go on with."""
    call.begin_anew()
    return lost(call, f"The server ended while {call.tool!r} ran", tool, error)


def _given_up(call: ClientCall, error: MCPError) -> OutcomeUnknown:
    """A person may go on with it later."""
    call.moved(Occurrence.LOSE)
    again = f"%mcp resume {call.id}, or handle.resume(), tries again."
    if isinstance(error, TakenOver):
        return OutcomeUnknown(
            f"Another client took the server over while {call.tool!r} ran. It goes on there. To hear what comes of it, "
            f"connect again, which takes the server back; then {again}"
        )
    return OutcomeUnknown(
        f"{call.tool!r} was resumed {call.limits.resumes} times without hearing anything (Limits.resumes). It may "
        f"still run there: {again}"
    )


async def _tried(call: ClientCall, attach: Attach, tool: Tool | None, error: MCPError, timeout: float | None) -> Any:
    failures, pause = 0, FIRST_PAUSE
    while failures < call.limits.resumes and not isinstance(error, TakenOver):
        heard = call.heard
        call.dropped(error)
        least = call.policy.min_wait if call.policy is not None else 0
        await call.pause(least, pause * random.uniform(0.8, 1.2))
        call.moved(Occurrence.RESUME)
        try:
            session = await attach()
            if call.process not in (None, session.process):
                if not safe_to_repeat(tool):
                    raise _ended(call, tool)
                call.begin_anew()
            _require_a_way(call, tool, error)  # there may have been one, and no longer be
            return await _once_more(call, session, timeout)
        except OutcomeUnknown:
            raise
        except DROPS as again:
            if isinstance(again, RequestTimeout) and call.policy is None:
                raise  # the server was told to stop
            if isinstance(again, ServerExited):
                raise _ended(call, tool, again) from again
            error = again
        except ProtocolError as refusal:
            if call.policy is None or refusal.code != INVALID_PARAMS or call.heard > heard:
                raise  # it is the call's own outcome
            call.moved(Occurrence.EXPIRE)
            raise ResumeRefused(f"The server no longer has this call of {call.tool!r}: {refusal.message}") from refusal
        failures, pause = (0, FIRST_PAUSE) if call.heard > heard else (failures + 1, min(pause * 2, LONGEST_PAUSE))
    raise _given_up(call, error) from error


async def _once_more(call: ClientCall, session: ClientSession, timeout: float | None) -> Any:
    if call.policy is None:
        return await session.call(call, timeout, None, sent=call.process is not None)
    agreed = session.profile
    try:
        return await resume_requests.resume(session, call, timeout)
    except SessionExpired:  # what is resumed outlives the session it began in
        await session.renew(agreed)
        return await resume_requests.resume(session, call, timeout)


async def _cancel_there(call: ClientCall, attach: Attach) -> None:
    """Resume a dropped call only to cancel it (RR-7)."""
    try:
        async with asyncio.timeout(CANCELLING):
            await resume_requests.cancel(await attach(), call)
    except (MCPError, TimeoutError):
        pass  # the server gives it up by itself when nobody comes back
