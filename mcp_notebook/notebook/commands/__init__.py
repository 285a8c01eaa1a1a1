"""What `%mcp` can do: one table, from which parsing, help and completion come."""

from __future__ import annotations

from .call import CALL
from .calls import CALLS, CANCEL, RESUME, STATUS
from .cell import SERVER
from .connect import CONNECT, RECONNECT
from .find import FIND
from .form import FORM
from .help import help_command
from .listing import PROMPTS, RESOURCES, TOOLS
from .outcomes import FORGET, RESULT
from .read import PROMPT, READ
from .serve import SERVE
from .servers import DISCONNECT, LOG, SERVERS
from .table import Command
from .watch import WATCH

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        CONNECT,
        TOOLS,
        FIND,
        CALL,
        FORM,
        CALLS,
        STATUS,
        RESULT,
        RESUME,
        CANCEL,
        FORGET,
        RESOURCES,
        READ,
        WATCH,
        PROMPTS,
        PROMPT,
        SERVER,
        SERVE,
        SERVERS,
        DISCONNECT,
        RECONNECT,
        LOG,
    )
}
COMMANDS["help"] = help_command(COMMANDS)
