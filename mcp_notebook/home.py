"""Where connections live: an event loop, and the ways to reach it from outside.

In a program that runs asyncio, a connection lives on the loop of whoever made it. In a notebook it must outlive the
cell, and answer while cells compute, so there it lives on one permanent loop in a thread of its own
(`mcp_notebook.notebook.runtime.Runtime`, which is a `Home` too). Clients, handles and results do not care which.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from .errors import ConnectError, ConnectionLost

if TYPE_CHECKING:
    from .host import Host
    from .journal import Journal

T = TypeVar("T")
Closer: TypeAlias = Callable[[], Awaitable[None]]


class Home:
    """An event loop on which connections live, and how others work with it.

    Args:
        loop: the loop; it belongs to whoever runs it.
    """

    host: Host | None = None
    """Who asks the person there; None where nobody is to be asked."""
    journal: Journal | None = None
    """What remembers calls beyond this process; None where nothing is to be remembered."""
    begun: Callable[[Any], None] | None = None
    """Told of each handle of a call, in the thread that begins it; None where nobody wants to know."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine on the loop, from any thread. Cancelling the future cancels the coroutine.

        Raises:
            ConnectionLost: the loop has ended.
        """
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        except RuntimeError:
            coroutine.close()
            raise ConnectionLost("The event loop that kept this connection has ended. Connect again.") from None

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Await a coroutine that has to run on this home's loop, from whatever loop the caller runs on.

        Whoever cancels the awaiting task cancels the coroutine too.

        Raises:
            ConnectionLost: the loop has ended.
        """
        if asyncio.get_running_loop() is self.loop:
            return await coroutine
        return await self.settled(self.submit(coroutine))

    @property
    def may_wait(self) -> bool:
        """Whether the calling thread may block for what `submit` gives: not the loop's own, nor when it has ended."""
        return self.loop.is_running() and running_loop() is not self.loop

    async def settled(self, future: Future[T]) -> T:
        """Await what `submit` gave, from whatever loop the caller runs on. Cancelling the wait cancels the future."""
        return await asyncio.wrap_future(future)

    def wait(self, future: Future[T], timeout: float | None = None) -> T:
        """Block the calling thread until what `submit` gave is there.

        Args:
            future: what `submit` gave.
            timeout: seconds; None waits as long as the work itself may take.

        Returns:
            The coroutine's result; its exception is raised.

        Raises:
            TimeoutError: the time is over; the work goes on.
            RuntimeError: the loop could never get on with the work while its own thread waits.
        """
        if not future.done() and not self.may_wait:
            raise RuntimeError(
                "This would wait for ever: the result can only come from the event loop that the wait would block, or "
                "that no longer runs. Use `await` inside `async def` instead."
            )
        return future.result(timeout)

    def add_closer(self, closer: Closer) -> None:
        """Have `closer` called and awaited on the loop before this home ends.

        That may be while the interpreter ends, when no executor takes work any more: it must not need a thread.
        A home that only borrows its loop is not told when that ends, so here this does nothing: whoever opened
        a connection on their own loop closes it.
        """

    def remove_closer(self, closer: Closer) -> None:
        """Forget a closer, if it was added."""


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def permanent_home() -> Home | None:
    """The process's permanent home, if there is one.

    It is found by the attribute `mcp_home` of the thread that runs its loop. A module's global would be lost under
    `%autoreload 2`, and this file knows nothing of IPython.
    """
    for thread in threading.enumerate():
        home = getattr(thread, "mcp_home", None)
        if home is not None:
            return home
    return None


def is_interactive() -> bool:
    """Whether somebody types code here (a notebook, `ipython`), also where the extension is not loaded."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def current_home() -> Home:
    """The home that a connection made here and now should have.

    Returns:
        The permanent home where there is one, else a home of the loop that runs in this thread.

    Raises:
        ConnectError: there is neither.
    """
    home = permanent_home()
    if home is not None:
        return home
    loop = running_loop()
    if loop is None:
        raise ConnectError(
            "There is no event loop here that a connection could live on. In a notebook, run "
            "`%load_ext mcp_notebook` first. In a program, connect inside an `async def` that `asyncio.run()` runs."
        )
    return Home(loop)
