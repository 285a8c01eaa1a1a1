"""`CallHandle`: one call of a tool, as the calling side sees it."""

from __future__ import annotations

import asyncio
import functools
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError

from ..errors import CallCancelled, ConnectionLost, MCPError, ProtocolError, RequestTimeout, UnsupportedFeature
from ..home import Home
from ..jsonrpc import METHOD_NOT_FOUND, RequestId
from ..limits import Limits
from ..protocol.calls import TRANSITIONS, CallEvent, CallLog, CallState, EventKind, Occurrence
from ..protocol.extensions.extension_tasks import declared
from ..protocol.resuming import Dialect, ResumePolicy, WorkStatus, read_mark, unmarked
from ..protocol.revision import Profile
from ..protocol.tasks import TaskWish
from ..types import LogMessage, Progress, Tool
from . import task_requests
from .listeners import tell
from .results import ToolResult
from .resuming import DROPS, go_on, never_done

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..journal import Entry, SavedSession
    from ..protocol.tasks import TaskState
    from .pages import Page
    from .session import ClientSession
    from .tasking import AsTask


class Maker(Protocol):
    """What makes calls, and goes on with them: a client."""

    @property
    def home(self) -> Home: ...

    @property
    def session(self) -> ClientSession: ...

    @property
    def address(self) -> str | None:
        """Where the server is, if that outlives this process."""
        ...

    @property
    def remembers_arguments(self) -> bool:
        """Whether a journal may keep what its tools are called with."""
        ...

    async def attached(self) -> ClientSession: ...

    def validated(self, name: str, raw: Any) -> ToolResult: ...

    def known_tool(self, name: str) -> Tool | None: ...

    async def list_tools(self) -> list[Tool]: ...


class CallHandle:
    """A call that has begun. `await` it, or ask it for its `result()`; cancel it; watch its events.

    Attributes:
        server: the server's name.
        tool: the tool's name.
        arguments: what it was called with.
    """

    # What most calls never change stands here, so that making one costs little.
    request_id: RequestId | None = None
    dialect: Dialect | None = None
    policy: ResumePolicy | None = None
    wish: TaskWish | None = None
    """What is asked of the task that it should become; None where it need not become one."""
    as_task: AsTask | None = None
    """How it is carried out as a task; None for a call without one."""
    error: MCPError | None = None
    """Why it has no result, or why its connection was lost; None while there is no such reason."""
    process: str | None = None
    """Behind a relay, the server's process that works on it, and will answer whoever is connected then."""
    last_number = 0
    """The number of the last message that arrived, where the server numbers them."""
    heard = 0
    """How many messages arrived."""
    again = False
    """Whether another process began it, and the server has yet to hear of us."""
    arguments_known = True
    """Whether `arguments` are those that it was begun with; another process may not have remembered them."""
    saved: SavedSession | None = None
    """The session that another process began it in."""
    revision: str | None = None
    """The protocol revision that it was begun in there."""
    page: Page | None = None
    """What a journal keeps of it."""
    _sent = False
    _state = CallState.RUNNING
    _ended: float | None = None
    _log: CallLog | None = None
    _latest: Progress | None = None
    _task: asyncio.Task[Any] | None = None
    _future: Future[ToolResult] | None = None
    _cancelled_because: str | None = None
    _questions = 0
    _news: asyncio.Event | None = None
    _maker: Maker | None = None
    _timeout: float | None = None
    _asked_for: asyncio.Event | None = None

    def __init__(
        self,
        home: Home,
        *,
        server: str,
        tool: str,
        arguments: dict[str, Any],
        limits: Limits,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.server = server
        self.tool = tool
        self.arguments = arguments
        self.limits = limits
        self.questions: dict[RequestId, asyncio.Future[Any]] = {}
        """What the server asked in it: id -> the answer, or who is giving it."""
        self._began = time.time()
        self._home = home
        self._meta = meta
        self._listeners: list[Callable[[CallHandle, CallEvent], None]] = []

    # For whoever made the call

    @functools.cached_property
    def id(self) -> str:
        """A short name for it."""
        return secrets.token_hex(2)

    @property
    def started(self) -> datetime:
        """When it began, in UTC."""
        return datetime.fromtimestamp(self._began, UTC)

    @property
    def ended(self) -> datetime | None:
        """When it ended, in UTC; None while it has not."""
        return None if self._ended is None else datetime.fromtimestamp(self._ended, UTC)

    @property
    def status(self) -> CallState:
        """Where it stands, in a word of `CallState`: running, input_required, dropped, completed and so on."""
        return self._state

    @property
    def progress(self) -> Progress | None:
        """The latest progress, if any was told."""
        return self._latest

    @property
    def task(self) -> TaskState | None:
        """What is known of the task that it has become; None while it is none."""
        return None if self.as_task is None else self.as_task.state

    @property
    def is_task(self) -> bool:
        """Whether it is a task there, or was begun to become one. Whoever stops waiting does not end it then."""
        return self.wish is not None or self.task is not None

    @property
    def elapsed(self) -> float:
        """Seconds since it began, up to its end."""
        return (self._ended or time.time()) - self._began

    def done(self) -> bool:
        """Whether it has ended."""
        return self._state.terminal

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
            self._future = self._home.submit(self._ended_by(self._maker, self._gone_on_with(self._maker)))
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
            return await (await self._maker.attached()).status(self)

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
            events, over = await self._home.run(self._next(after))
            for event in events:
                after = max(after, event.number)
                yield event
            if over:
                return

    def add_listener(self, listener: Callable[[CallHandle, CallEvent], None]) -> None:
        """Have a function told of each event, on the connection's loop, where it must not block."""
        self._listeners.append(listener)

    def __repr__(self) -> str:
        return f"<CallHandle {self.id}: {self.tool} on {self.server}, {self._state.value}, {self.elapsed:.1f} s>"

    # For the client that makes the call, on its loop

    def begin(self, maker: Maker, timeout: float | None, total: float | None) -> CallHandle:
        """Start it on its own."""
        self._maker, self._timeout = maker, timeout
        self._log = CallLog(self.limits.call_events)  # somebody may watch it
        if self._home.journal is not None:
            self._keep_page(maker)
        self._future = self._home.submit(self.run(maker, timeout, total))
        return self

    def run(self, maker: Maker, timeout: float | None, total: float | None) -> Coroutine[Any, Any, ToolResult]:
        """Make the call, go on with it where the connection drops, and wait for its outcome."""
        return self._ended_by(maker, self._outcome(maker, timeout, total))

    async def _ended_by(self, maker: Maker, outcome: Coroutine[Any, Any, Any]) -> ToolResult:
        """Wait for the raw outcome, and end the call with it."""
        self._task = asyncio.current_task()
        try:
            if self._cancelled_because is not None:  # before it began, here
                if not self._sent or self._task is None:
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

    async def _outcome(self, maker: Maker, timeout: float | None, total: float | None) -> Any:
        if self.wish is None and not only_as_task(maker.known_tool(self.tool)):
            try:
                raw = await self._made(maker, timeout, total)
            except ProtocolError as error:
                if not wants_task(maker.session.profile, error):
                    raise
            else:
                if not await self._was_refused(maker, raw):
                    return raw
        from . import tasking

        self.as_task = task = await tasking.choose(maker, self.tool, self.wish or TaskWish())
        # Where the request's own answer comes in the end, it is waited for as long as the task takes.
        limits = (timeout, total) if task.form.answered_at_once else (None, None)
        made = self._made(maker, *limits)
        return await tasking.begin(self, task, made, maker.attached, maker.known_tool(self.tool))

    async def _was_refused(self, maker: Maker, raw: Any) -> bool:
        """Whether a result is in truth the refusal of a call that should have been one for a task: the TypeScript SDK's
        servers say so in a tool's own error. What the tool says of itself decides; such a call did nothing yet."""
        failed = isinstance(raw, dict) and raw.get("isError") is True
        if not failed or not takes_tasks(maker.session.profile):
            return False
        if maker.known_tool(self.tool) is None:
            with suppress(MCPError):
                await maker.list_tools()
        return only_as_task(maker.known_tool(self.tool))

    async def _gone_on_with(self, maker: Maker) -> Any:
        """The raw outcome of one that was dropped."""
        tool = maker.known_tool(self.tool) if self.arguments_known else None  # else it must not be sent again
        if self.as_task is None:
            return await go_on(self, maker.attached, tool, ConnectionLost("It was dropped."), self._timeout)
        from .tasking import follow

        self.moved(Occurrence.RESUME)
        return await follow(self, self.as_task, maker.attached, tool)

    async def _made(self, maker: Maker, timeout: float | None, total: float | None) -> Any:
        """The answer to the request itself."""
        try:
            return await maker.session.call(self, timeout, total)
        except DROPS as error:
            if isinstance(error, RequestTimeout) or not self._sent or never_done(error):
                raise  # a limit of the caller's own ends the wait; and what was never taken cannot be lost
            if self.as_task is not None and not self.as_task.form.answered_at_once:
                raise  # one can ask what became of it (TSK-11)
            return await go_on(self, maker.attached, maker.known_tool(self.tool), error, timeout)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of `tools/call`."""
        params: dict[str, Any] = {"name": self.tool, "arguments": self.arguments}
        if self._meta:
            params["_meta"] = dict(self._meta)
        return params

    def sent(self, id: RequestId) -> None:
        """It goes on its way under this id."""
        self.request_id, self._sent = id, True
        self.noted()

    def noted(self) -> None:
        """Something changed by which it can be gone on with in another process."""
        if self.page is not None:
            self.page.write()

    def left(self, entry: Entry, dialect: Dialect | None, task: AsTask | None) -> CallHandle:
        """It was begun by another process, which has ended: dropped, until somebody has the connection for it."""
        self.__dict__["id"] = entry.id
        self._began, self._sent, self._state = entry.began, True, CallState.DROPPED
        self._log = CallLog(self.limits.call_events)
        self.request_id, self.last_number, self.heard = entry.request_id, entry.last_number, 1
        self.dialect, self.policy, self.as_task = dialect, entry.policy, task
        self.saved, self.revision = entry.session, entry.revision
        # Who asked behind a relay was the one before, and nobody asks again.
        self.process = None if entry.asking else entry.process
        self.again, self.arguments_known = True, entry.arguments is not None
        self._latest = None if entry.progress is None else Progress.model_validate(entry.progress)
        return self

    def belong_to(self, maker: Maker, timeout: float | None) -> None:
        """Its server is connected again: it can be resumed."""
        if self.is_left:
            self._maker, self._timeout = maker, timeout
            self._keep_page(maker)

    @property
    def is_left(self) -> bool:
        """Whether another process began it, and nothing was done about it here."""
        return self._future is None and self._sent

    @property
    def has_connection(self) -> bool:
        """Whether there is a client to go on with it."""
        return self._maker is not None

    @property
    def can_be_taken_up(self) -> bool:
        """Whether another process could find it at its server, or what came of it."""
        asked = self.as_task is not None and self.as_task.id is not None
        return self.policy is not None or self.process is not None or asked

    def resumable(self, dialect: Dialect, policy: ResumePolicy) -> None:
        """The server announced that it can be resumed."""
        self.dialect, self.policy = dialect, policy
        self.noted()

    @property
    def outlives_its_connection(self) -> bool:
        """Whether one can go on with it on another connection."""
        if self._state.terminal and self._state is not CallState.UNKNOWN:
            return False
        return self.policy is not None or self.process is not None or self.task is not None

    def begin_anew(self) -> None:
        """What it came to is gone with the process that it ran in."""
        self.dialect = self.policy = self.process = None
        self.last_number = 0

    def lasts(self) -> bool:
        """Whether it goes on there when nobody waits for it here (RR-3, TSK-6)."""
        return self.policy is not None or self.task is not None

    def misses(self, params: Any) -> bool:
        """Whether something is missing before a message or result, and is still to come: what an older way brings,
        while a newer is about to bring all that was not heard."""
        return self.policy is not None and read_mark(params).after > self.last_number

    def fresh(self, params: Any) -> bool:
        """Whether a message is new here, and nothing is missing before it; where there are no numbers, every one is."""
        number = read_mark(params).number
        if 0 < number <= self.last_number or self.misses(params):
            return False
        self.last_number = max(number, self.last_number)
        self.heard += 1
        self.moved(Occurrence.RESUMED)
        return True

    def whole(self, raw: Any) -> Any:
        """A raw result, if all was heard that was said before it.

        Raises:
            ConnectionLost: an older way brought it, and something is missing; another resume brings all of it.
        """
        if self.misses(raw):
            raise ConnectionLost(f"Some of what {self.tool!r} said before its result was lost with the connection.")
        return unmarked(raw)

    def dropped(self, error: MCPError) -> None:
        """The connection was lost."""
        self.error = error
        self.moved(Occurrence.DROP)

    async def pause(self, least: float, seconds: float) -> None:
        """Wait before the next attempt to resume it; no longer than at least, where somebody asks for that now."""
        self._asked_for = asyncio.Event()
        await asyncio.sleep(least)
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, seconds - least)):
                await self._asked_for.wait()

    def _hurry(self) -> None:
        if self._asked_for is not None:
            self._asked_for.set()
        with suppress(MCPError):  # there is no connection at the moment
            if self._maker is not None and self.request_id is not None:
                self._maker.session.connection.hurry(self.request_id)

    def way_moved(self, occurrence: Occurrence) -> float:
        """As `Receiver.moved`: the policy may say how long the server should be left alone (RR-8)."""
        self.moved(occurrence)
        return self.policy.min_wait if self.policy is not None else 0.0

    def moved(self, occurrence: Occurrence) -> None:
        """Something happened to it that is no message of the server's."""
        before = self._state
        self._move(occurrence)
        if self._state is not before:
            self._say("state", self._state)

    def progressed(self, params: dict[str, Any]) -> None:
        """The server told how far it is."""
        if not self.fresh(params):
            return
        try:
            self._latest = Progress.model_validate(params)
        except ValidationError:
            return
        self._say("progress", self._latest)

    def logged(self, line: LogMessage) -> None:
        """The server sent a log line."""
        self._say("log", line)

    def asked(self, params: dict[str, Any] | None) -> None:
        """The server asks something."""
        self._questions += 1
        self._move(Occurrence.ASKED)
        if self.page is not None:
            self.page.asked(read_mark(params).number)
        self._say("question", params)

    def answered(self, answer: Any, params: dict[str, Any] | None = None) -> None:
        """That was answered; too late to matter, where the call has ended meanwhile."""
        self._questions -= 1
        if self.page is not None:
            self.page.answered(read_mark(params).number)
        if self._state.terminal:
            return
        if not self._questions:
            self._move(Occurrence.ANSWERED)
        self._say("answer", answer)

    # Within

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

    def _keep_page(self, maker: Maker) -> None:
        from .pages import page_of

        self.page = page_of(self, maker)

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

    def _end(self, occurrence: Occurrence, outcome: Any) -> None:
        self._ended = time.time()
        self.error = outcome if isinstance(outcome, MCPError) else None
        self._move(occurrence)
        for answer in self.questions.values():
            answer.cancel()  # nobody waits for it any more
        if self._log is not None:
            self._say("outcome", outcome)
        if self.page is not None and self._state is CallState.EXPIRED:
            self.page.close()  # nothing is left that anybody could go on with

    def _move(self, occurrence: Occurrence) -> None:
        self._state = TRANSITIONS[self._state].get(occurrence, self._state)

    def _say(self, kind: EventKind, data: Any) -> None:
        if self._log is None:
            self._log = CallLog(self.limits.call_events)
        event = self._log.append(kind, data)
        if self._news is not None:
            self._news.set()
        if self.page is not None:
            self.page.said(event, self.last_number)
        tell(self._listeners, self, event)

    async def _next(self, after: int) -> tuple[list[CallEvent], bool]:
        while True:
            if self._log is not None and self._log.last > after:
                return self._log.since(after), self._state.terminal
            if self._state.terminal:
                return [], True
            news = self._news = self._news or asyncio.Event()
            await news.wait()
            if self._news is news:
                self._news = None


def only_as_task(tool: Tool | None) -> bool:
    """Whether a tool can be called only as a task, as far as is known."""
    return tool is not None and tool.execution is not None and tool.execution.task_support == "required"


def wants_task(profile: Profile, error: ProtocolError) -> bool:
    """Whether a server refuses a call because it should have been one for a task (TCR-1, TEX-1)."""
    if error.code == profile.revision.missing_capability:
        required = (error.data or {}).get("requiredCapabilities") if isinstance(error.data, dict) else None
        return isinstance(required, dict) and declared(required.get("extensions"))
    return error.code == METHOD_NOT_FOUND and takes_tasks(profile)


def takes_tasks(profile: Profile) -> bool:
    """Whether a server says that it carries out requests as tasks (TCR-1)."""
    return (profile.server.tasks or {}).get("requests") is not None


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
