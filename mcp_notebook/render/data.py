"""Plain JSON data: a table where it is one, else a tree."""

from __future__ import annotations

import json
from typing import Any

from ..limits import DISPLAY_LIMITS
from .parts import Fold, Part, Text, Tree, table
from .rows import to_rows
from .tree import grow


def data(value: Any, whole: str) -> list[Part]:
    """Parts for JSON data.

    Args:
        value: the data.
        whole: the Python expression that gives the whole, where it is shortened.
    """
    found = to_rows(value)
    if found is None:
        return [Tree(grow(value))]
    columns, rows = found
    return [*table(columns, rows, whole), as_json(value, "as JSON", whole)]


def as_json(value: Any, summary: str, whole: str) -> Fold:
    """JSON data as its text, folded away, shortened."""
    limit = DISPLAY_LIMITS.text
    pieces: list[str] = []
    length = 0
    # Piece by piece: of what is too large or too deep only the beginning is ever written.
    for piece in json.JSONEncoder(ensure_ascii=False, indent=2, default=repr).iterencode(value):
        pieces.append(piece[: limit + 1])
        length += len(piece)
        if length > limit:
            break
    parts: list[Part] = [Text("".join(pieces)[:limit])]
    if length > limit:
        parts.append(Text(f"… only the first {limit:,} characters; the whole is {whole}", "note"))
    return Fold(summary, parts, repeats=True)
