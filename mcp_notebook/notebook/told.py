"""What became of the questions of a call: told in its card, the last ones of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..render.parts import Part, Text

KEPT = 20
"""Of how many questions it is told, however many a server asks and takes back."""


class Told:
    """Iterated over, the parts to show. One thread adds; any may read."""

    def __init__(self) -> None:
        self._last: Sequence[Sequence[Part]] = ()
        self._earlier = 0

    def add(self, parts: Sequence[Part]) -> None:
        """One question more."""
        if parts:
            last = (*self._last, parts)
            self._earlier += max(0, len(last) - KEPT)
            self._last = last[-KEPT:]

    def __iter__(self) -> Iterator[Part]:
        if self._earlier:
            yield Text(f"{self._earlier:,} earlier question{'s' if self._earlier > 1 else ''}", "note")
        for parts in self._last:
            yield from parts
