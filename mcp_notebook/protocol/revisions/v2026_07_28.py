"""Revision 2026-07-28: stateless, metadata in every request, round trips, listening. Source: its changelog."""

from dataclasses import replace

from . import v2025_11_25 as before
from .v2024_11_05 import TASK_METHODS

_GONE = frozenset(
    {
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "requests/resume",
        "requests/getStatus",
        "stream/resume",
        "stream/poll",
        *TASK_METHODS,
        "tasks/cancel",
    }
)

REVISION = replace(
    before.REVISION,
    name="2026-07-28",
    era="modern",
    client_requests=(before.REVISION.client_requests - _GONE)
    | {"server/discover", "subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel"},
    server_requests=before.REVISION.server_requests - _GONE,
    client_capabilities=(before.REVISION.client_capabilities - {"tasks", "resumable_requests", "streams"})
    | {"extensions"},
    server_capabilities=(before.REVISION.server_capabilities - {"tasks"}) | {"extensions"},
    omit={"tools/list": {"tools": {"__all__": {"execution"}}}},
    url_required=None,
    polling=False,
    questions="returned",
    changes="listened",
    log_level="request",
    result_types=frozenset({"complete", "input_required", "task"}),
    tasks=("extension",),
    sessions=False,
    cacheable=frozenset(
        {
            "server/discover",
            "tools/list",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
            "resources/read",
        }
    ),
    http_statuses={-32601: 404, -32020: 400, -32021: 400, -32022: 400},
    headers=True,
    resource_not_found=-32602,
    missing_capability=-32021,
)
