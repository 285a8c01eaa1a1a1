"""`calls`, `status`, `resume`, `cancel`: the calls of this kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ...client import CallHandle
from ...errors import MCPError
from ...protocol.calls import CallState
from ...render.parts import Card, Part, Text, listing
from ..actions import CallActions
from ..background import watch
from ..brief import CommandError, hinted
from ..call_view import CallView, clock, explanation, progress_words, state_card, state_words
from ..kept import BETWEEN
from ..live import Live
from ..task_words import message, task_parts
from .completing import Completing
from .servers import ALL
from .table import Command, Invocation, Reply

_COLUMNS = {
    "call": lambda call: call.id,
    "tool": lambda call: call.tool,
    "server": lambda call: call.server,
    "state": lambda call: state_words(call.status),
    "progress": lambda call: (
        progress_words(call.progress, call.elapsed) if call.progress is not None else message(call)
    ),
    "time": lambda call: clock(call.elapsed),
}
CANCELLING = 5.0
"""Seconds that a call is given to end once it is cancelled."""
ASKING = 5.0
"""Seconds that a server is given to tell how a call stands."""
_THERE = {
    "processing": "The server works on it",
    "completed": "The server is done with it",
    "failed": "It failed at the server",
}


def list_calls(invocation: Invocation) -> Reply:
    """All calls that were begun in this kernel, the newest last, as far as they are remembered."""
    calls = invocation.workspace.calls
    invocation.at_most(0)
    if not calls:
        return Reply(dict(calls), [Text("No call was made yet. %mcp call TOOL key=value makes one.", "note")])
    notes = [*_lost(calls.values()), *_journal_trouble(invocation)]
    return Reply(dict(calls), [*listing(list(calls.values()), _COLUMNS), *notes])


def _lost(calls: Iterable[CallHandle]) -> list[Part]:
    """What can be done about calls whose connection was lost."""
    waiting = [call.id for call in calls if call.can_resume]
    if not waiting:
        return []
    return [Text(f"%mcp status {waiting[0]} explains its state, %mcp resume {waiting[0]} resumes it.", "note")]


def _journal_trouble(invocation: Invocation) -> list[Part]:
    trouble = invocation.workspace.journal.trouble
    return [Text(f"Calls that are under way do not outlive this kernel: {trouble}", "note")] if trouble else []


def under_way(calls: Sequence[CallHandle]) -> list[Part]:
    """What can be done about calls that a kernel before this one has left."""
    if not calls:
        return []
    names = ", ".join(f"{call.id} ({call.tool})" for call in calls)
    how = f"%mcp resume {calls[0].id} goes on with it" if len(calls) == 1 else "%mcp resume --all goes on with them"
    return [Text(f"Under way when the kernel before this one ended: {names}. {how}.", "note")]


def tell_status(invocation: Invocation) -> Reply:
    """How a call stands, here and at its server."""
    call = one_call(invocation)
    if call.task is not None and not call.done() and not call.is_left:
        invocation.workspace.wait(_looked(call))
    parts: list[Part] = []
    if call.progress is not None:
        parts.append(Text(progress_words(call.progress, call.elapsed)))
    parts += task_parts(call, invocation.workspace.calls.values())
    if call.policy is not None and not call.done():
        parts.append(Text(_state_there(invocation, call), "prose"))
    elif call.error is not None:
        parts.append(Text(str(call.error), "prose"))
    if explained := explanation(call):
        parts.append(Text(explained, "note"))
    return Reply(call.status, [state_card(call, parts)])


async def _looked(call: CallHandle) -> None:
    """Have a task's state be as it is at the server, where that tells; else it is what was heard last."""
    with suppress(MCPError, TimeoutError):
        async with asyncio.timeout(ASKING):
            await call.look()


def _state_there(invocation: Invocation, call: CallHandle) -> str:
    async def ask() -> str:
        try:
            async with asyncio.timeout(ASKING):
                there = await call.state_there()
        except TimeoutError:
            return f"{call.server} does not say how it stands there: no answer within {ASKING:g} s."
        except MCPError as error:
            return f"{call.server} cannot be asked how it stands there: {error}"
        if there is None:
            return f"{call.server} gives no sense when asked how it stands there."
        waiting = ", and has said more than has arrived here" if there.pending else ""
        asks = ", and waits for an answer to its question" if there.asks else ""
        return f"{_THERE[there.state]}{waiting}{asks}."

    return invocation.workspace.wait(ask())


def resume(invocation: Invocation) -> Reply:
    """Go on with calls that were dropped."""
    if not invocation.words:
        dropped = [call for call in invocation.workspace.calls.values() if call.can_resume]
        if not invocation.options.get("all") and len(dropped) != 1:
            which = (
                f"There are {len(dropped)} to choose from: %mcp calls lists them."
                if dropped
                else "No call waits to be resumed."
            )
            raise CommandError(f"Which call? {which} {invocation.command.say_usage()}")
    else:
        dropped = [one_call(invocation)]
    parts = [part for call in dropped for part in _resumed(invocation, call)]
    nothing = Text("No call waits to be resumed.", "note")
    return Reply(dropped[0] if len(dropped) == 1 else dropped, parts if dropped else [nothing])


def _resumed(invocation: Invocation, call: CallHandle) -> list[Part]:
    """Resume one, and show how it goes on where an output can be changed in place. What has its connection back, or has
    ended well, is no mistake: that may have happened just now."""
    card = state_card(call)
    if call.can_resume:
        check_connected(invocation, call)
        call.resume()
        card = Card("work", "resuming", name=call.tool, about=f"on {call.server}")
    elif call.done():
        return _ended(call)
    live = Live(invocation.workspace.runtime, background=True, actions=CallActions(call))
    if not live.in_place:
        return [card]
    live.draw([card])
    watch(invocation.workspace.runtime, call, CallView(call), live, live.place)
    return []


def check_connected(invocation: Invocation, call: CallHandle) -> None:
    """Raise CommandError for a call of another kernel whose server is not connected in this one."""
    address = invocation.workspace.address_of(call)
    if address is not None and not call.has_connection:
        kept_name = address.removesuffix(BETWEEN + invocation.workspace.place)
        line = f"%mcp connect {call.server} {address}" if kept_name == address else f"%mcp connect {kept_name}"
        raise CommandError(
            f"The server of the call {call.id} of {call.tool!r} is not connected. Connect it first, as before (such as "
            f"{line}); then %mcp resume {call.id} goes on with it."
        )


def _ended(call: CallHandle) -> list[Part]:
    if call.status is CallState.UNKNOWN:
        why = f"{call.server} does not keep calls whose connection is lost"
        raise CommandError(f"The call {call.id} of {call.tool!r} cannot be resumed: {why}. {call.error or ''}".strip())
    note = f"There is nothing to resume. %mcp result {call.id} shows what came of it."
    return [state_card(call, [Text(note, "note")])]


def cancel(invocation: Invocation) -> Reply:
    """Stop a call."""
    call = one_call(invocation)
    if call.done():
        raise CommandError(f"The call {call.id} of {call.tool!r} is over: {call.status.value}.")
    check_connected(invocation, call)
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
    return [id for id, call in calls.items() if not call.done() or call.can_resume]


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
        "Where the connection is lost in the middle of a call, some servers work on, and keep what they have to say: "
        "those that announced it for this call, and those that were connected with --keep. Such calls are resumed by "
        "themselves for a while, and nothing is done twice. This tries at once, or once more after that. "
        "handle = %mcp resume CALL keeps the handle; its result() waits."
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
