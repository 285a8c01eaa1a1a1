"""Which task a message says it belongs to."""

from __future__ import annotations

from typing import Any

from ..protocol.extensions import TASKS
from ..protocol.tasks import related_to

RELATED = tuple(form.related_key for form in TASKS.values() if form.related_key is not None)
"""The `_meta` keys that say which task a message belongs to."""


def related_task(params: dict[str, Any] | None) -> str | None:
    """The task that a message says it belongs to."""
    for key in RELATED:
        id = related_to(params, key)
        if id is not None:
            return id
    return None


def relations(params: dict[str, Any] | None) -> dict[str, Any]:
    """What a message's `_meta` says of the task that it belongs to: its answer says the same (TSK-2, TCR-4)."""
    meta = (params or {}).get("_meta")
    return {key: meta[key] for key in RELATED if key in meta} if isinstance(meta, dict) else {}
