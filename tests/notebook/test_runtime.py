import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from mcp_notebook.errors import ConnectionLost
from mcp_notebook.home import current_home
from mcp_notebook.limits import Limits
from mcp_notebook.notebook import waiting
from mcp_notebook.notebook.runtime import Runtime
from mcp_notebook.notebook.waiting import NobodyWaiting


class Work:
    """A coroutine that goes on until it is released or cancelled."""

    def __init__(self, runtime: Runtime) -> None:
        self.cancelled = threading.Event()
        self._event = asyncio.Event()
        self._loop = runtime.loop

    async def __call__(self) -> str:
        try:
            await self._event.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "result"

    def release(self) -> None:
        self._loop.call_soon_threadsafe(self._event.set)


@contextmanager
def after(seconds: float, function: Callable[[], Any]) -> Iterator[None]:
    """Call `function` from another thread while the body waits."""
    timer = threading.Timer(seconds, function)
    timer.start()
    yield
    timer.join()


def interrupt() -> None:
    """As the system may do it: by way of whatever thread, so that the main one is not woken."""
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


@contextmanager
def soon() -> Iterator[None]:
    """The body ends long before whatever it waits for."""
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < 3


def blocking(runtime: Runtime, future: Future[Any]) -> Any:
    return runtime.wait(future, 10)


def awaiting(runtime: Runtime, future: Future[Any]) -> Any:
    """As `ipython` in a terminal awaits: it does nothing about interrupts itself."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(asyncio.wait_for(runtime.settled(future), 10))
    finally:
        loop.close()


both_ways = pytest.mark.parametrize("wait", [blocking, awaiting])


def test_a_shell_has_one_runtime() -> None:
    shell = SimpleNamespace()
    runtime = Runtime.of(shell)
    assert Runtime.of(shell) is runtime
    assert current_home() is runtime
    runtime.close()
    assert not runtime.alive
    again = Runtime.of(shell)
    assert again is not runtime
    again.close()


def test_work_goes_on_while_the_main_thread_does_something_else(runtime: Runtime) -> None:
    future = runtime.submit(asyncio.sleep(0, "result"))
    end = time.monotonic() + 5
    while not future.done():
        assert time.monotonic() < end
    assert future.result() == "result"


@both_ways
def test_a_wait_gives_the_result(runtime: Runtime, wait: Any) -> None:
    work = Work(runtime)
    with after(0.05, work.release):
        assert wait(runtime, runtime.submit(work())) == "result"


@both_ways
def test_a_wait_raises_what_the_work_raised(runtime: Runtime, wait: Any) -> None:
    async def work() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        wait(runtime, runtime.submit(work()))


@both_ways
def test_a_wait_ends_with_the_work_and_not_at_the_next_tick(
    runtime: Runtime, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "TICK", 5)
    work = Work(runtime)
    with soon(), after(0.05, work.release):
        wait(runtime, runtime.submit(work()))


@both_ways
def test_a_wait_costs_next_to_nothing(runtime: Runtime, wait: Any) -> None:
    work = Work(runtime)
    future = runtime.submit(work())
    begin = time.process_time()
    with after(1, work.release):
        wait(runtime, future)
    assert time.process_time() - begin < 0.05


def test_a_limit_ends_a_wait_but_not_the_work(runtime: Runtime) -> None:
    work = Work(runtime)
    future = runtime.submit(work())
    with pytest.raises(TimeoutError, match=r"0\.05 seconds"):
        runtime.wait(future, 0.05)
    assert not work.cancelled.is_set()
    work.release()
    assert runtime.wait(future, 5) == "result"


def test_blocking_the_runtimes_own_thread_is_refused(runtime: Runtime) -> None:
    async def work() -> None:
        runtime.wait(Future(), 5)

    with pytest.raises(RuntimeError, match="await"):
        runtime.wait(runtime.submit(work()), 5)


def test_other_threads_wait_too(runtime: Runtime) -> None:
    results: list[str] = []

    def other() -> None:
        results.append(runtime.wait(runtime.submit(asyncio.sleep(0, "blocked")), 5))
        results.append(asyncio.run(runtime.run(asyncio.sleep(0, "awaited"))))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join(10)
    assert results == ["blocked", "awaited"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a thread")
def test_an_interrupt_cancels_the_work_and_is_raised(runtime: Runtime) -> None:
    work = Work(runtime)
    with soon(), after(0.2, interrupt), pytest.raises(KeyboardInterrupt):
        runtime.wait(runtime.submit(work()), 10)
    assert work.cancelled.wait(5)
    assert runtime.wait(runtime.submit(asyncio.sleep(0, "next")), 5) == "next"


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a thread")
def test_an_interrupt_cancels_what_is_awaited_in_a_terminal(runtime: Runtime) -> None:
    before = signal.getsignal(signal.SIGINT)
    work = Work(runtime)
    with soon(), after(0.2, interrupt), pytest.raises(asyncio.CancelledError):
        awaiting(runtime, runtime.submit(work()))
    assert work.cancelled.wait(5)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a thread")
def test_an_interrupt_gets_through_where_others_only_note_it(runtime: Runtime) -> None:
    # As in an async cell: ipykernel's handler leaves it to the event loop, which a blocking wait holds up.
    noted: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *_: noted.append(_))
    try:
        with after(0.2, interrupt), pytest.raises(KeyboardInterrupt):
            runtime.wait(runtime.submit(Work(runtime)()), 10)
        interrupt()
        assert len(noted) == 1, "the handler was not put back"
    finally:
        signal.signal(signal.SIGINT, before)


@both_ways
def test_the_background_can_have_something_done_in_the_main_thread_that_waits(runtime: Runtime, wait: Any) -> None:
    async def work() -> list[str]:
        return [await runtime.on_main(lambda: threading.current_thread().name) for _ in range(2)]

    assert wait(runtime, runtime.submit(begun_late(work))) == [threading.main_thread().name] * 2


async def begun_late(work: Callable[[], Any]) -> Any:
    """Leave the one who waits the time to begin; an answer that comes at once would make it no wait."""
    await asyncio.sleep(0.2)
    return await work()


@both_ways
def test_what_a_job_raises_is_raised_where_it_was_asked_for(runtime: Runtime, wait: Any) -> None:
    def ask() -> None:
        raise EOFError("no more input")

    async def work() -> str:
        try:
            await runtime.on_main(ask)
        except EOFError as error:
            return str(error)
        return ""

    assert wait(runtime, runtime.submit(begun_late(work))) == "no more input"


def test_nothing_can_be_asked_where_nobody_waits(runtime: Runtime) -> None:
    async def work() -> None:
        await runtime.on_main(lambda: None)

    future = runtime.submit(work())
    assert isinstance(future.exception(5), NobodyWaiting)


def test_a_job_that_the_wait_did_not_come_to_is_told_so(runtime: Runtime) -> None:
    done: Future[None] = Future()
    asked = threading.Event()

    def first() -> None:
        assert asked.wait(5)
        done.set_result(None)

    async def work() -> list[Any]:
        jobs = [asyncio.ensure_future(runtime.on_main(job)) for job in (first, lambda: "second")]
        await asyncio.sleep(0)
        asked.set()
        return await asyncio.gather(*jobs, return_exceptions=True)

    future = runtime.submit(begun_late(work))
    runtime.wait(done, 10)
    nothing, refused = future.result(5)
    assert nothing is None
    assert isinstance(refused, NobodyWaiting)


@pytest.mark.skipif(sys.platform == "win32", reason="signals cannot be sent to a thread")
@pytest.mark.parametrize(("wait", "raised"), [(blocking, KeyboardInterrupt), (awaiting, asyncio.CancelledError)])
def test_an_interrupted_job_ends_the_wait(runtime: Runtime, wait: Any, raised: type[BaseException]) -> None:
    heard: list[BaseException] = []

    def ask() -> None:  # as ipykernel's `input()` looks for interrupts
        for _ in range(1000):
            time.sleep(0.01)

    async def another() -> None:
        try:
            await runtime.on_main(ask)
        except NobodyWaiting as error:
            heard.append(error)

    work = Work(runtime)
    asking = runtime.submit(begun_late(another))
    with soon(), after(0.5, interrupt), pytest.raises(raised):
        wait(runtime, runtime.submit(work()))
    assert work.cancelled.wait(5)
    asking.result(5)
    assert len(heard) == 1


def test_the_innermost_wait_does_the_job(runtime: Runtime) -> None:
    async def work(then: Any) -> Any:
        return await runtime.on_main(then)

    def inner() -> str:
        return runtime.wait(runtime.submit(begun_late(lambda: work(lambda: "inner"))), 10)

    assert runtime.wait(runtime.submit(begun_late(lambda: work(inner))), 10) == "inner"


def test_a_task_that_exits_does_not_take_the_loop_with_it(runtime: Runtime) -> None:
    async def work() -> None:
        sys.exit(3)

    with pytest.raises(SystemExit):
        runtime.wait(runtime.submit(work()), 5)
    assert runtime.wait(runtime.submit(asyncio.sleep(0, "still there")), 5) == "still there"


def test_closers_are_awaited_before_the_loop_ends(runtime: Runtime) -> None:
    closed: list[str] = []

    def closer(name: str) -> Callable[[], Any]:
        async def close() -> None:
            await asyncio.sleep(0)
            closed.append(name)

        return close

    forgotten = closer("forgotten")
    for each in (closer("a"), forgotten, closer("b")):
        runtime.add_closer(each)
    runtime.remove_closer(forgotten)
    runtime.remove_closer(forgotten)
    runtime.close()
    runtime.close()
    assert closed == ["a", "b"]
    with pytest.raises(ConnectionLost):
        runtime.submit(asyncio.sleep(0))


def test_closing_is_bounded_whatever_closers_and_tasks_do() -> None:
    runtime = Runtime(SimpleNamespace(), Limits(kernel_shutdown=0.5))
    work = Work(runtime)
    future = runtime.submit(work())

    async def fails() -> None:
        raise OSError("gone already")

    async def stubborn() -> None:
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue

    runtime.add_closer(fails)
    runtime.add_closer(stubborn)
    with soon():
        runtime.close()
    assert not runtime.alive
    with pytest.raises(CancelledError):
        future.result(0)
