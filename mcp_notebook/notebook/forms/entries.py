"""What a person has put in so far, place by place. Untouched, an optional place is left out; defaults are there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_core import from_json

from ...render.letters import escaped
from .choices import title_of
from .field import NOTHING, Field

Path = Sequence[str | int]


class Entry:
    """What is put in at one place.

    Args:
        field: what is asked for there.

    Attributes:
        touched: whether the person put something in here, or took it away.
        unread: why what was typed is nothing that can be sent; "" where it can.
        problem: what is wrong, as it is to be shown.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.touched = False
        self.unread = ""
        self.problem = ""

    @property
    def value(self) -> Any:
        """JSON data; NOTHING where it is left out."""
        raise NotImplementedError

    def put(self, value: Any) -> None:
        """Put in JSON data, whether it fits or not; NOTHING leaves it out."""
        raise NotImplementedError

    @property
    def parts(self) -> Sequence[Entry]:
        """The entries within."""
        return ()

    def find(self, path: Path) -> Entry:
        """The innermost entry on the way to a place."""
        return self

    def walk(self) -> Iterator[Entry]:
        """This entry, and all within it."""
        yield self
        for part in self.parts:
            yield from part.walk()


class Leaf(Entry):
    """A value that is given whole: typed, chosen, or as JSON."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self._typed: str | None = None
        self._value: Any = NOTHING
        if field.default is not NOTHING:
            self.put(field.default)
        elif field.kind == "many" and field.required:
            self._value = []

    @property
    def value(self) -> Any:
        return self._value

    def put(self, value: Any) -> None:
        self._typed, self._value, self.unread = None, value, ""

    def type(self, text: str) -> None:
        """Put in what was typed: a value as one types it, JSON, or what a choice is called. Nothing leaves it out."""
        self._typed, self._value, self.unread = text, NOTHING, ""
        self.touched = True
        if not text.strip() and (not text or self.field.type != "string"):
            return
        try:
            self._value = self._read(text)
        except ValueError as error:
            self.unread = str(error)

    def _read(self, text: str) -> Any:
        if self.field.kind == "json":
            return read_json(text)
        if not self.field.choices:
            return self.field.coerce(text)
        choice = self.field.choices.labelled(text)
        if choice is None:
            found = self.field.choices.search(text, 1)
            raise ValueError("choose one that contains this" if found else "none of the values contains this")
        return choice.value

    @property
    def text(self) -> str:
        """What stands in the line: what was typed, or the value as one would type it."""
        if self._typed is not None:
            return self._typed
        if self._value is NOTHING or (self._value is None and self.field.nullable):
            return ""
        if self.field.kind == "choice":
            return self._label()
        return self._value if isinstance(self._value, str) and self.field.kind == "text" else written(self._value)

    @property
    def index(self) -> int | None:
        """Which of the choices it is; None where it is none of them."""
        try:
            return self.field.choices.index(self._value) if self.field.choices else None
        except ValueError:
            return None

    def _label(self) -> str:
        index = self.index
        assert self.field.choices is not None
        return title_of(self._value) if index is None else self.field.choices.labels[index]


class Group(Entry):
    """An object, by its properties. One that is optional is there once it was opened.

    Attributes:
        open: whether it is there.
        more: what it holds besides: properties without a field.
    """

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self.open = field.required
        self.more: dict[str, Any] = {}
        self._parts: dict[str, Entry] | None = None
        self._odd: Any = NOTHING
        if field.default is not NOTHING:
            self.put(field.default)

    @property
    def parts(self) -> Sequence[Entry]:
        return list(self.named.values()) if self.open else ()

    @property
    def named(self) -> dict[str, Entry]:
        """The entries of the properties, made when they are first asked for: a schema may be without an end."""
        if self._parts is None:
            self._parts = {field.name: entry_of(field) for field in self.field.fields}
        return self._parts

    @property
    def value(self) -> Any:
        if self._odd is not NOTHING:
            return self._odd
        if not self.open:
            return NOTHING
        values = {name: part.value for name, part in self.named.items()}
        return {name: value for name, value in values.items() if value is not NOTHING} | self.more

    def put(self, value: Any) -> None:
        self._odd = NOTHING if isinstance(value, dict) or value is NOTHING else value
        self.open = isinstance(value, dict) or not self.field.name  # the whole form is always there
        given = value if isinstance(value, dict) else {}
        self.more = {name: part for name, part in given.items() if name not in self.named} if given else {}
        if self.open:
            for name, part in self.named.items():
                part.put(given.get(name, NOTHING))

    def fill(self) -> None:
        """Open it as if new: with the defaults of its properties."""
        self.open, self._odd, self.more, self._parts = True, NOTHING, {}, None

    def find(self, path: Path) -> Entry:
        part = self.named.get(str(path[0])) if path and self.open else None
        return self if part is None else part.find(path[1:])


class List(Entry):
    """An array, item by item.

    Attributes:
        items: its entries; None where it is left out.
    """

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self.items: list[Entry] | None = None
        self._odd: Any = NOTHING
        if field.default is not NOTHING:
            self.put(field.default)
        elif field.required:
            self.items = [self._item(index) for index in range(field.least)]

    @property
    def parts(self) -> Sequence[Entry]:
        return self.items or ()

    @property
    def value(self) -> Any:
        if self._odd is not NOTHING:
            return self._odd
        if self.items is None:
            return NOTHING
        return [item.value for item in self.items if item.value is not NOTHING]

    def put(self, value: Any) -> None:
        self._odd = NOTHING if isinstance(value, list) or value is NOTHING else value
        if not isinstance(value, list):
            self.items = None
            return
        present = self.items or []
        self.items = [*present[: len(value)], *(self._item(index) for index in range(len(present), len(value)))]
        for item, part in zip(self.items, value, strict=True):
            item.put(part)

    def add(self) -> Entry:
        """A further item, at the end."""
        self._odd = NOTHING
        self.items = [*(self.items or ()), self._item(len(self.items or ()))]
        self.touched = True
        return self.items[-1]

    def remove(self, item: Entry) -> None:
        """Take an item away. A list that is optional is left out with its last one."""
        left = [each for each in self.items or () if each is not item]
        self.items = left or ([] if self.field.required else None)
        self.touched = True

    def find(self, path: Path) -> Entry:
        given = [item for item in self.items or () if item.value is not NOTHING]
        if not path or not isinstance(path[0], int) or not path[0] < len(given):
            return self
        return given[path[0]].find(path[1:])

    def _item(self, index: int) -> Entry:
        return entry_of(self.field.item(index))


class Union(Entry):
    """One of several variants.

    Attributes:
        at: which variant; None where none is chosen.
    """

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self.at: int | None = None
        self._entries: dict[int, Entry] = {}
        self._odd: Any = NOTHING
        if field.default is not NOTHING:
            self.put(field.default)

    @property
    def chosen(self) -> Entry | None:
        """What is put in for the variant that is chosen."""
        if self.at is None:
            return None
        if self.at not in self._entries:
            self._entries[self.at] = entry_of(self.field.variants[self.at])
        return self._entries[self.at]

    @property
    def parts(self) -> Sequence[Entry]:
        return () if self.chosen is None else (self.chosen,)

    @property
    def value(self) -> Any:
        return self._odd if self.chosen is None else self.chosen.value

    def choose(self, at: int | None) -> None:
        """Choose a variant. What was put in for another is kept, for when it is chosen again."""
        self.at, self.touched, self._odd = at, True, NOTHING

    def put(self, value: Any) -> None:
        self._odd = NOTHING
        if value is NOTHING:
            self.at = None
            return
        fitting = (at for at, variant in enumerate(self.field.variants) if not variant.wrong(value))
        self.at = next(fitting, self.at)
        if self.chosen is None:
            self._odd = value
        else:
            self.chosen.put(value)

    def find(self, path: Path) -> Entry:
        return self if self.chosen is None else self.chosen.find(path)


def written(value: Any) -> str:
    """JSON as people read it."""
    return escaped(json.dumps(value, ensure_ascii=False, indent=2))


def read_json(text: str) -> Any:
    """The other way round. Raises ValueError: it is none."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ValueError(f"This is no JSON: {error}") from None


def entry_of(field: Field) -> Entry:
    """A new entry for a field, with its default in it."""
    return _ENTRIES.get(field.kind, Leaf)(field)


_ENTRIES: dict[str, type[Entry]] = {"group": Group, "list": List, "union": Union}
