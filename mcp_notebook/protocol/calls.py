"""What a call can be, and the numbered log of what it has said. Pure data: no clock, no loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Any, Literal, TypeAlias


class CallState(StrEnum):
    """The state of a call, as the calling side knows it."""

    RUNNING = "running"
    INPUT_REQUIRED = "input_required"
    """A question of the server's waits for its answer."""
    COMPLETED = "completed"
    """There is a result; a tool that reports an error has completed, too."""
    FAILED = "failed"
    """There is an error in its place."""
    CANCELLED = "cancelled"
    DROPPED = "dropped"
    """The connection was lost; the call may still be running there."""
    RESUMING = "resuming"
    EXPIRED = "expired"
    """The server no longer has it."""
    UNKNOWN = "unknown"
    """Nobody can know whether it was carried out."""

    @property
    def terminal(self) -> bool:
        """Whether nothing can follow."""
        return self in TERMINAL


class Occurrence(StrEnum):
    """What can happen to a call."""

    ASKED = "asked"
    ANSWERED = "answered"
    RESULT = "result"
    ERROR = "error"
    CANCEL = "cancel"
    DROP = "drop"
    RESUME = "resume"
    RESUMED = "resumed"
    EXPIRE = "expire"
    LOSE = "lose"


_ENDS = {
    Occurrence.RESULT: CallState.COMPLETED,
    Occurrence.ERROR: CallState.FAILED,
    Occurrence.CANCEL: CallState.CANCELLED,
    Occurrence.EXPIRE: CallState.EXPIRED,
    Occurrence.LOSE: CallState.UNKNOWN,
}
TRANSITIONS: Mapping[CallState, Mapping[Occurrence, CallState]] = {
    CallState.RUNNING: {Occurrence.ASKED: CallState.INPUT_REQUIRED, Occurrence.DROP: CallState.DROPPED, **_ENDS},
    CallState.INPUT_REQUIRED: {Occurrence.ANSWERED: CallState.RUNNING, Occurrence.DROP: CallState.DROPPED, **_ENDS},
    CallState.DROPPED: {Occurrence.RESUME: CallState.RESUMING, **_ENDS},
    CallState.RESUMING: {
        Occurrence.RESUMED: CallState.RUNNING,
        Occurrence.ASKED: CallState.INPUT_REQUIRED,
        Occurrence.DROP: CallState.DROPPED,
        **_ENDS,
    },
    CallState.COMPLETED: {},
    CallState.FAILED: {},
    CallState.CANCELLED: {},
    CallState.EXPIRED: {},
    CallState.UNKNOWN: {Occurrence.RESUME: CallState.RESUMING},
}
"""Every way a call can go. What is not in the table does not happen: it changes nothing."""

TERMINAL = frozenset({CallState.COMPLETED, CallState.FAILED, CallState.CANCELLED, CallState.EXPIRED, CallState.UNKNOWN})
"""The states that nothing follows by itself; an unknown call can still be resumed by hand."""


EventKind: TypeAlias = Literal["progress", "log", "note", "question", "answer", "state", "dropped", "outcome"]


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One thing that a call has said.

    `data` is a `Progress`, a `LogMessage`, the question's parameters, the answer, how many log lines were dropped, or
    the outcome (a result or an exception), as `kind` says.
    """

    number: int
    kind: EventKind
    data: Any


class CallLog:
    """The numbered log: in order, bounded, read by cursor.

    Only the latest progress is kept; log lines beyond the bound give way, the oldest first, and a reader who missed
    some is told how many. Questions and the outcome are never dropped.
    """

    __slots__ = ("_bound", "_dropped", "_dropped_in_all", "_kept", "_last", "_lines", "_progress")

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._last = 0
        self._kept: dict[int, CallEvent] = {}
        """All there is, in order."""
        self._progress = 0
        """The number of the latest progress."""
        # The numbers of log lines, those that are kept and those that gave way. Most calls write none.
        self._lines: deque[int] | None = None
        self._dropped: deque[int] | None = None
        self._dropped_in_all = 0

    @property
    def last(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._last

    def skip_to(self, number: int) -> None:
        """The next event bears this number: those before it are known to have arrived, or are gone."""
        self._last = number - 1

    def append(self, kind: EventKind, data: Any) -> CallEvent:
        """Say something."""
        self._last = number = self._last + 1
        event = self._kept[number] = CallEvent(number, kind, data)
        if kind == "progress":
            self._kept.pop(self._progress, None)
            self._progress = number
        elif kind == "log":
            self._log(number)
        return event

    def confirm(self, cursor: int) -> None:
        """What came up to the event of that number has arrived, and need not be kept; questions are kept all the same,
        since they may be unanswered."""
        early = takewhile(lambda event: event.number <= cursor, self._kept.values())
        for number in [event.number for event in early if event.kind != "question"]:
            del self._kept[number]
        while self._lines and self._lines[0] <= cursor:
            self._lines.popleft()

    def since(self, cursor: int) -> list[CallEvent]:
        """What came after the event of that number, as far as it is kept; a marker stands first for what is not."""
        if cursor >= self._last:
            return []
        events = [*takewhile(lambda event: event.number > cursor, reversed(self._kept.values()))]
        missed = self._missed(cursor)
        if missed:
            events.append(CallEvent(cursor, "dropped", missed))
        events.reverse()
        return events

    def _log(self, number: int) -> None:
        if self._lines is None:
            self._lines = deque()
        self._lines.append(number)
        if len(self._lines) > self._bound:
            oldest = self._lines.popleft()
            del self._kept[oldest]
            if self._dropped is None:
                self._dropped = deque(maxlen=self._bound)
            self._dropped.append(oldest)
            self._dropped_in_all += 1

    def _missed(self, cursor: int) -> int:
        """How many log lines after that event are no longer there."""
        if self._dropped is None:
            return 0
        missed = sum(1 for _ in takewhile(lambda number: number > cursor, reversed(self._dropped)))
        # The numbers of the oldest are forgotten: then as for a reader from the beginning.
        return self._dropped_in_all if missed == self._dropped.maxlen else missed
