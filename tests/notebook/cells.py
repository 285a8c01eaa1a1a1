"""An IPython shell in this process, with `%mcp` loaded, for tests that run cells in it."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from mcp_notebook.notebook.runtime import Runtime


@dataclass
class Ran:
    """What came of a cell.

    Attributes:
        shown: what it displayed, and its value where IPython shows that: MIME bundles.
        stdout: what it printed.
        error: what it raised.
        traceback: how IPython shows that.
    """

    shown: list[dict[str, Any]] = field(default_factory=list)
    stdout: str = ""
    error: BaseException | None = None
    traceback: str = ""

    @property
    def text(self) -> str:
        """All that was displayed, as plain text."""
        return "\n".join(str(bundle["text/plain"]) for bundle in self.shown)


class Cells:
    """Runs cells."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self._shown: list[dict[str, Any]] = []
        self._tracebacks: list[str] = []
        shell.display_pub = Publisher(parent=shell, shown=self._shown)
        shell.displayhook = Hook(shell=shell, shown=self._shown)
        shell.display_trap.hook = shell.displayhook
        shell._showtraceback = lambda kind, error, lines: self._tracebacks.append("\n".join(lines))  # type: ignore[method-assign]

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.shell.user_ns[name] = value

    def try_(self, cell: str) -> Ran:
        """Run a cell, whatever comes of it."""
        self._shown.clear()
        self._tracebacks.clear()
        with capture_output(display=False) as captured:
            result = self.shell.run_cell(cell, store_history=True)
        return Ran(
            list(self._shown),
            captured.stdout,
            result.error_before_exec or result.error_in_exec,
            "\n".join(self._tracebacks),
        )

    def run(self, cell: str) -> Ran:
        """Run a cell that must not fail."""
        ran = self.try_(cell)
        if ran.error is not None:
            raise AssertionError(ran.traceback) from ran.error
        return ran

    def fail(self, cell: str) -> str:
        """Run a cell that must fail; gives what IPython shows of the error."""
        ran = self.try_(cell)
        assert ran.error is not None, ran
        return ran.traceback

    def complete(self, text: str, *, ours: bool = True) -> list[str]:
        """What Tab offers at the end of a text, as the whole text that it would make of it.

        Args:
            text: the cell up to the cursor.
            ours: leave out what `%mcp` does not offer.
        """
        from IPython.core.completer import provisionalcompleter, rectify_completions

        with provisionalcompleter():
            found = rectify_completions(text, self.shell.Completer.completions(text, len(text)))
            return [text[: each.start] + each.text for each in found if not ours or each.type == "mcp"]


class Publisher(DisplayPublisher):
    """Notes what is displayed."""

    def __init__(self, shown: list[dict[str, Any]], **more: Any) -> None:
        super().__init__(**more)
        self._shown = shown

    def publish(self, data: Any, *args: Any, **more: Any) -> None:
        self._shown.append(data)


class Hook(DisplayHook):
    """Notes the value that IPython shows of itself."""

    def __init__(self, shown: list[dict[str, Any]], **more: Any) -> None:
        super().__init__(**more)
        self._shown = shown

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self._shown.append(format_dict)


@contextmanager
def ipython() -> Iterator[Cells]:
    """A shell for the time of a `with`, with `%mcp` loaded."""
    InteractiveShell.clear_instance()
    with tempfile.TemporaryDirectory() as state, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MCP_NOTEBOOK_STATE", state)
        yield from _ipython()


def _ipython() -> Iterator[Cells]:
    config = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
    shell = InteractiveShell.instance(config=config)
    try:
        found = Cells(shell)
        found.run("%load_ext mcp_notebook")
        yield found
    finally:
        Runtime.of(shell).close()
        InteractiveShell.clear_instance()
        atexit.unregister(shell.atexit_operations)  # which collects garbage, once for each shell there ever was


STDIO_SERVER = """
import asyncio
from mcp_notebook import Context, Server

server = Server("apart")

@server.tool
async def work(steps: int, ctx: Context) -> str:
    for step in range(steps):
        await ctx.progress(step + 1, steps)
        await asyncio.sleep(0.3)
    return "worked"

server.serve_stdio()
"""
"""The code of a server for a process of its own."""
