"""Tasks whose ids the receiver makes: the form that a handshake revision published (TCR-1 to TCR-4).

A request with `task` is answered at once with a task; its result is fetched by `tasks/result`, which waits for it and
carries the task's questions meanwhile. Source: basic/utilities/tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ...jsonrpc import Notification
from ..resuming import Call
from ..revision import Profile
from ..tasks import Support, TaskState, TaskStatus, TaskWish, listing, milliseconds, state_of

RELATED = "io.modelcontextprotocol/related-task"
STATUS = "notifications/tasks/status"
AUGMENTABLE = {
    "tools/call": ("tools", "call"),
    "sampling/createMessage": ("sampling", "createMessage"),
    "elicitation/create": ("elicitation", "create"),
}
"""The requests that may become tasks: method -> where the capability `tasks.requests` says so."""


class ReceiverTasks:
    """The form as data."""

    name = "receiver"
    methods = frozenset({"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"})
    first = TaskStatus.WORKING
    kept_from: Literal["creation", "end"] = "creation"
    answered_at_once = True
    pushes = True
    questions: Literal["pushed", "fetched", "shown"] = "fetched"
    related_key: str | None = RELATED
    declares = True
    errors_fail = True
    late = False

    def wish(self, profile: Profile, method: str, params: Mapping[str, Any]) -> TaskWish | None:
        said = params.get("task") if method in AUGMENTABLE else None
        if not isinstance(said, dict) or not _declared(profile, method):
            return None  # whoever declared nothing ignores it
        return TaskWish(keep=milliseconds(said.get("ttl")))

    def accepted(self, state: TaskState) -> dict[str, Any]:
        return {"task": self.listed(state)}

    def announcement(self, state: TaskState) -> Notification | None:
        return None

    def shown(self, state: TaskState) -> dict[str, Any]:
        return self.listed(state)

    def listed(self, state: TaskState) -> dict[str, Any]:
        said = listing(state, "ttl")
        if state.poll is not None and not state.status.terminal:
            said["pollInterval"] = state.poll
        return said

    def changed(self, state: TaskState) -> Notification | None:
        return Notification(STATUS, self.listed(state))

    def acknowledged(self, method: str, state: TaskState) -> dict[str, Any]:
        return self.listed(state)

    def related(self, meta: dict[str, Any] | None, id: str) -> dict[str, Any]:
        return {**(meta or {}), RELATED: {"taskId": id}}

    def offered(self, profile: Profile, method: str, support: Support | None) -> bool:
        if method == "tools/call" and support not in ("optional", "required"):
            return False
        return _declared(profile, method)

    def augmented(self, params: dict[str, Any], wish: TaskWish) -> dict[str, Any]:
        return {**params, "task": {} if wish.keep is None else {"ttl": wish.keep}}

    def declared_in(self, params: dict[str, Any], profile: Profile) -> dict[str, Any]:
        return params

    def begun(self, raw: Any) -> TaskState | None:
        return self.read(raw.get("task")) if isinstance(raw, dict) else None

    def read(self, raw: Any) -> TaskState | None:
        return state_of(raw, "ttl", "pollInterval")

    def get(self, id: str) -> Call:
        return "tasks/get", {"taskId": id}

    def fetch(self, id: str) -> Call | None:
        return "tasks/result", {"taskId": id}


FORM = ReceiverTasks()


def _declared(profile: Profile, method: str) -> bool:
    """Whether the side that is asked declared that it takes such requests as tasks; the list is exhaustive (TCR-1)."""
    capabilities = profile.server if method == "tools/call" else profile.client
    value: Any = (capabilities.tasks or {}).get("requests")
    for key in AUGMENTABLE.get(method, ("",)):
        value = value.get(key) if isinstance(value, dict) else None
    return isinstance(value, dict)
