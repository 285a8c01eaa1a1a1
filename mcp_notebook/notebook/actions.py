"""What a person can do with work in progress: the buttons of its card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ..client import CallHandle
from ..errors import MCPError
from ..protocol.calls import CallState
from ..visible import quote


class Choice(NamedTuple):
    """A button. With `style` "primary" it is the main one."""

    label: str
    tooltip: str
    style: str = ""


class Action(NamedTuple):
    """A button, and what it does."""

    choice: Choice
    do: Callable[[], None]


class Actions(Protocol):
    """What can be done with something at work."""

    possible: Sequence[Action]
    """All that may come to be."""

    def __call__(self) -> Sequence[Action]:
        """What can be done at the moment."""
        ...


class CallActions:
    """What can be done with a call, by its state.

    Args:
        handle: the call.
    """

    def __init__(self, handle: CallHandle) -> None:
        self._handle = handle
        self._cancel = Action(Choice("Cancel", f"The server {quote(handle.server)} is told to stop"), self._stop)
        self._resume = Action(Choice("Resume", "Asks the server at once", "primary"), self._go_on)
        self.possible: Sequence[Action] = (self._resume, self._cancel)

    def __call__(self) -> Sequence[Action]:
        state = self._handle.status
        if state in (CallState.DROPPED, CallState.UNKNOWN) and self._handle.outlives_its_connection:
            return (self._resume, self._cancel) if state is CallState.DROPPED else (self._resume,)
        return () if state.terminal else (self._cancel,)

    def _stop(self) -> None:
        self._handle.cancel()

    def _go_on(self) -> None:
        try:
            self._handle.resume()
        except MCPError:
            pass  # it has gone on by itself, or is over: the card says so
