"""A call that goes on as a task: made, asked about, answered, fetched, in whichever form the two sides have.

Connections may come and go meanwhile; the task is found again by its id. Source: `protocol.tasks`.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import (
    CallCancelled,
    InvalidResult,
    MCPError,
    OutcomeUnknown,
    ProtocolError,
    RequestTimeout,
    ResumeRefused,
    ServerExited,
    UnsupportedFeature,
)
from ..jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, error_of
from ..protocol.calls import Occurrence
from ..protocol.extensions import TASKS
from ..protocol.tasks import Support, TaskState, TaskStatus, TaskWish
from ..types import Tool
from . import task_requests
from .as_task import AsTask
from .resuming import CANCELLING, DROPS, FIRST_PAUSE, LONGEST_PAUSE, Attach, lost

if TYPE_CHECKING:
    from .call import ClientCall
    from .maker import Maker
    from .session import ClientSession

SOONEST, LATEST = 0.02, 60.0
"""Seconds within which a server's word on how often to ask is kept."""
UNSAID = 1.0
"""Seconds between two questions where the server says nothing of that."""
UNANNOUNCED = 5.0
"""Seconds after which one asks about a task that the server has not announced: that may have been lost (TSK-1)."""
LAST_WORD = 1.0
"""Seconds for which a request's own answer is waited for once its task has ended."""


async def choose(maker: Maker, name: str, wish: TaskWish) -> AsTask:
    """The form in which to call a tool: the best that both sides have.

    Args:
        maker: makes the call.
        name: the tool.
        wish: what is asked of the task.

    Raises:
        UnsupportedFeature: the server carries out no tasks.
    """
    profile = maker.session.profile
    forms = [TASKS[one] for one in profile.revision.tasks]
    if any(form.declares for form in forms) and maker.known_tool(name) is None:
        await maker.list_tools()  # the tool's own word decides
    tool = maker.known_tool(name)
    support: Support | None = tool.execution.task_support if tool is not None and tool.execution is not None else None
    for form in forms:
        if form.offered(profile, "tools/call", support):
            return AsTask(form, wish if form.answered_at_once else replace(wish, id=secrets.token_hex(16)))
    raise UnsupportedFeature(
        "This server carries out no tasks. Call the tool as usual, without task=True (or --task); with begin_call (or "
        "--bg) the cell returns at once all the same."
    )


async def begin(call: ClientCall, task: AsTask, made: Awaitable[Any], attach: Attach, tool: Tool | None) -> Any:
    """Make a call as a task and wait for its raw result.

    Args:
        call: the call.
        task: how.
        made: makes the request, and gives its answer.
        attach: gives the connection to go on with.
        tool: what is known of the tool.
    """
    if not task.form.answered_at_once:
        return await follow(call, task, attach, tool, asyncio.ensure_future(made))
    raw = await made
    state = task.form.begun(raw)
    if state is None:
        return raw  # the server answered at once instead
    task.heard(state)
    task.news.clear()  # this was no news
    call.noted()
    return await follow(call, task, attach, tool)


async def follow(
    call: ClientCall, task: AsTask, attach: Attach, tool: Tool | None, answer: asyncio.Future[Any] | None = None
) -> Any:
    """Ask about a task until it has ended; the raw result of its call.

    Args:
        call: the call.
        task: its task.
        attach: gives the connection to go on with.
        tool: what is known of the tool.
        answer: what may answer before a question about the task does: the request itself.

    Raises:
        ResumeRefused: the server no longer has it.
        OutcomeUnknown: the server could not be reached any more.
        CallCancelled: it was cancelled there.
        MCPError: it failed.
    """
    following = _Following(call, task, attach, tool, answer)
    try:
        return await following.outcome()
    except (asyncio.CancelledError, InvalidResult):
        await following.cancel()
        raise
    finally:
        following.stop()


class _LookFirst(Exception):
    """An answer does not say what became of the task: a request was sent again, and the task turned out to be there
    (TSK-11), or its result was refused, which may be for other reasons than its own error."""


class _Following:
    def __init__(
        self,
        call: ClientCall,
        task: AsTask,
        attach: Attach,
        tool: Tool | None,
        answer: asyncio.Future[Any] | None,
    ) -> None:
        self.call = call
        self.task = task
        self.attach = attach
        self.tool = tool
        self.answer: asyncio.Future[Any] | None = None
        if answer is not None:
            self._expect(answer)
        self.failures = 0
        self.refusals = 0
        """How often the server knew nothing of the task, while its request was still to be answered."""
        self.begun = answer is None and not call.heard
        """Whether nothing can have been missed yet."""
        self.resent = False
        """Whether the request was sent a second time."""
        self.refusal: ProtocolError | None = None
        """What that was refused with; often it says that there is the task already."""
        self.session: ClientSession | None = None
        self.began = time.monotonic()

    async def outcome(self) -> Any:
        """Until it has ended."""
        if self.answer is not None:
            await self._wait_for_its_creation()
        elif self.begun:
            await self._first_pause()
        while True:
            if self.answer is not None and self.answer.done():
                with suppress(*DROPS, _LookFirst):
                    return self._answered(self.answer)
                self.answer = None
            ended = False
            try:
                self.session = await self.attach()
                ended = await self._look(self.session)
                if ended:
                    return await self._conclude(self.session)
                self.failures = 0
            except DROPS as error:
                await self._dropped(error)
            except ProtocolError as error:
                if ended and self.task.state is not None and self.task.state.status is not TaskStatus.COMPLETED:
                    raise  # that is how it ended
                await self._refused(error)
            else:
                await self._wait(self._interval)
            if time.monotonic() - self.began > self.call.limits.task_keep_most:
                raise RequestTimeout(
                    f"The task of {self.call.tool!r} has not ended within {self.call.limits.task_keep_most:g} s; it "
                    "goes on there.",
                    seconds=self.call.limits.task_keep_most,
                )

    async def cancel(self) -> None:
        """Tell the server that the task is no longer wanted, within bounds."""
        asked = self.answer is not None and not self.task.form.answered_at_once and not self.answer.done()
        with suppress(MCPError, TimeoutError):
            async with asyncio.timeout(CANCELLING):
                if asked and self.answer is not None:
                    self.answer.cancel()  # which tells the server
                    await asyncio.wait([self.answer])
                while not await self._cancelled_there(told=asked):  # noqa: ASYNC110
                    await asyncio.sleep(FIRST_PAUSE)

    def stop(self) -> None:
        """No longer wait for anything."""
        if self.answer is not None:
            self.answer.cancel()
        if self.session is not None:
            task_requests.leave(self.session, self.call, self.task)

    # Within

    async def _cancelled_there(self, *, told: bool) -> bool:
        """Tell the server, if it was not told, and see it happen, which may not be at once (TSK-6); False where the
        connection drops before."""
        try:
            session = self.session = await self.attach()
            if not told:
                await task_requests.cancel(session, self.task)
            while not await self._look(session):
                await self._wait(self._interval)
        except DROPS:
            return False
        return True

    async def _first_pause(self) -> None:
        """A task that has just begun need not be asked how it stands at once."""
        with suppress(*DROPS):
            self.session = await self.attach()
            task_requests.listen(self.session, self.call, self.task)
            pause = self._interval
            if self.task.form.questions == "fetched":
                self._expect(task_requests.fetch(self.session, self.call, self.task))
                pause = max(pause, UNSAID)  # its result comes by itself
            await self._wait(pause)

    async def _wait_for_its_creation(self) -> None:
        """Until the server says that there is a task, the request is answered, its connection is lost, or a while has
        passed: what the server said may be lost as well."""
        self.task.news.clear()
        await self._wait(UNANNOUNCED)
        if self.task.state is not None:
            self.task.news.clear()
            await self._wait(self._interval)  # as after `_first_pause`

    def _answered(self, answer: asyncio.Future[Any]) -> Any:
        try:
            raw = answer.result()
        except ProtocolError as error:
            state = self.task.state
            if state is not None and state.status is TaskStatus.CANCELLED:
                raise _cancelled(state) from error
            if self.resent and error.code == INVALID_PARAMS:
                self.refusal = error
                raise _LookFirst from error
            if self.task.form.questions == "fetched":
                raise _LookFirst from error
            raise
        self.task.ended(raw)
        return raw

    async def _look(self, session: ClientSession) -> bool:
        """Ask how it stands; whether it has ended."""
        task, call = self.task, self.call
        state = await task_requests.look(session, call, task)
        task.heard(state)
        task.news.clear()
        call.moved(Occurrence.RESUMED)
        if task.form.questions == "shown" and state.questions:
            await task_requests.answer(session, call, task)
        if task.form.questions == "fetched" and self.answer is None and not state.status.terminal:
            self._expect(task_requests.fetch(session, call, task))
        return state.status.terminal

    async def _conclude(self, session: ClientSession) -> Any:
        state, form = self.task.state, self.task.form
        assert state is not None
        if state.status is TaskStatus.CANCELLED:
            raise _cancelled(state)
        if state.result is not None:
            return state.result
        if form.questions == "fetched" or state.status is TaskStatus.COMPLETED:
            return await self._fetched(session)
        if self.answer is not None:  # the request's own answer says more about what went wrong
            await asyncio.wait([self.answer], timeout=LAST_WORD)
            if self.answer.done():
                return self._answered(self.answer)
        raise error_of(state.error or {"message": state.message or "The task failed."}, received=True)

    async def _fetched(self, session: ClientSession) -> Any:
        if self.task.form.fetch(self.task.id or "") is None:
            raise InvalidResult("The server says that the task is completed, and gives no result.")
        if self.answer is None:
            return await task_requests.fetch(session, self.call, self.task)
        if self.task.form.questions == "fetched":  # it was asked for already
            await asyncio.wait([self.answer], timeout=LAST_WORD)
        if self.answer.done() and not self.answer.exception():
            return self.answer.result()
        fetched = asyncio.ensure_future(task_requests.fetch(session, self.call, self.task))
        try:
            await asyncio.wait({fetched, self.answer}, return_when=asyncio.FIRST_COMPLETED)
            if self.answer.done() and not self.answer.exception():
                return self.answer.result()
            return await fetched
        finally:
            fetched.cancel()

    async def _dropped(self, error: MCPError) -> None:
        call, limit = self.call, self.call.limits.resumes
        if isinstance(error, ServerExited):
            raise lost(call, f"The server ended while the task of {call.tool!r} ran", self.tool, error) from error
        self.failures += 1
        if self.failures >= limit:
            call.moved(Occurrence.LOSE)
            raise OutcomeUnknown(
                f"The server of the task of {call.tool!r} could not be reached {limit} times (Limits.resumes). It may "
                f"still run there: %mcp resume {call.id}, or handle.resume(), tries again. ({error})"
            ) from error
        call.dropped(error)
        await call.pause(0, min(FIRST_PAUSE * 2**self.failures, LONGEST_PAUSE))
        call.moved(Occurrence.RESUME)

    async def _refused(self, error: ProtocolError) -> None:
        """The server does not tell about the task: the request may not have arrived, or it is gone."""
        call, task = self.call, self.task
        if self.answer is not None and not self.answer.done():
            gone = error.code == INVALID_PARAMS and task.state is not None
            patience = LAST_WORD if gone else UNSAID * 2 ** min(self.refusals, 10)
            self.refusals += 1
            await asyncio.wait(
                [self.answer], timeout=None if error.code == METHOD_NOT_FOUND else min(patience, LONGEST_PAUSE)
            )
            if self.answer.done() or not gone:
                return  # which may say more; with a server that has no tasks it says all
        if error.code == INTERNAL_ERROR:
            await self._dropped(error)  # too often, or a fault of the moment
            return
        if error.code != INVALID_PARAMS or (task.state is None and not task.form.answered_at_once):
            if self.refusal is not None:
                raise self.refusal
            unknown = task.state is None and error.code == INVALID_PARAMS
            if unknown and self.session is not None and call.arguments_known:
                self._expect(self.session.call(call, None, None))  # TSK-11
                self.resent = True
                await self._wait_for_its_creation()
                return
            if task.state is None:
                what = f"The connection was lost while {call.tool!r} ran, and this server knows no tasks"
                raise lost(call, what, self.tool, error) from error
            raise error
        call.moved(Occurrence.EXPIRE)
        raise ResumeRefused(f"The server no longer has the task of {call.tool!r}: {error.message}") from error

    async def _wait(self, seconds: float) -> None:
        """Until it is time to ask again, or something is heard."""
        if self.answer is None or not self.answer.done():
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.task.news.wait()
        state, answer = self.task.state, self.answer
        if state is not None and state.status.terminal and answer is not None and not answer.done():
            await asyncio.wait([answer], timeout=LAST_WORD)  # it is on its way

    def _expect(self, answer: Awaitable[Any]) -> None:
        """This may answer before a question about the task does; that it did is news, too."""
        self.answer = asyncio.ensure_future(answer)
        self.answer.add_done_callback(lambda _: self.task.news.set())

    @property
    def _interval(self) -> float:
        """Seconds until the next question, as the server wishes, within bounds."""
        poll = None if self.task.state is None else self.task.state.poll
        return min(max(UNSAID if poll is None else poll / 1000, SOONEST), LATEST)


def _cancelled(state: TaskState) -> CallCancelled:
    return CallCancelled(f"The server cancelled the task. {state.message or ''}".strip(), reason=state.message)
