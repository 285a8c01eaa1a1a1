"""Plans of faults for a channel: what happens to which message."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mcp_notebook.jsonrpc import Message

__all__ = ["Fault", "Plan", "Way", "at", "randomly", "when"]

Way: TypeAlias = Literal["out", "in"]
"""From the end that has the faulty channel, or to it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one message: the channel ends before or after it, or it comes late by `seconds`, or twice."""

    kind: Literal["cut before", "cut after", "delay", "duplicate"]
    seconds: float = 0.0


Plan: TypeAlias = Callable[[Way, int, Message], Fault | None]
"""The fault for a message: its way, its number on that way (from 1), and itself."""


def at(faults: Mapping[tuple[Way, int], Fault]) -> Plan:
    """Faults at chosen places."""
    return lambda way, number, message: faults.get((way, number))


def when(condition: Callable[[Way, Message], bool], fault: Fault, *, times: int = 1) -> Plan:
    """A fault for the first messages of which something is true."""
    left = times

    def plan(way: Way, number: int, message: Message) -> Fault | None:
        nonlocal left
        if not left or not condition(way, message):
            return None
        left -= 1
        return fault

    return plan


def randomly(
    seed: object, *, cut: float = 0.0, delay: float = 0.0, duplicate: float = 0.0, seconds: float = 0.01
) -> Plan:
    """Faults anywhere.

    Args:
        seed: anything that has a text.
        cut, delay, duplicate: how probable each is, for each message.
        seconds: the longest delay.
    """

    def plan(way: Way, number: int, message: Message) -> Fault | None:
        chance = random.Random(f"{seed}/{way}/{number}")
        drawn = chance.random()
        if drawn < cut:
            return Fault("cut before" if chance.random() < 0.5 else "cut after")
        if drawn < cut + delay:
            return Fault("delay", chance.uniform(0, seconds))
        return Fault("duplicate") if drawn < cut + delay + duplicate else None

    return plan
