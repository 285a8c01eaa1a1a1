"""What a client asks, and is told, about a task: one message each."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..errors import InvalidResult
from ..jsonrpc import Notification, Request
from ..protocol.extensions import TASKS
from ..protocol.resuming import Call, mark
from ..protocol.revision import Profile
from ..protocol.tasks import MESSAGES, TaskState
from ..types import InputRequest

if TYPE_CHECKING:
    from .as_task import AsTask
    from .call import ClientCall
    from .session import ClientSession


async def look(session: ClientSession, call: ClientCall, task: AsTask) -> TaskState:
    """Ask how a task stands, and hear what it has said since the last message that arrived.

    Raises:
        ProtocolError: the server has no such task.
        InvalidResult: the answer is broken.
    """
    listen(session, call, task)
    method, params = task.form.get(task.id or "")
    params = {**params, "_meta": mark(params.get("_meta"), call.request_id or "", call.last_number, again=call.again)}
    raw = await _ask(session, task, (method, params))
    call.again = False
    state = task.form.read(raw)
    if state is None or state.id != task.id:
        raise InvalidResult("The server's answer to 'tasks/get' is broken.")
    messages = (raw.get("_meta") or {}).get(MESSAGES)
    for message in messages if isinstance(messages, list) else ():
        session.told_of(call, Notification(message["method"], message["params"]))
    return state


async def fetch(session: ClientSession, call: ClientCall, task: AsTask) -> Any:
    """Wait for a task's result, and answer what it asks meanwhile."""
    asked = task.form.fetch(task.id or "")
    assert asked is not None, "this form has that"
    method, params = asked
    params = {**params, "_meta": mark(params.get("_meta"), call.request_id or "", call.last_number)}
    return await _ask(session, task, (method, params), patient=True)


async def answer(session: ClientSession, call: ClientCall, task: AsTask) -> None:
    """Answer the questions in a task's state, each once; the answer that was given is sent again where the server still
    asks (TEX-2)."""
    ready: dict[str, Any] = {}
    for key, asked in task.state.questions.items() if task.state is not None else ():
        pending = call.questions.get(key)
        if pending is None:
            answering = session.questions.answer_input(session.profile, InputRequest.model_validate(asked), call)
            pending = call.questions[key] = asyncio.ensure_future(answering)
            pending.add_done_callback(lambda _: task.news.set())
        elif pending.done():
            ready[key] = pending.result()
    if ready:
        await _ask(session, task, ("tasks/update", {"taskId": task.id, "inputResponses": ready}))


async def cancel(session: ClientSession, task: AsTask) -> None:
    """Tell the server that a task is no longer wanted."""
    method = "tasks/cancel" if "tasks/cancel" in task.form.methods else "tasks/delete"
    await _ask(session, task, (method, task.form.get(task.id or "")[1]))


async def delete(session: ClientSession, task: AsTask) -> None:
    """Have the server forget a task."""
    await _ask(session, task, ("tasks/delete", task.form.get(task.id or "")[1]))


def leave(session: ClientSession, call: ClientCall, task: AsTask) -> None:
    """No longer hear of it."""
    session.calls.leave(call)
    if call.request_id is not None and task.form.pushes:
        session.connection.release(call.request_id)


def listed_task(raw: dict[str, Any], profile: Profile) -> TaskState | None:
    """An entry of `tasks/list`; None where it is broken. The forms' entries are told apart by what only one of them
    always has."""
    forms = [TASKS[name] for name in profile.revision.tasks]
    form = next((one for one in forms if one.declares == ("createdAt" in raw)), forms[0])
    return form.read(raw)


def listen(session: ClientSession, call: ClientCall, task: AsTask) -> None:
    """Hear what a task says on this connection; may be said again."""
    session.calls.enter(call)
    if call.request_id is not None and task.form.pushes:
        session.connection.linger(Request(call.request_id, "tools/call"), call.progressed)


async def _ask(session: ClientSession, task: AsTask, asked: Call, *, patient: bool = False) -> Any:
    method, params = asked
    return await session.request(
        method,
        task.form.declared_in(params, session.profile),
        timeout=None if patient else session.limits.request,
        total=None,
        on_progress=None,
    )
