"""The tasks that one side carries out: found by their ids and their owners, bounded in number and time, remembered."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import secrets
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from ..errors import ProtocolError
from ..jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Notification, RequestId
from ..limits import Limits
from ..protocol import cursors
from ..protocol.extensions import TASKS
from ..protocol.tasks import ENDS, TaskForm, TaskState, TaskStatus, TaskWish, not_found
from ..store.base import Record, Store
from .rate import Rate
from .task import Task

if TYPE_CHECKING:
    from ..transports.connection import Connection

audit = logging.getLogger("mcp_notebook.audit")
COUNTED = "after"
"""What a cursor of this list counts."""
PAGE = 100
"""How many tasks one page of a list holds."""
YOUNG = 0.05
"""Seconds after which one may first ask how a task stands; later, a quarter of its age."""
KIND = "task"
LONGEST_ID = 1000
"""Characters of a task's id."""
SHOWN = 8
"""Letters of a task's id that are logged."""
_UNFINISHED = frozenset(TaskStatus) - ENDS
RESTARTED = "The server was restarted while this task was at work."
ANYBODY = "somebody without a name"


@dataclass(frozen=True, slots=True)
class Found:
    """A task that was found: at work, or as it ended."""

    form: TaskForm
    state: TaskState
    at_work: Task | None = None
    said: Sequence[tuple[int, dict[str, Any]]] = ()
    """What it said, as far as it is remembered; of one at work, ask itself."""

    def messages(self, after: int) -> list[dict[str, Any]]:
        """The notifications that it has said after a number."""
        said = self.said if self.at_work is None else self.at_work.said(after)
        return [message for number, message in said if number > after]


class Tasks:
    """Tasks at work, and those that have ended as long as they are kept.

    Args:
        limits: the bounds to keep.
        store: remembers them.
        on_changed: told of each change of a task whose form does not push it: its id, and what to tell whoever listens.
    """

    def __init__(self, limits: Limits, store: Store, on_changed: Callable[[str, Notification], None]) -> None:
        self.limits = limits
        self.prefix = f"q{secrets.token_hex(4)}"
        """Begins the ids of questions, which must hold across connections."""
        self.rate = Rate(limits.task_rate)
        self._store = store
        self._on_changed = on_changed
        self._at_work: dict[tuple[str, str], Task] = {}
        self._counts: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None
        self._due: float | None = None
        """When that goes off, in seconds since the epoch."""
        self._aside: set[asyncio.Task[None]] = set()
        self._restarted()

    # Beginning and ending

    def open(self, form: TaskForm, wish: TaskWish, owner: str, request_id: RequestId, origin: Connection) -> Task:
        """A new task, remembered before anybody hears of it.

        Raises:
            ProtocolError: the id is taken, or the owner has too many tasks.
        """
        if self._counts[owner] >= self.limits.tasks:
            raise ProtocolError(
                INTERNAL_ERROR, f"More than {self.limits.tasks} tasks are at work (Limits.tasks). Try again later."
            )
        id = wish.id if wish.id is not None else secrets.token_urlsafe(18)
        if not 0 < len(id) <= LONGEST_ID:
            raise ProtocolError(INVALID_PARAMS, f"A task ID has 1 to {LONGEST_ID} characters; this one has {len(id)}.")
        state = TaskState(id=id, status=form.first, keep=self._kept(wish.keep), parent=wish.parent)
        task = Task(self, form, state, owner, request_id, origin)
        if self._store.add(self._record(task)) is None:
            raise ProtocolError(INVALID_PARAMS, f"Task ID already exists: {id}")
        self._at_work[owner, id] = task
        self._counts[owner] += 1
        if wish.parent is not None:
            self._note_child(owner, wish.parent, id)
        self._wind()
        note(owner, id, f"it begins ({form.name})")
        return task

    def ended(self, task: Task) -> None:
        """A task has its outcome; from here on it is only remembered."""
        if self._at_work.pop((task.owner, task.id), None) is None:
            return  # deleted meanwhile
        self._count_down(task.owner)
        self._store.update(self._record(task))
        self._wind()
        note(task.owner, task.id, f"it ended: {task.state.status.value}")

    def changed(self, task: Task) -> None:
        """A task at work has changed."""
        told = task.form.changed(task.state)
        if told is not None and task.form.pushes:
            task.origin.notify_soon(told.method, told.params)
        elif told is not None:
            self._on_changed(task.id, told)

    # Finding

    def find(self, owner: str, id: str | None, doing: str = "retrieve") -> Found:
        """The task of that id, if it is the owner's.

        Raises:
            ProtocolError: there is none (any more), or it is somebody else's.
        """
        task = self._at_work.get((owner, id or ""))
        if task is not None:
            return Found(task.form, task.state, task)
        record = self._store.get(owner, KIND, id or "")
        if record is None:
            audit.warning("%s asks for a task that is not there: %s", owner or ANYBODY, brief(id))
            raise not_found(doing)
        return _remembered(record)

    def list(self, owner: str, cursor: str | None) -> tuple[list[Found], str | None]:
        """One page of the owner's tasks, in the order of their beginning, and the cursor of the next.

        Raises:
            ProtocolError: the cursor is none.
        """
        records = self._store.page(owner, KIND, after=_position(cursor), limit=PAGE + 1)
        more = cursors.cursor(COUNTED, records[PAGE - 1].serial) if len(records) > PAGE else None
        return [self._current(record) for record in records[:PAGE]], more

    def delete(self, found: Found, owner: str) -> None:
        """Forget a task; one at work is cancelled first."""
        task = self._at_work.pop((owner, found.state.id), None)
        if task is not None:
            self._count_down(owner)
            task.cancel("The task was deleted.")
        self._store.delete(owner, KIND, found.state.id)
        note(owner, found.state.id, "it is deleted")

    def pace(self, owner: str, age: float) -> int:
        """Milliseconds after which to ask again about a task of that age, in seconds."""
        patient = max(YOUNG, age / 4)
        return round(1000 * max(min(patient, self.limits.task_poll), self._counts[owner] / self.limits.task_rate))

    def aside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that nobody waits for."""
        task = asyncio.create_task(work)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    def __len__(self) -> int:
        return len(self._at_work)

    # Within

    def _kept(self, wished: int | None) -> int:
        most = round(1000 * self.limits.task_keep_most)
        return min(round(1000 * self.limits.task_keep) if wished is None else wished, most)

    def _current(self, record: Record) -> Found:
        task = self._at_work.get((record.owner, record.key))
        return _remembered(record) if task is None else Found(task.form, task.state, task)

    def _record(self, task: Task) -> Record:
        state = task.state
        ended = state.status.terminal
        since = task.began if task.form.kept_from == "creation" else time.time() if ended else None
        data = {
            "form": task.form.name,
            "state": state.data(),
            "said": task.said() if ended else [],
        }
        return Record(
            key=state.id,
            owner=task.owner,
            kind=KIND,
            state=state.status.value,
            created=task.began,
            expires=None if since is None else since + (state.keep or 0) / 1000,
            data=to_json(data),
        )

    def _note_child(self, owner: str, parent: str, id: str) -> None:
        task = self._at_work.get((owner, parent))
        if task is not None and len(task.state.children) < self.limits.call_events:
            task.state.children.append({"taskId": id})

    def _count_down(self, owner: str) -> None:
        self._counts[owner] -= 1
        if not self._counts[owner]:
            del self._counts[owner]

    def _restarted(self) -> None:
        """What was at work when the process ended before: it has failed, and its requestor learns so (row 9)."""
        while unfinished := self._store.of_everyone(KIND, _UNFINISHED, limit=PAGE):
            for record in unfinished:
                self._fail(record)
        with suppress(RuntimeError):  # without a loop yet; the first task sees to it then
            self._wind()

    def _fail(self, record: Record) -> None:
        found = _remembered(record)
        found.state.become(TaskStatus.FAILED, RESTARTED)
        found.state.error = {"code": INTERNAL_ERROR, "message": RESTARTED}
        data = {**from_json(record.data), "state": found.state.data()}
        expires = record.expires or time.time() + (found.state.keep or 0) / 1000
        self._store.update(dataclasses.replace(record, state="failed", expires=expires, data=to_json(data)))
        note(record.owner, record.key, "it failed, as the server was restarted")

    def _wind(self) -> None:
        """See to it that what expires next does."""
        due = self._store.next_expiry()
        if due == self._due:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, due - time.time()), self._expire)
        self._due = due

    def _expire(self) -> None:
        self._due = self._timer = None
        for record in self._store.expire(time.time(), PAGE):
            task = self._at_work.pop((record.owner, record.key), None)
            if task is not None:
                self._count_down(task.owner)
                task.cancel("The task's time is over.")
            note(record.owner, record.key, "it is forgotten, as its time is over")
        self._wind()


def note(owner: str, id: str, what: str) -> None:
    """Log something of a task, and whose it is (TSK-14)."""
    if audit.isEnabledFor(logging.INFO):
        audit.info("task %s of %s: %s", brief(id), owner or ANYBODY, what)


def brief(id: str | None) -> str:
    """As much of a task's id as tells it from others; whoever knows all of it may have the task (TEX-2)."""
    return "none" if id is None else repr(id[:SHOWN] + "…" if len(id) > SHOWN else id)


def _remembered(record: Record) -> Found:
    data: Mapping[str, Any] = from_json(record.data)
    state = TaskState(**{**data["state"], "status": TaskStatus(data["state"]["status"])})
    return Found(TASKS[data["form"]], state, said=data["said"])


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    position = cursors.position(cursor, COUNTED, 2**63 - 1)
    if position is not None:
        return position
    raise ProtocolError(INVALID_PARAMS, f"Failed to list tasks: Invalid cursor: {cursor[:80]!r}")
