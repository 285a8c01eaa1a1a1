"""An event loop whose clock jumps: where everything waits, it is at once as late as the next timer wants.

Time limits of minutes are tested in no time, and to the millisecond. A wait that nothing can end fails the test. Only
for what happens on one loop: threads and processes need real time.
"""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

import pytest


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """The loop. `time()` begins at 1000."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now


class _Jumping(selectors.SelectSelector):
    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everything waits, and nothing can end the wait"
            self._loop.now += max(timeout, 0)
        return ready


@pytest.fixture
def virtual_time() -> tuple[str, dict[str, Any]]:
    """What a module's `anyio_backend` returns to run its tests on such a loop."""
    return "asyncio", {"loop_factory": VirtualTimeLoop}
