"""Calls that another process began, from their pages in the journal (RR-13, TSK-13)."""

from __future__ import annotations

from typing import Any

from ..home import Home
from ..journal import Entry
from ..limits import Limits
from ..protocol.extensions import RESUMING, TASKS
from ..protocol.tasks import TaskState, TaskStatus, TaskWish
from .as_task import AsTask
from .calls import CallHandle


def restored(home: Home, entry: Entry, limits: Limits) -> CallHandle:
    """The handle of a call that another process began. It is dropped, until its server is connected and it is resumed.

    Args:
        home: where it will go on.
        entry: what is known of it.
        limits: the bounds to keep.
    """
    call = CallHandle(home, server=entry.server, tool=entry.tool, arguments=entry.arguments or {}, limits=limits)
    task = None
    if entry.form is not None:
        task = AsTask(TASKS[entry.form], TaskWish(entry.task_id), _state(entry.task))
    dialect = next((one for one in RESUMING if one.resume_method == entry.dialect), None)
    call.left(entry, dialect, task)
    return call


def _state(kept: dict[str, Any] | None) -> TaskState | None:
    return None if kept is None else TaskState(**{**kept, "status": TaskStatus(kept["status"])})
