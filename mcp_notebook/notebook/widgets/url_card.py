"""The card that asks whether a URL may be opened, and then holds the link: the one place where a server's URL is one.

The kernel opens nothing and fetches nothing. The link opens in the person's own browser, without a way back to this
page (no opener, no referrer), and only after they said so (URL-5).
"""

from __future__ import annotations

import functools
from concurrent.futures import Future
from html import escape
from typing import Literal

from ...client.urls import ExaminedUrl
from ...limits import DISPLAY_LIMITS
from ...render.html import Html, h
from ...render.letters import excerpt, line
from ...visible import visible
from ..actions import Choice
from ..prompter import around_host
from .card import Card, button, decide, give_up, made_visible

Action = Literal["accept", "decline", "cancel"]
_ALLOW = Choice(
    "Agree and show the link",
    "The server learns that you agree; a click on the link then opens the page in a new tab of your browser",
)
_DECLINE = Choice("Decline", "The server learns that you do not want to", "primary")
_CANCEL = Choice("Not now", "The server learns that you did not decide")
_DONE = Choice(
    "I am done there", "Goes on with the call; where the server finds that it is not, it asks again", "primary"
)
_HIDE = Choice("Close", "The link goes; the call goes on")


class UrlCard(Card):
    """Shows who asks, why, and the whole URL with its host set apart, and asks. Consented, it holds the link.

    Args:
        server: who asks.
        message: why.
        examined: the URL.

    Attributes:
        answer: what the person did.
        done: set when they say that they are done.
        buttons: those that are there at first, by the action.
    """

    def __init__(self, server: str, message: str, examined: ExaminedUrl) -> None:
        self.answer: Future[Action] = Future()
        self.done: Future[None] = Future()
        self._server, self._message, self._examined = line(server), message, examined
        choices: dict[Action, Choice] = {"accept": _ALLOW, "decline": _DECLINE, "cancel": _CANCEL}
        self.buttons = {
            action: button(choice, functools.partial(decide, self.answer, action)) for action, choice in choices.items()
        }
        self.hide_button = button(_HIDE, functools.partial(decide, self.done, None))
        self.done_button = button(_DONE, functools.partial(decide, self.done, None))
        self._title = f"{self._server} wants you to open a page in your browser"
        super().__init__("mcp-ask", self._title, self._says(_shown(examined)), list(self.buttons.values()))

    def show(self) -> None:
        """Display it in the cell that runs. Call it in the main thread."""
        self.present(
            f"● {self._title}: {line(self._message)}\n\n    {visible(self._examined.url)}\n\n"
            "No buttons here? Interrupt, run `%env MCP_NOTEBOOK_PROMPTS=text`, and call again."
        )

    def hold_link(self, waits: bool) -> None:
        """Consent was given: here is the link. With `waits`, the call waits until all is done there."""
        self.entitle(f"open the page of {self._server}")
        note = f"The call goes on when {self._server} says that you are done, or when you say so." if waits else ""
        self.change(self._says(_link(self._examined), note), [self.done_button if waits else self.hide_button])

    def withdraw(self) -> None:
        give_up(self.answer)

    def settle(self, outcome: str) -> None:
        """Leave a line in the card's place. May be called from any thread."""
        self.leave(f"{outcome}: {visible(self._examined.url)}")

    def _close(self) -> None:
        self._row.children = [*self.buttons.values(), self.hide_button, self.done_button]  # also what is not shown
        super()._close()

    def _says(self, url: Html, note: str = "") -> Html:
        warnings = [h("div", f"Careful: {made}", cls="mcp-state") for made in self._examined.warnings]
        notes = [h("div", note, cls="mcp-mute")] if note else []
        message = excerpt(self._message, DISPLAY_LIMITS.text)
        return h("div", h("div", message, cls="mcp-prose"), url, *warnings, *notes, cls="mcp-body")


def _shown(examined: ExaminedUrl) -> Html:
    """The whole URL, its host apart, as text."""
    before, host, after = around_host(examined)
    marked = h("span", made_visible(before), h("b", made_visible(host)), made_visible(after))
    return h("div", h("pre", marked, cls="mcp-text mcp-code"), h("div", f"host: {examined.host}", cls="mcp-mute"))


def _link(examined: ExaminedUrl) -> Html:
    before, host, after = map(escape, around_host(examined))
    return Html(
        f'<div><a href="{escape(examined.url)}" target="_blank" rel="noopener noreferrer" '
        f'referrerpolicy="no-referrer">{before}<b>{host}</b>{after}</a></div>'
    )
