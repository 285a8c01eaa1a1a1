import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from mcp_notebook.errors import ConnectError, ConnectionLost
from mcp_notebook.home import Home, current_home


class OtherThread(threading.Thread):
    """A loop that runs in another thread, as the permanent one in a kernel does."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.loop = asyncio.new_event_loop()
        self.home = Home(self.loop)

    def run(self) -> None:
        self.loop.run_forever()
        self.loop.close()


@pytest.fixture
def elsewhere() -> Iterator[OtherThread]:
    thread = OtherThread()
    thread.start()
    yield thread
    if not thread.loop.is_closed():
        thread.loop.call_soon_threadsafe(thread.loop.stop)
    thread.join(5)


async def where() -> tuple[str, asyncio.AbstractEventLoop]:
    return threading.current_thread().name, asyncio.get_running_loop()


def test_in_an_asyncio_program_the_home_is_the_loop_of_the_caller() -> None:
    async def main() -> None:
        home = current_home()
        assert home.loop is asyncio.get_running_loop()
        assert await home.run(where()) == (threading.current_thread().name, home.loop)

    asyncio.run(main())


def test_without_any_loop_the_error_says_what_to_do() -> None:
    with pytest.raises(ConnectError, match=r"%load_ext mcp_notebook.*asyncio\.run"):
        current_home()


def test_a_thread_with_the_attribute_mcp_home_gives_the_permanent_home(elsewhere: OtherThread) -> None:
    elsewhere.mcp_home = elsewhere.home  # pyright: ignore[reportAttributeAccessIssue]

    async def main() -> None:
        assert current_home() is elsewhere.home

    assert current_home() is elsewhere.home
    asyncio.run(main())


def test_a_coroutine_can_be_awaited_from_another_loop(elsewhere: OtherThread) -> None:
    async def main() -> None:
        assert await elsewhere.home.run(where()) == (elsewhere.name, elsewhere.loop)

    asyncio.run(main())


def test_cancelling_the_one_who_awaits_cancels_the_coroutine_on_its_own_loop(elsewhere: OtherThread) -> None:
    begun, cancelled = threading.Event(), threading.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def main() -> None:
        task = asyncio.create_task(elsewhere.home.run(work()))
        assert await asyncio.to_thread(begun.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(cancelled.wait, 5)

    asyncio.run(main())


def test_a_thread_can_block_until_the_result_is_there(elsewhere: OtherThread) -> None:
    assert elsewhere.home.wait(elsewhere.home.submit(where()), 5)[0] == elsewhere.name


def test_a_limit_ends_the_wait_but_not_the_work(elsewhere: OtherThread) -> None:
    release = asyncio.Event()
    future = elsewhere.home.submit(release.wait())
    with pytest.raises(TimeoutError):
        elsewhere.home.wait(future, 0.05)
    elsewhere.loop.call_soon_threadsafe(release.set)
    assert elsewhere.home.wait(future, 5) is True


def test_a_wait_that_would_block_its_own_loop_is_refused() -> None:
    async def main() -> None:
        home = current_home()
        future = home.submit(asyncio.sleep(0, "result"))
        with pytest.raises(RuntimeError, match="await"):
            home.wait(future, 5)
        assert await home.settled(future) == "result"
        assert home.wait(future) == "result"  # it is there, so there is nothing to wait for

    asyncio.run(main())


def test_a_wait_for_a_loop_that_no_longer_runs_is_refused() -> None:
    async def main() -> Home:
        return current_home()

    home = asyncio.run(main())
    with pytest.raises(RuntimeError, match="no longer runs"):
        home.wait(Future(), 5)


def test_a_loop_that_has_ended_is_a_lost_connection(elsewhere: OtherThread) -> None:
    elsewhere.loop.call_soon_threadsafe(elsewhere.loop.stop)
    elsewhere.join(5)
    with pytest.raises(ConnectionLost, match="Connect again"):
        elsewhere.home.submit(where())
