"""The journal of a notebook's calls: an SQLite file of the owner's alone, which outlives the kernel (RR-13, TSK-13).

There are secrets in it: who has the token of a call, or the id of a task or session, can take it over.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import socket
import time
from collections.abc import Iterator
from typing import Any

import psutil
from pydantic_core import from_json, to_json

from ..errors import StoreError
from ..journal import Entry, SavedSession
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.resuming import ResumePolicy
from ..store import Record, Store, open_store, state_path

logger = logging.getLogger("mcp_notebook.notebook")
_CALL, _SESSION = "call", "session"
_OPEN = "open"


class NotebookJournal:
    """The journal of one notebook. It begins to be a file when there is a call to remember.

    Where that file cannot be used, calls go on without it, and `trouble` says why.

    Args:
        place: the notebook.
        limits: `journal` is kept.
    """

    def __init__(self, place: str, limits: Limits = DEFAULT_LIMITS) -> None:
        self.trouble: StoreError | None = None
        """Why nothing is remembered any more, if so."""
        digest = hashlib.sha256(place.encode()).hexdigest()[:24]
        self.path = state_path("journals") / f"{digest}.db"
        self._limits = limits
        self._store: Store | None = None
        self._closed = False
        self._sessions: set[str] = set()
        self._me = [socket.gethostname(), *_born(psutil.Process()), id(self)]

    # The client's Journal

    def note(self, entry: Entry) -> None:
        store = self._usable()
        if store is None:
            return
        try:
            self._note_session(store, entry)
            record = self._record(entry)
            if not store.update(record):
                store.add(record)
        except StoreError as error:
            self._give_up(error)

    def forget(self, address: str, id: str) -> None:
        store = self._usable()
        if store is None:
            return
        try:
            store.delete(address, _CALL, id)
        except StoreError as error:
            self._give_up(error)

    # For the notebook

    def left(self) -> tuple[list[Entry], list[Entry]]:
        """What kernels that have ended have left: calls that may be taken up, which are this kernel's from now on; and
        those whose time is over, which are forgotten."""
        if not self.path.exists() or (store := self._usable()) is None:
            return [], []
        try:
            expired = [_entry(record, None) for record in _expired(store) if record.kind == _CALL]
            return list(self._taken(store)), [entry for entry in expired if entry is not None]
        except StoreError as error:
            self._give_up(error)
            return [], []

    async def close(self) -> None:
        """Remember nothing more: what is under way now is left to the next kernel."""
        self._closed = True
        if self._store is not None:
            self._store.close()

    # Within

    def _usable(self) -> Store | None:
        if self._closed or self.trouble is not None:
            return None
        if self._store is None:
            try:
                self._store = open_store(self.path, limits=self._limits)
            except StoreError as error:
                self._give_up(error)
        return self._store

    def _give_up(self, error: StoreError) -> None:
        if not self._closed:
            self.trouble = error
            logger.warning("calls do not outlive this kernel: %s", error)

    def _taken(self, store: Store) -> Iterator[Entry]:
        sessions: set[tuple[str, str]] = set()
        last = 0
        while page := store.of_everyone(_CALL, {_OPEN}, after=last):
            last = page[-1].serial
            for record in page:
                data = from_json(record.data)
                if data["session"] is not None:
                    sessions.add((record.owner, data["session"]))
                if _lives(data["kernel"], self._me):
                    continue
                entry = _entry(record, store.get(record.owner, _SESSION, data["session"] or ""))
                if entry is not None:
                    store.update(dataclasses.replace(record, data=to_json({**data, "kernel": self._me})))
                    yield entry
        self._forget_sessions(store, sessions)

    def _forget_sessions(self, store: Store, used: set[tuple[str, str]]) -> None:
        for record in store.of_everyone(_SESSION, {_OPEN}):
            if (record.owner, record.key) not in used:
                store.delete(record.owner, _SESSION, record.key)

    def _note_session(self, store: Store, entry: Entry) -> None:
        session = entry.session
        if session is not None and session.id not in self._sessions:
            data = to_json(session.agreed)
            store.add(self._new(entry.address, _SESSION, session.id, data))
            self._sessions.add(session.id)

    def _record(self, entry: Entry) -> Record:
        data = {field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)}
        data["policy"] = None if entry.policy is None else dataclasses.asdict(entry.policy)
        data["session"] = None if entry.session is None else entry.session.id
        return self._new(entry.address, _CALL, entry.id, to_json({**data, "kernel": self._me}))

    def _new(self, address: str, kind: str, key: str, data: bytes) -> Record:
        now = time.time()
        expires = now + self._limits.journal
        return Record(owner=address, kind=kind, key=key, state=_OPEN, created=now, expires=expires, data=data)


def _expired(store: Store) -> Iterator[Record]:
    while gone := store.expire(time.time()):
        yield from gone


def _entry(record: Record, session: Record | None) -> Entry | None:
    """The entry of a record; None where another version of this package wrote it."""
    data: dict[str, Any] = from_json(record.data)
    del data["kernel"]
    policy = data["policy"]
    data["session"] = None if session is None else SavedSession(session.key, from_json(session.data))
    try:
        return Entry(**{**data, "policy": None if policy is None else ResumePolicy(**policy)})
    except TypeError:
        return None


def _born(process: psutil.Process) -> list[Any]:
    return [process.pid, process.create_time()]


def _lives(kernel: list[Any], me: list[Any]) -> bool:
    """Whether the kernel that remembered a call still has it. One of another machine cannot be asked, and does."""
    host, pid, born, journal = kernel
    if host != me[0]:
        return True
    if pid == me[1]:
        return abs(born - me[2]) < 1 and journal == me[3]
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - born) < 1 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
