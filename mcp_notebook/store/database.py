"""The file of a store: made for its owner alone, recognised, and opened; and what went wrong with it in plain words."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path
from threading import Lock

from ..errors import StoreError
from ..limits import Limits, MiB

APPLICATION = 0x4D43504E
"""Says in a file's header (`application_id`) that it is one of these: "MCPN"."""
VERSION = 1
"""Of the tables below; in a file's header as `user_version`."""
_TABLES = (
    # AUTOINCREMENT: a serial is never given again, so that whoever has read up to one misses nothing.
    """CREATE TABLE records(
        serial INTEGER PRIMARY KEY AUTOINCREMENT,
        owner TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
        state TEXT NOT NULL, created REAL NOT NULL, expires REAL, data BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX names ON records(owner, kind, key)",
    "CREATE INDEX pages ON records(owner, kind, serial)",
    "CREATE INDEX expiries ON records(expires) WHERE expires IS NOT NULL",
    # How many there are is kept, as counting 10,000 takes longer than adding one.
    """CREATE TABLE counts(
        owner TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, number INTEGER NOT NULL,
        PRIMARY KEY(owner, kind, state)) WITHOUT ROWID""",
    """CREATE TRIGGER added AFTER INSERT ON records BEGIN
        INSERT INTO counts VALUES(new.owner, new.kind, new.state, 1) ON CONFLICT DO UPDATE SET number = number + 1;
    END""",
    """CREATE TRIGGER deleted AFTER DELETE ON records BEGIN
        UPDATE counts SET number = number - 1 WHERE owner = old.owner AND kind = old.kind AND state = old.state;
        DELETE FROM counts WHERE owner = old.owner AND kind = old.kind AND state = old.state AND number = 0;
    END""",
    """CREATE TRIGGER changed AFTER UPDATE OF state ON records WHEN old.state <> new.state BEGIN
        UPDATE counts SET number = number - 1 WHERE owner = old.owner AND kind = old.kind AND state = old.state;
        DELETE FROM counts WHERE owner = old.owner AND kind = old.kind AND state = old.state AND number = 0;
        INSERT INTO counts VALUES(new.owner, new.kind, new.state, 1) ON CONFLICT DO UPDATE SET number = number + 1;
    END""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
_AFRESH = "move the file away, with its -wal and -shm, to begin anew; nothing in it was changed"
_creating = Lock()


def open_database(path: Path, limits: Limits) -> sqlite3.Connection:
    """A connection, for any thread, to the file at an absolute path. The file is made where there is none.

    Raises:
        StoreError: it cannot be used; it is left as it is.
    """
    _create(path)
    connection = None
    try:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rw",  # never made by SQLite, whose files others can read
            uri=True,
            timeout=limits.store_busy,
            isolation_level=None,
            check_same_thread=False,
        )
        _recognise(connection, path)
        _set_up(connection, limits)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise told(error, path, limits) from error
        raise
    return connection


def told(error: sqlite3.Error, path: Path, limits: Limits) -> StoreError:
    """What SQLite says, in words of what happened and what to do."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest says more exactly which
    match code:
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            text = f"{path} is damaged, or is no store ({error}): {_AFRESH}."
        case sqlite3.SQLITE_FULL:
            text = (
                f"There is no room for more in {path}: the disk is full, or the file has reached limits.store, "
                f"{limits.store / MiB:g} MiB. Nothing was lost; forget what is no longer needed, or make room."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            text = f"Another process has kept {path} for itself for {limits.store_busy:g} s ({error}). Try again."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            text = f"{path} cannot be written ({error}): give yourself the right to, or choose another place."
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_PROTOCOL:
            text = f"The disk fails {path} ({error}): make sure that it has room, and is no network drive."
        case _:
            text = f"{path} cannot be used: {error}."
    return StoreError(text)


def _create(path: Path) -> None:
    """Have a file there that only its owner can read or write, and that always was so.

    SQLite gives the files that it makes beside it the same rights.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # One at a time, since closing a file lets go of all locks that this process has on it (POSIX). So one that is
        # there already is not opened, either.
        with _creating:
            try:
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600))
            except FileExistsError:
                _check(path)
    except OSError as error:
        raise StoreError(
            f"There can be no store at {path}: {error.strerror or error}. Choose another place."
        ) from error


def _check(path: Path) -> None:
    """Others can neither have planted the files, nor read them: they tell how to take up a call."""
    if not path.is_file():
        raise StoreError(f"There can be no store at {path}: it is something else than a file. Choose another place.")
    if os.name == "nt":
        return
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        try:
            found = file.stat()
        except FileNotFoundError:
            continue
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise StoreError(f"{file} is not yours alone. `chmod 600` it if you know what it holds; else {_AFRESH}.")


def _recognise(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables in an empty file; refuse one of a later version or another program, before anything changes."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")  # so that of several who come first one does it, and the others wait
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (things,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (application, version, things) == (0, 0, 0):
            for statement in _TABLES:
                connection.execute(statement)
        elif application != APPLICATION:
            raise StoreError(f"{path} is a database of another program. Choose another place for the store.")
        elif version != VERSION:
            raise StoreError(
                f"{path} was written by a later mcp_notebook: its tables are of version {version}, and this one knows "
                f"{VERSION}. Upgrade (`pip install --upgrade mcp_notebook`), or {_AFRESH}."
            )


def _set_up(connection: sqlite3.Connection, limits: Limits) -> None:
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    for setting in (
        "journal_mode = WAL",  # whoever reads never waits for whoever writes, and a change is one write at a file's end
        # A change is with the operating system when it is made, so it outlives the process, however that ends. Only
        # if the machine itself goes down may the last ones be missing; the file is whole then, too. Each with a sync
        # of the disk (FULL) would take milliseconds, on the event loop.
        "synchronous = NORMAL",
        "wal_autocheckpoint = 2000",  # pages, 8 MiB: one change in some 300 waits for the disk, not one in 150
        "secure_delete = ON",  # what is deleted is overwritten: there are tokens in it
        f"max_page_count = {max(1, limits.store // page)}",
    ):
        connection.execute(f"PRAGMA {setting}")
