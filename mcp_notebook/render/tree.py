"""JSON data as a tree that is never too large to be shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

from ..limits import DISPLAY_LIMITS
from .letters import excerpt
from .parts import Node, Table, scalar
from .rows import to_rows

_INLINE_ITEMS = 8
_INLINE_CHARACTERS = 60


def grow(value: Any) -> Node:
    """The tree of a value, at most `DisplayLimits.nodes` values large."""
    return _Grower().node("", value, 0)


class _Grower:
    """Counts, while a tree grows, how much may still be added."""

    def __init__(self) -> None:
        self.left = DISPLAY_LIMITS.nodes

    def node(self, label: str, value: Any, depth: int) -> Node:
        self.left -= 1
        if not isinstance(value, (dict, list)):
            return Node(label, _word(value))
        # A small object stands on a line of its own, but not alone: as the whole value it is easier to read in lines.
        text = _inline(value) if depth or isinstance(value, list) or not value else None
        if text is not None:
            return Node(label, text)
        node = Node(label, f"{{{len(value):,}}}" if isinstance(value, dict) else f"[{len(value):,}]")
        if depth >= DISPLAY_LIMITS.depth:
            node.note = "… deeper levels are not shown"
        elif table := self._table(value):
            node.children.append(table)
        else:
            self._fill(node, value, depth)
        return node

    def _fill(self, node: Node, value: dict[str, Any] | list[Any], depth: int) -> None:
        pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in islice(pairs, DISPLAY_LIMITS.rows):
            if self.left <= 0:
                break
            node.children.append(self.node(excerpt(str(key)), item, depth + 1))
        if left_out := len(value) - len(node.children):
            node.note = f"… {left_out:,} more of {len(value):,}"

    def _table(self, value: dict[str, Any] | list[Any]) -> Table | None:
        """A list of flat objects that fits whole."""
        if not isinstance(value, list) or len(value) > DISPLAY_LIMITS.rows:
            return None
        found = to_rows(value)
        if found is None or len(found[0]) > DISPLAY_LIMITS.columns or len(found[0]) * len(value) > self.left:
            return None
        columns, rows = found
        self.left -= len(columns) * len(rows)
        return Table(
            [excerpt(str(column)) for column in columns], [[excerpt(scalar(cell)) for cell in row] for row in rows]
        )


def _word(value: Any) -> str:
    """A single value, as JSON writes it."""
    if isinstance(value, str):
        return excerpt(json.dumps(value[: DISPLAY_LIMITS.cell + 1], ensure_ascii=False))
    return excerpt(json.dumps(value, default=repr))


def _inline(value: dict[str, Any] | list[Any]) -> str | None:
    """A few single values, on one line."""
    items = value.values() if isinstance(value, dict) else value
    if len(value) > _INLINE_ITEMS or any(isinstance(item, (dict, list)) and item for item in items):
        return None
    if any(isinstance(item, str) and len(item) > _INLINE_CHARACTERS for item in items):
        return None
    # Keys are made text first: what is shown may be any Python value, which JSON might refuse.
    plain = {str(key): item for key, item in value.items()} if isinstance(value, dict) else value
    text = json.dumps(plain, ensure_ascii=False, default=repr)
    return text if len(text) <= _INLINE_CHARACTERS or not value else None
