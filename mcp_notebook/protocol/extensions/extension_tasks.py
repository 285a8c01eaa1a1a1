"""Tasks as the extension `io.modelcontextprotocol/tasks` has them (TEX-1 to TEX-3).

The server alone decides that a request becomes a task, for clients that declared the extension with that very request.
The task's state holds its questions, and in the end the outcome. Source: the extension's specification (SEP-2663).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from ...jsonrpc import Notification
from ..metadata import CLIENT_CAPABILITIES
from ..resuming import Call
from ..revision import Profile
from ..tasks import Support, TaskState, TaskStatus, TaskWish, listing, state_of, status_of

EXTENSION = "io.modelcontextprotocol/tasks"
CHANGED = "notifications/tasks"
RESULT_TYPE = "task"
REQUIRED = {"extensions": {EXTENSION: {}}}
"""What a client lacks that cannot be answered without a task (-32021)."""


class ExtensionTasks:
    """The form as data."""

    name = "extension"
    methods = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
    first = TaskStatus.WORKING
    kept_from: Literal["creation", "end"] = "creation"
    answered_at_once = True
    pushes = False
    questions: Literal["pushed", "fetched", "shown"] = "shown"
    related_key: str | None = None
    declares = False
    errors_fail = False
    late = True

    def wish(self, profile: Profile, method: str, params: Mapping[str, Any]) -> TaskWish | None:
        return TaskWish() if method == "tools/call" and declared(profile.client.extensions) else None

    def accepted(self, state: TaskState) -> dict[str, Any]:
        return {"resultType": RESULT_TYPE, **self.listed(state)}

    def announcement(self, state: TaskState) -> Notification | None:
        return None

    def shown(self, state: TaskState) -> dict[str, Any]:
        return {"resultType": "complete", **self._detailed(state)}

    def listed(self, state: TaskState) -> dict[str, Any]:
        said = listing(state, "ttlMs")
        if state.poll is not None:
            said["pollIntervalMs"] = state.poll
        return said

    def changed(self, state: TaskState) -> Notification | None:
        return Notification(CHANGED, self._detailed(state))

    def acknowledged(self, method: str, state: TaskState) -> dict[str, Any]:
        return {"resultType": "complete"}

    def related(self, meta: dict[str, Any] | None, id: str) -> dict[str, Any]:
        return {**(meta or {})}

    def offered(self, profile: Profile, method: str, support: Support | None) -> bool:
        return method == "tools/call" and declared(profile.server.extensions)

    def augmented(self, params: dict[str, Any], wish: TaskWish) -> dict[str, Any]:
        return params

    def declared_in(self, params: dict[str, Any], profile: Profile) -> dict[str, Any]:
        client = profile.client.model_copy(update={"extensions": {**(profile.client.extensions or {}), EXTENSION: {}}})
        return {**params, "_meta": {**(params.get("_meta") or {}), CLIENT_CAPABILITIES: client.wire()}}

    def begun(self, raw: Any) -> TaskState | None:
        return self.read(raw) if isinstance(raw, dict) and raw.get("resultType") == RESULT_TYPE else None

    def read(self, raw: Any) -> TaskState | None:
        if not isinstance(raw, dict):
            return None
        error, asking = raw.get("error"), status_of(raw) is TaskStatus.INPUT_REQUIRED
        return state_of(
            raw,
            "ttlMs",
            "pollIntervalMs",
            result=raw.get("result"),
            error=error if isinstance(error, dict) else None,
            questions=_questions(raw.get("inputRequests")) if asking else {},
        )

    def get(self, id: str) -> Call:
        return "tasks/get", {"taskId": id}

    def fetch(self, id: str) -> Call | None:
        return None

    def _detailed(self, state: TaskState) -> dict[str, Any]:
        said = self.listed(state)
        if state.status is TaskStatus.INPUT_REQUIRED:
            said["inputRequests"] = state.questions
        elif state.status is TaskStatus.COMPLETED:
            said["result"] = state.result
        elif state.status is TaskStatus.FAILED:
            said["error"] = state.error
        return said


FORM = ExtensionTasks()


def declared(extensions: Mapping[str, Any] | None) -> bool:
    """Whether these extensions hold this one."""
    return isinstance((extensions or {}).get(EXTENSION), dict)


def _questions(raw: Any) -> dict[str, dict[str, Any]]:
    questions = raw.items() if isinstance(raw, dict) else ()
    return {key: one for key, one in questions if isinstance(one, dict) and isinstance(one.get("method"), str)}
