"""URLs that servers want a person to visit: asked once, watched until they are done (URL-1 to URL-4, URL-7).

The person decides; nothing is opened or fetched here. A server asks by `elicitation/create` in mode "url", or (in the
revisions that have it) by refusing a request until a URL was visited; then the request is made again.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from pydantic import ValidationError

from ..errors import InvalidResult, ProtocolError
from ..jsonrpc import INVALID_PARAMS, Notification
from ..limits import Limits
from ..protocol.revision import Profile
from ..types import ElicitParams, ElicitResult
from ..types.problems import first_problem
from .urls import examine

audit = logging.getLogger("mcp_notebook.audit")

Visiting: TypeAlias = Callable[[ElicitParams, asyncio.Event, bool], Awaitable[ElicitResult]]
"""Asks whether a URL may be opened: (the question, set once the server says that all is done, whether to wait for that,
or for the person to say so, before giving an answer) -> what the person did."""


class Visits:
    """The URLs that one server asked to visit.

    Args:
        visiting: asks the person; None where nobody can be asked.
        limits: how many may be open at once, and for how long.
    """

    def __init__(self, visiting: Visiting | None, limits: Limits) -> None:
        self._visiting = visiting
        self._limits = limits
        self._open: dict[str, asyncio.Event] = {}

    async def ask(self, params: ElicitParams, *, wait: bool = False) -> ElicitResult:
        """Ask the person.

        Raises:
            ProtocolError: the URL is not one to open, or too many are asked about at once.
        """
        assert self._visiting is not None, "or the mode would not have been declared"
        if len(self._open) >= self._limits.visits:
            raise ProtocolError(INVALID_PARAMS, f"More than {self._limits.visits} URLs at once (Limits.visits).")
        try:
            examined = examine(params.url, loopback=True)
        except ValueError as error:
            audit.warning("a server asks to open a URL that is refused: %s", error)
            raise ProtocolError(INVALID_PARAMS, f"This URL is not opened: {error}.") from None
        id, done = params.elicitation_id, asyncio.Event()
        if id is not None:
            self._open[id] = done
        try:
            result = await self._visiting(params, done, wait)
        except BaseException:
            self._forget(id)
            raise
        audit.info("a server asked to open a URL at %s: %s", examined.host, result.action)
        if result.action != "accept" or wait:
            self._forget(id)
        elif id is not None:
            asyncio.get_running_loop().call_later(self._limits.question, self._forget, id)
        return ElicitResult(action=result.action)

    def told(self, notification: Notification) -> None:
        """A server says that a visit is done; what it did not ask for, or is done already, is ignored (URL-3)."""
        id = (notification.params or {}).get("elicitationId")
        done = self._open.pop(id, None) if isinstance(id, str) else None
        if done is not None:
            done.set()

    async def satisfied(self, error: ProtocolError, profile: Profile) -> bool:
        """Whether a request that was refused should be made again: it wanted URLs to be visited, and they were.

        Raises:
            InvalidResult: what the server wants has not the form of that (URL-4).
        """
        if self._visiting is None or error.code != profile.revision.url_required:
            return False
        for params in _required(error):
            if (await self.ask(params, wait=True)).action != "accept":
                return False
        return True

    def _forget(self, id: str | None) -> None:
        if id is not None:
            self._open.pop(id, None)


def _required(error: ProtocolError) -> list[ElicitParams]:
    elicitations = error.data.get("elicitations") if isinstance(error.data, dict) else None
    if not isinstance(elicitations, list) or not elicitations:
        raise InvalidResult(f"The server wants a URL to be visited, and names none: {error.message}")
    try:
        found = [ElicitParams.model_validate(one) for one in elicitations]
    except ValidationError as problem:
        raise InvalidResult(f"The server's wish for a visit is broken: {first_problem(problem)}.") from None
    if any(one.mode != "url" or one.elicitation_id is None for one in found):
        raise InvalidResult("The server refuses the request for something else than a URL to visit.")
    return found


def visiting_by(handler: Callable[[ElicitParams], Any], limits: Limits) -> Visiting:
    """Asking by a plain function: True opens (or has opened) the URL, False declines, None cancels."""

    async def visit(params: ElicitParams, done: asyncio.Event, wait: bool) -> ElicitResult:
        answer = handler(params)
        answer = await answer if inspect.isawaitable(answer) else answer
        if isinstance(answer, ElicitResult):
            return answer
        if answer and wait:
            with suppress(TimeoutError):
                async with asyncio.timeout(limits.question):
                    await done.wait()
        return ElicitResult(action="cancel" if answer is None else "accept" if answer else "decline")

    return visit
