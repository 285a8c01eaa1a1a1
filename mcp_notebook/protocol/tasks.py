"""Tasks: what they have in common in their three forms, as data.

A form is a `TaskForm`: how a request is made a task, how a task is shown, how one asks about it. The forms stand in
`protocol/extensions`, one file each; which of them a revision has, `Revision.tasks` says. Source: SEP-1686 (TSK-1 to
TSK-16), basic/utilities/tasks of the handshake revision that published them (TCR-1 to TCR-4), and the extension
`io.modelcontextprotocol/tasks` (TEX-1 to TEX-3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeAlias

from ..errors import ProtocolError
from ..jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Notification
from .resuming import Call
from .revision import Profile

MESSAGES = "mcp-notebook/messages"
"""The `_meta` key under which our own peers tell, in a task's state, what the task has said: to whoever marked the
question with the number of the last message that arrived (`protocol.resuming.MESSAGE`)."""

Support: TypeAlias = Literal["forbidden", "optional", "required"]
"""Whether a tool can, or must, be called as a task (`execution.taskSupport`)."""
SUPPORTS: tuple[Support, ...] = ("forbidden", "optional", "required")


class TaskStatus(StrEnum):
    """Where a task stands."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"

    @property
    def terminal(self) -> bool:
        """Whether it stays so."""
        return self in ENDS


ENDS = frozenset({TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED, TaskStatus.UNKNOWN})
_STATUSES = frozenset(TaskStatus)
_FREE = ENDS | {TaskStatus.WORKING, TaskStatus.INPUT_REQUIRED}
TRANSITIONS: Mapping[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.SUBMITTED: _FREE,
    TaskStatus.WORKING: _FREE - {TaskStatus.WORKING},
    TaskStatus.INPUT_REQUIRED: _FREE - {TaskStatus.INPUT_REQUIRED},
    **dict.fromkeys(ENDS, frozenset()),
}
"""Every way a task can go (TSK-4)."""


@dataclass(slots=True, kw_only=True)
class TaskState:
    """All that is to be known of a task. Times are ISO 8601, spans are in milliseconds; None where it is not known."""

    id: str
    status: TaskStatus
    message: str | None = None
    """What it does, or how it ended, in words."""
    created: str = field(default_factory=lambda: timestamp())
    updated: str = field(default_factory=lambda: timestamp())
    keep: int | None = None
    """How long it is kept: from its beginning or from its end, as the form says; None: without limit."""
    poll: int | None = None
    """How long to wait between two questions about it."""
    result: Any = None
    """What the request would have been answered with, once that is known."""
    error: dict[str, Any] | None = None
    """The error in its place: `code`, `message`, `data`."""
    questions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What must be answered before it goes on: key -> `method` and `params`."""
    parent: str | None = None
    children: list[dict[str, Any]] = field(default_factory=list)
    """Its place among other tasks, as far as anybody says so (TSK-16)."""

    def data(self) -> dict[str, Any]:
        """All of it by its names, to be remembered as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def become(self, status: TaskStatus, message: str | None = None) -> bool:
        """Go on to another status; False, and nothing happens, where there is no way there."""
        if status not in TRANSITIONS[self.status]:
            return False
        self.status, self.message, self.updated = status, message, timestamp()
        return True


@dataclass(frozen=True, slots=True)
class TaskWish:
    """What a request says of the task that it should become.

    Args:
        id: the task's id, where the requestor makes it.
        keep: how long to keep it, in milliseconds; None: as long as whoever carries it out likes.
        parent: the task that it belongs to (TSK-16).
    """

    id: str | None = None
    keep: int | None = None
    parent: str | None = None


class TaskForm(Protocol):
    """One form of tasks."""

    name: str
    methods: frozenset[str]
    """The methods about tasks that it has."""
    first: TaskStatus
    """Where a task starts."""
    kept_from: Literal["creation", "end"]
    """From when on `TaskState.keep` counts."""
    answered_at_once: bool
    """Whether the request is answered by the task itself; else its own answer comes in the end, as without a task."""
    pushes: bool
    """Whether what a task says goes to the requestor as it is said."""
    questions: Literal["pushed", "fetched", "shown"]
    """How a task's questions get to the requestor: at once, while the result is asked for, or in the task's state."""
    related_key: str | None
    """The `_meta` key under which messages say which task they belong to."""
    declares: bool
    """Whether a tool's word about tasks (`execution.taskSupport`) is kept as this form has it."""
    errors_fail: bool
    """Whether a tool's own error fails the task."""
    late: bool
    """Whether a call may become a task in its middle, as its receiver alone decides on that."""

    # For whoever carries out

    def wish(self, profile: Profile, method: str, params: Mapping[str, Any]) -> TaskWish | None:
        """What a request wants to become; None where it wants no task of this form."""
        ...

    def accepted(self, state: TaskState) -> dict[str, Any]:
        """The answer to a request that became a task, where it is answered at once."""
        ...

    def announcement(self, state: TaskState) -> Notification | None:
        """What is told as soon as there is a task."""
        ...

    def shown(self, state: TaskState) -> dict[str, Any]:
        """The answer to `tasks/get`."""
        ...

    def listed(self, state: TaskState) -> dict[str, Any]:
        """An entry of `tasks/list`."""
        ...

    def changed(self, state: TaskState) -> Notification | None:
        """What is told when it changes."""
        ...

    def acknowledged(self, method: str, state: TaskState) -> dict[str, Any]:
        """The answer to `tasks/cancel`, `tasks/update`, `tasks/delete`."""
        ...

    def related(self, meta: dict[str, Any] | None, id: str) -> dict[str, Any]:
        """The `_meta` of a message that belongs to a task."""
        ...

    # For whoever asked

    def offered(self, profile: Profile, method: str, support: Support | None) -> bool:
        """Whether the other side takes such a task for a request; `support` is what the tool says of that."""
        ...

    def augmented(self, params: dict[str, Any], wish: TaskWish) -> dict[str, Any]:
        """The parameters of a request that shall become a task."""
        ...

    def declared_in(self, params: dict[str, Any], profile: Profile) -> dict[str, Any]:
        """The parameters of any request that has to do with tasks, where those say that the client knows tasks."""
        ...

    def begun(self, raw: Any) -> TaskState | None:
        """The task that an answer to such a request tells of; None where it is the request's own answer."""
        ...

    def read(self, raw: Any) -> TaskState | None:
        """What an answer to `tasks/get`, or a notification of a change, says; None where it is broken."""
        ...

    def get(self, id: str) -> Call:
        """How to ask where it stands."""
        ...

    def fetch(self, id: str) -> Call | None:
        """How to ask for its result, where the state does not hold that."""
        ...


def timestamp() -> str:
    """Now, as ISO 8601 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def not_found(doing: str = "retrieve") -> ProtocolError:
    """No such task, or it is not of whoever asks: nothing tells these apart (TSK-9)."""
    return ProtocolError(INVALID_PARAMS, f"Failed to {doing} task: Task not found")


def task_required(tool: str) -> ProtocolError:
    """A tool that can be called only as a task was called otherwise (TCR-1)."""
    return ProtocolError(METHOD_NOT_FOUND, f"The tool {tool!r} can only be called as a task.")


def task_forbidden(tool: str) -> ProtocolError:
    """A tool that cannot be called as a task was called as one (TCR-1)."""
    return ProtocolError(METHOD_NOT_FOUND, f"The tool {tool!r} cannot be called as a task.")


def milliseconds(value: Any) -> int | None:
    """A span of milliseconds, if it is one."""
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53
    return int(value) if usable else None


def named(params: Mapping[str, Any] | None, key: str = "taskId") -> str | None:
    """The task that parameters name, if any."""
    value = (params or {}).get(key)
    return value if isinstance(value, str) else None


def status_of(raw: Mapping[str, Any]) -> TaskStatus | None:
    """The status that a task's state tells, if it is one."""
    status = raw.get("status")
    return TaskStatus(status) if isinstance(status, str) and status in _STATUSES else None


def state_of(raw: Any, keep: str, poll: str, **more: Any) -> TaskState | None:
    """The state that a published form tells, its spans under the names of that form; None if it is not one."""
    if not isinstance(raw, dict):
        return None
    id, status, message = named(raw), status_of(raw), raw.get("statusMessage")
    if id is None or status is None:
        return None
    return TaskState(
        id=id,
        status=status,
        message=message if isinstance(message, str) else None,
        created=str(raw.get("createdAt") or ""),
        updated=str(raw.get("lastUpdatedAt") or ""),
        keep=milliseconds(raw.get(keep)),
        poll=milliseconds(raw.get(poll)),
        **more,
    )


def listing(state: TaskState, keep: str) -> dict[str, Any]:
    """What both published forms tell of a task in the same words, its span under the name of that form."""
    said: dict[str, Any] = {"taskId": state.id, "status": state.status.value}
    if state.message is not None:
        said["statusMessage"] = state.message
    return said | {"createdAt": state.created, "lastUpdatedAt": state.updated, keep: state.keep}


def related_to(params: Mapping[str, Any] | None, key: str) -> str | None:
    """The task that the `_meta` of a message says it belongs to, under the key of a form."""
    meta = (params or {}).get("_meta")
    related = meta.get(key) if isinstance(meta, dict) else None
    return named(related) if isinstance(related, dict) else None
