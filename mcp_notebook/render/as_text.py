"""Parts as plain text, for terminals and for whoever reads a notebook's file."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import singledispatch
from itertools import accumulate
from textwrap import indent

from .letters import legible, one_line
from .parts import Bar, Card, Fold, Media, Node, Part, Table, Text, Tree

_CELL = 60
"""How many columns of a terminal one cell may take."""
_STEP = "  "
_BAR = 20
"""How many characters a bar has."""


def document(parts: Iterable[Part]) -> str:
    """Parts, one below the other."""
    pieces: list[str] = []
    for part in parts:
        if isinstance(part, Fold) and part.repeats:
            continue
        if isinstance(part, Text) and part.look == "label" and pieces:
            pieces.append("")
        pieces.append(write(part))
    return "\n".join(pieces)


@singledispatch
def write(part: Part) -> str:
    """One part as text, without a line break at its end."""
    raise TypeError(f"no way to write {type(part).__name__} as text")


@write.register
def _(part: Text) -> str:
    shown = legible(part.text)
    return indent(shown, _STEP) if part.look == "code" else shown


@write.register
def _(part: Bar) -> str:
    full = round(_BAR * part.share)
    return f"{'█' * full}{'░' * (_BAR - full)} {one_line(legible(part.words))}"


@write.register
def _(part: Table) -> str:
    rows = [[_cell(cell) for cell in row] for row in (part.columns, *part.rows)]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(part.columns))]
    rows.insert(1, ["─" * width for width in widths])
    return "\n".join(_aligned(row, widths) for row in rows)


@write.register
def _(part: Tree) -> str:
    return "\n".join(_lines(part.root, "")) or legible(part.root.text)


@write.register
def _(part: Media) -> str:
    return f"[{legible(part.caption)}]"


@write.register
def _(part: Fold) -> str:
    return f"{legible(part.summary)}:\n{indent(document(part.parts), _STEP)}"


@write.register
def _(part: Card) -> str:
    head = [f"● {part.title}" if part.title else "", part.name, part.about, part.aside]
    first = one_line(legible("  ".join(piece for piece in head if piece)))
    return f"{first}\n{indent(document(part.parts), _STEP)}" if part.parts else first


def _lines(node: Node, margin: str) -> Iterable[str]:
    for child in node.children:
        if isinstance(child, Table):
            yield indent(write(child), margin)
            continue
        yield margin + one_line(legible(f"{child.label}: {child.text}"))
        yield from _lines(child, margin + _STEP)
    if node.note:
        yield margin + node.note


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cell(text: str) -> str:
    """One line, cut to the width of a cell."""
    line = one_line(legible(text))
    if _width(line) <= _CELL:
        return line
    widths = accumulate(map(_columns, line))
    return line[: sum(1 for width in widths if width < _CELL)] + "…"


def _width(text: str) -> int:
    """How many columns a terminal needs for a line."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
