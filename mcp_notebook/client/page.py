"""A call's page in the journal, written as the call goes on (RR-13, TSK-13)."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import MCPError
from ..journal import Entry, Journal, SavedSession
from ..protocol.calls import CallEvent, CallState

if TYPE_CHECKING:
    from .call import ClientCall
    from .maker import Maker

_KEPT = ("id", "status", "message", "created", "updated", "keep", "poll", "parent", "children")
"""What is worth remembering of a task's state: its result and its questions are asked for anew."""


class JournalPage:
    """The `Page` of one call. There is nothing on it as long as that is a call that ends with its connection.

    Args:
        journal: the journal.
        call: the call.
        maker: makes it.
        address: where its server is.
        written: whether the journal has it already.
    """

    def __init__(self, journal: Journal, call: ClientCall, maker: Maker, address: str, *, written: bool) -> None:
        self._journal = journal
        self._call = call
        self._maker = maker
        self._address = address
        self._written = written
        self._over = False
        self._session: SavedSession | None = call.saved
        self._revision = call.revision
        self._cursor = call.last_number
        # The numbers that events have here, and those that their messages had at the server.
        self._numbers: deque[tuple[int, int]] = deque(maxlen=2 * call.limits.call_events)
        self._open: list[int] = []

    def write(self) -> None:
        if self._call.can_be_taken_up and not self._over:
            with suppress(MCPError):  # there is no connection at the moment: it was another
                self._session = self._maker.session.saved
                self._revision = self._maker.session.profile.revision.name
            self._journal.note(self._entry())
            self._written = True

    def said(self, event: CallEvent, number: int) -> None:
        if number > self._cursor:
            self._numbers.append((event.number, number))

    def asked(self, number: int) -> None:
        self._open.append(number)
        self.write()

    def answered(self, number: int) -> None:
        with suppress(ValueError):
            self._open.remove(number)
        self.write()

    def shown(self, number: int) -> None:
        before = self._cursor
        while self._numbers and self._numbers[0][0] <= number:
            self._cursor = max(self._cursor, self._numbers.popleft()[1])
        if self._cursor > before:
            self.write()

    def close(self) -> None:
        self._over = True
        if self._written:
            self._written = False
            self._journal.forget(self._address, self._call.id)

    def _number(self) -> int:
        """The message after which another process would have to hear: open questions come again."""
        return min([self._cursor, *(number - 1 for number in self._open if number)])

    def _entry(self) -> Entry:
        call, task = self._call, self._call.as_task
        state = None if task is None or task.state is None else {name: getattr(task.state, name) for name in _KEPT}
        return Entry(
            id=call.id,
            address=self._address,
            server=call.server,
            tool=call.tool,
            began=call.started.timestamp(),
            request_id=call.request_id,
            last_number=self._number(),
            process=call.process,
            asking=call.status is CallState.INPUT_REQUIRED,
            dialect=None if call.dialect is None else call.dialect.resume_method,
            policy=call.policy,
            form=None if task is None else task.form.name,
            task=state,
            task_id=None if task is None else task.wish.id,
            progress=None if call.progress is None else call.progress.wire(),
            arguments=call.arguments if self._maker.remembers_arguments and call.arguments_known else None,
            revision=self._revision,
            session=self._session,
        )


def page_of(call: ClientCall, maker: Maker, *, written: bool) -> JournalPage | None:
    """The page of a call; None where nobody keeps a journal, or the server ends with this process."""
    journal, address = maker.home.journal, maker.address
    return None if journal is None or address is None else JournalPage(journal, call, maker, address, written=written)
