"""`ClientCall`: one call of a tool as its client knows it: what was sent, what came of it so far, where it stands.

It does nothing by itself. Whatever makes it, hears of it or goes on with it tells it what happens; people have a
`CallHandle` of it.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import ValidationError

from ..errors import ConnectionLost, MCPError
from ..home import Home
from ..jsonrpc import RequestId
from ..limits import Limits
from ..protocol.calls import TRANSITIONS, CallEvent, CallLog, CallState, EventKind, Occurrence
from ..protocol.resuming import Dialect, ResumePolicy, read_mark, unmarked
from ..protocol.tasks import TaskWish
from ..types import LogMessage, Progress
from .listeners import tell

if TYPE_CHECKING:
    from ..journal import Entry, SavedSession
    from ..protocol.tasks import TaskState
    from .as_task import AsTask

_numbers = itertools.count(secrets.randbelow(1 << 16))
_SPREAD = 40503
"""An odd number: multiplied by it, what follows each other has names that do not look alike, and each its own."""


class Page(Protocol):
    """What a journal keeps of a call."""

    def write(self) -> None:
        """Something changed that another process would have to know."""

    def said(self, event: CallEvent, number: int) -> None:
        """The server's message of a number became an event here."""

    def asked(self, number: int) -> None:
        """The question of a number is open."""

    def answered(self, number: int) -> None:
        """It is no more."""

    def shown(self, number: int) -> None:
        """What was said up to the event of that number was shown."""

    def close(self) -> None:
        """What came of the call is known to whoever wanted to know."""


class ClientCall:
    """A call, and all that is known of it.

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
    was_sent = False
    """Whether its request went on its way, here or from another process."""
    _state = CallState.RUNNING
    _ended: float | None = None
    _log: CallLog | None = None
    _latest: Progress | None = None
    pushed: tuple[asyncio.Future[Any], ...] = ()
    """Who is answering what was asked on its connection: whoever cancels the call takes that back."""
    _questions = 0
    _news: asyncio.Event | None = None
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
        self._listeners: list[Callable[[Any, CallEvent], None]] = []

    @functools.cached_property
    def id(self) -> str:
        """A short name for it, which no other of the next 65,536 of this process has."""
        return f"{next(_numbers) * _SPREAD % (1 << 16):04x}"

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

    # On its way

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of `tools/call`."""
        params: dict[str, Any] = {"name": self.tool, "arguments": self.arguments}
        if self._meta:
            params["_meta"] = dict(self._meta)
        return params

    def sent(self, id: RequestId) -> None:
        """It goes on its way under this id."""
        self.request_id, self.was_sent = id, True
        self.noted()

    def noted(self) -> None:
        """Something changed by which it can be gone on with in another process."""
        if self.page is not None:
            self.page.write()

    def left(self, entry: Entry, dialect: Dialect | None, task: AsTask | None) -> None:
        """It was begun by another process, which has ended: dropped, until somebody has the connection for it."""
        self.__dict__["id"] = entry.id
        self._began, self.was_sent, self._state = entry.began, True, CallState.DROPPED
        self._log = CallLog(self.limits.call_events)
        self.request_id, self.last_number, self.heard = entry.request_id, entry.last_number, 1
        self.dialect, self.policy, self.as_task = dialect, entry.policy, task
        self.saved, self.revision = entry.session, entry.revision
        # Who asked behind a relay was the one before, and nobody asks again.
        self.process = None if entry.asking else entry.process
        self.again, self.arguments_known = True, entry.arguments is not None
        self._latest = None if entry.progress is None else Progress.model_validate(entry.progress)

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

    def hurry(self) -> None:
        """Somebody asks for the next attempt now."""
        if self._asked_for is not None:
            self._asked_for.set()

    # What happens to it

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

    async def said(self, after: int) -> tuple[list[CallEvent], bool]:
        """What it says after the event of a number, as soon as there is any of it; and whether that is all."""
        while True:
            if self._log is not None and self._log.last > after:
                return self._log.since(after), self._state.terminal
            if self._state.terminal:
                return [], True
            news = self._news = self._news or asyncio.Event()
            await news.wait()
            if self._news is news:
                self._news = None

    # Within

    def _end(self, occurrence: Occurrence, outcome: Any) -> None:
        self._ended = time.time()
        self.error = outcome if isinstance(outcome, MCPError) else None
        self._move(occurrence)
        for answer in self.questions.values():
            answer.cancel()  # nobody waits for it any more
        if self._state is CallState.CANCELLED:
            for answering in self.pushed:
                answering.cancel()
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
