"""Tasks that begin at once."""

from __future__ import annotations

import asyncio
import contextvars
import gc
from typing import Any

import anyio
import pytest

from mcp_notebook.transports.eager import begin

from ..virtual_time import virtual_time as anyio_backend  # noqa: F401

pytestmark = pytest.mark.anyio

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME", default="outside")


def started(work: Any) -> asyncio.Task[None]:
    """The task of work that waits for something."""
    task = begin(work, asyncio.get_running_loop())
    assert task is not None
    return task


async def test_work_that_waits_for_nothing_is_over_at_once() -> None:
    seen: list[str] = []

    async def work() -> None:
        seen.append("done")

    assert begin(work(), asyncio.get_running_loop()) is None
    assert seen == ["done"]
    await asyncio.sleep(0)
    assert seen == ["done"]


async def test_work_that_waits_goes_on_as_a_task() -> None:
    gate = asyncio.Event()
    seen: list[str] = []

    async def work() -> None:
        seen.append("begun")
        await gate.wait()
        seen.append("on")
        await asyncio.sleep(5)
        seen.append("done")

    task = started(work())
    assert seen == ["begun"]
    gate.set()
    await task
    assert seen == ["begun", "on", "done"]


async def test_a_step_that_waits_for_a_turn_of_the_loop_goes_on_after_it() -> None:
    seen: list[int] = []

    async def work() -> None:
        for number in range(3):
            seen.append(number)
            await asyncio.sleep(0)

    await started(work())
    assert seen == [0, 1, 2]


async def test_the_work_is_the_current_task_from_its_beginning_and_nobody_else_is_disturbed() -> None:
    seen: list[Any] = []

    async def work() -> None:
        seen.append(asyncio.current_task())
        await asyncio.sleep(1)
        seen.append(asyncio.current_task())

    me = asyncio.current_task()
    task = started(work())
    assert asyncio.current_task() is me
    await task
    assert seen == [task, task]


async def test_work_begun_by_a_callback_has_a_task_too() -> None:
    loop, seen = asyncio.get_running_loop(), []

    async def work() -> None:
        seen.append(asyncio.current_task())

    loop.call_soon(begin, work(), loop)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert isinstance(seen[0], asyncio.Task)


async def test_its_context_variables_are_its_own_and_last_over_its_waits() -> None:
    seen: list[str] = []

    async def work() -> None:
        seen.append(NAME.get())
        NAME.set("inside")
        await asyncio.sleep(1)
        seen.append(NAME.get())

    task = started(work())
    assert NAME.get() == "outside"
    await task
    assert seen == ["outside", "inside"]


@pytest.mark.parametrize("of", ["asyncio", "anyio"])
async def test_a_time_limit_set_in_the_first_step_ends_the_work_and_not_its_caller(of: str) -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            if of == "asyncio":
                async with asyncio.timeout(1):
                    await asyncio.sleep(1000)
            else:
                with anyio.fail_after(1):
                    await asyncio.sleep(1000)
        except TimeoutError:
            seen.append("too late")

    await started(work())
    assert seen == ["too late"]


@pytest.mark.parametrize("turns", [0, 1, 2])
async def test_cancelling_reaches_what_the_work_waits_for_and_then_the_work(turns: int) -> None:
    seen: list[str] = []

    async def inner() -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            seen.append("inner")

    async def work() -> None:
        try:
            await asyncio.create_task(inner())
        finally:
            seen.append("work")

    task = started(work())
    await asyncio.sleep(0)  # the inner one begins
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["inner", "work"]


async def test_cancelling_before_the_first_turn_reaches_work_that_waits_for_a_turn_or_for_what_is_done() -> None:
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    seen: list[str] = []

    async def work(wait: Any) -> None:
        try:
            await wait
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    tasks = [started(work(asyncio.sleep(0))), started(work(done))]
    done.set_result(None)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert seen == ["cancelled", "cancelled"]


async def test_several_may_wait_for_the_same_thing() -> None:
    gate: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    seen: list[str] = []

    async def work() -> None:
        seen.append(await gate)

    tasks = [started(work()), started(work())]
    other = asyncio.ensure_future(gate)
    await asyncio.sleep(0)
    gate.set_result("open")
    await asyncio.gather(other, *tasks)
    assert seen == ["open", "open"]


async def test_what_the_first_step_raises_is_the_error_of_the_task() -> None:
    loop, seen = asyncio.get_running_loop(), []
    loop.set_exception_handler(lambda loop, context: seen.append(str(context["exception"])))

    async def work() -> None:
        raise ValueError("broken")

    assert begin(work(), loop) is None
    await asyncio.sleep(0)
    gc.collect()  # where nobody asks a task for its error, it is told when the task goes
    assert seen == ["broken"]
