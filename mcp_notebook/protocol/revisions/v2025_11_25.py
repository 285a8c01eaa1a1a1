"""Revision 2025-11-25: icons, URL elicitation, tools in sampling, tasks, polling. Source: its changelog."""

from dataclasses import replace

from . import v2025_06_18 as before

REVISION = replace(
    before.REVISION,
    name="2025-11-25",
    client_requests=before.REVISION.client_requests | {"tasks/cancel"},
    server_requests=before.REVISION.server_requests | {"tasks/cancel"},
    needs={**before.REVISION.needs, "tasks/list": ("tasks", "list")},
    client_capabilities=before.REVISION.client_capabilities | {"tasks"},
    server_capabilities=before.REVISION.server_capabilities | {"tasks"},
    omit={},
    elicitation_modes=frozenset({"form", "url"}),
    url_required=-32042,
    sampling_tools=True,
    polling=True,
    tasks=("receiver", "requestor"),
)
