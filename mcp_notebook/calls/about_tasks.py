"""Answering requests about tasks, whoever carries them out: `tasks/get`, `tasks/result` and so on.

A task answers in the form in which it was begun, found by its id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ProtocolError
from ..jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Request
from ..protocol.extensions import extension_tasks
from ..protocol.resuming import read_mark
from ..protocol.revision import Profile
from ..protocol.tasks import MESSAGES, TaskStatus, named
from ..transports.connection import Connection
from .call import Superseded
from .task import outcome_of
from .tasks import ANYBODY, Tasks, audit, note


@dataclass(frozen=True, slots=True)
class Asked:
    """A request about tasks.

    Args:
        tasks: the tasks that are carried out here.
        request: the request.
        owner: who asks.
        connection: where.
    """

    tasks: Tasks
    request: Request
    owner: str
    connection: Connection

    @property
    def params(self) -> dict[str, Any]:
        return self.request.params or {}

    @property
    def id(self) -> str | None:
        return named(self.params)


async def answer_about_tasks(asked: Asked, profile: Profile) -> Any:
    """Answer a request whose method `ABOUT` has.

    Raises:
        ProtocolError: there is no such task, or the request is not one that it has an answer for.
    """
    check_declared(profile)
    check_rate(asked.tasks, asked.owner)
    return await ABOUT[asked.request.method](asked)


def check_declared(profile: Profile) -> None:
    """Raise ProtocolError for a client that should have declared the extension, where there is one, and did not."""
    code = profile.revision.missing_capability
    if code is not None and not extension_tasks.declared(profile.client.extensions):
        required = {"requiredCapabilities": extension_tasks.REQUIRED}
        raise ProtocolError(code, "Missing required client capability", required)


def check_rate(tasks: Tasks, owner: str) -> None:
    """Raise ProtocolError where somebody asks for, or about, tasks too often (TSK-8)."""
    if not tasks.rate.take(owner, asyncio.get_running_loop().time()):
        if owner not in tasks.rate.over:  # said once, not for each of a flood
            tasks.rate.over.add(owner)
            audit.warning("%s asks for, or about, tasks too often", owner or ANYBODY)
        raise ProtocolError(
            INTERNAL_ERROR, f"More than {tasks.limits.task_rate:g} requests about tasks a second; ask less often."
        )


async def _get(asked: Asked) -> Any:
    found = asked.tasks.find(asked.owner, asked.id)
    marked, after, _, again = read_mark(asked.params)
    if found.at_work is not None:
        found.at_work.adopt(asked.connection, again=again)
    if found.form.fetch(found.state.id) is None and found.state.status.terminal:
        note(asked.owner, found.state.id, "its outcome is fetched")
    shown = found.form.shown(found.state)
    if marked is not None:
        shown["_meta"] = {**shown.get("_meta", {}), MESSAGES: found.messages(after)}
    return shown


async def _result(asked: Asked) -> Any:
    found = asked.tasks.find(asked.owner, asked.id)
    if found.form.questions != "fetched" and found.state.status is not TaskStatus.COMPLETED:  # TSK-3
        status = found.state.status.value
        raise ProtocolError(INVALID_PARAMS, f"Cannot retrieve result: Task status is '{status}', not 'completed'")
    note(asked.owner, found.state.id, "its result is fetched")
    marked, after, *_ = read_mark(asked.params)
    if found.at_work is None:
        for message in found.messages(after) if marked is not None else ():
            await asked.connection.notify(message["method"], message["params"], about=asked.request.id)
        return outcome_of(found.state, found.form)
    try:
        return await found.at_work.follow(asked.connection, asked.request.id, None if marked is None else after)
    except Superseded:
        return await found.at_work.outcome()


async def _list(asked: Asked) -> Any:
    cursor = asked.params.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise ProtocolError(INVALID_PARAMS, "Failed to list tasks: Invalid cursor")
    found, more = asked.tasks.list(asked.owner, cursor)
    page: dict[str, Any] = {"tasks": [one.form.listed(one.state) for one in found]}
    return page if more is None else {**page, "nextCursor": more}


async def _delete(asked: Asked) -> Any:
    found = asked.tasks.find(asked.owner, asked.id, "delete")
    asked.tasks.delete(found, asked.owner)
    return found.form.acknowledged("tasks/delete", found.state)


async def _cancel(asked: Asked) -> Any:
    found = asked.tasks.find(asked.owner, asked.id, "cancel")
    cancelled = found.at_work is not None and found.at_work.cancel("The task was cancelled by request.")
    if not cancelled and found.form.questions == "fetched":  # TCR-4; elsewhere it is a wish, and acknowledged (TEX-2)
        status = found.state.status.value
        raise ProtocolError(INVALID_PARAMS, f"Cannot cancel task: already in terminal status '{status}'")
    return found.form.acknowledged("tasks/cancel", found.state)


async def _update(asked: Asked) -> Any:
    found = asked.tasks.find(asked.owner, asked.id, "update")
    answers = asked.params.get("inputResponses")
    if not isinstance(answers, dict):
        raise ProtocolError(INVALID_PARAMS, "Failed to update task: 'inputResponses' must be an object")
    if found.at_work is not None:
        found.at_work.answer(answers)
    return found.form.acknowledged("tasks/update", found.state)


ABOUT: Mapping[str, Callable[[Asked], Awaitable[Any]]] = {
    "tasks/get": _get,
    "tasks/result": _result,
    "tasks/list": _list,
    "tasks/delete": _delete,
    "tasks/cancel": _cancel,
    "tasks/update": _update,
}
