"""`help`: of all commands, of one, of a tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...render import parts_of
from ...render.parts import Card, Part, Text, listing
from ..brief import CommandError, hinted
from .completing import Completing
from .naming import find
from .table import Command, Invocation, Option, Reply

_COMMANDS = {"command": lambda command: command.line, "what it does": lambda command: command.summary}
_OPTIONS = {"option": lambda option: option.usage, "what it does": lambda option: option.summary}


def help_command(table: Mapping[str, Command]) -> Command:
    """The command that tells of all commands of a table."""

    def run(invocation: Invocation) -> Reply:
        word = next(iter(invocation.at_most(1)), "").lstrip("%")
        if not word:
            return Reply(None, overview(table))
        if word in table:
            return Reply(None, about(table[word]))
        if len(invocation.workspace):
            return Reply(None, parts_of(find(invocation.workspace, "tools", word).item))
        raise CommandError(f"{hinted(f'There is no command {word!r}', word, table)} %mcp help lists them.")

    def complete(completing: Completing) -> Iterable[str]:
        return [] if completing.words else [*table, *completing.names_of("tools")]

    return Command(
        name="help",
        usage="[COMMAND | NAME.TOOL]",
        summary="show this list, or all about a command or a tool",
        examples=("%mcp help call", "%mcp help everything.echo"),
        run=run,
        complete=complete,
    )


def overview(table: Mapping[str, Command]) -> list[Part]:
    """All commands."""
    return [
        *listing(list(table.values()), _COMMANDS),
        Text(
            "%mcp alone shows servers, calls and questions; in JupyterLab one can search there, try, cancel and "
            "answer. x = %mcp … keeps what a command gives. Tab completes everything.",
            "note",
        ),
    ]


def about(command: Command) -> list[Part]:
    """All about a command."""
    parts: list[Part] = [Text(command.line, "code")]
    if command.about:
        parts.append(Text(command.about, "prose"))
    options: Sequence[Option] = command.options
    if options:
        parts += listing(options, _OPTIONS)
    if command.examples:
        parts += [Text("for example", "label"), Text("\n".join(command.examples), "code")]
    return [Card("", "", parts, name=f"%mcp {command.name}", about=command.summary)]


def as_text(table: Mapping[str, Command]) -> str:
    """The table of commands for a docstring."""
    width = max(len(command.line) for command in table.values() if len(command.line) < 50)
    lines = [f"{command.line:<{width}}  {command.summary}" for command in table.values()]
    return "\n".join(lines)
