"""Carrying a request out as a task: it is announced or accepted at once, and its answer follows as its form says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from ..errors import ConnectionLost
from ..jsonrpc import Request
from ..protocol.extensions import TASKS
from ..protocol.revision import Profile
from ..protocol.tasks import TaskForm, TaskWish
from ..transports.connection import NO_ANSWER, Connection
from .about_tasks import check_rate
from .call import Superseded
from .task import Task
from .tasks import Tasks


def wishes(profile: Profile, request: Request) -> Iterator[tuple[TaskForm, TaskWish]]:
    """The forms in which a request says that it should become a task, and what it says of that."""
    for name in profile.revision.tasks:
        wish = TASKS[name].wish(profile, request.method, request.params or {})
        if wish is not None:
            yield TASKS[name], wish


async def carry_out(
    tasks: Tasks,
    form: TaskForm,
    wish: TaskWish,
    *,
    owner: str,
    request: Request,
    connection: Connection,
    work: Callable[[Task], Coroutine[Any, Any, Any]],
) -> Any:
    """The answer to a request that becomes a task.

    Args:
        tasks: where it belongs.
        form: its form.
        wish: what the request says of it.
        owner: whose it is.
        request: the request.
        connection: where it came.
        work: does what was asked; its result is what the request would have been answered with.

    Raises:
        ProtocolError: it cannot become a task, or (where its answer comes in the end) it failed.
    """
    check_rate(tasks, owner)
    task = tasks.open(form, wish, owner, request.id, connection)
    state = task.state
    accepted, announced = form.accepted(state), form.announcement(state)
    if announced is not None:
        await connection.notify(announced.method, announced.params, about=request.id)
    task.start(work)
    if form.answered_at_once:
        return accepted
    try:
        return await task.follow(connection, request.id)
    except (Superseded, ConnectionLost):
        return NO_ANSWER
    except asyncio.CancelledError:
        if not connection.ended:
            task.cancel()
        raise
