"""Asking with widgets, in the cell that waits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ...client.urls import ExaminedUrl
from ...limits import DEFAULT_LIMITS
from ...transports.command import Command
from ...types import ElicitParams, ElicitResult
from ..places import Place
from ..prompter import Decision
from ..runtime import Runtime
from ..waiting import NobodyWaiting

if TYPE_CHECKING:
    from .consent_card import ConsentCard
    from .question_card import QuestionCard
    from .url_card import UrlCard


class WidgetPrompter:
    """The prompter for places where ipywidgets are shown and can be answered while the cell waits.

    Args:
        runtime: its cell shows the cards.
        place: where questions are asked instead.
    """

    def __init__(self, runtime: Runtime, place: Place | None = None) -> None:
        self._runtime = runtime
        self._place = place

    async def consent(self, command: Command) -> Decision:
        card = _consent(command)
        outcome = f"{Decision.REFUSED.value}, as there was no answer"
        try:
            await self._show(card)
            decision = await asyncio.wrap_future(card.decision)
            outcome = decision.value
            return decision
        finally:
            card.settle(outcome)

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        card = _question(server, params)
        try:
            await self._show(card)
            return await asyncio.wrap_future(card.answer)
        except NobodyWaiting:
            card.leave_no_word()
            raise
        finally:
            card.leave_outcome()

    async def visit(
        self, server: str, params: ElicitParams, url: ExaminedUrl, done: asyncio.Event, wait: bool
    ) -> ElicitResult:
        card = _url(server, params, url)
        outcome = "not opened, as there was no answer"
        holding = False
        try:
            await self._show(card)
            action = await asyncio.wrap_future(card.answer)
            outcome = {"accept": "the link was shown", "decline": "declined", "cancel": "not now"}[action]
            if action == "accept":
                card.hold_link(wait)
                holding = not wait
                if wait:
                    outcome = await _done(card, done, "done there, as you said")
            return ElicitResult(action=action)
        except NobodyWaiting:
            card.leave_no_word()
            raise
        finally:
            if holding:
                self._keep(card, done)
            else:
                card.settle(outcome)

    async def _show(self, card: ConsentCard | QuestionCard | UrlCard) -> None:
        """In its place, or in the cell that waits. Raises NobodyWaiting."""
        if self._place is None:
            await self._runtime.on_main(card.show)
        else:
            await card.stand_in(self._place)

    def _keep(self, card: UrlCard, done: asyncio.Event) -> None:
        """The call goes on, and the link stays until the server says that all is done there, within bounds."""

        async def keep() -> None:
            outcome = "the link was shown"
            try:
                async with asyncio.timeout(DEFAULT_LIMITS.question):
                    outcome = await _done(card, done, outcome)
            except TimeoutError:
                pass
            finally:
                card.settle(outcome)

        task = asyncio.get_running_loop().create_task(keep())
        _KEPT.add(task)
        task.add_done_callback(_KEPT.discard)


_KEPT: set[asyncio.Task[None]] = set()


async def _done(card: UrlCard, done: asyncio.Event, said_so: str) -> str:
    """Until the server says that the person is done, or they say so; in a few words, `said_so` for the latter."""
    told, said = asyncio.ensure_future(done.wait()), asyncio.wrap_future(card.done)
    try:
        await asyncio.wait({told, said}, return_when=asyncio.FIRST_COMPLETED)
        return "done there" if told.done() else said_so
    finally:
        told.cancel()
        said.cancel()


def _question(server: str, params: ElicitParams) -> QuestionCard:
    from .question_card import QuestionCard

    return QuestionCard(server, params)


def _url(server: str, params: ElicitParams, url: ExaminedUrl) -> UrlCard:
    from .url_card import UrlCard

    return UrlCard(server, params.message, url)


def _consent(command: Command) -> ConsentCard:
    from .consent_card import ConsentCard  # loading ipywidgets takes longer than all the rest, and may not be needed

    return ConsentCard(command)
