"""What was done to a conversation, to be read where a test has failed."""

from __future__ import annotations

from collections import Counter

__all__ = ["Record"]


class Record:
    """Each fault in a line, and how many there were of each kind."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.counts: Counter[str] = Counter()

    def note(self, kind: str, where: str) -> None:
        """A fault of this kind was done there."""
        self.counts[kind] += 1
        self.lines.append(f"{where}: {kind}")

    def __str__(self) -> str:
        counts = ", ".join(f"{count} × {kind}" for kind, count in sorted(self.counts.items()))
        return "\n".join([f"faults: {counts or 'none'}", *(f"  {line}" for line in self.lines)])
