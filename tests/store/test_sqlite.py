"""What a store does because it is a file: it stays, it is its owner's alone, and it says what is wrong with it."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import mcp_notebook.store.database as database
from mcp_notebook.errors import StoreError
from mcp_notebook.limits import Limits
from mcp_notebook.store import Store, open_store

from .conftest import added, check, keys, task

posix = pytest.mark.skipif(os.name == "nt", reason="files have no modes there")


def filled(path: Path, number: int = 3) -> None:
    """A closed store with that many tasks."""
    store = open_store(path)
    added(store, *(task(f"{n}", data=b"x" * 500) for n in range(number)))
    store.close()


def refusal(path: Path) -> str:
    """Why there is no store at `path`, or none that works; and that what is there was left alone."""

    def use() -> None:
        with closing(open_store(path)) as store:
            store.page("alice", "task", limit=1000)

    before = path.read_bytes()
    with pytest.raises(StoreError) as refused:
        use()
    assert path.read_bytes() == before
    assert str(path) in str(refused.value)
    return str(refused.value)


def test_only_a_store_in_a_file_says_that_it_lasts(path: Path) -> None:
    stores = [open_store(), open_store(path)]
    assert [store.durable for store in stores] == [False, True]
    for store in stores:
        store.close()


def test_what_was_kept_is_there_when_the_file_is_opened_again(path: Path) -> None:
    store = open_store(path)
    kept = added(store, task("1"), task("2", expires=5.0), task("3"))
    store.delete("alice", "task", "3")
    store.close()
    store = open_store(str(path))
    assert store.page("alice", "task") == kept[:2]
    assert store.count("alice", "task", {"working"}) == 2
    assert store.next_expiry() == 5.0
    assert added(store, task("4"))[0].serial > kept[2].serial
    store.close()


@posix
def test_the_folder_and_the_files_are_their_owners_alone(path: Path) -> None:
    old = os.umask(0)
    try:
        store = open_store(path)
        added(store, task("1"))
    finally:
        os.umask(old)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in [path.parent, *path.parent.iterdir()]}
    store.close()
    assert modes == {
        "state": 0o700,
        "calls.sqlite": 0o600,
        "calls.sqlite-wal": 0o600,
        "calls.sqlite-shm": 0o600,
    }


@posix
def test_a_file_is_its_owners_alone_before_anything_is_in_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        found = path.stat()
        seen.append((stat.S_IMODE(found.st_mode), found.st_size))
        return real(*args, **options)

    real = sqlite3.connect
    monkeypatch.setattr(database.sqlite3, "connect", connect)
    old = os.umask(0)
    try:
        open_store(path).close()
    finally:
        os.umask(old)
    assert seen == [(0o600, 0)]


@posix
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_file_that_others_can_read_is_refused(path: Path, suffix: str) -> None:
    filled(path)
    file = Path(f"{path}{suffix}")
    file.touch()
    file.chmod(0o640)
    assert "not yours alone" in refusal(path)
    file.chmod(0o600)
    open_store(path).close()


def test_what_is_deleted_is_no_longer_in_the_file(path: Path) -> None:  # TSK-12
    store = open_store(path)
    added(store, task("1", data=b"the secret of alice"), task("2", data=b"the secret of bob", expires=1.0), task("3"))
    store.delete("alice", "task", "1")
    store.expire(1.0)
    store.close()
    assert b"the secret" not in path.read_bytes()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_nothing_is_left_of_owners_that_have_nothing_any_more(path: Path) -> None:
    store = open_store(path)
    added(store, *(task("1", owner=f"session {n}", expires=float(n)) for n in range(9)))
    store.update(task("1", owner="session 8", state="completed"))
    store.delete("session 7", "task", "1")
    store.expire(6.0)
    store.close()
    check(path)


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    """As one is left by a process that ended between making the file and filling it."""
    path.parent.mkdir()
    path.touch(mode=0o600)
    filled(path)
    assert path.stat().st_size > 0


def test_a_file_of_something_else_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.touch(mode=0o600)
    path.write_text("Dear diary, " * 1000)
    assert "damaged, or is no store" in refusal(path)


def test_a_damaged_file_is_refused_and_left_as_it_is(path: Path) -> None:
    filled(path, 200)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))
    assert "begin anew" in refusal(path)


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.touch(mode=0o600)
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE records(song TEXT)")
    other.close()
    assert "another program" in refusal(path)


def test_a_file_of_a_later_version_is_refused(path: Path) -> None:
    filled(path)
    later = sqlite3.connect(path)
    later.execute("PRAGMA user_version = 2")
    later.execute("PRAGMA journal_mode = DELETE")  # so that the whole change is in the file
    later.close()
    text = refusal(path)
    assert "version 2" in text
    assert "pip install --upgrade" in text


def test_a_file_that_can_only_be_read_is_refused(path: Path) -> None:
    filled(path)
    with path.open("r+b") as file:
        file.seek(18)  # the write version: a higher one than SQLite knows forbids writing, to root as well
        file.write(b"\x03")
    assert "cannot be written" in refusal(path)


@pytest.mark.parametrize("place", ["file/store", "file/folder/store", "folder"])
def test_a_place_where_no_file_can_be_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match=r"no store at .*Choose another place"):
        open_store(tmp_path / place)


def test_a_full_store_keeps_what_it_has_and_forgets_to_make_room(path: Path) -> None:
    store = open_store(path, limits=Limits(store=200_000))

    def fill() -> None:
        for n in range(1000):
            store.add(task(f"{n}", data=b"x" * 1000))

    with pytest.raises(StoreError, match=r"no room .*limits\.store"):
        fill()
    kept = store.page("alice", "task", limit=1000)
    assert keys(kept) == [f"{n}" for n in range(len(kept))]
    assert 50 < len(kept) == store.total() < 200
    for record in kept[:10]:
        assert store.delete("alice", "task", record.key)
    assert store.add(task("new", data=b"x" * 1000)) is not None
    store.close()
    assert path.stat().st_size <= 200_000


def test_while_another_writes_a_store_reads_and_a_change_waits_within_its_limit(path: Path) -> None:
    store = open_store(path, limits=Limits(store_busy=0.05))
    added(store, task("1"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert store.get("alice", "task", "1")
    for change in _changes(store):
        with pytest.raises(StoreError, match="Another process"):
            change()
    other.execute("ROLLBACK")
    other.close()
    assert [bool(change()) for change in _changes(store)] == [True, True, True, True]
    store.close()


def _changes(store: Store) -> list[Callable[[], object]]:
    return [
        lambda: store.add(task("2")),
        lambda: store.update(task("2", expires=1.0)),
        lambda: store.expire(1.0),
        lambda: store.delete("alice", "task", "1"),
    ]


def test_a_closed_store_says_so(path: Path) -> None:
    store = open_store(path)
    store.close()
    for use in [*_changes(store), store.total, store.next_expiry]:
        with pytest.raises(StoreError, match="is closed"):
            use()


def test_what_is_asked_takes_as_much_work_with_thousands_of_records(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is counted in steps of SQLite's machine."""
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = real(*args, **options)
        connection.set_progress_handler(step, 1)
        return connection

    def work() -> dict[str, int]:
        nonlocal steps
        counted: dict[str, int] = {}
        for name, use in uses.items():
            steps = 0
            use()
            counted[name] = steps
        return counted

    real = sqlite3.connect
    monkeypatch.setattr(database.sqlite3, "connect", connect)
    store = open_store(path)
    uses: dict[str, Callable[[], object]] = {
        "add": lambda: store.add(task("new", expires=0.0)),
        "update": lambda: store.update(task("3", state="completed", expires=2.0)),
        "get": lambda: store.get("alice", "task", "3"),
        "page": lambda: store.page("alice", "task", after=2, limit=5),
        "count": lambda: store.count("alice", "task", {"working", "completed"}),
        "next_expiry": store.next_expiry,
        "expire": lambda: store.expire(1.0),
        "delete": lambda: store.delete("alice", "task", "3"),
    }
    added(store, *(task(f"{n}", expires=10.0 + n) for n in range(10)))
    few = work()
    added(store, *(task(f"{n}", expires=10.0 + n) for n in range(2000)))
    many = work()
    store.close()
    assert min(few.values()) > 0
    assert {name: (few[name], many[name]) for name in uses if many[name] > few[name] + 20} == {}
