"""What is found can be tried in the card: a tool has its form, and what is to be read is read there."""

from __future__ import annotations

import asyncio
from typing import Any

from ....errors import MCPError
from ....render import parts_of
from ....render.as_html import write_all
from ....render.html import h
from ....render.letters import line
from ....types import Tool
from ...actions import Choice
from ...brief import CommandError
from ...commands.call import ToolCall
from ...commands.form import tool_form
from ...commands.naming import Found
from ...readings import reading_of
from ...searching import Hit
from ...workspace import COUNTING, Member, Workspace
from ..card import Card, button
from ..reading_form import ReadingForm
from .finder import Trial


async def trial_of(workspace: Workspace, hit: Hit) -> Trial:
    """The card in which a hit is tried, as it is offered now. On the background loop."""
    try:
        member = workspace.member(hit.server)
        item = await _as_it_is(member, hit)
        if isinstance(item, Tool):
            return tool_form(workspace, ToolCall(Found(member, item), {}))
        return ReadingForm(workspace.runtime, member.name, await reading_of(member, item))
    except MCPError as error:
        return _Told(hit, error)


async def _as_it_is(member: Member, hit: Hit) -> Any:
    """What is called so now: it may have changed since it was found. Raises MCPError."""
    try:
        async with asyncio.timeout(COUNTING):
            offered = await member.offered(hit.kind)
    except TimeoutError:
        raise CommandError(f"{member.name} did not answer within {COUNTING:g} s.") from None
    for item in offered:
        if hit.is_of(item):
            return item
    raise CommandError(f"{member.name} no longer offers {hit.item.name}.")


class _Told(Card):
    """Why something cannot be tried."""

    busy, call = False, None

    def __init__(self, hit: Hit, error: MCPError) -> None:
        self.shown = parts_of(error)
        close = button(Choice("Close", "Take this away"), lambda: self.leave_parts([]))
        super().__init__("", "", h("div", write_all(self.shown)), [close], name=line(hit.item.name))

    def focus(self) -> None:
        """There is nothing to fill in."""

    def abandon(self) -> None:
        """Take it away."""
        self._close()
