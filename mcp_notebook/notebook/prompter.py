"""What asking the person is, whatever it is done with: widgets, lines of text, or a policy where nobody can answer.

The front end of the cell that waits decides which it is, anew for each question: `host.py`.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Protocol

from ..client.urls import ExaminedUrl
from ..transports.command import Command
from ..transports.relay import behind, is_ours, is_relay
from ..types import ElicitParams, ElicitResult
from ..visible import visible

WARNING = (
    "This can be dangerous: it runs with your rights, and can read, change and send whatever you can. Start it only if "
    "you know where it comes from."
)
"""What is said of every command (CON-1)."""


class Decision(Enum):
    """What became of the question whether a command may start."""

    ONCE = "allowed to start, until this kernel ends"
    REMEMBER = "allowed to start, and remembered"
    REFUSED = "not started"
    NOBODY = "nobody can be asked"


class Prompter(Protocol):
    """One way to ask. Its methods run on the background loop; whoever cancels them takes the question back."""

    async def consent(self, command: Command) -> Decision:
        """Ask whether a command may start.

        Raises:
            NobodyWaiting: the cell stopped waiting before anything was shown.
        """
        ...

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        """Ask what a server wants to know.

        Args:
            server: what the server is called here.
            params: its question, in form mode.

        Raises:
            NobodyWaiting: as above.
        """
        ...

    async def visit(
        self, server: str, params: ElicitParams, url: ExaminedUrl, done: asyncio.Event, wait: bool
    ) -> ElicitResult:
        """Ask whether a URL may be opened, and let the person open it (URL-5).

        Args:
            server: what the server is called here.
            params: its question, in URL mode.
            url: its URL, examined.
            done: set once the server says that all is done there.
            wait: whether to answer only then, or when the person says so.

        Raises:
            NobodyWaiting: as above.
        """
        ...


def around_host(url: ExaminedUrl) -> tuple[str, str, str]:
    """A URL in three parts, its host (as it stands there) in the middle."""
    start = url.url.index("//") + 2
    end = min((place for mark in "/?#" if (place := url.url.find(mark, start)) >= 0), default=len(url.url))
    return url.url[:start], url.url[start:end], url.url[end:]


def in_short(command: Command) -> str:
    """A command, without what we put before it ourselves to keep its server running."""
    return f"{behind(command)} (kept running)" if is_ours(command) else str(command)


def circumstances(command: Command) -> str:
    """Where a command would run, and with which additions to its environment, without their values (CON-1)."""
    parts = [f"in {visible(command.directory)}"]
    if command.env:
        hidden = "value hidden" if len(command.env) == 1 else "values hidden"
        parts.append(f"adds to the environment {', '.join(map(visible, sorted(command.env)))} ({hidden})")
    if is_relay(command):
        parts.append("runs on when this kernel ends")
    return " · ".join(parts)
