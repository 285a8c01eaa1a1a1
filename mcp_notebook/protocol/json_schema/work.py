"""How much work one check may be: steps in all, steps for each field, and nesting."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

STEPS = 50_000
"""How many keywords may be applied in one check; a step takes some microseconds."""
FIELD_STEPS = 10_000
"""How many of them one property of an outermost object may use."""
NESTING = 150
"""How many keywords may be open within each other."""


class Unchecked(Exception):
    """What comes here cannot be checked within the bounds."""


@dataclass(slots=True)
class Work:
    steps: int = STEPS
    field_steps: int = FIELD_STEPS
    nesting: int = 0
    in_field: bool = False

    def spend(self, steps: int) -> None:
        self.steps -= steps
        self.field_steps -= steps
        if self.steps < 0 or self.field_steps < 0 or self.nesting > NESTING:
            raise Unchecked

    def field(self, errors: Iterator[Any]) -> Iterator[Any]:
        """The errors of one property. Those of an outermost object each have a bound, and end alone at it."""
        if self.in_field:
            yield from errors
            return
        self.in_field, self.field_steps = True, FIELD_STEPS
        try:
            yield from errors
        except Unchecked:
            if self.steps < 0:
                raise
        finally:
            self.in_field, self.field_steps = False, FIELD_STEPS


CURRENT: ContextVar[Work] = ContextVar("CURRENT")
"""The work of the check that is running."""
