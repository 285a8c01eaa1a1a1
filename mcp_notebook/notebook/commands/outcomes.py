"""`result`, `forget`: what came of calls that were begun before."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import ProtocolError, UnsupportedFeature
from ...render.parts import Card, Text
from ..actions import CallActions
from ..brief import CommandError
from ..call_view import CallView
from ..foreground import wait_for
from ..live import Live
from .calls import check_connected, one_call
from .completing import Completing
from .table import Command, Invocation, Reply


def result(invocation: Invocation) -> Reply:
    """Wait for a call in this cell, and show what comes of it."""
    call, runtime = one_call(invocation), invocation.workspace.runtime
    check_connected(invocation, call)
    live = Live(runtime, actions=CallActions(call))
    return Reply(wait_for(call, CallView(call), live, runtime, quiet=invocation.used))


def forget(invocation: Invocation) -> Reply:
    """No longer know of a call that is over, here and at its server."""
    call = one_call(invocation)
    if not call.done() and not call.is_left:
        raise CommandError(f"The call {call.id} of {call.tool!r} is under way: %mcp cancel {call.id} stops it.")
    told = ""
    if call.task is not None and call.has_connection:
        try:
            invocation.workspace.wait(call.delete())
            told = "The server has forgotten the task and its result, too."
        except UnsupportedFeature as why:
            told = str(why)
        except ProtocolError as why:
            told = f"The server says: {why.message}"
    invocation.workspace.forget(call)
    about = f"on {call.server}"
    return Reply(None, [Card("drop", "forgotten", [Text(told, "note")] if told else [], name=call.tool, about=about)])


def complete_all_calls(completing: Completing) -> Iterable[str]:
    """Every call."""
    return completing.workspace.calls


def complete_ended_calls(completing: Completing) -> Iterable[str]:
    """The calls that are over."""
    return [id for id, call in completing.workspace.calls.items() if call.done()]


RESULT = Command(
    name="result",
    usage="CALL",
    summary="wait for a call in this cell, and show its result",
    about=(
        "Shows the result of a call that has ended, and waits for one that has not. Interrupting the cell (■) stops a "
        "plain call; one that is a task goes on."
    ),
    examples=("%mcp result 7f3a", "x = %mcp result 7f3a"),
    run=result,
    complete=complete_all_calls,
)
FORGET = Command(
    name="forget",
    usage="CALL",
    summary="no longer keep a call that has ended, nor (for a task) its result at the server",
    examples=("%mcp forget 7f3a",),
    run=forget,
    complete=complete_ended_calls,
)
