"""Errors of the Python API in a cell: the person's own lines, and none of ours or of what ours stand on; and nothing
hidden in what a server says."""

from __future__ import annotations

import asyncio
import concurrent.futures
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import MCPError, ProtocolError
from ..render.letters import legible

_OURS = tuple(
    str(Path(module.__file__).parent)
    for module in (__import__("mcp_notebook"), asyncio, concurrent.futures)
    if module.__file__
)


def show_errors_briefly(shell: Any) -> None:
    """Have IPython show an MCPError that reaches a cell with the frames of the person's code only."""
    shell.set_custom_exc((MCPError,), _show)


def _show(
    shell: Any, kind: type[BaseException], error: BaseException, trace: TracebackType, tb_offset: Any = None
) -> None:
    error.__cause__ = error.__context__ = None
    error.args = tuple(legible(one) if isinstance(one, str) else one for one in error.args)
    if isinstance(error, ProtocolError):  # whose text is its message
        error.message = legible(error.message)
    shell.showtraceback((kind, error.with_traceback(_theirs(trace)), _theirs(trace)), tb_offset=tb_offset)


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    """The same traceback without our frames; all of it where nothing else is left."""
    frames = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OURS):
            frames.append(trace)
        trace = trace.tb_next
    kept: TracebackType | None = None
    for frame in reversed(frames):
        kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept
