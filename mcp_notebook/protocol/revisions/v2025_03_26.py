"""Revision 2025-03-26: batches, audio, tool annotations, a capability for completion. Source: its changelog."""

from dataclasses import replace

from . import v2024_11_05 as before
from .v2024_11_05 import NAMED, each

REVISION = replace(
    before.REVISION,
    name="2025-03-26",
    server_capabilities=before.REVISION.server_capabilities | {"completions"},
    needs={**before.REVISION.needs, "completion/complete": ("completions",)},
    content_types=before.REVISION.content_types | {"audio"},
    omit={**before.REVISION.omit, "tools/list": each("tools", *NAMED, "output_schema", "execution")},
    batches=True,
)
