"""What a client asks about a call that the server announced to be resumable: one message each."""

from __future__ import annotations

import asyncio
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedFeature
from ..jsonrpc import Request
from ..protocol.resuming import WorkStatus, mark

if TYPE_CHECKING:
    from .call import ClientCall
    from .session import ClientSession

LINGER = 0.1
"""Seconds that the request which resumed a stream is given to be answered, once the call's own answer is there."""


async def resume(session: ClientSession, call: ClientCall, timeout: float | None) -> Any:
    """Go on with a call that was announced to be resumable; the raw result.

    Raises:
        ProtocolError: the server no longer has it, or it failed.
        ConnectionLost: the connection was lost again.
    """
    assert call.dialect is not None
    assert call.policy is not None
    assert call.request_id is not None
    method, params = call.dialect.resume(call.policy)
    params = {**params, "_meta": mark(None, call.request_id, call.last_number)}
    session.calls.enter(call)
    try:
        if not call.dialect.same_id:
            request = Request(f"{call.request_id}/{token_hex(4)}", method, params)
            return call.whole(await _resume_stream(session, call, request, timeout))
        return call.whole(
            await session.connection.request(
                method,
                params,
                timeout=timeout,
                on_progress=call.progressed,
                id=call.request_id,
                lasts=call.lasts,
                on_moved=call.way_moved,
            )
        )
    finally:
        session.calls.leave(call)


async def cancel(session: ClientSession, call: ClientCall) -> None:
    """Have a dropped call end there: behind a relay its id is enough, elsewhere it is resumed and cancelled at once."""
    if call.policy is None:
        if call.process == session.process:
            params = {"requestId": call.request_id, "reason": "no longer wanted"}
            await session.connection.notify("notifications/cancelled", params)
        return
    resumed = asyncio.ensure_future(resume(session, call, None))
    await asyncio.sleep(0)  # it is on its way before its cancellation is
    resumed.cancel()
    await asyncio.wait([resumed])


async def status(session: ClientSession, call: ClientCall) -> WorkStatus | None:
    """How a resumable call stands there; None where the answer cannot be read.

    Raises:
        UnsupportedFeature: it is not resumable.
        ProtocolError: the server no longer has it.
    """
    if call.dialect is None or call.policy is None:
        raise UnsupportedFeature(f"The server did not announce that {call.tool!r} can be resumed.")
    method, params = call.dialect.ask_status(call.policy)
    return call.dialect.read_status(await session.connection.request(method, params, timeout=session.limits.request))


async def _resume_stream(session: ClientSession, call: ClientCall, request: Request, timeout: float | None) -> Any:
    """Go on under another id than the call's: the call's own answer comes, and then that of the resume (ST-9)."""
    connection = session.connection
    assert call.request_id is not None
    original = Request(call.request_id, "tools/call")
    outcome = connection.expect(original, timeout=timeout, on_progress=call.progressed, lasts=call.lasts)
    try:
        ended = await connection.ask(request, on_moved=call.way_moved)
        await asyncio.wait({outcome, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not outcome.done():
            await ended  # it was refused, or the connection is lost; else the answer is still to come
        result = await outcome
        await asyncio.wait({ended}, timeout=LINGER)
        return result
    except asyncio.CancelledError:
        connection.notify_soon("notifications/cancelled", {"requestId": request.id, "reason": "no longer wanted"})
        raise
    finally:
        connection.let_go(call.request_id)
        connection.let_go(request.id)
