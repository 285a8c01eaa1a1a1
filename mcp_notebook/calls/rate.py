"""How often somebody may ask: so many times a second on average, and in bursts."""

from __future__ import annotations

from dataclasses import dataclass, field

BURST = 10.0
"""Seconds of asking at the full rate that may be saved up."""
FORGET = 10_000
"""How many askers are remembered."""


@dataclass(slots=True)
class Rate:
    """Counts what each asker has left. Times are in seconds.

    Args:
        per_second: how often one may ask.
    """

    per_second: float
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Asker -> how much was left, and when."""
    over: set[str] = field(default_factory=set)
    """Those who ask too often at present."""

    def take(self, who: str, now: float) -> bool:
        """Ask once more; False where that is too often."""
        most = self.per_second * BURST
        left, then = self._left.get(who, (most, now))
        left = min(most, left + (now - then) * self.per_second)
        if len(self._left) > FORGET:
            self._left.clear()
            self.over.clear()
        self._left[who] = (left - 1 if left >= 1 else left, now)
        if left >= 1:
            self.over.discard(who)
        return left >= 1
