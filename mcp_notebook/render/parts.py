"""What a display is made of, before it is written as HTML or as plain text.

Both writers (`as_html`, `as_text`) get the same parts, already shortened, so that they say the same.
`text`, `table` and `listing` say where the whole is; whatever else is too long, such as a name of a million letters,
ends in "…". All text in a part may be foreign: the writers make it fit to be shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from ..limits import DISPLAY_LIMITS
from .letters import excerpt, shorten

T = TypeVar("T")


class Part:
    """One piece of a display."""


def _shortened(part: Any, limit: int, *names: str) -> None:
    """Have no field of a part be longer than that."""
    for name in names:
        value = getattr(part, name)
        if len(value) > limit:
            object.__setattr__(part, name, excerpt(value, limit))


@dataclass(frozen=True, slots=True)
class Text(Part):
    """Text with its own line breaks.

    `look`: `mono` for what programs wrote, `prose` for what people did, `label` for what names the next part,
    `note` for what we say ourselves, `code` for what can be typed.
    """

    text: str
    look: Literal["mono", "prose", "label", "note", "code"] = "mono"

    def __post_init__(self) -> None:
        _shortened(self, DISPLAY_LIMITS.text, "text")


@dataclass(frozen=True, slots=True)
class Bar(Part):
    """How far something is: a share from 0 to 1, and the same in words."""

    share: float
    words: str

    def __post_init__(self) -> None:
        _shortened(self, 2 * DISPLAY_LIMITS.cell, "words")


@dataclass(frozen=True, slots=True)
class Table(Part):
    """Rows under columns; with `names` the first column holds what the rows are called."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: bool = False

    def __post_init__(self) -> None:
        if any(len(cell) > DISPLAY_LIMITS.cell for row in (self.columns, *self.rows) for cell in row):
            object.__setattr__(self, "columns", [*map(excerpt, self.columns)])
            object.__setattr__(self, "rows", [[*map(excerpt, row)] for row in self.rows])


@dataclass(slots=True)
class Node:
    """A value of a tree: its key or index, itself in a few words, and what is in it."""

    label: str
    text: str
    children: list[Node | Table] = field(default_factory=list)
    note: str = ""
    """What was left out here."""

    def __post_init__(self) -> None:
        _shortened(self, DISPLAY_LIMITS.cell, "label", "text")


@dataclass(frozen=True, slots=True)
class Tree(Part):
    """JSON data as a tree."""

    root: Node


@dataclass(frozen=True, slots=True)
class Media(Part):
    """A picture or a sound whose type was checked. `caption` stands in where it cannot be shown."""

    kind: Literal["image", "audio"]
    mime_type: str
    data: bytes
    caption: str


@dataclass(frozen=True, slots=True)
class Fold(Part):
    """Something that is folded away. With `repeats` it says nothing new, and plain text goes without it."""

    summary: str
    parts: Sequence[Part]
    repeats: bool = False

    def __post_init__(self) -> None:
        _shortened(self, DISPLAY_LIMITS.cell, "summary")


@dataclass(frozen=True, slots=True)
class Card(Part):
    """A frame; the fields are those of `html.card`."""

    state: Literal["", "work", "ask", "done", "drop", "fail"]
    title: str
    parts: Sequence[Part] = ()
    name: str = ""
    about: str = ""
    aside: str = ""

    def __post_init__(self) -> None:
        _shortened(self, DISPLAY_LIMITS.cell, "title", "name", "about", "aside")


def text(value: str, whole: str, look: Literal["mono", "prose"] = "mono") -> list[Part]:
    """Text, shortened.

    Args:
        value: the text.
        whole: the Python expression that gives the whole, for the note.
        look: see `Text`.
    """
    shown, left_out = shorten(value, DISPLAY_LIMITS.text)
    if not left_out:
        return [Text(shown, look)]
    note = f"… {left_out:,} more characters of {len(value):,}; the whole is {whole}"
    return [Text(shown, look), Text(note, "note")]


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], whole: str) -> list[Part]:
    """Data as a table, shortened; `whole` as in `text`."""
    width = min(len(columns), DISPLAY_LIMITS.columns)
    height = min(DISPLAY_LIMITS.rows, DISPLAY_LIMITS.nodes // width)
    cells = [[excerpt(scalar(value)) for value in row[:width]] for row in rows[:height]]
    shown: list[Part] = [Table([excerpt(str(column)) for column in columns[:width]], cells)]
    left_out = []
    if len(rows) > height:
        left_out.append(f"{len(rows) - height:,} more rows of {len(rows):,}")
    if len(columns) > width:
        left_out.append(f"{len(columns) - width:,} more columns of {len(columns):,}")
    return [*shown, Text(f"… {' and '.join(left_out)}; the whole is {whole}", "note")] if left_out else shown


def listing(things: Sequence[T], columns: Mapping[str, Callable[[T], str]]) -> list[Part]:
    """Things with names, one a row. The first column is the name; a column that would be empty is left out.

    Args:
        things: what is listed.
        columns: for each column its title and how to say that about one thing.
    """
    height = DISPLAY_LIMITS.rows
    rows = [[excerpt(say(thing)) for say in columns.values()] for thing in things[:height]]
    used = [i for i in range(len(columns)) if i == 0 or any(row[i] for row in rows)]
    titles = list(columns)
    shown: list[Part] = [Table([titles[i] for i in used], [[row[i] for i in used] for row in rows], names=True)]
    if len(things) > height:
        shown.append(Text(f"… {len(things) - height:,} more of {len(things):,}; the list itself has them all", "note"))
    return shown


def scalar(value: Any) -> str:
    """A single value, as in a table's cell: text as it is, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
