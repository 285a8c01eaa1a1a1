"""What is found can be tried in the card: a tool has its form."""

from __future__ import annotations

from ....errors import MCPError
from ....render import parts_of
from ....render.as_html import write_all
from ....render.html import h
from ....types import Tool
from ...actions import Choice
from ...brief import CommandError
from ...commands.call import ToolCall
from ...commands.form import tool_form
from ...commands.naming import Found
from ...prompter import line
from ...searching import Hit
from ...workspace import Workspace
from ..card import Card, button
from .finder import Trial


async def trial_of(workspace: Workspace, hit: Hit) -> Trial:
    """The card in which a hit is tried. On the background loop."""
    try:
        member = workspace.member(hit.server)
        if isinstance(hit.item, Tool):
            return tool_form(workspace, ToolCall(Found(member, hit.item), {}))
        raise CommandError(f"Write: {hit.attempt}")
    except MCPError as error:
        return _Told(hit, error)


class _Told(Card):
    """Why something cannot be tried."""

    busy, call = False, None

    def __init__(self, hit: Hit, error: MCPError) -> None:
        self.shown = parts_of(error)
        close = button(Choice("Close", "Take this away"), lambda: self.leave_parts([]))
        super().__init__("", "", h("div", write_all(self.shown)), [close], name=line(hit.item.name))

    def abandon(self) -> None:
        self._close()
