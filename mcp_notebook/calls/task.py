"""`Task`: a call about which its requestor may ask, whatever becomes of the connection that it was begun on."""

from __future__ import annotations

import asyncio
import functools
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import ConnectionLost
from ..jsonrpc import INTERNAL_ERROR, RequestId, error_of
from ..protocol.calls import CallEvent
from ..protocol.tasks import TaskForm, TaskState, TaskStatus
from ..transports.connection import Connection
from .call import Call, Said, Work, over

if TYPE_CHECKING:
    from .tasks import Tasks

PROGRESS = "notifications/progress"
TOOL_ERROR = "The tool reported an error."
LONGEST = 200
"""Characters of a tool's own error that its task's state repeats."""
UNFETCHED = 3
"""How often a requestor sees that input is required, and does not fetch it, before it is asked unfetched."""


class Task(Call):
    """One task at work.

    Args:
        tasks: where it belongs.
        form: in which form it was begun, and is shown.
        state: what there is to know of it.
        owner: whose it is.
        request_id: the id of the request that began it.
        origin: the connection that this came by.
    """

    def __init__(
        self, tasks: Tasks, form: TaskForm, state: TaskState, owner: str, request_id: RequestId, origin: Connection
    ) -> None:
        super().__init__(request_id, tasks.prefix, tasks.limits)
        self.form = form
        self.owner = owner
        self._state = state
        self._tasks = tasks
        self.origin = origin
        self._unfetched = 0
        self.began = time.time()
        """Seconds since the epoch."""

    def __repr__(self) -> str:
        return f"<Task of request {self.request_id!r} ({self.form.name})>"

    def start(self, work: Work[Task]) -> None:
        self._handler = asyncio.create_task(self._run(work))
        self._handler.add_done_callback(self._finish)

    @property
    def id(self) -> str:
        """Its id."""
        return self._state.id

    @property
    def state(self) -> TaskState:
        """How it stands, its open questions with it."""
        self._state.questions = {
            str(said.key): {"method": said.method, "params": said.params} for said in self._unanswered()
        }
        self._state.poll = self._tasks.pace(self.owner, time.time() - self.began)
        return self._state

    @property
    def patience(self) -> float:
        return self.limits.task_keep

    # What the handler does

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        if self._state.status.terminal:
            raise over()
        if method == PROGRESS:
            self._state.message = _words(params)
            if not self.form.pushes:
                self._tasks.changed(self)
        await super().tell(method, params)
        if not self._followed and self.form.pushes:
            await self._push(questions=False)

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        if self._state.status.terminal:
            raise over()
        return await super().ask(method, params, self._unused(key or "question"))

    def asked(self) -> None:
        self._unfetched = 0
        self._move(TaskStatus.INPUT_REQUIRED)
        if not self._followed and self.form.questions == "pushed":
            self._tasks.aside(self._push(questions=True))

    def answered(self) -> None:
        if not self._unanswered():
            self._move(TaskStatus.WORKING)

    # What its requestor does

    def said(self, after: int = 0) -> list[tuple[int, dict[str, Any]]]:
        """The notifications that it has said after a number, which is known to have arrived, with their numbers."""
        self._log.confirm(after)
        told = [event for event in self._log.since(after) if event.kind != "question"]
        return [(event.number, dict(zip(("method", "params"), self._as_sent(event), strict=True))) for event in told]

    async def follow(self, connection: Connection, about: RequestId | None, after: int | None = None) -> Any:
        with connection.apart():  # there are as many who follow as there are tasks, which `Limits.tasks` bounds
            return await super().follow(connection, about, after)

    def answer(self, answers: dict[str, Any]) -> None:
        """Answers to questions by their keys; those that nobody asks for are ignored (TEX-2)."""
        for said in self._unanswered():
            if said.key in answers and said.answer is not None:
                said.answer.set_result(answers[said.key])
        self.answered()  # whoever asks next sees it, also before the handler goes on

    def adopt(self, connection: Connection, *, again: bool = False) -> None:
        """Its requestor asked about it here: what it has to say goes this way, where nobody follows it. So do questions
        that are there to be fetched, and are not, if somebody hears what belongs to no request; and those that were
        sent here already, where another process goes on `again`."""
        moved, self.origin = connection is not self.origin, connection
        if again and not moved and self.form.questions == "pushed":
            self._tasks.aside(self._ask_again())  # whoever followed it here before is no more
        if self._followed or not self.form.pushes:
            return
        unfetched = self.form.questions == "fetched" and self._left_unfetched(connection)
        if moved or unfetched:
            self._tasks.aside(self._push(questions=unfetched or self.form.questions == "pushed"))

    def cancel(self, why: str = "The task was cancelled.") -> bool:
        """No longer want it; False where it has ended."""
        if self.over:
            return False
        self._state.error = {"code": INTERNAL_ERROR, "message": why}
        self._conclude(TaskStatus.CANCELLED, why)
        self.end()
        return True

    @property
    def over(self) -> bool:
        return self._state.status.terminal

    def conclusion(self) -> Any:
        return outcome_of(self._state, self.form)

    def passed_over(self, connection: Connection, after: int | None) -> list[CallEvent]:
        """Our own clients say what arrived, and know a question when it comes again; others are asked once on each
        connection."""
        until = self._handed_over if after is None else after
        return [
            CallEvent(number, "question", said)
            for number, said in self.questions.items()
            if number <= until and (after is not None or said.asked is not connection)
        ]

    def stamped(self, said: Said, number: int, after: int | None = None) -> dict[str, Any]:
        params = super().stamped(said, number)  # what is missing is asked for by whoever fetches it
        return {**params, "_meta": self.form.related(params["_meta"], self._state.id)}

    # Within

    async def _run(self, work: Work[Task]) -> Any:
        self._move(TaskStatus.WORKING)
        return await work(self)

    def _finish(self, handler: asyncio.Task[Any]) -> None:
        if self.over:
            if not handler.cancelled():
                handler.exception()  # nobody wants to know any more
            return
        state = self._state
        state.result, state.error = self._outcome_data(handler)
        if state.error is not None:
            self._conclude(TaskStatus.CANCELLED if handler.cancelled() else TaskStatus.FAILED, state.error["message"])
        elif self.form.errors_fail and isinstance(state.result, dict) and state.result.get("isError") is True:
            self._conclude(TaskStatus.FAILED, _tool_error(state.result))
        else:
            self._conclude(TaskStatus.COMPLETED)

    def _conclude(self, status: TaskStatus, message: str | None = None) -> None:
        for number, said in self.questions.items():
            if said.answer is not None:
                said.answer.cancel()
            if said.asked is not None:
                said.asked.withdraw(self.question_id(number), message or "The task is over.")
        self._move(status, message)
        self._news.tell()
        self._tasks.ended(self)

    def _move(self, status: TaskStatus, message: str | None = None) -> bool:
        moved = self._state.become(status, message)
        if moved:
            self._tasks.changed(self)
        return moved

    async def _push(self, *, questions: bool) -> None:
        """Send what was said since the last message that was sent, on the connection that the requestor has."""
        passed_over = self.passed_over(self.origin, None) if questions else ()
        try:
            for event in (*passed_over, *self._log.since(self._handed_over)):
                if self._followed or self.origin.ended:
                    return
                if event.kind == "question":
                    if not questions or event.data.asked is self.origin:
                        continue
                elif event.number <= self._handed_over:
                    continue
                self._handed_over = max(self._handed_over, event.number)
                await self._send_to(event, self.origin, None)
        except ConnectionLost:
            pass  # it is kept for whoever comes

    async def _ask_again(self) -> None:
        with suppress(ConnectionLost):
            for number, said in self.questions.items():
                await self._send_to(CallEvent(number, "question", said), self.origin, None)

    def _unanswered(self) -> list[Said]:
        return [said for said in self.questions.values() if not said.settled]

    @property
    def _followed(self) -> bool:
        """Whether somebody follows it where its requestor is now, or elsewhere and hears it there."""
        follower = self._follower
        return follower is not None and (follower.connection is self.origin or not follower.unheard)

    def _left_unfetched(self, connection: Connection) -> bool:
        """Whether a requestor who asks again and again leaves questions unfetched, and would hear them here."""
        self._unfetched += bool(self.questions)
        return (
            self._unfetched >= UNFETCHED
            and any(said.asked is not connection for said in self.questions.values())
            and not connection.unheard(None)
        )

    def _unused(self, key: str) -> str:
        """A key that no question of this task had before (TEX-2)."""
        used = self._keys
        number, unused = 2, key
        while unused in used:
            unused, number = f"{key}_{number}", number + 1
        used.add(unused)
        return unused

    @functools.cached_property
    def _keys(self) -> set[str]:
        return set()


def outcome_of(state: TaskState, form: TaskForm) -> dict[str, Any]:
    """What a task's request would have been answered with, marked as the task's.

    Raises:
        ProtocolError: that is an error.
    """
    if state.error is not None:
        raise error_of(state.error)
    return {**state.result, "_meta": form.related(state.result.get("_meta"), state.id)}


def _words(params: dict[str, Any]) -> str:
    """Progress in words."""
    done, total, message = params["progress"], params.get("total"), params.get("message")
    share = f"{done:g} of {total:g}" if total is not None else f"{done:g}"
    return f"{share}: {message}" if message else share


def _tool_error(result: dict[str, Any]) -> str:
    """A tool's own error in words: requestors may look no further than how its task stands."""
    content = result.get("content")
    first = content[0].get("text") if isinstance(content, list) and content else None
    if not isinstance(first, str) or not first:
        return TOOL_ERROR
    return first if len(first) <= LONGEST else first[: LONGEST - 1] + "…"
