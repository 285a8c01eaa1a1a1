"""What the place around a client (the specification's "host") does for it: it asks the person there."""

from __future__ import annotations

import asyncio
from typing import Protocol

from .transports.command import Command
from .types import ElicitParams, ElicitResult


class Host(Protocol):
    """The person's side. A notebook has one; a plain program has none and passes handlers of its own."""

    async def consent(self, command: Command, *, trust: bool = False) -> None:
        """Ask whether a command may start.

        Args:
            command: what would start.
            trust: it may where nobody can be asked (CON-3).

        Raises:
            ConsentDenied: it may not, or nobody said so (CON-2).
        """

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        """Ask the person what a server wants to know."""
        ...

    async def visit(self, server: str, params: ElicitParams, done: asyncio.Event, wait: bool) -> ElicitResult:
        """Ask the person whether to open a URL, and let them open it.

        Args:
            server: what the server is called here.
            params: its question, in URL mode.
            done: set once the server says that all is done there.
            wait: whether to answer only then, or when the person says so.
        """
        ...
