"""What a call can be, and the numbered log of what it has said. Pure data: no clock, no loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
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

    def __init__(self, bound: int) -> None:
        self._last = 0
        self._kept: list[CallEvent] = []
        self._progress: CallEvent | None = None
        self._lines: deque[CallEvent] = deque(maxlen=bound)
        self._dropped: deque[int] = deque(maxlen=bound)
        self._dropped_in_all = 0

    @property
    def last(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._last

    def append(self, kind: EventKind, data: Any) -> CallEvent:
        """Say something."""
        self._last += 1
        event = CallEvent(self._last, kind, data)
        if kind == "progress":
            self._progress = event
        elif kind == "log":
            if len(self._lines) == self._lines.maxlen:
                self._dropped.append(self._lines[0].number)
                self._dropped_in_all += 1
            self._lines.append(event)
        else:
            self._kept.append(event)
        return event

    def confirm(self, cursor: int) -> None:
        """What came up to the event of that number has arrived, and need not be kept; questions are kept all the same,
        since they may be unanswered."""
        self._kept = [event for event in self._kept if event.number > cursor or event.kind == "question"]
        while self._lines and self._lines[0].number <= cursor:
            self._lines.popleft()
        if self._progress is not None and self._progress.number <= cursor:
            self._progress = None

    def since(self, cursor: int) -> list[CallEvent]:
        """What came after the event of that number, as far as it is kept; a marker stands first for what is not."""
        if cursor >= self._last:
            return []
        latest = [self._progress] if self._progress else []
        events = sorted(
            (event for event in (*self._kept, *self._lines, *latest) if event.number > cursor),
            key=lambda event: event.number,
        )
        missed = sum(number > cursor for number in self._dropped)
        if missed == self._dropped.maxlen:
            missed = self._dropped_in_all  # the numbers of the oldest are forgotten: as for a reader from the beginning
        return [CallEvent(cursor, "dropped", missed), *events] if missed else events
