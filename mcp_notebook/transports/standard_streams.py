"""This process's own stdin and stdout, taken for the protocol while it serves.

A `print` in a tool, a C library's message or a child process that shares our stdout would corrupt the wire; a child
that reads our stdin would steal from it. So while we serve, the protocol has private copies of both, file descriptor 1
leads to stderr, and 0 to nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys

__all__ = ["StandardStreams"]


class StandardStreams:
    """Takes both at once; `stdin` and `stdout` are the private file descriptors, which their user closes."""

    def __init__(self) -> None:
        self.stdin = os.dup(0)
        self.stdout = os.dup(1)
        self._saved = os.dup(0), os.dup(1)
        # An event loop makes its copies non-blocking, and so what they are copies of.
        self._blocking = [sys.platform == "win32" or os.get_blocking(saved) for saved in self._saved]
        self._was_line_buffered = getattr(sys.stdout, "line_buffering", None)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # there is no stderr
            os.dup2(null, 1)
        os.close(null)
        # Only now: what was printed before and still waits is no part of the protocol either.
        _flush()
        _buffer_lines(True)

    def give_back(self) -> None:
        """Undo it; again does nothing."""
        if not self._saved:
            return
        _flush()
        for number, (saved, blocking) in enumerate(zip(self._saved, self._blocking, strict=True)):
            if sys.platform != "win32":
                os.set_blocking(saved, blocking)
            os.dup2(saved, number)
            os.close(saved)
        self._saved = ()
        _buffer_lines(bool(self._was_line_buffered))


def _flush() -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()


def _buffer_lines(on: bool) -> None:
    """Let prints appear in stderr's order, not when a buffer is full."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.reconfigure(line_buffering=on)  # pyright: ignore[reportAttributeAccessIssue]
