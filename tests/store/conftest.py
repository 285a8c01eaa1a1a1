"""A store of each kind, and records to put into it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook.store import Record, Store, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "calls.sqlite"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[Store]:
    store = open_store(path if request.param == "sqlite" else None)
    yield store
    store.close()


def task(key: str, **changes: Any) -> Record:
    values: dict[str, Any] = {"owner": "alice", "kind": "task", "state": "working", "created": 1.5, "expires": None}
    return Record(**{**values, "key": key, "data": b'{"n": 1}', **changes})


def added(store: Store, *records: Record) -> list[Record]:
    """The records with their serials, once they are in the store."""
    kept = [store.add(record) for record in records]
    return [record for record in kept if record is not None]


def keys(records: list[Record]) -> list[str]:
    return [record.key for record in records]


def check(path: Path) -> None:
    """That SQLite finds nothing wrong with a file, and that it keeps the right numbers of records, and no others."""
    file = sqlite3.connect(path)
    assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    counted = file.execute("SELECT owner, kind, state, count(*) FROM records GROUP BY 1, 2, 3 ORDER BY 1, 2, 3")
    assert file.execute("SELECT * FROM counts ORDER BY 1, 2, 3").fetchall() == counted.fetchall()
    file.close()
