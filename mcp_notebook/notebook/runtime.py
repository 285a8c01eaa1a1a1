"""The kernel's background loop: one permanent thread per kernel, on which every connection lives.

It outlives cells, `%reset`, `%autoreload 2` and `%reload_ext`, since it hangs on the shell object and its own thread,
not on a module. A cell works with it in one of three ways: start something and go on (`submit`), block until the result
is there (`wait`), or `await` it (`run`).
"""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from ..home import Closer, Home, running_loop
from ..limits import DEFAULT_LIMITS, Limits
from .frontend import Frontend
from .pump import pump_for
from .waiting import MainThread

T = TypeVar("T")

ATTRIBUTE = "_mcp_runtime"
"""Where the shell object keeps its runtime."""


class Runtime(Home):
    """A permanent loop in a daemon thread, and the cell's ways to wait for it. Use `Runtime.of(shell)`.

    Args:
        shell: the IPython shell; with a kernel (`shell.kernel`) or, in a terminal, without.
        limits: `kernel_shutdown` bounds `close`.

    Attributes:
        has_line: whether a line of a terminal is being written over (see `clear_line`).
    """

    has_line = False

    def __init__(self, shell: Any, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__(_new_loop())
        self._shell = shell
        self._limits = limits
        self._closers: list[Closer] = []
        self._released = False
        self._main = MainThread(lambda: pump_for(getattr(shell, "kernel", None)))
        self._thread = _LoopThread(self)
        self._thread.start()
        atexit.register(self.close)

    @classmethod
    def of(cls, shell: Any) -> Runtime:
        """The shell's runtime: the one it has, or a new one. Also takes back a `release`."""
        runtime = getattr(shell, ATTRIBUTE, None)
        if runtime is None or not runtime.alive:
            runtime = cls(shell)
            setattr(shell, ATTRIBUTE, runtime)
        runtime._released = False
        return runtime

    @property
    def alive(self) -> bool:
        """Whether the loop runs. It does not after `close`, nor in a forked process."""
        return self._thread.is_alive()

    @property
    def answers_widgets(self) -> bool:
        """Whether a widget can be answered while a cell blocks. Ask while a cell runs."""
        return self._main.pump.answers_widgets

    def clear_line(self) -> None:
        """Make room for other text where a line is being written over. Call it in the main thread."""
        if self.has_line:
            self.has_line = False
            print("\r\x1b[K", end="", flush=True)

    def frontend(self) -> Frontend:
        """What the place can do that sent the code that runs now. Call it in the thread that runs that code."""
        return Frontend.of(self._shell)

    def wait(self, future: Future[T], timeout: float | None = None) -> T:
        """Block until the result is there: the cell's wait (see `Home.wait`).

        In the main thread widgets stay alive meanwhile, jobs of `on_main` are done, and an interrupt cancels the work
        before it raises KeyboardInterrupt.
        """
        if running_loop() is self.loop or not _in_main_thread():
            return super().wait(future, timeout)
        return self._main.block(future, timeout)

    async def settled(self, future: Future[T]) -> T:
        """Await the result (see `Home.settled`). In the main thread, everything that `wait` does holds here too."""
        if not _in_main_thread():
            return await super().settled(future)
        return await self._main.suspend(future)

    async def on_main(self, function: Callable[[], T]) -> T:
        """Have `function` called in the main thread, by the wait that goes on there; await this on the loop.

        It is meant for what works nowhere else: `input()`, or showing something in the cell that waits.

        Returns:
            What the function returns; its exception is raised.

        Raises:
            NobodyWaiting: no cell waits, or it stops waiting first (also by an interrupt): nobody can be asked.
        """
        return await self._main.ask(function)

    def add_closer(self, closer: Closer) -> None:
        self._closers.append(closer)

    def remove_closer(self, closer: Closer) -> None:
        with suppress(ValueError):
            self._closers.remove(closer)

    def release(self) -> None:
        """Close when the running cell has ended, unless `Runtime.of` asks for it again before.

        This is for `unload_ipython_extension`, which cannot know whether `%reload_ext` will load it again at once.
        """
        self._released = True
        self._shell.events.register("post_run_cell", self._close_if_released)

    def _close_if_released(self, _result: Any) -> None:
        self._shell.events.unregister("post_run_cell", self._close_if_released)
        if self._released:
            self.close()

    def close(self) -> None:
        """Await the closers, cancel what is left, and end the thread, all within `Limits.kernel_shutdown` seconds.

        Called by itself when the interpreter ends. May be called again.
        """
        atexit.unregister(self.close)
        if getattr(self._shell, ATTRIBUTE, None) is self:
            delattr(self._shell, ATTRIBUTE)
        if self.alive:
            self._thread.end(self.submit(self._shut_down()), self._limits.kernel_shutdown)

    async def _shut_down(self) -> None:
        """Closers get most of the time, and what they leave behind the rest."""
        seconds = self._limits.kernel_shutdown
        closing = [asyncio.ensure_future(closer()) for closer in self._closers]
        self._closers.clear()
        if closing:
            await asyncio.wait(closing, timeout=seconds * 0.8)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=seconds * 0.1)
        await self.loop.shutdown_asyncgens()


class _LoopThread(threading.Thread):
    """Runs a home's loop until `end`. `current_home()` finds it by its attribute `mcp_home`."""

    def __init__(self, home: Home) -> None:
        super().__init__(name="mcp", daemon=True)
        self.mcp_home = home
        self._ending = False

    def run(self) -> None:
        loop = self.mcp_home.loop
        asyncio.set_event_loop(loop)
        while not self._ending:
            # These two leave a loop when a task raises them, as a handler may by `sys.exit()`. The others go on.
            with suppress(KeyboardInterrupt, SystemExit):
                loop.run_forever()
        loop.close()

    def end(self, last: Future[None], seconds: float) -> None:
        """Wait for the last work, at most `seconds`; then end the loop, whatever it still does."""
        with suppress(Exception):
            last.result(seconds)
        self._ending = True
        with suppress(RuntimeError):
            self.mcp_home.loop.call_soon_threadsafe(self.mcp_home.loop.stop)
        self.join(seconds * 0.1)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _new_loop() -> asyncio.AbstractEventLoop:
    """A loop that can start processes; on Windows, the one that ipykernel runs on may not."""
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()
    return asyncio.new_event_loop()
