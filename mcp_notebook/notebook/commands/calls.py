"""`calls`, `status`, `resume`, `cancel`: the calls of this kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from ...client import CallHandle
from ...errors import MCPError
from ...protocol.calls import CallState
from ...render.parts import Card, Part, Text, listing
from ..brief import CommandError, hinted
from ..call_view import clock, progress_words
from ..task_words import message, task_parts
from .completing import Completing
from .servers import ALL
from .table import Command, Invocation, Reply

_COLUMNS = {
    "call": lambda call: call.id,
    "tool": lambda call: call.tool,
    "server": lambda call: call.server,
    "state": lambda call: call.status.value.replace("_", " "),
    "progress": lambda call: (
        progress_words(call.progress, call.elapsed) if call.progress is not None else message(call)
    ),
    "time": lambda call: clock(call.elapsed),
}
CANCELLING = 5.0
"""Seconds that a call is given to end once it is cancelled."""
_RESUMABLE = (CallState.DROPPED, CallState.UNKNOWN)


def list_calls(invocation: Invocation) -> Reply:
    """All calls that were begun in this kernel, the newest last, as far as they are remembered."""
    calls = invocation.workspace.calls
    invocation.at_most(0)
    if not calls:
        return Reply(dict(calls), [Text("No call was made yet. %mcp call TOOL key=value makes one.", "note")])
    return Reply(dict(calls), listing(list(calls.values()), _COLUMNS))


def tell_status(invocation: Invocation) -> Reply:
    """How a call stands, here and at its server."""
    call = one_call(invocation)
    parts: list[Part] = []
    if call.policy is not None and not call.done():
        there = invocation.workspace.wait(call.state_there())
        if there is not None:
            waiting = ", and has said more than arrived here" if there.pending else ""
            asks = "; it asks something" if there.asks else ""
            parts.append(Text(f"at the server: {there.state}{waiting}{asks}", "prose"))
    if call.progress is not None:
        parts.append(Text(progress_words(call.progress, call.elapsed)))
    parts += task_parts(call, invocation.workspace.calls.values())
    state = call.status.value.replace("_", " ")
    return Reply(
        call.status, [Card("", state, parts, name=call.tool, about=f"on {call.server}", aside=clock(call.elapsed))]
    )


def resume(invocation: Invocation) -> Reply:
    """Go on with calls that were dropped."""
    if not invocation.words:
        dropped = [call for call in invocation.workspace.calls.values() if call.status in _RESUMABLE]
        if not invocation.options.get("all") and len(dropped) != 1:
            which = (
                f"There are {len(dropped)} to choose from: %mcp calls lists them." if dropped else "None is dropped."
            )
            raise CommandError(f"Which call? {which} {invocation.command.say_usage()}")
    else:
        dropped = [one_call(invocation)]
    for call in dropped:
        call.resume()
    told = [Card("work", "resuming", name=call.tool, about=f"on {call.server}", aside=call.id) for call in dropped]
    return Reply(dropped[0] if len(dropped) == 1 else dropped, [*told] or [Text("No call is dropped.", "note")])


def cancel(invocation: Invocation) -> Reply:
    """Stop a call."""
    call = one_call(invocation)
    if call.done():
        raise CommandError(f"The call {call.id} of {call.tool!r} is over: {call.status.value}.")
    call.cancel()
    with suppress(MCPError, TimeoutError):
        call.result(CANCELLING)
    title = "cancelled" if call.done() else "being cancelled"
    return Reply(None, [Card("drop", title, name=call.tool, about=f"on {call.server}")])


def one_call(invocation: Invocation) -> CallHandle:
    """The call that the only word names. Raises CommandError."""
    names = invocation.at_most(1)
    calls: Mapping[str, CallHandle] = invocation.workspace.calls
    if not names:
        raise CommandError(f"Which call? {invocation.command.say_usage()}  %mcp calls lists them.")
    if names[0] not in calls:
        raise CommandError(f"{hinted(f'There is no call {names[0]!r}', names[0], calls)} %mcp calls lists them.")
    return calls[names[0]]


def complete_calls(completing: Completing) -> Iterable[str]:
    """The calls that have not ended."""
    calls = completing.workspace.calls
    return [id for id, call in calls.items() if not call.done() or call.status in _RESUMABLE]


CALLS = Command(
    name="calls",
    usage="",
    summary="list the calls of this kernel, and how each stands",
    examples=("%mcp calls",),
    run=list_calls,
)
STATUS = Command(
    name="status",
    usage="CALL",
    summary="tell how a call stands, also at its server where that can be asked",
    examples=("%mcp status 7f3a",),
    run=tell_status,
    complete=complete_calls,
)
RESUME = Command(
    name="resume",
    usage="[CALL] [--all]",
    summary="go on with a call whose connection was lost",
    about=(
        "Calls that their server announced to be resumable are gone on with by themselves for a while. This tries "
        "again at once, or after that. handle = %mcp resume CALL keeps the handle; its result() waits."
    ),
    examples=("%mcp resume 7f3a", "%mcp resume --all"),
    options=(ALL,),
    run=resume,
    complete=complete_calls,
)
CANCEL = Command(
    name="cancel",
    usage="CALL",
    summary="stop a call that runs in the background",
    examples=("%mcp cancel 7f3a",),
    run=cancel,
    complete=complete_calls,
)
