"""What `%mcp` can do: one table, from which parsing, help and completion come."""

from __future__ import annotations

from .call import CALL
from .cell import SERVER
from .connect import CONNECT, RECONNECT
from .help import help_command
from .listing import PROMPTS, RESOURCES, TOOLS
from .read import PROMPT, READ
from .servers import DISCONNECT, LOG, SERVERS
from .table import Command

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        CONNECT,
        TOOLS,
        CALL,
        RESOURCES,
        READ,
        PROMPTS,
        PROMPT,
        SERVER,
        SERVERS,
        DISCONNECT,
        RECONNECT,
        LOG,
    )
}
COMMANDS["help"] = help_command(COMMANDS)
