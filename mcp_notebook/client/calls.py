"""`CallHandle`: one call of a tool, as whoever makes it sees it: waited for, watched, cancelled, resumed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import CallCancelled, MCPError, RequestTimeout, UnsupportedFeature
from ..protocol.calls import CallEvent, CallLog, CallState, Occurrence
from ..protocol.resuming import WorkStatus
from . import resume_requests, task_requests
from .call import ClientCall
from .maker import Maker
from .making import gone_on_with, made
from .results import ToolResult

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..protocol.tasks import TaskState


class CallHandle(ClientCall):
    """A call that has begun. `await` it, or ask it for its `result()`; cancel it; watch its events.

    Attributes:
        server: the server's name.
        tool: the tool's name.
        arguments: what it was called with.
    """

    written: Mapping[str, Any] | None = None
    """Its arguments as they were written, where their values are not to be shown; None where they may be."""
    _future: Future[ToolResult] | None = None
    """Its outcome to come; None where nobody begins it aside, or it was left by another process."""
    _task: asyncio.Task[Any] | None = None
    _cancelled_because: str | None = None
    _maker: Maker | None = None
    _timeout: float | None = None

    def result(self, timeout: float | None = None) -> ToolResult:
        """Wait for the outcome, blocking.

        Args:
            timeout: seconds to wait; the call goes on when they are over.

        Raises:
            TimeoutError: the seconds are over.
            CallCancelled: it was cancelled.
            MCPError: it failed.
        """
        try:
            return self._home.wait(self._waited_for(), timeout)
        finally:
            self._told()

    def __await__(self) -> Generator[Any, None, ToolResult]:
        try:
            return (yield from self._home.settled(self._waited_for()).__await__())
        finally:
            self._told()

    def shown(self, number: int) -> None:
        """What it said up to the event of this number was shown to whoever wants to see it. Where a journal is kept,
        another process would go on from there. Call it on the connection's loop, as listeners are."""
        if self.page is not None:
            self.page.shown(number)

    def cancel(self, reason: str = "cancelled by the user") -> None:
        """No longer want it: the server is told to stop. Callable from any thread; a call that has ended stays so."""
        self._home.loop.call_soon_threadsafe(self._cancel_here, reason)

    def resume(self) -> CallHandle:
        """Go on with it now, where its connection was lost; `result()` and `await` then wait anew.

        Raises:
            UnsupportedFeature: it cannot be resumed: the server did not announce that, or there is nothing to resume.
        """
        if self._maker is None or not self.can_resume:
            raise UnsupportedFeature(f"The call {self.id} of {self.tool!r} cannot be resumed: {self._why_not()}.")
        if self._future is None or self._future.done():
            self._ended = None
            self._future = self._home.submit(
                self._ended_by(self._maker, gone_on_with(self, self._maker, self._timeout))
            )
        else:
            self._home.loop.call_soon_threadsafe(self._hurry)
        return self

    @property
    def can_resume(self) -> bool:
        """Whether its connection was lost, and `resume` may lead back to it."""
        if self._state is CallState.UNKNOWN:
            return self.outlives_its_connection
        return self._state in (CallState.DROPPED, CallState.RESUMING)

    async def state_there(self) -> WorkStatus | None:
        """How a resumable call stands at the server, without fetching what it has said (RR-9, ST-4).

        Raises:
            UnsupportedFeature: the server did not announce that it can be resumed.
            MCPError: the server cannot be asked, or no longer has it.
        """

        async def ask() -> WorkStatus | None:
            if self._maker is None:
                raise UnsupportedFeature(self._why_not())
            return await resume_requests.status(await self._maker.attached(), self)

        return await self._home.run(ask())

    async def look(self) -> TaskState | None:
        """Ask the server how the task stands that this call has become; None where it is none.

        Raises:
            MCPError: the server cannot be asked, or no longer has it.
        """
        task, maker = self.as_task, self._maker
        if task is None or task.state is None or maker is None:
            return None

        async def look() -> TaskState:
            state = await task_requests.look(await maker.attached(), self, task)
            task.heard(state)
            return state

        return await self._home.run(look())

    async def delete(self) -> None:
        """Have the server forget the task that this call has become, and its result; one at work is cancelled. For
        what should not lie there longer than needed (TSK-12).

        Raises:
            UnsupportedFeature: it is no task, or this form of tasks cannot be deleted.
            ProtocolError: the server no longer has it, or refuses.
        """
        task, maker = self.as_task, self._maker
        if task is None or task.state is None or maker is None:
            raise UnsupportedFeature(f"The call {self.id} of {self.tool!r} is no task, and leaves nothing to delete.")
        if "tasks/delete" not in task.form.methods:
            raise UnsupportedFeature("Tasks of this form cannot be deleted; the server forgets them in time.")

        async def delete() -> None:
            await task_requests.delete(await maker.attached(), task)

        await self._home.run(delete())

    async def events(self, after: int = 0) -> AsyncIterator[CallEvent]:
        """What the call says, in order, up to its outcome: what is kept of it so far first.

        Args:
            after: the number of the last event that was seen; 0 begins at the beginning.
        """
        while True:
            events, over = await self._home.run(self.said(after))
            for event in events:
                after = max(after, event.number)
                yield event
            if over:
                return

    def add_listener(self, listener: Callable[[CallHandle, CallEvent], None]) -> None:
        """Have a function told of each event, on the connection's loop, where it must not block."""
        self._listeners.append(listener)

    def __repr__(self) -> str:
        from ..render.letters import line  # not before there is something to show

        return f"<CallHandle {self.id}: {line(self.tool)} on {self.server}, {self._state.value}, {self.elapsed:.1f} s>"

    # For the client that makes the call, on its loop

    def begin(self, maker: Maker, timeout: float | None, total: float | None) -> CallHandle:
        """Start it on its own."""
        self._maker, self._timeout = maker, timeout
        self._log = CallLog(self.limits.call_events)  # somebody may watch it
        if self._home.journal is not None:
            self._keep_page(maker, written=False)
        self._future = self._home.submit(self.run(maker, timeout, total))
        return self

    def run(self, maker: Maker, timeout: float | None, total: float | None) -> Coroutine[Any, Any, ToolResult]:
        """Make the call, go on with it where the connection drops, and wait for its outcome."""
        return self._ended_by(maker, made(self, maker, timeout, total))

    async def _ended_by(self, maker: Maker, outcome: Coroutine[Any, Any, Any]) -> ToolResult:
        """Wait for the raw outcome, and end the call with it."""
        self._task = asyncio.current_task()
        try:
            if self._cancelled_because is not None:  # before it began, here
                if not self.was_sent or self._task is None:
                    outcome.close()
                    raise asyncio.CancelledError
                self._task.cancel()  # which the server has to be told
            result = maker.validated(self.tool, await outcome)
        except asyncio.CancelledError:
            self._end(Occurrence.CANCEL, CallCancelled(reason=self._cancelled_because))
            if self._cancelled_because is None:
                raise  # whoever waits was cancelled, not the call
            if self._task is not None:
                self._task.uncancel()  # the task is the caller's own, and goes on
            raise CallCancelled(f"The call was {self._cancelled_because}.", reason=self._cancelled_because) from None
        except RequestTimeout as error:
            if self.lasts():
                self.dropped(error)  # it goes on there, and can be resumed
            else:
                self._end(Occurrence.ERROR, error)
            raise
        except Exception as error:
            self._end(Occurrence.ERROR, error)
            raise
        self._end(Occurrence.RESULT, result)
        return result

    def belong_to(self, maker: Maker, timeout: float | None) -> None:
        """Its server is connected again: it can be resumed."""
        if self.is_left:
            self._maker, self._timeout = maker, timeout
            self._keep_page(maker, written=True)

    @property
    def is_left(self) -> bool:
        """Whether another process began it, and nothing was done about it here."""
        return self._future is None and self.was_sent

    @property
    def has_connection(self) -> bool:
        """Whether there is a client to go on with it."""
        return self._maker is not None

    # Within

    def _hurry(self) -> None:
        self.hurry()
        with suppress(MCPError):  # there is no connection at the moment
            if self._maker is not None and self.request_id is not None:
                self._maker.session.connection.hurry(self.request_id)

    def _why_not(self) -> str:
        if self._maker is None:
            return f"its server, {self.server}, is not connected"
        if self._state is not CallState.UNKNOWN:
            return f"it is {self._state.value}"
        return "the server does not keep calls whose connection is lost"

    def _waited_for(self) -> Future[ToolResult]:
        """What to wait for. Whoever stops waiting for a task does not end it: that takes `cancel`."""
        beside = _beside(self._begun())
        beside.add_done_callback(self._no_longer_waited_for)
        return beside

    def _no_longer_waited_for(self, beside: Future[ToolResult]) -> None:
        if beside.cancelled() and not self.is_task:
            self._begun().cancel()

    def _begun(self) -> Future[ToolResult]:
        if self._future is None:  # it was left by another process
            self.resume()
        assert self._future is not None, "it has begun"
        return self._future

    def _keep_page(self, maker: Maker, *, written: bool) -> None:
        from .page import page_of  # which most programs never need

        self.page = page_of(self, maker, written=written)

    def _told(self) -> None:
        """Whoever waited for it knows what came of it, unless they may still go on with it."""
        if self.page is not None and self._state.terminal and not self.outlives_its_connection:
            with suppress(RuntimeError):  # the loop has ended
                self._home.loop.call_soon_threadsafe(self.page.close)

    def _cancel_here(self, reason: str) -> None:
        if self._state.terminal or self._cancelled_because is not None:
            return
        self._cancelled_because = reason
        if self._task is not None:
            self._task.cancel()


def _beside(future: Future[ToolResult]) -> Future[ToolResult]:
    """Another future of the same outcome, which may be cancelled alone."""
    from concurrent.futures import Future

    beside: Future[ToolResult] = Future()

    def pass_on(done: Future[ToolResult]) -> None:
        if not beside.set_running_or_notify_cancel():
            return
        error = None if done.cancelled() else done.exception()
        if done.cancelled():
            beside.set_exception(CallCancelled("The call was cancelled."))
        elif error is not None:
            beside.set_exception(error)
        else:
            beside.set_result(done.result())

    future.add_done_callback(pass_on)
    return beside
