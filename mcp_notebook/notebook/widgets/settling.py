"""Waiting until all that a person typed has come.

A front end tells of each letter, but not of the next ones before the kernel has dealt with the first; then it tells of
them together. Clicks overtake what is held back so. A value that is sent there and back cannot: it comes behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ipywidgets import Label, jsdlink

from .kit import all_of

PATIENCE = 1.0
"""Seconds after which a front end is taken for one that sends nothing back."""


class Settling:
    """Has something called when all is there that was done before. Use `begin`; more than once does no harm.

    Args:
        then: what to call, in the thread that hears of widgets (or, after `PATIENCE`, in one of its own).
    """

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._there, self._back = Label("0"), Label("0")
        self._link = jsdlink((self._there, "value"), (self._back, "value"))
        self._back.observe(self._came, "value")
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Wait for what was done before."""
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(PATIENCE, self._end)
                self._timer.daemon = True
                self._timer.start()
                self._there.value = str(int(self._there.value) + 1)

    def close(self) -> None:
        """Wait no longer."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        for widget in (self._link, *all_of(self._there), *all_of(self._back)):
            widget.close()

    def _came(self, change: Any) -> None:
        if change["new"] == self._there.value:
            self._end()

    def _end(self) -> None:
        with self._lock:
            if self._timer is None:
                return
            self._timer.cancel()
            self._timer = None
        self._then()
