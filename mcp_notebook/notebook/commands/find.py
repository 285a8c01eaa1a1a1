"""`find`: search all that the servers offer."""

from __future__ import annotations

from ...errors import MCPError
from ...render.parts import Part, Table, Text
from ...visible import visible
from ..brief import CommandError
from ..searching import Hit, hits_of, search
from ..workspace import KINDS, NOTHING_YET, each
from .table import Command, Invocation, Reply

SHOWN = 30
"""How many of what was found are shown; the value holds all."""


def find_offers(invocation: Invocation) -> Reply:
    """Tools, resources and prompts of all servers that hold the words; the value is a list of them."""
    words, workspace = list(invocation.texts()), invocation.workspace
    if not words:
        raise CommandError(f"Find what? {invocation.command.say_usage()}")
    members = workspace.connected()
    if not members:
        raise CommandError(f"There is nothing to search: {NOTHING_YET}")
    offers: list[Hit] = []
    notes: list[Part] = []
    for member, lists in workspace.wait(each(members, *KINDS)):
        if isinstance(lists, MCPError):
            notes.append(Text(f"{member.name} could not be searched: {lists}", "note"))
        else:
            offers += hits_of(member.name, [item for items in lists for item in items])
    hits = search(offers, words)
    value = [hit.item for hit in hits]
    if not hits:
        return Reply(value, [Text(f"Nothing holds {' and '.join(map(repr, words))}.", "note"), *notes])
    return Reply(value, [_table(hits[:SHOWN]), *_more(hits), *notes])


def _table(hits: list[Hit]) -> Table:
    rows = [[f"{hit.server}.{visible(hit.item.name)}", hit.noun, hit.about, hit.attempt] for hit in hits]
    return Table(("name", "kind", "about", "to try it"), rows, names=True)


def _more(hits: list[Hit]) -> list[Part]:
    return [Text(f"… {len(hits) - SHOWN:,} more; another word narrows it down.", "note")] if len(hits) > SHOWN else []


FIND = Command(
    name="find",
    usage="WORD…",
    summary="search tools, resources and prompts of all servers, and see how to try them",
    examples=("%mcp find image", "%mcp find file read"),
    run=find_offers,
)
