"""A store in a file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from ..errors import StoreError
from ..limits import DEFAULT_LIMITS, Limits
from .base import Record
from .database import open_database, told

_SELECT = "SELECT serial, owner, kind, key, state, created, expires, data FROM records"
_NAMED = "WHERE owner = ? AND kind = ? AND key = ?"
_LAST_SERIAL = 2**63 - 1


class SqliteStore:
    """Records in an SQLite file (WAL), which only its owner can read (mode 0600). Several processes may share it.

    What an operation has done outlives the process, even if it is killed; if the machine goes down, the last changes
    may be missing. What is deleted is overwritten, but may be in the file's log (`-wal`) until the store is closed.

    Args:
        path: the file; it is made where there is none, and so is its folder (mode 0700).
        limits: `store`, how large the file may become, and `store_busy`, how long others may keep it.

    Raises:
        StoreError: the file is damaged, of another program or a later version, open to others, or cannot be written.
            It is left as it is. Later, by each operation: the disk is full, or fails; the store is closed.
    """

    durable = True

    def __init__(self, path: str | os.PathLike[str], *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._path = Path(path).absolute()
        self._limits = limits
        self._lock = Lock()
        self._connection = open_database(self._path, limits)
        self._closed = False

    def __repr__(self) -> str:
        return f"<SqliteStore {self._path}>"

    def add(self, record: Record) -> Record | None:
        values = (record.owner, record.kind, record.key, record.state, record.created, record.expires, record.data)
        with self._database() as database:
            done = database.execute(
                "INSERT INTO records(owner, kind, key, state, created, expires, data) VALUES(?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT(owner, kind, key) DO NOTHING",
                values,
            )
            return replace(record, serial=done.lastrowid) if done.rowcount else None

    def update(self, record: Record) -> bool:
        values = (record.state, record.expires, record.data, record.owner, record.kind, record.key)
        with self._database() as database:
            done = database.execute(f"UPDATE records SET state = ?, expires = ?, data = ? {_NAMED}", values)
            return bool(done.rowcount)

    def get(self, owner: str, kind: str, key: str) -> Record | None:
        found = self._read(f"{_SELECT} {_NAMED}", owner, kind, key)
        return found[0] if found else None

    def delete(self, owner: str, kind: str, key: str) -> bool:
        with self._database() as database:
            return bool(database.execute(f"DELETE FROM records {_NAMED}", (owner, kind, key)).rowcount)

    def page(self, owner: str, kind: str, *, after: int = 0, limit: int = 100) -> list[Record]:
        asked = f"{_SELECT} WHERE owner = ? AND kind = ? AND serial > ? ORDER BY serial LIMIT ?"
        return self._read(asked, owner, kind, min(after, _LAST_SERIAL), limit)

    def count(self, owner: str, kind: str, states: Collection[str]) -> int:
        asked = f"SELECT total(number) FROM counts WHERE owner = ? AND kind = ? AND state IN ({_marks(states)})"
        return self._number(asked, owner, kind, *states)

    def total(self) -> int:
        return self._number("SELECT total(number) FROM counts")

    def of_everyone(self, kind: str, states: Collection[str], *, after: int = 0, limit: int = 100) -> list[Record]:
        asked = f"{_SELECT} WHERE serial > ? AND kind = ? AND state IN ({_marks(states)}) ORDER BY serial LIMIT ?"
        return self._read(asked, min(after, _LAST_SERIAL), kind, *states, limit)

    def expire(self, now: float, limit: int = 100) -> list[Record]:
        asked = f"{_SELECT} WHERE expires <= ? ORDER BY expires, serial LIMIT ?"
        with self._database() as database, database:
            database.execute("BEGIN IMMEDIATE")  # nobody else takes what is found
            gone = [_record(row) for row in database.execute(asked, (now, limit))]
            database.executemany("DELETE FROM records WHERE serial = ?", [(record.serial,) for record in gone])
            return gone

    def next_expiry(self) -> float | None:
        with self._database() as database:
            return database.execute("SELECT min(expires) FROM records WHERE expires IS NOT NULL").fetchone()[0]

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._connection.close()

    # Within

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._closed:
                raise StoreError(f"The store at {self._path} is closed. Open it anew.")
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise told(error, self._path, self._limits) from error

    def _read(self, asked: str, *values: Any) -> list[Record]:
        with self._database() as database:
            return [_record(row) for row in database.execute(asked, values)]

    def _number(self, asked: str, *values: Any) -> int:
        with self._database() as database:
            return int(database.execute(asked, values).fetchone()[0])


def _record(row: tuple[Any, ...]) -> Record:
    serial, owner, kind, key, state, created, expires, data = row
    return Record(
        owner=owner, kind=kind, key=key, state=state, created=created, expires=expires, data=data, serial=serial
    )


def _marks(values: Collection[str]) -> str:
    return ", ".join("?" * len(values))
