"""Handlers that cannot go on before a URL was visited, in the way of each revision (URL-4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..errors import ProtocolError, ToolError, URLElicitationRequired
from .context import Context

T = TypeVar("T")
ROUNDS = 5
"""How often one request may want visits, one after the other."""


async def after_visits(required: URLElicitationRequired, run: Callable[[], Awaitable[T]], context: Context) -> T:
    """What a handler gives that wanted a URL to be visited first: the client is asked for that here, and the handler is
    run anew. Where the revision has an error for it, the request fails with that, and the client makes it again.

    Raises:
        ProtocolError: the request has to be made again after the visit.
        ToolError: the person did not want to, or cannot be asked.
    """
    for _ in range(ROUNDS):
        await _visit(required, context)
        try:
            return await run()
        except URLElicitationRequired as again:
            required = again
    raise ToolError(f"The tool wanted a URL to be visited {ROUNDS} times, one after the other, and once more.")


async def _visit(required: URLElicitationRequired, context: Context) -> None:
    profile = context.profile
    if "url" not in profile.elicitation_modes():
        raise ToolError(f"This needs a visit to a URL first, which this client cannot show: {required}")
    if profile.revision.url_required is not None:
        raise ProtocolError(profile.revision.url_required, str(required), {"elicitations": context.visits(required)})
    for url, message in required.elicitations:
        if not await context.elicit_url(url, message):
            raise ToolError(f"The person did not want to visit {url}.")
