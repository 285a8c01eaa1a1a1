"""A call of a tool, as it is to be seen: while it works, and when it has ended."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from ..client import CallHandle, ToolResult
from ..errors import MCPError
from ..limits import DEFAULT_LIMITS, DISPLAY_LIMITS
from ..protocol.calls import CallState
from ..render import parts_of
from ..render.letters import excerpt
from ..render.parts import Bar, Card, Fold, Part, Text
from ..types import LogMessage, Progress
from .shown_arguments import folded, shown_arguments

LINES = 5
"""How many of the latest log lines are seen while a call works."""
_NAMED = 80
"""How many characters of the arguments stand in the first line."""
_STATES: dict[CallState, tuple[Literal["work", "ask", "done", "fail", "drop"], str]] = {
    CallState.RUNNING: ("work", "working"),
    CallState.INPUT_REQUIRED: ("ask", "needs your answer"),
    CallState.COMPLETED: ("done", "completed"),
    CallState.FAILED: ("fail", "failed"),
    CallState.CANCELLED: ("drop", "cancelled"),
    CallState.DROPPED: ("drop", "dropped"),
    CallState.RESUMING: ("work", "resuming"),
    CallState.EXPIRED: ("fail", "no longer there"),
    CallState.UNKNOWN: ("drop", "outcome unknown"),
}


class CallView:
    """What is to be seen of a call.

    Args:
        handle: the call.
        typed: its arguments as the person wrote them, for the first line.
    """

    def __init__(self, handle: CallHandle, typed: str = "") -> None:
        self._handle = handle
        self._about = f"on {handle.server}" + (f" · {excerpt(typed, _NAMED)}" if typed else "")
        # To be unfolded, where the first line does not hold them all.
        self._arguments = [] if 0 < len(typed) <= _NAMED else folded(shown_arguments(handle))
        self._lines: deque[str] = deque(maxlen=DEFAULT_LIMITS.call_events)
        self._when: deque[str] = deque(maxlen=LINES)
        self._logged = 0
        self._heard = self._told = 0

    async def follow(self) -> None:
        """Hear what the call says, until it has ended; on the background loop."""
        async for event in self._handle.events():
            self._heard = event.number
            if isinstance(event.data, LogMessage):
                self._lines.append(log_line(event.data))
                self._when.append(f"{datetime.now():%H:%M:%S}")
                self._logged += 1
            elif isinstance(event.data, int):
                self._logged += event.data

    def drawn(self) -> None:
        """What `working` gave was shown. On the background loop."""
        self._handle.shown(self._told)

    def working(self) -> list[Part]:
        """How it stands."""
        self._told = self._heard
        parts: list[Part] = []
        if (progress := progress_of(self._handle)) is not None:
            parts.append(progress)
        if earlier := max(0, self._logged - LINES):
            parts.append(Text(f"{earlier:,} earlier line{'s' if earlier > 1 else ''}", "note"))
        if self._lines:
            latest = zip(self._when, list(self._lines)[-LINES:], strict=True)
            parts.append(Text("\n".join(f"{when}  {line}" for when, line in latest)))
        if explained := explanation(self._handle):
            parts.append(Text(explained, "note"))
        return [self._card(self._handle.status, [*parts, *self._arguments], clock(self._handle.elapsed))]

    def ended(self, outcome: ToolResult | MCPError | None, note: str = "", *, brief: bool = False) -> list[Part]:
        """What came of it.

        Args:
            outcome: the result, or the error to tell of here.
            note: something to add.
            brief: the result is shown elsewhere.
        """
        parts: list[Part] = [] if outcome is None or brief else list(parts_of(outcome))
        title = ""
        if parts and isinstance(parts[0], Card):  # a failure comes as a card of its own
            title, parts = parts[0].title, list(parts[0].parts)
        if note:
            parts.append(Text(note, "note"))
        if self._lines:
            parts.append(self._log())
        if not brief:
            parts += self._arguments
        seconds = self._handle.elapsed
        return [self._card(self._handle.status, parts, f"{seconds:.1f} s" if seconds >= 1 else "", title)]

    def _log(self) -> Fold:
        """The last of the log lines, as many as are shown of any text."""
        shown: deque[str] = deque()
        room = DISPLAY_LIMITS.text
        for line in reversed(self._lines):
            room -= len(line) + 1
            if room < 0:
                break
            shown.appendleft(line)
        count = f"{self._logged:,} line{'s' if self._logged > 1 else ''}"
        summary = f"the last {len(shown):,} of {count}" if len(shown) < self._logged else count
        return Fold(f"log ({summary})", [Text("\n".join(shown))])

    def _card(self, state: CallState, parts: Sequence[Part], aside: str, title: str = "") -> Card:
        colour, words = _STATES[state]
        colour = "fail" if title else colour
        return Card(colour, title or words, parts, name=excerpt(self._handle.tool), about=self._about, aside=aside)


def state_words(state: CallState) -> str:
    """A state for people."""
    return _STATES[state][1]


def state_card(handle: CallHandle, parts: Sequence[Part] = ()) -> Card:
    """How a call stands, in a line, and more about it."""
    colour, words = _STATES[handle.status]
    return Card(
        colour, words, parts, name=excerpt(handle.tool), about=f"on {handle.server}", aside=clock(handle.elapsed)
    )


def explanation(handle: CallHandle) -> str:
    """What it means that its connection was lost, where it was, and what can be done; "" where there is nothing to add
    to its outcome."""
    resume = f"%mcp resume {handle.id}"
    match handle.status:
        case CallState.DROPPED:
            if handle.is_left:
                return f"It was under way when the kernel ended. {resume} goes on with it."
            return (
                "The connection was lost. The server works on, and keeps what it has to say until it is asked for it, "
                f"which is tried again and again for a while; {resume} tries at once."
            )
        case CallState.RESUMING:
            return "The connection was lost, and the server is asked for what it has kept."
        case CallState.UNKNOWN if handle.outlives_its_connection:
            return f"{resume} asks the server again."
        case _:
            return ""


def clock(seconds: float) -> str:
    """A time that goes on, such as 0:42."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def progress_of(handle: CallHandle) -> Part | None:
    """How far a call is, where it told."""
    if handle.progress is None:
        return None
    waits = handle.status is CallState.INPUT_REQUIRED  # how fast a person answers is no rate of the work
    return progress_part(handle.progress, 0 if waits else handle.elapsed)


def progress_part(progress: Progress, elapsed: float) -> Part:
    """How far something is: how much, how fast, what is being done; a bar where the whole is known."""
    words, total = progress_words(progress, elapsed), progress.total
    if not total or total < 0:
        return Text(words)
    return Bar(min(max(progress.progress / total, 0.0), 1.0), words)


def progress_words(progress: Progress, elapsed: float) -> str:
    """The same in words."""
    done, total = progress.progress, progress.total
    words = [f"{done:g} of {total:g}" if total else f"{done:g}"]
    if elapsed >= 1 and done > 0:
        rate = done / elapsed
        words.append(f"{rate:.3g}/s")
        if total and total > done:
            words.append(f"{(total - done) / rate:.0f} s left")
    if progress.message:
        words.append(excerpt(progress.message))
    return " · ".join(words)


def log_line(line: LogMessage) -> str:
    """A log line of a server's in plain text, shortened."""
    said = line.data if isinstance(line.data, str) else json.dumps(line.data, ensure_ascii=False, default=str)
    level = line.level if line.level != "info" else ""
    return " ".join(filter(None, [level, excerpt(line.logger or ""), excerpt(said, DISPLAY_LIMITS.line)]))
