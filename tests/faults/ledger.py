"""The books of a test with many calls: what was begun, run, said, heard and received, and what does not add up."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

__all__ = ["Ledger", "Occurrence", "note"]

Occurrence: TypeAlias = Literal[
    "began",  # the client began the call; the value, if any, is the result that it should have
    "ran",  # the handler began
    "said",  # the handler said a message of this number, which must arrive
    "heard",  # the client heard the message of this number
    "asked",  # the client was asked the question of this name
    "answered",  # the handler got the answer to the question of this name
    "promised",  # the client had a token or an event id: from here on nothing may be unknown
    "received",  # the client had this result
    "unknown",  # the client was told that nobody knows what became of it
    "failed",  # the client had this error
]


@dataclass(slots=True)
class Account:
    """What happened to one call: for each occurrence, its values in their order."""

    notes: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))

    def values(self, what: Occurrence) -> list[Any]:
        return self.notes.get(what, [])

    def count(self, what: Occurrence) -> int:
        return len(self.values(what))

    def has_repeated(self, what: Occurrence) -> bool:
        values = [json.dumps(value, sort_keys=True) for value in self.values(what)]
        return len(set(values)) < len(values)


_ROWS: Mapping[str, Callable[[Account], bool]] = {
    "results lost": lambda call: not call.count("received") and not call.count("unknown"),
    "results wrong": lambda call: any(
        value != wanted for wanted in call.values("began") if wanted is not None for value in call.values("received")
    ),
    "delivered twice": lambda call: call.count("received") > 1 or call.has_repeated("heard"),
    "handlers run twice": lambda call: call.count("ran") > 1,
    "order broken": lambda call: call.values("heard") != sorted(call.values("heard")),
    "messages lost": lambda call: (
        bool(call.count("received")) and not set(call.values("said")) <= set(call.values("heard"))
    ),
    "asked twice": lambda call: call.has_repeated("asked") or call.has_repeated("answered"),
    "unknown after a promise": lambda call: bool(call.count("unknown") and call.count("promised")),
}
"""What must not be, and for which calls it is so."""


class Ledger:
    """The books of one test. Calls are known by any text or number of the test's own."""

    def __init__(self) -> None:
        self.calls: dict[str, Account] = defaultdict(Account)

    def note(self, what: Occurrence, call: object, value: Any = None) -> None:
        """Something happened to a call. What the value means, `Occurrence` says."""
        assert what in get_args(Occurrence), what
        self.calls[str(call)].notes[what].append(value)

    def read(self, path: Path) -> None:
        """Take over what another process has noted with `note`."""
        for line in path.read_text().splitlines():
            self.note(*json.loads(line))

    @property
    def unknown(self) -> list[str]:
        """The calls whose outcome nobody knows."""
        return [name for name, call in self.calls.items() if call.count("unknown") and not call.count("received")]

    def wrong(self) -> dict[str, list[str]]:
        """What must not be: for each row of the table, the calls of which it is true."""
        return {row: [name for name, call in self.calls.items() if is_so(call)] for row, is_so in _ROWS.items()}

    def table(self) -> str:
        """The outcomes, a line for each."""
        received = sum(bool(call.count("received")) for call in self.calls.values())
        rows = {"calls": len(self.calls), "results received": received}
        rows |= {row: len(calls) for row, calls in self.wrong().items()}
        rows["unknown"] = len(self.unknown)
        return "\n".join(f"{row:<24}{count:>8}" for row, count in rows.items())

    def check(self, *about: object) -> None:
        """Fail, with the table, the first calls that went wrong, and whatever else is given, if anything did.

        Raises:
            AssertionError: something did.
        """
        wrong = {row: calls for row, calls in self.wrong().items() if calls}
        if wrong:
            raise AssertionError("\n".join([self.table(), "", *self._examples(wrong), *map(str, about)]))

    def _examples(self, wrong: Mapping[str, list[str]]) -> Iterator[str]:
        for row, calls in wrong.items():
            yield f"{row}: {', '.join(calls[:10])}{' …' if len(calls) > 10 else ''}"
            yield f"  {calls[0]}: {dict(self.calls[calls[0]].notes)}"


def note(path: str | os.PathLike[str], what: Occurrence, call: object, value: Any = None) -> None:
    """As `Ledger.note`, from another process: a line in a file, which `Ledger.read` reads."""
    line = json.dumps([what, str(call), value]).encode() + b"\n"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, line)
    finally:
        os.close(file)
