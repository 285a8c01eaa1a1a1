"""Going on with a call after a drop. Source: rows 1 and 2 of the seeds; architecture, "lost in flight".

Where the server announced that a call can be resumed, it is, with growing pauses and within bounds. Where it did not,
nobody can know whether the call was carried out: one that is safe to repeat (`readOnlyHint`, `idempotentHint`) is sent
again, and of any other the outcome is unknown, which is said.
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
    SessionExpired,
)
from ..jsonrpc import INVALID_PARAMS
from ..protocol.calls import Occurrence
from ..types import Tool

if TYPE_CHECKING:
    from .calls import CallHandle
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


async def go_on(call: CallHandle, attach: Attach, tool: Tool | None, error: MCPError, timeout: float | None) -> Any:
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
    if call.policy is None and not safe_to_repeat(tool):
        call.moved(Occurrence.LOSE)
        raise OutcomeUnknown(
            f"The connection was lost while {call.tool!r} ran, and this server cannot resume it: whether it was "
            f"carried out is unknown. Call it again only if that does no harm. ({error})"
        ) from error
    try:
        return await _tried(call, attach, error, timeout)
    except asyncio.CancelledError:
        if call.policy is not None:
            await _cancel_there(call, attach)
        raise


def safe_to_repeat(tool: Tool | None) -> bool:
    """Whether calling the tool twice does no more than calling it once, by its own word."""
    hints = tool.annotations if tool is not None else None
    return hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)


async def _tried(call: CallHandle, attach: Attach, error: MCPError, timeout: float | None) -> Any:
    failures, pause = 0, FIRST_PAUSE
    while failures < call.limits.resumes:
        heard = call.heard
        call.dropped(error)
        least = call.policy.min_wait if call.policy is not None else 0
        await asyncio.sleep(least)
        await call.pause(max(0.0, pause * random.uniform(0.8, 1.2) - least))
        call.moved(Occurrence.RESUME)
        try:
            session = await attach()
            return await _once_more(call, session, timeout)
        except DROPS as again:
            error = again
        except ProtocolError as refusal:
            if call.policy is None or refusal.code != INVALID_PARAMS or call.heard > heard:
                raise  # it is the call's own outcome
            call.moved(Occurrence.EXPIRE)
            raise ResumeRefused(f"The server no longer has this call of {call.tool!r}: {refusal.message}") from refusal
        failures, pause = (0, FIRST_PAUSE) if call.heard > heard else (failures + 1, min(pause * 2, LONGEST_PAUSE))
    call.moved(Occurrence.LOSE)
    raise OutcomeUnknown(
        f"{call.tool!r} was resumed {failures} times without hearing anything (Limits.resumes). It may still run "
        f"there: %mcp resume {call.id}, or handle.resume(), tries again."
    ) from error


async def _once_more(call: CallHandle, session: ClientSession, timeout: float | None) -> Any:
    if call.policy is None:
        return await session.call(call, timeout, None)
    agreed = session.profile
    try:
        return await session.resume(call, timeout)
    except SessionExpired:  # what is resumed outlives the session it began in
        await session.renew(agreed)
        return await session.resume(call, timeout)


async def _cancel_there(call: CallHandle, attach: Attach) -> None:
    """Resume a dropped call only to cancel it (RR-7)."""
    try:
        async with asyncio.timeout(CANCELLING):
            await (await attach()).cancel_resumed(call)
    except (MCPError, TimeoutError):
        pass  # the server gives it up by itself when nobody comes back
