"""Asking the client for something as a task: it takes its time there, whatever becomes of the request (TSK-10)."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import MCPError
from ..protocol.extensions import TASKS
from ..protocol.tasks import TaskForm, TaskWish

if TYPE_CHECKING:
    from ..transports.connection import Connection
    from .context import Context

CANCELLING = 5.0
"""Seconds given to telling the client that a task is no longer wanted."""


async def ask_as_task(context: Context, method: str, params: dict[str, Any], key: str | None) -> Any:
    """The answer to a question that becomes a task where the client takes it as one; else as any other.

    Raises:
        MCPError: as of `Delivery.ask`.
    """
    profile, delivery = context.profile, context.delivery
    for name in profile.revision.tasks:
        form = TASKS[name]
        if form.offered(profile, method, None):
            wish = TaskWish(None if form.answered_at_once else secrets.token_hex(16))
            raw = await delivery.ask(method, form.augmented(params, wish), key)
            begun = form.begun(raw)
            return raw if begun is None else await _fetched(context.connection, form, begun.id, context.request_id)
    return await delivery.ask(method, params, key)


async def _fetched(connection: Connection, form: TaskForm, id: str, about: Any) -> Any:
    asked = form.fetch(id)
    assert asked is not None, "such tasks are asked of servers only"
    try:
        return await connection.request(*asked, timeout=connection.limits.question, about=about)
    except asyncio.CancelledError:
        with suppress(MCPError, TimeoutError):
            async with asyncio.timeout(CANCELLING):
                await connection.request("tasks/cancel", {"taskId": id})
        raise
