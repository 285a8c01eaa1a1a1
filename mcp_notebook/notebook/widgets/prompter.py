"""Asking with widgets, in the cell that waits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ...transports.command import Command
from ...types import ElicitParams, ElicitResult
from ..prompter import Decision, Prompter
from ..runtime import Runtime

if TYPE_CHECKING:
    from .consent_card import ConsentCard


class WidgetPrompter:
    """The prompter for places where ipywidgets are shown and can be answered while the cell waits.

    Args:
        runtime: its cell shows the cards.
        other: asks what has no card yet.
    """

    def __init__(self, runtime: Runtime, other: Prompter) -> None:
        self._runtime = runtime
        self._other = other

    async def consent(self, command: Command) -> Decision:
        card = await self._runtime.on_main(lambda: _shown(command))
        outcome = f"{Decision.REFUSED.value}, as there was no answer"
        try:
            decision = await asyncio.wrap_future(card.decision)
            outcome = decision.value
            return decision
        finally:
            card.settle(outcome)

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        return await self._other.elicit(server, params)


def _shown(command: Command) -> ConsentCard:
    from .consent_card import ConsentCard  # loading ipywidgets takes longer than all the rest, and may not be needed

    card = ConsentCard(command)
    card.show()
    return card
