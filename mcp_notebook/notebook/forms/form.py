"""A form: all that is asked at once, by a server's question or a tool's schema, and what was put in so far.

Pure: `text_form` asks by lines, `widgets.form` by widgets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...protocol.json_schema import Problem, Validator
from .blame import blamed
from .entries import Entry, Group, List, Union, entry_of, read_json, written
from .field import NOTHING, Field
from .shapes import without_many_choices


class Form:
    """What is asked for by a schema, filled in with its defaults.

    Args:
        schema: of an object, usually; None asks for nothing.
        values: what to put in besides, by the names of the outermost fields.

    Attributes:
        root: what is put in.
        problems: what is wrong that belongs to no field; as of the last `check`.
        attempted: whether somebody tried to send it: from then on what is missing is told, too.

    Raises:
        SchemaError: it is no valid JSON Schema.
    """

    def __init__(self, schema: Any, values: Mapping[str, Any] | None = None) -> None:
        self._validator = Validator(without_many_choices(schema))
        whole = schema if isinstance(schema, dict) else {}
        field = Field("", {"type": "object", **whole}, True, whole)
        if field.kind != "union":
            field.kind = "group"  # also without properties: then there is nothing to fill in, but JSON can be pasted
        self.root = entry_of(field)
        self.problems: list[str] = []
        self.attempted = False
        for name, value in (values or {}).items():
            self._begin_with(name, value)
        self.check()

    @property
    def fields(self) -> list[Field]:
        """The outermost fields."""
        return self.root.field.fields

    @property
    def value(self) -> dict[str, Any]:
        """What would be sent."""
        return {} if self.root.value is NOTHING else self.root.value

    @property
    def written(self) -> str:
        """The same as JSON."""
        return written(self.value)

    def paste(self, text: str) -> None:
        """Put in JSON for all of it.

        Raises:
            ValueError: it is no JSON object; what was there stays.
        """
        value = read_json(text)
        if not isinstance(value, dict):
            raise ValueError("An object is expected here: {…}")
        self.root.put(value)
        self.check()

    def attempt(self) -> bool:
        """See whether it can be sent, and from now on tell also what is missing."""
        self.attempted = True
        return self.check()

    def check(self) -> bool:
        """Find what is wrong, and put it beside the entries it belongs to; tell whether all is well."""
        self.problems = []
        entries = list(self.root.walk())
        for entry in entries:
            entry.problem = entry.unread
        found = [
            *self._gaps(entries),
            *((self.root.find(each.path), each) for each in self._validator.errors(self.value)),
        ]
        for entry, problem in found:
            self._tell(entry, problem)
        return not found and not any(entry.unread for entry in entries)

    def blame(self, text: str) -> bool:
        """Put what a tool's error says beside the fields that it names (VAL-3); tell whether it names any."""
        found = False
        entries = _all_named(self.root)
        for name, said in blamed(text, entries).items():
            entries[name].problem = said
            found = True
        return found

    def defaults(self) -> dict[str, Any]:
        """The defaults, of the outermost fields that have one (DEF-2)."""
        return {field.name: field.default for field in self.fields if field.default is not NOTHING}

    def errors(self, values: Mapping[str, Any]) -> list[Problem]:
        """What is wrong with values, taken together."""
        return self._validator.errors(dict(values))

    def _begin_with(self, name: str, value: Any) -> None:
        if isinstance(self.root, Group) and name in self.root.named:
            entry = self.root.named[name]
            entry.put(value)
            entry.touched = True
        else:
            self.root.put({**self.value, name: value})

    def _gaps(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, Problem]]:
        """What the schema's validator cannot see, or not at its place."""
        for entry in entries:
            if isinstance(entry, List):
                empty = (item for item in entry.parts if item.value is NOTHING and not item.unread)
                yield from ((item, Problem((), "missing")) for item in empty)
            elif isinstance(entry, Union) and entry.chosen is not None and entry.chosen.value is not NOTHING:
                inside = entry.field.variants[entry.at or 0].errors(entry.chosen.value)
                yield from ((entry.find(each.path), each) for each in inside)
            elif entry.field.choices and entry.value is not NOTHING and (wrong := entry.field.strange(entry.value)):
                yield entry, Problem((), wrong)

    def _tell(self, entry: Entry, problem: Problem) -> None:
        """Put a problem beside its entry, as soon as it is time to tell it."""
        if entry is self.root:
            if self.attempted or entry.touched:
                self.problems.append(str(problem))
        elif not entry.problem and (self.attempted or entry.touched):
            entry.problem = _needed(entry.field) if entry.value is NOTHING else problem.message


def _needed(field: Field) -> str:
    """That something is missing, and what."""
    return "needed" if field.wanted == "text" else f"needed: {field.wanted}"


def _all_named(root: Entry) -> dict[str, Entry]:
    """The entries by their names; of several of one name, the outermost."""
    return {entry.field.name: entry for entry in reversed(list(root.walk())) if entry.field.name}
