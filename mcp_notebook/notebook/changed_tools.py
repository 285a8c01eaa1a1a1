"""Tools that are no longer what they were when the person last used them: said before they are called again.

A server can describe a tool harmlessly until people trust it. What a tool said of itself when it was last called is
remembered in the user's state directory, by the server's command or URL; servers of this kernel are left out, since
they change with every cell.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from ..client.targets import Destination
from ..errors import StoreError
from ..protocol.json_schema import properties_of
from ..render.letters import excerpt, one_line
from ..store import MemoryStore, Record, Store, open_store, state_path
from ..types import Tool

T = TypeVar("T")

OWNER, KIND = "", "tool"
KEPT = 365 * 24 * 3600.0
"""Seconds for which a tool that is not used is remembered."""
_SHOWN = 160


class UsedTools:
    """What tools said of themselves when they were last called. Where that cannot be kept in a file, or no longer, this
    kernel alone remembers: no call fails for it."""

    def __init__(self, store: Store | None = None) -> None:
        self._given = store
        self._opened: Store | None = None

    def changes(self, where: Destination, tool: Tool) -> list[str]:
        """What is different since it was last called, a line each; nothing where that never was.

        Args:
            where: its server.
            tool: the tool as it is now.
        """
        if where.server is not None:
            return []
        record = self._with_store(lambda store: store.get(OWNER, KIND, _key(where, tool)))
        if record is None:
            return []
        before, now = from_json(record.data), _said(tool)
        return [] if before == now else _differences(before, now)

    def used(self, where: Destination, tool: Tool) -> None:
        """It is called as it is now."""
        if where.server is not None:
            return
        now = time.time()
        record = Record(
            owner=OWNER,
            kind=KIND,
            key=_key(where, tool),
            state="used",
            created=now,
            expires=now + KEPT,
            data=to_json(_said(tool)),
        )
        self._with_store(lambda store: store.add(record) or store.update(record))

    def _with_store(self, act: Callable[[Store], T]) -> T:
        """Do something with the store, which is opened when it is first needed."""
        try:
            if self._opened is None:
                self._opened = self._given or open_store(state_path("tools.sqlite"))
                self._opened.expire(time.time())
            return act(self._opened)
        except StoreError:
            self._opened = MemoryStore()
            return act(self._opened)


def _key(where: Destination, tool: Tool) -> str:
    server = where.url if where.command is None else where.command.digest()
    return hashlib.sha256(to_json([server, tool.name])).hexdigest()


def _said(tool: Tool) -> dict[str, Any]:
    return {"description": tool.description, "schema": tool.input_schema}


def _differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    found = []
    if before["description"] != now["description"]:
        found += [f"it said: {_short(before['description'])}", f"it says: {_short(now['description'])}"]
    old, new = properties_of(before["schema"]), properties_of(now["schema"])
    for words, names in (
        ("new arguments", [name for name in new if name not in old]),
        ("gone arguments", [name for name in old if name not in new]),
        ("changed arguments", [name for name in new if name in old and new[name] != old[name]]),
    ):
        if names:
            found.append(f"{words}: {_short(', '.join(names))}")
    return found or ["its input schema is another"]


def _short(text: str | None) -> str:
    return excerpt(one_line(text), _SHOWN) if text else "nothing"
