"""Resumable requests: `notifications/requests/resumePolicy`, `requests/resume`, `requests/getStatus` (RR-1 to RR-9)."""

from __future__ import annotations

from typing import Any

from ...jsonrpc import Notification, RequestId
from ..resuming import Call, ResumePolicy, WorkState, WorkStatus

POLICY = "notifications/requests/resumePolicy"
STATES: tuple[WorkState, ...] = ("processing", "completed", "failed")


class ResumableRequests:
    """The draft as data."""

    capability = "resumable_requests"
    resume_method = "requests/resume"
    status_method = "requests/getStatus"
    same_id = True

    def announce(self, policy: ResumePolicy) -> Notification:
        params: dict[str, Any] = {"requestId": policy.request_id, "resumeToken": policy.token}
        if policy.min_wait:
            params["minWait"] = policy.min_wait
        if policy.max_wait is not None:
            params["maxWait"] = policy.max_wait
        return Notification(POLICY, params)

    def read_policy(self, notification: Notification) -> ResumePolicy | None:
        params = notification.params or {}
        id, token = params.get("requestId"), params.get("resumeToken")
        if notification.method != POLICY or not isinstance(id, (str, int)) or not isinstance(token, str):
            return None
        most = params.get("maxWait")
        return ResumePolicy(
            request_id=id,
            token=token,
            min_wait=seconds(params.get("minWait")) or 0,
            max_wait=seconds(most),
        )

    def resume(self, policy: ResumePolicy) -> Call:
        return self.resume_method, {"resumeToken": policy.token}

    def ask_status(self, policy: ResumePolicy) -> Call:
        return self.status_method, {"requestId": policy.request_id, "resumeToken": policy.token}

    def key(self, params: dict[str, Any] | None) -> tuple[RequestId | None, str | None]:
        params = params or {}
        id, token = params.get("requestId"), params.get("resumeToken")
        return (id if isinstance(id, (str, int)) else None), (token if isinstance(token, str) else None)

    def status_result(self, policy: ResumePolicy, status: WorkStatus) -> dict[str, Any]:
        return {
            "requestId": policy.request_id,
            "status": status.state,
            "hasPendingMessage": status.pending,
            "hasInputRequest": status.asks,
        }

    def read_status(self, raw: Any) -> WorkStatus | None:
        state = raw.get("status") if isinstance(raw, dict) else None
        if state not in STATES:
            return None
        return WorkStatus(
            state=state, pending=bool(raw.get("hasPendingMessage")), asks=bool(raw.get("hasInputRequest"))
        )

    def end(self, policy: ResumePolicy) -> Notification | None:
        return None


def seconds(value: Any) -> int | None:
    """A number of whole seconds, if it is one."""
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 else None


DIALECT = ResumableRequests()
