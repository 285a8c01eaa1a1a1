"""What a store keeps, and what it can do: the contract of all of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One thing that is remembered. Owner, kind and key together name it, and never change."""

    owner: str
    """Whose it is. Nobody finds what another owner has, and each has keys of their own (TSK-9)."""
    kind: str
    """What it is, in a word of whoever uses the store: "task", "resumable", "call"."""
    key: str
    """A task's id, the digest of a token, a call's id."""
    state: str
    """How it stands, in a word of whoever uses the store."""
    created: float
    """When it began, in seconds since the epoch."""
    expires: float | None
    """When its time is over, in seconds since the epoch; None: never by itself."""
    data: bytes = field(repr=False)
    """What there is to know about it, as JSON. Kept out of the repr, as there may be tokens in it (RR-11)."""
    serial: int = 0
    """Its place in the order in which records were added, given by the store, never twice (0: not yet). It has gaps."""


class Store(Protocol):
    """Records, found by their names, listed in the order in which they were added.

    Each operation is done when it returns, takes well under a millisecond however many records there are (but for
    `of_everyone`), and may be called from any thread. With a file, one change in some hundreds waits for the disk (a
    few milliseconds), and all wait for other processes that write, for `limits.store_busy` at most. A store has no
    clock: what has expired is there until `expire` takes it out.

    Raises:
        StoreError: by each operation of a store in a file, if the file cannot be read or written.
    """

    @property
    def durable(self) -> bool:
        """Whether what it keeps outlives the process."""
        ...

    def add(self, record: Record) -> Record | None:
        """Keep a new record; it is given back with its serial. None: there is one of its name, which stays."""
        ...

    def update(self, record: Record) -> bool:
        """Change state, expiry and data of the record of the same name.

        False where there is none (any more): what somebody deleted does not come back by work that still went on.
        """
        ...

    def get(self, owner: str, kind: str, key: str) -> Record | None:
        """The record of a name."""
        ...

    def delete(self, owner: str, kind: str, key: str) -> bool:
        """Forget the record of a name. True for one caller only, whoever else tries at the same time."""
        ...

    def page(self, owner: str, kind: str, *, after: int = 0, limit: int = 100) -> list[Record]:
        """An owner's records of a kind whose serial is greater than `after`: the first of them, by serial."""
        ...

    def count(self, owner: str, kind: str, states: Collection[str]) -> int:
        """How many records of a kind an owner has in these states."""
        ...

    def total(self) -> int:
        """How many records there are, whoever's."""
        ...

    def of_everyone(self, kind: str, states: Collection[str], *, after: int = 0, limit: int = 100) -> list[Record]:
        """As `page`, in these states, whoever's they are. For a new start, which has to know what was unfinished.

        It reads past the records of other kinds and states, so it takes longer the more of them there are.
        """
        ...

    def expire(self, now: float, limit: int = 100) -> list[Record]:
        """Take out the records whose time is over at `now`, and give them: the first of them, by expiry.

        Each is given to one caller only, also where several processes share a file.
        """
        ...

    def next_expiry(self) -> float | None:
        """When the next record expires (or has expired), in seconds since the epoch; None: none ever will."""
        ...

    def close(self) -> None:
        """Nothing is asked of the store any more. May be called again."""
        ...
