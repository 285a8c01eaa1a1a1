"""Where a call's questions are asked, other than in the cell that waits: within the call's own card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ..render.parts import Part


class Place(Protocol):
    """The card of a call that no cell waits for. Both are called on the background loop."""

    def hold(self, widget: Any) -> None:
        """Show a widget."""
        ...

    def release(self, widget: Any, parts: Sequence[Part]) -> None:
        """Show it no longer, and something else in its place."""
        ...
