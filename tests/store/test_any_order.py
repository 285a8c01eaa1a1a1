"""Whatever is done in whatever order, the stores do as a plain list does."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from mcp_notebook.store import Record, Store, open_store

few = st.sampled_from(["a", "b"])
times = st.integers(0, 5).map(float)
records = st.builds(
    Record,
    owner=few,
    kind=few,
    key=st.sampled_from(["a", "b", "c"]),
    state=few,
    created=times,
    expires=st.none() | times,
    data=st.binary(max_size=3),
)


def name(record: Record) -> tuple[str, str, str]:
    return record.owner, record.kind, record.key


class AnyOrder(RuleBasedStateMachine):
    """A store, and beside it the list of what should be in it."""

    def __init__(self) -> None:
        super().__init__()
        self.store = self.open()
        self.model: list[Record] = []
        self.last_serial = 0

    def open(self) -> Store:
        return open_store()

    def find(self, wanted: Record) -> Record | None:
        return next((record for record in self.model if name(record) == name(wanted)), None)

    @rule(record=records)
    def add(self, record: Record) -> None:
        new = self.store.add(record)
        assert (new is None) == (self.find(record) is not None)
        if new is not None:
            assert new == replace(record, serial=new.serial)
            assert new.serial > self.last_serial
            self.last_serial = new.serial
            self.model.append(new)

    @rule(record=records)
    def update(self, record: Record) -> None:
        old = self.find(record)
        if old is not None:
            self.model[self.model.index(old)] = replace(record, created=old.created, serial=old.serial)
        assert self.store.update(record) == (old is not None)

    @rule(record=records)
    def delete(self, record: Record) -> None:
        old = self.find(record)
        if old is not None:
            self.model.remove(old)
        assert self.store.delete(*name(record)) == (old is not None)

    @rule(now=times, limit=st.integers(0, 3))
    def expire(self, now: float, limit: int) -> None:
        over = [(r.expires, r.serial, r) for r in self.model if r.expires is not None and r.expires <= now]
        gone = [record for _, _, record in sorted(over)[:limit]]
        self.model = [record for record in self.model if record not in gone]
        assert self.store.expire(now, limit) == gone

    @rule(owner=few, kind=few, after=st.integers(0, 9), limit=st.integers(0, 3), states=st.sets(few))
    def read(self, owner: str, kind: str, after: int, limit: int, states: set[str]) -> None:
        of_kind = [record for record in self.model if record.kind == kind]
        own = [record for record in of_kind if record.owner == owner]
        everyone = [record for record in of_kind if record.state in states]
        assert self.store.page(owner, kind, after=after, limit=limit) == [r for r in own if r.serial > after][:limit]
        assert (
            self.store.of_everyone(kind, states, after=after, limit=limit)
            == [record for record in everyone if record.serial > after][:limit]
        )
        assert self.store.count(owner, kind, states) == sum(record.state in states for record in own)

    @invariant()
    def nothing_is_lost(self) -> None:
        expiries = [record.expires for record in self.model if record.expires is not None]
        assert self.store.next_expiry() == min(expiries, default=None)
        assert self.store.total() == len(self.model)
        assert [self.store.get(*name(record)) for record in self.model] == self.model

    def teardown(self) -> None:
        self.store.close()


class AnyOrderInAFile(AnyOrder):
    def open(self) -> Store:
        self.folder = tempfile.TemporaryDirectory()
        return self.open_again()

    def open_again(self) -> Store:
        return open_store(Path(self.folder.name) / "store")

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open_again()

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


quick = settings(max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = quick
TestAnyOrderInAFile = AnyOrderInAFile.TestCase
TestAnyOrderInAFile.settings = quick
