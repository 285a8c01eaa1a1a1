"""What every store does, whatever it keeps its records in."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from mcp_notebook.store import Record, Store

from .conftest import added, keys, task


def test_what_was_added_is_found_again_as_it_was(store: Store) -> None:
    record = task("1", created=1753.25, expires=1e9 + 0.1, data='{"text": "größer\\u0000"}'.encode())
    kept = store.add(record)
    assert kept == replace(record, serial=1)
    assert store.get("alice", "task", "1") == kept


def test_a_name_that_is_taken_stays_with_what_has_it(store: Store) -> None:  # TSK-11
    [first] = added(store, task("1"))
    assert store.add(task("1", state="other", data=b"{}")) is None
    assert store.get("alice", "task", "1") == first
    assert store.total() == 1


def test_nobody_finds_or_changes_what_is_another_owners(store: Store) -> None:  # TSK-9
    [hers] = added(store, task("1"))
    assert store.get("mallory", "task", "1") is None
    assert not store.update(task("1", owner="mallory", state="cancelled"))
    assert not store.delete("mallory", "task", "1")
    assert store.page("mallory", "task") == []
    assert store.count("mallory", "task", {"working"}) == 0
    assert store.get("alice", "task", "1") == hers


def test_owners_and_kinds_have_keys_of_their_own(store: Store) -> None:  # TSK-9
    records = [task("1", data=b"1"), task("1", owner="bob", data=b"2"), task("1", kind="call", data=b"3")]
    assert len(added(store, *records)) == 3
    found = [store.get(r.owner, r.kind, "1") for r in records]
    assert [r and r.data for r in found] == [b"1", b"2", b"3"]
    assert store.total() == 3


def test_an_update_changes_how_it_stands_but_not_when_it_began_or_its_place(store: Store) -> None:
    first, _ = added(store, task("1"), task("2"))
    assert store.update(task("1", state="completed", created=99.0, expires=7.0, data=b"[]", serial=55))
    assert store.get("alice", "task", "1") == replace(first, state="completed", expires=7.0, data=b"[]")
    assert keys(store.page("alice", "task")) == ["1", "2"]


def test_what_was_deleted_does_not_come_back_by_an_update(store: Store) -> None:
    [record] = added(store, task("1"))
    assert store.delete("alice", "task", "1")
    assert not store.delete("alice", "task", "1")
    assert not store.update(replace(record, state="completed"))
    assert store.get("alice", "task", "1") is None
    assert store.total() == 0


def test_pages_come_in_the_order_of_creation_and_go_on_after_a_serial(store: Store) -> None:  # TSK-3
    for n in range(7):
        added(store, task(f"{n}"), task(f"{n}", owner="bob"), task(f"{n}", kind="call"))
    store.update(task("0", state="completed"))
    seen: list[Record] = []
    while page := store.page("alice", "task", after=seen[-1].serial if seen else 0, limit=3):
        assert len(page) <= 3
        seen += page
    assert keys(seen) == ["0", "1", "2", "3", "4", "5", "6"]
    assert {(record.owner, record.kind) for record in seen} == {("alice", "task")}


def test_a_page_goes_on_where_it_was_though_records_there_are_deleted(store: Store) -> None:
    records = added(store, *(task(f"{n}") for n in range(5)))
    store.delete("alice", "task", "1")
    store.delete("alice", "task", "2")
    assert keys(store.page("alice", "task", after=records[1].serial)) == ["3", "4"]


def test_a_serial_is_not_given_twice_so_a_page_misses_nothing_new(store: Store) -> None:
    last = added(store, task("1"), task("2"))[-1]
    store.delete("alice", "task", "2")
    added(store, task("3"))
    assert keys(store.page("alice", "task", after=last.serial)) == ["3"]


@pytest.mark.parametrize(("after", "limit"), [(10**30, 5), (1, 5), (0, 0)])
def test_a_page_with_nothing_on_it_is_empty(store: Store, after: int, limit: int) -> None:
    added(store, task("1"))
    assert store.page("alice", "task", after=after, limit=limit) == []


def test_counts_follow_what_is_added_updated_deleted_and_expired(store: Store) -> None:  # TSK-8
    def counts() -> tuple[int, int, int]:
        return tuple(store.count("alice", "task", states) for states in ({"working"}, {"working", "done"}, set()))  # type: ignore[return-value]

    added(store, *(task(f"{n}", expires=float(n)) for n in range(6)), task("0", owner="bob"), task("0", kind="call"))
    assert counts() == (6, 6, 0)
    store.add(task("0"))
    store.update(task("5", state="done"))
    store.update(task("5", state="done", data=b"again"))
    assert counts() == (5, 6, 0)
    store.delete("alice", "task", "5")
    store.delete("alice", "task", "5")
    store.expire(1.0)
    assert counts() == (3, 3, 0)
    assert store.total() == 5


def test_a_new_start_finds_what_was_unfinished_whoever_s_it_was(store: Store) -> None:
    states = ["working", "completed", "asking"]
    for n, state in enumerate(states * 2):
        added(store, task(f"{n}", state=state, owner=f"owner {n}"), task(f"{n}", state=state, kind="call"))
    unfinished = store.of_everyone("task", {"working", "asking"})
    assert [(record.key, record.owner) for record in unfinished] == [(n, f"owner {n}") for n in "0235"]
    [third] = store.of_everyone("task", {"working", "asking"}, after=unfinished[1].serial, limit=1)
    assert third == unfinished[2]


def test_what_expires_first_is_taken_out_first_and_once(store: Store) -> None:  # TSK-8
    added(store, task("3", expires=3.0), task("1", expires=1.0), task("never"), task("2", owner="bob", expires=2.0))
    assert store.next_expiry() == 1.0
    assert store.expire(0.9) == []
    assert keys(store.expire(3.0, limit=2)) == ["1", "2"]
    assert store.get("bob", "task", "2") is None
    assert store.next_expiry() == 3.0
    assert keys(store.expire(3.0)) == ["3"]
    assert store.expire(1e12) == []
    assert store.next_expiry() is None
    assert keys(store.page("alice", "task")) == ["never"]


def test_an_expiry_can_be_moved_either_way_and_taken_back(store: Store) -> None:
    added(store, task("1", expires=10.0), task("2", expires=20.0), task("3", expires=30.0))
    store.update(task("1", expires=40.0))
    store.update(task("3", expires=5.0))
    store.update(task("2", expires=None))
    assert store.next_expiry() == 5.0
    assert keys(store.expire(39.0)) == ["3"]
    store.update(task("1", expires=10.0))  # as at first
    assert keys(store.expire(10.0)) == ["1"]
    assert store.next_expiry() is None


def test_a_record_whose_expiry_moves_a_thousand_times_expires_once(store: Store) -> None:
    added(store, task("1", expires=1.0))
    for n in range(1000):
        store.update(task("1", expires=float(1000 - n)))
    assert keys(store.expire(2000.0)) == ["1"]
    assert store.next_expiry() is None


def test_what_a_record_knows_stays_out_of_its_repr() -> None:  # RR-11
    assert "secret" not in repr(task("1", data=b"secret"))


def test_threads_share_a_store_and_a_record_is_deleted_for_one_of_them(store: Store) -> None:
    taken: list[str] = []

    def work(name: str) -> None:
        for n in range(50):
            store.add(task(f"{name} {n}"))
            store.add(task(f"shared {n}"))
            store.update(task(f"{name} {n}", state="completed"))
            if store.delete("alice", "task", f"shared {n // 2}"):
                taken.append(f"shared {n // 2}")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    rest = store.page("alice", "task", limit=1000)
    assert store.count("alice", "task", {"completed"}) == 150
    assert store.total() == len(rest) == len({record.serial for record in rest})
    assert {f"shared {n}" for n in range(25)} <= set(taken)


def test_closing_twice_is_closing(store: Store) -> None:
    store.close()
    store.close()
