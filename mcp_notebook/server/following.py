"""Calls that are kept for a client that may go and come back: begun, followed and asked about on one connection.

How a call is kept, `delivery.kept` says; what clients send for it, and hear, the drafts in `protocol/extensions`.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..calls.call import Superseded, Work
from ..errors import ConnectionLost, ProtocolError
from ..jsonrpc import ErrorResponse, Notification, Request, Response
from ..protocol.extensions import RESUMING as DIALECTS
from ..protocol.resuming import Dialect, read_mark
from ..protocol.revision import Profile
from ..transports.connection import NO_ANSWER
from ..types import Result
from .delivery.kept import KeptCall, audit

if TYPE_CHECKING:
    from .session import ServerSession

logger = logging.getLogger("mcp_notebook.server")
RESUMING: Mapping[str, Dialect] = {
    method: dialect for dialect in DIALECTS for method in (dialect.resume_method, dialect.status_method)
}


def resumes(method: str, profile: Profile) -> bool:
    """Whether a client can go on with calls by a method, by what was agreed on."""
    return method in profile.revision.client_requests and (
        getattr(profile.client, RESUMING[method].capability) is not None
    )


async def resume(session: ServerSession, request: Request) -> Any:
    """Go on with a kept call, or tell how it stands."""
    dialect = RESUMING[request.method]
    name, token = dialect.key(request.params)
    if request.method == dialect.status_method:
        call = session.server.kept.find(dialect, name, token, session.principal)
        call.touch()
        return dialect.status_result(call.policy, call.status())
    call = session.server.kept.find(dialect, request.id if dialect.same_id else name, token, session.principal)
    audit.info("%r is resumed", call)
    return await follow(session, call, request)


async def follow(session: ServerSession, call: KeptCall, request: Request, work: Work[KeptCall] | None = None) -> Any:
    """What the call says from here on, in the way of the request that asks for it. With `work` it only begins."""
    ending, original = call.dialect.end(call.policy), call.policy.request_id
    try:
        if work is not None:
            await _announce(session, call, request)
            call.start(work)
            work = None  # while many calls wait, each keeps only what it still needs
        outcome = await call.follow(session.connection, request.id, read_mark(request.params).number)
        if ending is None:
            return outcome
        return await _end(session, Response(original, outcome, last=False), ending, request)
    except ProtocolError as error:
        if ending is None:
            raise
        refusal = ErrorResponse(original, error.code, error.message, error.data, last=False)
        return await _end(session, refusal, ending, request)
    except (Superseded, ConnectionLost):
        return NO_ANSWER
    except asyncio.CancelledError:
        if not session.connection.ended:
            call.cancel()
        raise


async def resume_unasked(session: ServerSession, notification: Notification, profile: Profile) -> None:
    """Go on with a call for a request without an id, which has no answer (ST-9)."""
    request = Request(secrets.token_hex(16), notification.method, notification.params)
    try:
        if resumes(request.method, profile):
            await resume(session, request)
    except ProtocolError as error:
        logger.warning("%r without an id failed: %s", request.method, error.message)


async def _announce(session: ServerSession, call: KeptCall, request: Request) -> None:
    announced = call.dialect.announce(call.policy)
    try:
        await session.connection.notify(announced.method, announced.params, about=request.id)
    except ConnectionLost:
        call.end()  # nobody will ever know how to resume it
        raise


async def _end(session: ServerSession, reply: Response | ErrorResponse, ending: Notification, request: Request) -> Any:
    """Where the draft has a word for the end, the call's own response and that word come before the answer to a
    request that followed it (ST-2, ST-6, ST-9)."""
    try:
        await session.connection.reply(reply, about=request.id)
        await session.connection.notify(ending.method, ending.params, about=request.id)
    except ConnectionLost:
        return NO_ANSWER
    return NO_ANSWER if request.method not in RESUMING else Result()
