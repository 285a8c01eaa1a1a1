"""Where a call's questions are asked, other than in an output of their own: within the call's card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..render.parts import Part


class Place(Protocol):
    """The card of a call. Both are called on the background loop."""

    async def hold(self, widget: Any) -> None:
        """Show a widget.

        Raises:
            NobodyWaiting: the card is not to be seen, and no cell waits in which it could be shown.
        """
        ...

    def release(self, widget: Any, parts: Sequence[Part]) -> None:
        """Show it no longer, and something else in its place."""
        ...
