"""`%mcp` and `%%mcp`: from a line to a command, and from what the command gives to what is shown."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope, no_var_expand

from ..errors import MCPError, RequestTimeout
from .brief import CommandError, brief, brief_error, folded, hinted
from .commands import COMMANDS
from .commands.help import as_text
from .commands.servers import overview
from .commands.table import Command, Invocation, Reply, parse
from .frontend import Frontend
from .interpolation import Names
from .live import show
from .words import split
from .workspace import Workspace

_OVERVIEW = Command(name="", usage="", summary="show the servers", run=overview)
"""What `%mcp` alone does."""


@magics_class
class MCPMagics(Magics):
    """The magic, registered with a shell."""

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def mcp(self, line: str, cell: str | None = None, local_ns: Mapping[str, Any] | None = None) -> Any:
        # Its docstring, which `%mcp?` shows, is made of the table of commands, below.
        used = value_is_used()
        try:
            reply = run(self.shell, line, cell, local_ns or {}, used=used)
        except MCPError as error:
            raise self._shown(error) from None
        except KeyboardInterrupt as interrupt:
            if hasattr(interrupt, "_render_traceback_"):
                raise
            raise brief(interrupt, ["● cancelled", f"  %mcp {''.join(line.split()[:1])} was interrupted."]) from None
        if used:
            return reply.value
        show(reply.parts)
        self._remember(reply.value)
        return None

    def _shown(self, error: MCPError) -> MCPError:
        if hasattr(error, "_render_traceback_"):
            return error
        if Frontend.of(self.shell).kind not in ("console", "terminal"):  # there nothing can be folded away
            show(folded(error))
        return brief_error(error, *_hints(error, Workspace.of(self.shell)))

    def _remember(self, value: Any) -> None:
        """Have `_` and `Out` know the value, although it was already shown."""
        hook = getattr(self.shell, "displayhook", None)
        if value is not None and isinstance(hook, DisplayHook):
            hook.update_user_ns(value)


MCPMagics.mcp.__doc__ = f"""Connect to MCP servers, call their tools, write servers in a cell.

{as_text(COMMANDS)}

%mcp alone shows servers, calls and questions. %mcp help COMMAND tells all about a command.
"""


def _hints(error: MCPError, workspace: Workspace) -> Iterator[str]:
    """What to do next, where an error's own text cannot know of the magics."""
    for member in workspace:
        if member.client.error is not None and member.client.error in (error, error.__cause__):
            yield f"%mcp reconnect {member.name} connects it again."
    if isinstance(error, RequestTimeout):
        yield "--timeout SECONDS gives it longer."


def run(shell: Any, line: str, cell: str | None, local_ns: Mapping[str, Any], *, used: bool) -> Reply:
    """Carry out a line.

    Args:
        shell: the IPython shell.
        line: what stands after `%mcp`.
        cell: the rest of the cell, under `%%mcp`.
        local_ns: the local names where the line stands.
        used: whether the code goes on with the value.

    Raises:
        MCPError: it failed.
    """
    names = Names(local_ns, shell.user_ns)
    words = split(line)
    command = _command(words[0].raw) if words else _OVERVIEW
    if cell is not None and command.body == "never":
        raise CommandError(f"This command does not read the rest of the cell. {command.say_usage()}")
    plain, options, rest = parse(command, words[1:], names)
    return command.run(
        Invocation(
            command=command,
            workspace=Workspace.of(shell),
            names=names,
            words=plain,
            options=options,
            rest=rest,
            body=cell,
            used=used,
        )
    )


def _command(name: str) -> Command:
    name = {"--help": "help", "-h": "help"}.get(name, name)
    if name not in COMMANDS:
        missing = hinted(f"There is no command {name!r}", name, COMMANDS)
        raise CommandError(f"{missing} There are {', '.join(COMMANDS)}; %mcp help tells about them.")
    return COMMANDS[name]


def value_is_used() -> bool:
    """Whether the code that a magic stands in goes on with its value: `x = %mcp …`, but not a line of its own.

    IPython shows the value of a cell's last line only. So lines of their own show what they give themselves, wherever
    they stand, and give None, so that nothing is shown twice.
    """
    frame = _calling_frame()
    if frame is None:
        return True
    following = next((each for each in dis.get_instructions(frame.f_code) if each.offset > frame.f_lasti), None)
    if following is None:
        return True
    # What a line of its own gives is dropped, or (in the last line) shown: by other means from Python 3.12 on.
    return following.opname not in ("POP_TOP", "PRINT_EXPR") and following.argrepr != "INTRINSIC_PRINT"


def _calling_frame() -> FrameType | None:
    """The frame that the magic is called from, which lies beneath this package and IPython."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_ABOVE):
        frame = frame.f_back
    return frame


_ABOVE = ("IPython.", f"{__package__}.")
"""The modules whose frames stand above a magic's caller."""
