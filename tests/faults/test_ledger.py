"""The ledger sees what does not add up, and only that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .ledger import Ledger, Occurrence, note
from .record import Record

GOOD: list[tuple[Occurrence, Any]] = [
    ("began", {"sum": 3}),
    ("promised", None),
    ("ran", None),
    ("said", 1),
    ("heard", 1),
    ("said", 3),
    ("asked", "name"),
    ("answered", "name"),
    ("heard", 3),
    ("received", {"sum": 3}),
]


def ledger_of(notes: list[tuple[Occurrence, Any]]) -> Ledger:
    ledger = Ledger()
    for what, value in notes:
        ledger.note(what, "call", value)
    return ledger


def wrong(notes: list[tuple[Occurrence, Any]]) -> list[str]:
    return [row for row, calls in ledger_of(notes).wrong().items() if calls]


def test_a_call_as_it_should_be_is_nothing_to_report() -> None:
    ledger = ledger_of(GOOD)
    ledger.check()
    table = ledger.table().splitlines()
    assert table[:2] == [f"{'calls':<24}{1:>8}", f"{'results received':<24}{1:>8}"]
    assert all(line.endswith(" 0") for line in table[2:])


@pytest.mark.parametrize(
    ("notes", "rows"),
    [
        (GOOD[:-1], ["results lost"]),
        ([*GOOD[:-1], ("failed", "an error")], ["results lost"]),
        ([*GOOD[:-1], ("received", {"sum": 4})], ["results wrong"]),
        ([*GOOD, ("received", {"sum": 3})], ["delivered twice"]),
        ([*GOOD, ("heard", 3)], ["delivered twice"]),
        ([*GOOD, ("ran", None)], ["handlers run twice"]),
        ([("heard", 2), *GOOD], ["order broken"]),
        ([*GOOD, ("said", 4)], ["messages lost"]),
        ([*GOOD, ("asked", "name")], ["asked twice"]),
        ([*GOOD, ("answered", "name")], ["asked twice"]),
        ([*GOOD[:-1], ("unknown", None)], ["unknown after a promise"]),
    ],
)
def test_each_thing_that_must_not_be_has_its_row(notes: list[tuple[Occurrence, Any]], rows: list[str]) -> None:
    assert wrong(notes) == rows
    with pytest.raises(AssertionError) as failure:
        ledger_of(notes).check("seed 17")
    text = str(failure.value)
    assert f"{rows[0]}: call\n  call: " in text
    assert text.endswith("seed 17")


def test_what_nobody_can_know_is_counted_and_no_fault() -> None:
    ledger = ledger_of([("began", None), ("ran", None), ("said", 1), ("unknown", None)])
    ledger.check()
    assert ledger.unknown == ["call"]
    assert ledger.table().splitlines()[-1] == f"{'unknown':<24}{1:>8}"


def test_what_comes_after_a_message_that_may_be_left_out_is_in_order() -> None:
    assert wrong([("began", None), ("heard", 2), ("heard", 7), ("received", 1)]) == []


def test_another_process_notes_in_a_file(tmp_path: Path) -> None:
    for call in (1, 2, 2):
        note(tmp_path / "notes", "ran", call)
    note(tmp_path / "notes", "said", 1, 3)
    ledger = Ledger()
    ledger.note("heard", 1, 3)
    ledger.read(tmp_path / "notes")
    assert ledger.wrong()["handlers run twice"] == ["2"]
    assert ledger.wrong()["messages lost"] == []
    assert set(ledger.calls) == {"1", "2"}


def test_a_word_that_is_none_is_a_mistake_of_the_test() -> None:
    with pytest.raises(AssertionError, match="herd"):
        Ledger().note("herd", 1)  # pyright: ignore[reportArgumentType]


def test_a_record_counts_and_tells_where() -> None:
    record = Record()
    record.note("cut", "connection 1")
    record.note("cut", "connection 2")
    record.note("delay", "connection 2")
    assert str(record).splitlines() == [
        "faults: 2 × cut, 1 × delay",
        "  connection 1: cut",
        "  connection 2: cut",
        "  connection 2: delay",
    ]
