"""What is to be seen of a task beside its call: its id, how long it is kept, its place among others."""

from __future__ import annotations

from collections.abc import Iterable

from ..client import CallHandle
from ..protocol.tasks import TaskState
from ..render.parts import Node, Part, Text, Tree
from .kept import span


def task_parts(call: CallHandle, calls: Iterable[CallHandle]) -> list[Part]:
    """More about a call that is a task; nothing about any other.

    Args:
        call: the call.
        calls: all that are known here.
    """
    state = call.task
    if state is None:
        return []
    told = [f"task {state.id}: {state.status.value.replace('_', ' ')}"]
    if state.poll is not None and not state.status.terminal:
        told.append(f"asked about every {span(state.poll / 1000)}")
    if state.keep is not None:
        told.append(f"kept for {span(state.keep / 1000)}")
    parts: list[Part] = [Text(" · ".join(told), "note")]
    if message(call):
        parts.insert(0, Text(message(call), "prose"))
    tree = _tree(state, {one.task.id: one for one in calls if one.task is not None and one.server == call.server})
    return [*parts, Tree(tree)] if tree.children or state.parent is not None else parts


def message(call: CallHandle) -> str:
    """What the server says of a task, where its progress does not say it."""
    said = call.task.message if call.task is not None else None
    return said if said and call.progress is None else ""


def _tree(state: TaskState, known: dict[str, CallHandle]) -> Node:
    """A task and those that belong to it, beneath the one that it belongs to (TSK-16)."""
    own = Node(_name(state.id, known), state.status.value)
    for child in state.children:
        id = str(child.get("taskId", "?"))
        own.children.append(Node(_name(id, known), str(child.get("status", _status(id, known)))))
    if state.parent is None:
        return own
    return Node(_name(state.parent, known), _status(state.parent, known), [own])


def _name(id: str, known: dict[str, CallHandle]) -> str:
    return f"{known[id].id} {known[id].tool}" if id in known else id


def _status(id: str, known: dict[str, CallHandle]) -> str:
    call = known.get(id)
    return call.task.status.value if call is not None and call.task is not None else ""
