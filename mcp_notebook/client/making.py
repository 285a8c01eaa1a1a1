"""Making a call, as a task where it is to be one, and going on with it where its connection drops."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..errors import ConnectionLost, MCPError, ProtocolError, RequestTimeout
from ..jsonrpc import METHOD_NOT_FOUND
from ..protocol.calls import Occurrence
from ..protocol.extensions.extension_tasks import declared
from ..protocol.revision import Profile
from ..protocol.tasks import TaskWish
from ..types import Tool
from .call import ClientCall
from .maker import Maker
from .resuming import DROPS, go_on, never_done


async def made(call: ClientCall, maker: Maker, timeout: float | None, total: float | None) -> Any:
    """Make a call; its raw outcome.

    Args:
        call: the call.
        maker: what makes it.
        timeout: seconds of silence that are borne.
        total: seconds in all.

    Raises:
        MCPError: it failed, or nobody knows what became of it.
    """
    if call.wish is None and not only_as_task(maker.known_tool(call.tool)):
        try:
            raw = await _answered(call, maker, timeout, total)
        except ProtocolError as error:
            if not wants_task(maker.session.profile, error):
                raise
        else:
            if not await _was_refused(call, maker, raw):
                return raw
    from . import tasking  # which many programs never need

    call.as_task = task = await tasking.choose(maker, call.tool, call.wish or TaskWish())
    # Where the request's own answer comes in the end, it is waited for as long as the task takes.
    limits = (timeout, total) if task.form.answered_at_once else (None, None)
    answer = _answered(call, maker, *limits)
    return await tasking.begin(call, task, answer, maker.attached, maker.known_tool(call.tool))


async def gone_on_with(call: ClientCall, maker: Maker, timeout: float | None) -> Any:
    """Go on with a call that was dropped; its raw outcome. Raises MCPError, as `made`."""
    tool = maker.known_tool(call.tool) if call.arguments_known else None  # else it must not be sent again
    if call.as_task is None:
        return await go_on(call, maker.attached, tool, ConnectionLost("It was dropped."), timeout)
    from .tasking import follow

    call.moved(Occurrence.RESUME)
    return await follow(call, call.as_task, maker.attached, tool)


async def _answered(call: ClientCall, maker: Maker, timeout: float | None, total: float | None) -> Any:
    """The answer to the request itself."""
    try:
        return await maker.session.call(call, timeout, total)
    except DROPS as error:
        if isinstance(error, RequestTimeout) or not call.was_sent or never_done(error):
            raise  # a limit of the caller's own ends the wait; and what was never taken cannot be lost
        if call.as_task is not None and not call.as_task.form.answered_at_once:
            raise  # one can ask what became of it (TSK-11)
        return await go_on(call, maker.attached, maker.known_tool(call.tool), error, timeout)


async def _was_refused(call: ClientCall, maker: Maker, raw: Any) -> bool:
    """Whether a result is in truth the refusal of a call that should have been one for a task: the TypeScript SDK's
    servers say so in a tool's own error. What the tool says of itself decides; such a call did nothing yet."""
    failed = isinstance(raw, dict) and raw.get("isError") is True
    if not failed or not takes_tasks(maker.session.profile):
        return False
    if maker.known_tool(call.tool) is None:
        with suppress(MCPError):
            await maker.list_tools()
    return only_as_task(maker.known_tool(call.tool))


def only_as_task(tool: Tool | None) -> bool:
    """Whether a tool can be called only as a task, as far as is known."""
    return tool is not None and tool.execution is not None and tool.execution.task_support == "required"


def wants_task(profile: Profile, error: ProtocolError) -> bool:
    """Whether a server refuses a call because it should have been one for a task (TCR-1, TEX-1)."""
    if error.code == profile.revision.missing_capability:
        required = (error.data or {}).get("requiredCapabilities") if isinstance(error.data, dict) else None
        return isinstance(required, dict) and declared(required.get("extensions"))
    return error.code == METHOD_NOT_FOUND and takes_tasks(profile)


def takes_tasks(profile: Profile) -> bool:
    """Whether a server says that it carries out requests as tasks (TCR-1)."""
    return (profile.server.tasks or {}).get("requests") is not None
