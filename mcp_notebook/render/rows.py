"""Structured content that is a table."""

from __future__ import annotations

from typing import Any

_SPARSE = 8
"""A table has at most this many cells for each value there is."""


def to_rows(structured: Any) -> tuple[list[str], list[list[Any]]] | None:
    """Structured content as a table: `(columns, rows)`, with None for what a row lacks.

    A table is a list of flat objects (no lists or objects in them), alone or as `{"result": [...]}`, which is how many
    servers wrap a list. Objects that share almost no keys are none. Gives None for anything else.
    """
    objects = unwrap(structured)
    if not isinstance(objects, list) or not objects:
        return None
    columns: dict[str, None] = {}
    values = 0
    for item in objects:
        if not isinstance(item, dict) or any(isinstance(value, (dict, list)) for value in item.values()):
            return None
        columns.update(dict.fromkeys(item))
        values += len(item)
    if not columns or len(columns) * len(objects) > _SPARSE * values:
        return None
    return list(columns), [[item.get(column) for column in columns] for item in objects]


def unwrap(structured: Any) -> Any:
    """What stands in `{"result": ...}`, or the value itself."""
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        return structured["result"]
    return structured
