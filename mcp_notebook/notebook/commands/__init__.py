"""What `%mcp` can do: one table, from which parsing, help and completion come."""

from __future__ import annotations

from . import call, cell, connect, listing, read, servers
from .help import help_command
from .table import Command

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        *connect.COMMANDS,
        *servers.COMMANDS,
        *listing.COMMANDS,
        *call.COMMANDS,
        *read.COMMANDS,
        *cell.COMMANDS,
    )
}
COMMANDS["help"] = help_command(COMMANDS)
