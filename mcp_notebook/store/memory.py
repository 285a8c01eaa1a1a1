"""A store in memory."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from threading import Lock

from .base import Record

_SPARE = 64
"""How many outdated expiries are never worth tidying up."""


class MemoryStore:
    """Records in dictionaries. They end with the process."""

    durable = False

    def __init__(self) -> None:
        self._lock = Lock()
        self._last_serial = 0
        self._records: dict[int, Record] = {}  # by serial, in that order
        self._serials: dict[tuple[str, str, str], int] = {}  # by name
        self._pages: dict[tuple[str, str], list[int]] = {}  # by owner and kind: serials, in order
        self._counts: Counter[tuple[str, str, str]] = Counter()  # by owner, kind and state
        self._expiries: list[tuple[float, int]] = []  # a heap of expiry and serial, outdated ones among them

    def __repr__(self) -> str:
        return f"<MemoryStore of {len(self._records)} records>"

    def add(self, record: Record) -> Record | None:
        name = (record.owner, record.kind, record.key)
        with self._lock:
            if name in self._serials:
                return None
            self._last_serial += 1
            added = replace(record, serial=self._last_serial)
            self._serials[name] = added.serial
            self._pages.setdefault((record.owner, record.kind), []).append(added.serial)
            self._set(added)
            return added

    def update(self, record: Record) -> bool:
        with self._lock:
            old = self._find(record.owner, record.kind, record.key)
            if old is None:
                return False
            self._uncount(old)
            self._set(replace(old, state=record.state, expires=record.expires, data=record.data), old.expires)
            return True

    def get(self, owner: str, kind: str, key: str) -> Record | None:
        with self._lock:
            return self._find(owner, kind, key)

    def delete(self, owner: str, kind: str, key: str) -> bool:
        with self._lock:
            record = self._find(owner, kind, key)
            if record is not None:
                self._remove(record)
            return record is not None

    def page(self, owner: str, kind: str, *, after: int = 0, limit: int = 100) -> list[Record]:
        with self._lock:
            serials = self._pages.get((owner, kind), [])
            start = bisect_right(serials, after)
            return [self._records[serial] for serial in serials[start : start + limit]]

    def count(self, owner: str, kind: str, states: Collection[str]) -> int:
        with self._lock:
            return sum(self._counts[owner, kind, state] for state in set(states))

    def total(self) -> int:
        return len(self._records)

    def of_everyone(self, kind: str, states: Collection[str], *, after: int = 0, limit: int = 100) -> list[Record]:
        with self._lock:
            wanted = (r for r in self._records.values() if r.kind == kind and r.state in states and r.serial > after)
            return list(islice(wanted, limit))

    def expire(self, now: float, limit: int = 100) -> list[Record]:
        gone: list[Record] = []
        with self._lock:
            while len(gone) < limit and (first := self._first_to_expire()) is not None and first[0] <= now:
                record = self._records[first[1]]
                self._remove(record)
                gone.append(record)
        return gone

    def next_expiry(self) -> float | None:
        with self._lock:
            first = self._first_to_expire()
            return None if first is None else first[0]

    def close(self) -> None:
        pass

    # Within, under the lock

    def _find(self, owner: str, kind: str, key: str) -> Record | None:
        serial = self._serials.get((owner, kind, key))
        return None if serial is None else self._records[serial]

    def _set(self, record: Record, known_expiry: float | None = None) -> None:
        self._records[record.serial] = record
        self._counts[record.owner, record.kind, record.state] += 1
        if record.expires is not None and record.expires != known_expiry:
            heapq.heappush(self._expiries, (record.expires, record.serial))
            if len(self._expiries) > 2 * len(self._records) + _SPARE:
                self._expiries = [(r.expires, r.serial) for r in self._records.values() if r.expires is not None]
                heapq.heapify(self._expiries)

    def _uncount(self, record: Record) -> None:
        counted = (record.owner, record.kind, record.state)
        self._counts[counted] -= 1
        if not self._counts[counted]:
            del self._counts[counted]

    def _remove(self, record: Record) -> None:
        del self._records[record.serial]
        del self._serials[record.owner, record.kind, record.key]
        self._uncount(record)
        serials = self._pages[record.owner, record.kind]
        del serials[bisect_left(serials, record.serial)]
        if not serials:
            del self._pages[record.owner, record.kind]

    def _first_to_expire(self) -> tuple[float, int] | None:
        while self._expiries:
            expires, serial = self._expiries[0]
            record = self._records.get(serial)
            if record is not None and record.expires == expires:
                return self._expiries[0]
            heapq.heappop(self._expiries)
        return None
