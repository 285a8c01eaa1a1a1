"""Resumable streams: `notifications/stream/create`, `stream/resume`, `stream/poll`, `notifications/stream/end`
(ST-1 to ST-9). An earlier draft of resumable requests, with ids of its own."""

from __future__ import annotations

from typing import Any

from ...jsonrpc import Notification, RequestId
from ..resuming import Call, ResumePolicy, WorkStatus
from .resumable_requests import seconds

CREATE, END = "notifications/stream/create", "notifications/stream/end"


class ResumableStreams:
    """The draft as data."""

    capability = "streams"
    resume_method = "stream/resume"
    status_method = "stream/poll"
    same_id = False

    def announce(self, policy: ResumePolicy) -> Notification:
        stream = {
            "streamId": policy.stream_id,
            "resumeToken": policy.token,
            "requestId": policy.request_id,
            "resumeInterval": {"min": policy.min_wait, "max": policy.max_wait or 0},
        }
        return Notification(CREATE, {"stream": stream})

    def read_policy(self, notification: Notification) -> ResumePolicy | None:
        stream = (notification.params or {}).get("stream")
        if notification.method != CREATE or not isinstance(stream, dict):
            return None
        id, token, name = stream.get("requestId"), stream.get("resumeToken"), stream.get("streamId")
        if not isinstance(id, (str, int)) or not isinstance(token, str) or not isinstance(name, str):
            return None
        interval = stream.get("resumeInterval")
        interval = interval if isinstance(interval, dict) else {}
        return ResumePolicy(
            request_id=id,
            token=token,
            stream_id=name,
            min_wait=seconds(interval.get("min")) or 0,
            max_wait=seconds(interval.get("max")),
        )

    def resume(self, policy: ResumePolicy) -> Call:
        return self.resume_method, {"streamId": policy.stream_id, "resumeToken": policy.token}

    def ask_status(self, policy: ResumePolicy) -> Call:
        return self.status_method, {"streamId": policy.stream_id, "resumeToken": policy.token}

    def key(self, params: dict[str, Any] | None) -> tuple[RequestId | str | None, str | None]:
        params = params or {}
        name, token = params.get("streamId"), params.get("resumeToken")
        # An empty name matches nothing, where none would stand for the message's own id.
        return (name if isinstance(name, str) else ""), (token if isinstance(token, str) else None)

    def status_result(self, policy: ResumePolicy, status: WorkStatus) -> dict[str, Any]:
        return {
            "streamId": policy.stream_id,
            "status": "live" if status.state == "processing" else "completed",
            "pendingMessages": status.pending,
            "hasRequest": status.pending and status.asks,
            "hasError": status.pending and status.state == "failed",
        }

    def read_status(self, raw: Any) -> WorkStatus | None:
        state = raw.get("status") if isinstance(raw, dict) else None
        if state not in ("live", "completed"):
            return None
        pending, asks, error = (bool(raw.get(name)) for name in ("pendingMessages", "hasRequest", "hasError"))
        return WorkStatus(
            state="processing" if state == "live" else "failed" if error else "completed", pending=pending, asks=asks
        )

    def end(self, policy: ResumePolicy) -> Notification | None:
        return Notification(END, {"streamId": policy.stream_id})


DIALECT = ResumableStreams()
