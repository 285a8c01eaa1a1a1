"""`watch`: a resource or the lists of a server, as they change."""

from __future__ import annotations

from collections.abc import Iterable

from ...render.parts import Text
from ..brief import CommandError
from ..live import Live
from ..watch import Watch
from ..workspace import Member
from .completing import Completing
from .read import complete_read, resource_of
from .table import Command, Invocation, Reply


def run_watch(invocation: Invocation) -> Reply:
    """Begin to watch, and give what stops it."""
    workspace = invocation.workspace
    member, uri = _what(invocation)
    member.check()
    watch = Watch(workspace, member, uri, Live(workspace.runtime, background=True))
    workspace.wait(watch.begin())
    if watch.in_place:
        watch.draw()
        return Reply(watch, [Text("_.stop() ends it, right after this; or keep it: watch = %mcp watch …", "note")])
    return Reply(watch, [*watch.parts(), Text("_.changes tells what changed since, _.stop() ends it.", "note")])


def _what(invocation: Invocation) -> tuple[Member, str | None]:
    words = invocation.words
    if not words or len(words) > 2:
        raise CommandError(f"{invocation.command.say_usage()}  %mcp resources lists what there is.")
    server = invocation.workspace.get(invocation.names.text(words[0]))
    if len(words) == 1 and server is not None:
        return server, None
    if len(words) == 2 and server is None:
        invocation.workspace.member(invocation.names.text(words[0]))
    return resource_of(invocation.workspace, server if len(words) == 2 else None, words[-1], {}, invocation.names)


def complete_watch(completing: Completing) -> Iterable[str]:
    """Servers, and resources."""
    return [*completing.workspace.names, *complete_read(completing)]


WATCH = Command(
    name="watch",
    usage="[NAME] URI",
    summary="show a resource anew whenever it changes; of a server alone, its lists",
    about=(
        "It goes on beside your cells. watch = %mcp watch … keeps what has .changes, .latest and .stop(). "
        "%mcp watch NAME watches the lists of tools, resources and prompts of a server."
    ),
    examples=("%mcp watch notes://today", "%mcp watch demo"),
    run=run_watch,
    complete=complete_watch,
)
