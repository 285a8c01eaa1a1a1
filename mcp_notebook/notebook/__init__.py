"""The only place that knows IPython and ipywidgets."""

from __future__ import annotations

from typing import Any

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_MATCHER = "mcp_notebook"


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext mcp_notebook`: the runtime, who asks the person, `%mcp`, and its completion."""
    from .complete import matcher_for
    from .host import NotebookHost
    from .magics import MCPMagics
    from .runtime import Runtime
    from .shown_calls import register
    from .tracebacks import show_errors_briefly
    from .workspace import Workspace

    show_errors_briefly(shell)
    NotebookHost.of(Runtime.of(shell), shell)
    Workspace.of(shell)  # which has the journal
    shell.register_magics(MCPMagics(shell))
    register(shell)
    _remove_matcher(shell)
    shell.Completer.custom_matchers.append(matcher_for(shell))


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext mcp_notebook`: connections end with the cell, unless the extension is loaded again in it."""
    from .runtime import Runtime
    from .shown_calls import unregister

    unregister(shell)
    for magics in shell.magics_manager.magics.values():
        magics.pop("mcp", None)
    shell.custom_exceptions = ()
    _remove_matcher(shell)
    Runtime.of(shell).release()


def _remove_matcher(shell: Any) -> None:
    matchers = shell.Completer.custom_matchers
    matchers[:] = [each for each in matchers if getattr(each, "matcher_identifier", "") != _MATCHER]
