"""How a cell waits for work on the background loop: one wait, by blocking or by `await`.

While the main thread waits, widgets stay alive (the pump), interrupts get through, and the background can have
something done that only the main thread can do, such as `input()`.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError as FutureCancelled
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, Protocol, TypeVar

from ..errors import MCPError
from .pump import Pump, drive

T = TypeVar("T")

TICK = 0.1
"""Seconds. An interrupt may reach a thread other than the main one, and then only sets a flag: one has to look."""


class NobodyWaiting(MCPError):
    """The main thread does not wait for anything, so it cannot be asked to do something."""


class _Pause(Protocol):
    """One way to let time pass, and to be called out of it."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass until somebody calls `wake`, at most `seconds`."""

    def wake(self) -> None:
        """End the pause, now or the next one at once. May be called from any thread, and long after the wait."""


class _Blocking:
    """Blocks the thread, and keeps widgets alive meanwhile. Its `sleep` never suspends."""

    def __init__(self, pump: Pump) -> None:
        self._pump = pump
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    async def sleep(self, seconds: float) -> None:
        self._pump.poll(self._reader, seconds)
        with suppress(BlockingIOError):
            self._reader.recv(4096)

    def wake(self) -> None:
        with suppress(OSError):  # full: it wakes anyway; closed: the wait is over
            self._writer.send(b"\0")

    def close(self) -> None:
        self._reader.close()
        self._writer.close()


class _Suspending:
    """Lets the main thread's own event loop go on."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
        self._event.clear()

    def wake(self) -> None:
        with suppress(RuntimeError):  # the loop has closed: the wait is over
            self._loop.call_soon_threadsafe(self._event.set)


class _Job:
    """Something that the background wants done in the main thread."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self.future: Future[Any] = Future()

    def run(self) -> None:
        """Do it, now and here.

        Raises:
            KeyboardInterrupt: the person interrupted it; whoever asked for it hears NobodyWaiting.
        """
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            with _interrupts_raise():
                result = self._function()
        except Exception as error:
            self.future.set_exception(error)
        except BaseException:
            self.future.set_exception(NobodyWaiting("The wait was interrupted before there was an answer."))
            raise
        else:
            self.future.set_result(result)


class MainThread:
    """The main thread's waits, innermost last, and the jobs that others have for it.

    Args:
        find_pump: gives the pump; called at the first wait, when the kernel has started.
    """

    def __init__(self, find_pump: Callable[[], Pump]) -> None:
        self._find_pump = find_pump
        self._found: Pump | None = None
        self._lock = threading.Lock()
        self._pauses: list[_Pause] = []
        self._jobs: deque[_Job] = deque()

    @property
    def pump(self) -> Pump:
        """What keeps widgets alive; found when it is first asked for, while a cell runs."""
        with self._lock:
            if self._found is None:
                self._found = self._find_pump()
            return self._found

    def block(self, future: Future[T], timeout: float | None = None) -> T:
        """Block the main thread until the future is done. See `Home.wait`."""
        pause = _Blocking(self.pump)
        try:
            with _interrupts_raise():
                return drive(self._until_done(future, pause, timeout))
        finally:
            pause.close()

    async def suspend(self, future: Future[T]) -> T:
        """Await, on an event loop of the main thread, that the future is done. See `Home.settled`."""
        with _interrupts_cancel():
            try:
                return await self._until_done(future, _Suspending(), None)
            except (KeyboardInterrupt, FutureCancelled):
                # An interrupted job must not leave a task as KeyboardInterrupt: that would end the kernel's own loop.
                raise asyncio.CancelledError from None

    def ask(self, function: Callable[[], T]) -> Awaitable[T]:
        """Have `function` called in the main thread by the wait that goes on there. Call it on another event loop.

        Returns:
            What to await: the function's result or exception; NobodyWaiting if the wait ends before that.

        Raises:
            NobodyWaiting: no wait goes on.
        """
        job = _Job(function)
        with self._lock:
            if not self._pauses:
                raise NobodyWaiting("No cell waits at the moment, so nothing can be asked there.")
            self._jobs.append(job)
            self._pauses[-1].wake()
        return asyncio.wrap_future(job.future)

    async def _until_done(self, future: Future[T], pause: _Pause, timeout: float | None) -> T:
        """The one wait. An interrupt cancels the future, so that the coroutine behind it can tell the server."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._waiting(pause):
            future.add_done_callback(lambda _: pause.wake())
            try:
                while not future.done():
                    left = TICK if end is None else min(TICK, end - time.monotonic())
                    if left <= 0:
                        raise TimeoutError(f"There was no result within {timeout:g} seconds. The work goes on.")
                    job = self._next_job()
                    if job:
                        job.run()
                    # However many jobs there are, widgets have their turn between them.
                    await pause.sleep(0 if job else left)
            except (KeyboardInterrupt, asyncio.CancelledError):
                future.cancel()
                raise
        return future.result()

    @contextmanager
    def _waiting(self, pause: _Pause) -> Iterator[None]:
        """Take jobs and widgets' messages for the time of a wait."""
        with ExitStack() as stack:
            stack.callback(self.pump.detach)
            self.pump.attach()
            with self._lock:
                self._pauses.append(pause)
            stack.callback(self._leave, pause)
            yield

    def _leave(self, pause: _Pause) -> None:
        with self._lock:
            self._pauses.remove(pause)
            if self._pauses:
                self._pauses[-1].wake()
                return
            left, self._jobs = self._jobs, deque()
        for job in left:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(NobodyWaiting("The cell stopped waiting before there was an answer."))

    def _next_job(self) -> _Job | None:
        with self._lock:
            return self._jobs.popleft() if self._jobs else None


@contextmanager
def _interrupts_raise() -> Iterator[None]:
    """Have an interrupt raise KeyboardInterrupt here, also inside an async cell, where the kernel only notes it."""
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous):  # ignored on purpose, or not ours to set
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def _interrupts_cancel() -> Iterator[None]:
    """Have an interrupt cancel the running task, where nothing else does: in a terminal it would only stop the loop.

    A second one raises KeyboardInterrupt.
    """
    task = asyncio.current_task()
    if task is None or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    loop = asyncio.get_running_loop()

    def cancel(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        loop.call_soon_threadsafe(task.cancel)

    signal.signal(signal.SIGINT, cancel)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
