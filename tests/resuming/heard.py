"""What stands on an event stream, event by event."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ..transports.http.asgi import Asking


@dataclass(frozen=True, slots=True)
class Heard:
    """One event: its id, what it asks to wait in milliseconds, and its message (None: it bears none)."""

    id: str | None
    retry: int | None
    message: Any

    @property
    def says(self) -> Any:
        """The message in a word: its progress, log line, method, or result's text."""
        if self.message is None:
            return None
        params = self.message.get("params") or {}
        result = self.message.get("result")
        if result is not None:
            return result["content"][0]["text"] if "content" in result else result
        return params.get("progress") or params.get("data") or self.message.get("method") or self.message["error"]


async def event(asking: Asking) -> Heard | None:
    """The next event of a stream; None at its end. Comments are skipped."""
    while True:
        piece = await asking.chunk()
        if piece is None:
            return None
        fields: dict[str, str] = {}
        for line in piece.decode().splitlines():
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        if "data" not in fields:
            continue
        retry, data = fields.get("retry"), fields["data"]
        return Heard(fields.get("id"), int(retry) if retry else None, json.loads(data) if data else None)


async def events(asking: Asking, count: int | None = None) -> list[Heard]:
    """So many events, or all up to the end."""
    found: list[Heard] = []
    while count is None or len(found) < count:
        one = await event(asking)
        if one is None:
            assert count is None, f"the stream ended after {found}"
            break
        found.append(one)
    return found
