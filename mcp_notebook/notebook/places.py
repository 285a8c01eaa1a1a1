"""Where a call's questions are asked, other than in an output of their own: within the call's card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..render.parts import Part


class Place(Protocol):
    """The card of a call. What is here is called on the background loop, `withdraw` from any thread."""

    async def hold(self, widget: Any) -> None:
        """Show a widget.

        Raises:
            NobodyWaiting: the card is not to be seen, and no cell waits in which it could be shown.
        """
        ...

    def release(self, widget: Any, parts: Sequence[Part]) -> None:
        """Show it no longer, and something else in its place."""
        ...

    def withdraw(self) -> None:
        """Ask nothing here any more: what is not answered yet is asked elsewhere."""
        ...
