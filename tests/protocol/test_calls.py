"""What a call can be, and its numbered log."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_notebook.protocol.calls import (
    TERMINAL,
    TRANSITIONS,
    CallEvent,
    CallLog,
    CallState,
    EventKind,
    Occurrence,
)

KINDS = [kind for kind in get_args(EventKind) if kind != "dropped"]
said = st.lists(st.sampled_from([*KINDS, "log", "log", "progress"]), max_size=60)


@given(st.lists(st.sampled_from(Occurrence)))
def test_no_sequence_of_occurrences_leaves_the_table(occurrences: list[Occurrence]) -> None:
    state, ended = CallState.RUNNING, None
    for occurrence in occurrences:
        state = TRANSITIONS[state].get(occurrence, state)
        if ended is not None and not (ended is CallState.UNKNOWN and occurrence is Occurrence.RESUME):
            assert state is ended  # what has ended stays so, unless somebody tries an unknown call again
        ended = state if state.terminal else None


def test_every_state_has_a_row_and_five_of_them_are_ends() -> None:
    assert set(TRANSITIONS) == set(CallState)
    known = {CallState.COMPLETED, CallState.FAILED, CallState.CANCELLED}
    assert known | {CallState.EXPIRED, CallState.UNKNOWN} == TERMINAL


@pytest.mark.parametrize("state", set(CallState) - TERMINAL)
def test_a_call_can_end_from_every_state_that_is_no_end(state: CallState) -> None:
    assert set(TRANSITIONS[state].values()) >= TERMINAL


def kept(kinds: list[EventKind], bound: int) -> list[CallEvent]:
    """What a log of that bound keeps: all questions, answers and outcomes, the newest log lines and progress."""
    events = [CallEvent(number, kind, number) for number, kind in enumerate(kinds, start=1)]
    lines = [event for event in events if event.kind == "log"][-bound:]
    progress = [event for event in events if event.kind == "progress"][-1:]
    rest = [event for event in events if event.kind not in ("log", "progress")]
    return sorted([*lines, *progress, *rest], key=lambda event: event.number)


@given(said, st.integers(1, 5), st.data())
def test_read_at_any_cursors_each_kept_event_comes_once_and_in_order(
    kinds: list[EventKind], bound: int, data: st.DataObject
) -> None:
    log = CallLog(bound)
    seen: list[CallEvent] = []
    cursor = 0
    for number, kind in enumerate(kinds, start=1):
        log.append(kind, number)
        if data.draw(st.booleans()):
            for event in log.since(cursor):
                if event.kind != "dropped":
                    seen.append(event)
                    cursor = event.number
    seen += [event for event in log.since(cursor) if event.kind != "dropped"]
    numbers = [event.number for event in seen]
    assert numbers == sorted(set(numbers))
    assert set(kept(kinds, bound)) <= set(seen)
    assert all(event.number == event.data for event in seen)


@given(said, st.integers(1, 5), st.integers(0, 70))
def test_read_once_it_gives_what_is_kept_beyond_the_cursor(kinds: list[EventKind], bound: int, cursor: int) -> None:
    log = CallLog(bound)
    for number, kind in enumerate(kinds, start=1):
        assert log.append(kind, number) == CallEvent(number, kind, number)
    assert log.last == len(kinds)
    found = [event for event in log.since(cursor) if event.kind != "dropped"]
    assert found == [event for event in kept(kinds, bound) if event.number > cursor]


def test_a_reader_from_the_beginning_is_told_first_how_many_log_lines_were_dropped() -> None:
    log = CallLog(3)
    for number in range(100):
        log.append("log", number)
    marker, *lines = log.since(0)
    assert (marker.kind, marker.data, marker.number) == ("dropped", 97, 0)
    assert [line.data for line in lines] == [97, 98, 99]


def test_a_reader_who_has_seen_some_is_told_only_of_those_that_came_after() -> None:
    log = CallLog(3)
    for number in range(5):
        log.append("log", number)
    assert log.since(1)[0] == CallEvent(1, "dropped", 1)
    assert [event.kind for event in log.since(2)] == ["log", "log", "log"]


def test_progress_is_coalesced_to_the_latest_and_nobody_is_told_of_the_rest() -> None:
    log = CallLog(3)
    for number in range(10):
        log.append("progress", number)
    assert log.since(0) == [CallEvent(10, "progress", 9)]


def test_questions_answers_and_the_outcome_are_never_dropped() -> None:
    log = CallLog(1)
    for number in range(50):
        log.append("question", number)
        log.append("answer", number)
    log.append("outcome", None)
    assert len(log.since(0)) == 101


def test_an_empty_log_has_nothing_to_say() -> None:
    assert CallLog(1).since(0) == []
    assert CallLog(1).last == 0
