"""What the place can do from which the running code was sent: show widgets, ask for input, or neither."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Frontend:
    """A front end, as far as one can tell from the message that made the code run.

    Attributes:
        kind: "lab" for JupyterLab and Notebook 7, "console" for `jupyter console`, "terminal" for `ipython`, and
            "headless" where nobody can answer (nbclient, nbconvert, nbval, scripts).
        widgets: ipywidgets are shown, and can be answered.
        stdin: `input()` reaches a person, from the main thread.
    """

    kind: Literal["lab", "console", "terminal", "headless"]
    widgets: bool
    stdin: bool

    @classmethod
    def of(cls, shell: Any) -> Frontend:
        """The front end of the code that runs now. Call it in the thread that runs that code.

        Args:
            shell: the IPython shell.
        """
        kernel = getattr(shell, "kernel", None)
        if kernel is None:
            return TERMINAL if sys.stdin is not None and sys.stdin.isatty() else HEADLESS
        return _sender(kernel.get_parent("shell") or {})


PROMPTS = "MCP_NOTEBOOK_PROMPTS"
"""With the value `text`, widgets are not used: for front ends that show none, though they look as if they did."""


def wants_widgets(frontend: Frontend) -> bool:
    """Whether widgets are to be used there."""
    return frontend.widgets and os.environ.get(PROMPTS) != "text"


def _sender(message: dict[str, Any]) -> Frontend:
    """The front end that sent a message: only those with widgets send comms, or say which cell a request is for."""
    if str(message.get("header", {}).get("msg_type", "")).startswith("comm_"):
        return CALLBACK
    stdin = bool(message.get("content", {}).get("allow_stdin"))
    if "cellId" in message.get("metadata", {}):
        return Frontend("lab", widgets=True, stdin=stdin)
    return CONSOLE if stdin else HEADLESS


CONSOLE = Frontend("console", widgets=False, stdin=True)
TERMINAL = Frontend("terminal", widgets=False, stdin=True)
HEADLESS = Frontend("headless", widgets=False, stdin=False)
CALLBACK = Frontend("lab", widgets=True, stdin=False)
"""A widget's callback that runs between cells: there `input()` leads nowhere."""
