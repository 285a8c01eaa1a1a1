"""The calls that are heard on one connection, and to which of them a message belongs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..jsonrpc import Notification, Request, RequestId
from ..protocol.calls import CallState
from ..protocol.extensions import RESUMING as DIALECTS
from ..protocol.extensions import requestor_tasks
from ..protocol.resuming import read_mark
from ..protocol.tasks import TaskState, TaskStatus, named
from ..types import Result
from .related import related_task

if TYPE_CHECKING:
    from .call import ClientCall

LEFT = 1000
"""How many calls of lost connections a client remembers, to go on with them."""


class HeardCalls:
    """The calls under way on a connection, and those that were left by the connections before it.

    Args:
        left: what was under way on the connection before.
    """

    def __init__(self, left: Iterable[ClientCall]) -> None:
        self.left = [call for call in left if call.outlives_its_connection]
        """What was under way when the connection ended, or before it began."""
        self.given: dict[RequestId, tuple[Request, Result]] = {}
        """The answers to questions of no particular call, as long as there are calls that may have asked them: the id
        of a question -> the question and its answer."""
        self._calls: set[ClientCall] = set()
        self._by_id: dict[RequestId, ClientCall] = {}
        self._by_task: dict[str, ClientCall] = {}

    def __iter__(self) -> Iterator[ClientCall]:
        return iter(self._calls)

    def __len__(self) -> int:
        return len(self._calls)

    def __contains__(self, call: object) -> bool:
        return call in self._calls

    def enter(self, call: ClientCall) -> None:
        """What belongs to a call is heard from here on; may be said again."""
        self._calls.add(call)
        if call.request_id is not None:
            self._by_id[call.request_id] = call
        if call.as_task is not None and call.as_task.id is not None:
            self._by_task[call.as_task.id] = call

    def leave(self, call: ClientCall) -> None:
        """It is no longer heard."""
        self._calls.discard(call)
        if not self._calls:
            self.given = {}  # an id that comes later is another question's
        if call.request_id is not None and self._by_id.get(call.request_id) is call:
            del self._by_id[call.request_id]
        if call.as_task is not None and call.as_task.id is not None:
            self._by_task.pop(call.as_task.id, None)

    def sent(self, call: ClientCall, id: RequestId) -> None:
        """A call goes on its way under an id, perhaps not its first."""
        if call.request_id is not None:
            self._by_id.pop(call.request_id, None)
        call.sent(id)
        self._by_id[id] = call

    def of_message(self, params: dict[str, Any] | None) -> ClientCall | None:
        """The call that a message belongs to: the one it names, else the only one there is, if so."""
        id = read_mark(params).request_id
        if id is not None:
            return self._by_id.get(id)
        task = related_task(params)
        if task is not None:
            return self._by_task.get(task)
        return next(iter(self._calls)) if len(self._calls) == 1 else None

    def told_of_task(self, notification: Notification) -> None:
        """A notification may tell of a task that one of them has become."""
        created = requestor_tasks.created(notification)
        call = self._by_task.get(created or named(notification.params) or "")
        if call is None or call.as_task is None:
            return
        task = call.as_task
        if created is not None:
            if task.state is None:
                task.heard(TaskState(id=created, status=TaskStatus.SUBMITTED))
        elif (state := task.form.read(notification.params)) is not None:
            task.heard(state)

    def announced(self, notification: Notification) -> None:
        """A call can be resumed."""
        for dialect in DIALECTS:
            policy = dialect.read_policy(notification)
            if policy is None:
                continue
            # A relay may deliver it before the call is gone on with here.
            left = (one for one in self.left if one.request_id == policy.request_id)
            call = self._by_id.get(policy.request_id) or next(left, None)
            if call is not None:
                call.resumable(dialect, policy)

    def drop(self) -> None:
        """The connection has ended."""
        for call in self._calls:
            if call.status is CallState.INPUT_REQUIRED:
                call.process = None  # whoever is connected next does not hear its question
        known = dict.fromkeys((*self.left, *self._calls))  # in that order: the oldest give way
        self.left = [call for call in known if call.outlives_its_connection][-LEFT:]


def comes_early(params: dict[str, Any] | None, call: ClientCall | None) -> bool:
    """Whether a message comes too early to be taken: it belongs to a call that is still to be resumed here, or is just
    being, and comes again in its turn."""
    if call is not None:
        return call.misses(params)
    return read_mark(params).number > 0 and related_task(params) is None
