"""Tasks whose ids the requestor makes: the form of the seed, SEP-1686 (TSK-1 to TSK-16).

A request names its task in `_meta`. Its own answer still comes in the end; until then, and as long as it is kept, one
may ask about the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ...jsonrpc import Notification
from ..resuming import Call
from ..revision import Profile
from ..tasks import Support, TaskState, TaskStatus, TaskWish, milliseconds, named, related_to, status_of

TASK = "modelcontextprotocol.io/task"
RELATED = "modelcontextprotocol.io/related-task"
CREATED = "notifications/tasks/created"
AUGMENTABLE = frozenset({"tools/call", "resources/read", "prompts/get", "sampling/createMessage", "elicitation/create"})
"""The requests that may become tasks, in either direction (TSK-10)."""


class RequestorTasks:
    """The form as data."""

    name = "requestor"
    methods = frozenset({"tasks/get", "tasks/result", "tasks/list", "tasks/delete"})
    first = TaskStatus.SUBMITTED
    kept_from: Literal["creation", "end"] = "end"
    answered_at_once = False
    pushes = True
    questions: Literal["pushed", "fetched", "shown"] = "pushed"
    related_key: str | None = RELATED
    declares = False
    errors_fail = False
    late = False

    def wish(self, profile: Profile, method: str, params: Mapping[str, Any]) -> TaskWish | None:
        meta = params.get("_meta")
        said = meta.get(TASK) if isinstance(meta, dict) and method in AUGMENTABLE else None
        if not isinstance(said, dict) or not isinstance(said.get("taskId"), str):
            return None
        return TaskWish(said["taskId"], milliseconds(said.get("keepAlive")), named(said, "parentTaskId"))

    def accepted(self, state: TaskState) -> dict[str, Any]:
        return {}

    def announcement(self, state: TaskState) -> Notification | None:
        return Notification(CREATED, {"_meta": self.related(None, state.id)})

    def shown(self, state: TaskState) -> dict[str, Any]:
        return {**self.listed(state), "_meta": self.related(None, state.id)}

    def listed(self, state: TaskState) -> dict[str, Any]:
        said: dict[str, Any] = {"taskId": state.id, "status": state.status.value, "keepAlive": state.keep}
        if state.poll is not None and not state.status.terminal:
            said["pollFrequency"] = state.poll
        if state.status is TaskStatus.FAILED and state.error is not None:
            said["error"] = state.error["message"]
        if state.parent is not None:
            said["parentTaskId"] = state.parent
        if state.children:
            said["childTasks"] = state.children
        return said

    def changed(self, state: TaskState) -> Notification | None:
        return None

    def acknowledged(self, method: str, state: TaskState) -> dict[str, Any]:
        return {"_meta": self.related(None, state.id)}

    def related(self, meta: dict[str, Any] | None, id: str) -> dict[str, Any]:
        return {**(meta or {}), RELATED: {"taskId": id}}

    def offered(self, profile: Profile, method: str, support: Support | None) -> bool:
        return method in AUGMENTABLE  # whoever knows no tasks answers as without (TSK-1, TSK-15)

    def augmented(self, params: dict[str, Any], wish: TaskWish) -> dict[str, Any]:
        said: dict[str, Any] = {"taskId": wish.id}
        if wish.keep is not None:
            said["keepAlive"] = wish.keep
        if wish.parent is not None:
            said["parentTaskId"] = wish.parent
        return {**params, "_meta": {**(params.get("_meta") or {}), TASK: said}}

    def declared_in(self, params: dict[str, Any], profile: Profile) -> dict[str, Any]:
        return params

    def begun(self, raw: Any) -> TaskState | None:
        return None

    def read(self, raw: Any) -> TaskState | None:
        if not isinstance(raw, dict):
            return None
        id, status, error, children = named(raw), status_of(raw), raw.get("error"), raw.get("childTasks")
        if id is None or status is None:
            return None
        return TaskState(
            id=id,
            status=status,
            keep=milliseconds(raw.get("keepAlive")),
            poll=milliseconds(raw.get("pollFrequency")),
            error=None if not isinstance(error, str) else {"message": error},
            parent=named(raw, "parentTaskId"),
            children=[one for one in children if isinstance(one, dict)] if isinstance(children, list) else [],
        )

    def get(self, id: str) -> Call:
        return "tasks/get", {"taskId": id, "_meta": self.related(None, id)}

    def fetch(self, id: str) -> Call | None:
        return "tasks/result", {"taskId": id, "_meta": self.related(None, id)}


FORM = RequestorTasks()


def created(notification: Notification) -> str | None:
    """The task that a notification says there is now; None where it says something else."""
    return related_to(notification.params, RELATED) if notification.method == CREATED else None
