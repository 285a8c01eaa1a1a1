"""What a server said may be kept: results with `ttlMs`, until their time is over or a notification overtakes them.

Source: "Caching" (server/utilities/caching) of 2026-07-28.
"""

from __future__ import annotations

import time
from typing import Any

from pydantic_core import to_json

from ..jsonrpc import Notification

ENTRIES = 1000
"""How many results one client keeps; the oldest go first."""

_OVERTAKEN = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
    "notifications/resources/updated": (),  # of one resource only
}
"""Notifications -> the methods whose results they overtake, all of them."""


class ResultCache:
    """Results of one connection, by method and parameters."""

    def __init__(self) -> None:
        self.age = 0
        """How many notifications have overtaken something. A result that was asked for at another age is not kept."""
        self._kept: dict[tuple[str, bytes], tuple[float, Any]] = {}

    def get(self, method: str, params: dict[str, Any]) -> Any:
        """The result, if it is kept and still fresh; else None."""
        expires, result = self._kept.get(_key(method, params), (0.0, None))
        return result if time.monotonic() < expires else None

    def put(self, method: str, params: dict[str, Any], result: Any, age: int) -> None:
        """Keep a result for as long as it says; one that says nothing, or was asked for at another age, is not kept."""
        ttl = result.get("ttlMs") if isinstance(result, dict) else None
        if not isinstance(ttl, (int, float)) or isinstance(ttl, bool) or ttl <= 0 or age != self.age:
            return
        if len(self._kept) >= ENTRIES:
            del self._kept[next(iter(self._kept))]
        self._kept[_key(method, params)] = (time.monotonic() + ttl / 1000, result)

    def overtaken(self, notification: Notification) -> None:
        """Forget what a notification says has changed."""
        overtaken = _OVERTAKEN.get(notification.method)
        if overtaken is None:
            return
        self.age += 1
        if notification.method == "notifications/resources/updated":
            self._kept.pop(_key("resources/read", {"uri": (notification.params or {}).get("uri")}), None)
        for key in [key for key in self._kept if key[0] in overtaken]:
            del self._kept[key]


def _key(method: str, params: dict[str, Any]) -> tuple[str, bytes]:
    return method, to_json({key: value for key, value in sorted(params.items()) if key != "_meta"})
