"""Revision 2025-06-18: structured output, elicitation, resource links, titles; no batches. Source: its changelog."""

from dataclasses import replace

from . import v2025_03_26 as before
from .v2024_11_05 import each

REVISION = replace(
    before.REVISION,
    name="2025-06-18",
    server_requests=before.REVISION.server_requests | {"elicitation/create"},
    client_capabilities=before.REVISION.client_capabilities | {"elicitation"},
    needs={**before.REVISION.needs, "elicitation/create": ("elicitation",)},
    content_types=before.REVISION.content_types | {"resource_link"},
    omit={
        "initialize": {"server_info": {"icons", "description", "website_url"}},
        "tools/list": each("tools", "icons", "execution"),
        "resources/list": each("resources", "icons"),
        "resources/templates/list": each("resource_templates", "icons"),
        "prompts/list": each("prompts", "icons"),
    },
    structured_output=True,
    elicitation_modes=frozenset({"form"}),
    batches=False,
)
