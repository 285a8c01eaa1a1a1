"""Faults on purpose: a channel and a TCP proxy that cut, delay, split and repeat, and books of what comes of it.

All of it is seeded: what happens to a message or a byte depends on the seed and on its place in the conversation alone,
not on the clock, so that a seed that fails fails again. Each keeps a `Record` of what it did.
"""

from .channel import FaultyChannel, FaultyServer, FaultyStdio
from .ledger import Ledger, note
from .messages import Fault, Plan, Way, at, randomly, when
from .proxy import ByteFaults, ConnectionFaults, FaultyProxy, random_connections
from .record import Record

__all__ = [
    "ByteFaults",
    "ConnectionFaults",
    "Fault",
    "FaultyChannel",
    "FaultyProxy",
    "FaultyServer",
    "FaultyStdio",
    "Ledger",
    "Plan",
    "Record",
    "Way",
    "at",
    "note",
    "random_connections",
    "randomly",
    "when",
]
