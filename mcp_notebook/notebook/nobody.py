"""Where nobody can be asked (nbclient, CI, a script): a policy answers, at once, and says what it did."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from enum import Enum

from ..client.urls import ExaminedUrl
from ..render.letters import line
from ..transports.command import Command
from ..types import ElicitParams, ElicitResult
from ..visible import quote, visible
from .forms import Form
from .prompter import Decision

ELICITATION = "MCP_NOTEBOOK_ELICITATION"


class Policy(Enum):
    """What becomes of a server's question that nobody can answer (DEF-3)."""

    CANCEL = "cancel"
    DECLINE = "decline"
    ACCEPT_DEFAULTS = "accept-defaults"
    """Accept with the defaults that the server proposes; cancel where these are not enough."""


class Nobody:
    """The prompter that asks nobody.

    Args:
        tell: shows a line.
        policy: what to do; None for what the environment variable `MCP_NOTEBOOK_ELICITATION` says (cancel by default).
    """

    def __init__(self, tell: Callable[[str], Awaitable[None]], policy: Policy | None = None) -> None:
        self._tell = tell
        self.policy = policy

    async def consent(self, command: Command) -> Decision:
        return Decision.NOBODY

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        result, why = self._answer(params)
        did = {"accept": "accepted with its defaults", "decline": "declined", "cancel": "cancelled"}[result.action]
        await self._tell(
            f"● {line(server)} asked: {line(params.message)}\n  Nobody can answer here, so it was {did}{why}."
        )
        return result

    async def visit(
        self, server: str, params: ElicitParams, url: ExaminedUrl, done: asyncio.Event, wait: bool
    ) -> ElicitResult:
        await self._tell(
            f"● {line(server)} asked to open a page: {line(params.message)}\n  {visible(url.url)}\n"
            "  Nobody can do that here, so it was cancelled."
        )
        return ElicitResult(action="cancel")

    def _answer(self, params: ElicitParams) -> tuple[ElicitResult, str]:
        """The answer, and what to add about it."""
        policy = self.policy
        if policy is None:
            named = os.environ.get(ELICITATION, Policy.CANCEL.value)
            if named not in (each.value for each in Policy):
                known = ", ".join(each.value for each in Policy)
                return ElicitResult(action="cancel"), f" ({ELICITATION} is {quote(named)}, which is none of {known})"
            policy = Policy(named)
        if policy is not Policy.ACCEPT_DEFAULTS:
            hint = f" ({ELICITATION}={Policy.ACCEPT_DEFAULTS.value} accepts with the server's defaults)"
            return ElicitResult(action=policy.value), hint if policy is Policy.CANCEL else ""
        form = Form(params.requested_schema)
        values = form.defaults()
        if problems := form.errors(values):
            return ElicitResult(action="cancel"), f", as the defaults do not suffice ({problems[0]})"
        return ElicitResult(action="accept", content=values), ""
