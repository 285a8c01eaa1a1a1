"""A server's question as fields that a person can fill in. Pure: what asks is elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..protocol.json_schema import Problem, Validator, coerce_text, describe, properties_of
from ..types import ElicitParams
from ..visible import quote

YES_NO = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()
"""What stands for a field that is left out."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the values to choose from, and what it is called."""

    value: Any
    title: str


class Field:
    """One property of what a server asks for.

    Args:
        name: its name.
        schema: its schema, which stands alone.
        required: whether it must be given.

    Attributes:
        title: what to call it.
        description: the server's words about it; "" where there are none.
        expected: what fits, in our words: "a whole number from 1 to 9".
        choices: the values to choose from; None where it is open.
        many: whether several can be chosen.
        default: the server's default; NOTHING where there is none, or where it does not fit the field's own schema.
        misfit: the default that does not fit, and why; "" where there is none. It is shown, not used (DEF-1).
    """

    def __init__(self, name: str, schema: dict[str, Any], required: bool) -> None:
        self.name = name
        self.schema = schema
        self.required = required
        self.title = _text(schema.get("title")) or name
        self.description = _text(schema.get("description"))
        self.expected = "y (yes) or n (no)" if schema.get("type") == "boolean" else describe(schema)
        self.many = schema.get("type") == "array" and isinstance(schema.get("items"), dict)
        self.choices = _choices(schema["items"] if self.many else schema)
        self._validator = Validator(schema)
        self.default: Any = schema.get("default", NOTHING)
        self.misfit = ""
        if self.default is not NOTHING and (problems := self._problems(self.default)):
            self.misfit, self.default = f"{quote(json.dumps(self.default, ensure_ascii=False))}: {problems}", NOTHING

    def read(self, text: str) -> Any:
        """The value that a text stands for. Choices are given by value, title or number, several by commas.

        Raises:
            ValueError: it does not fit; the message says what would.
        """
        value = self._value(text if self.schema.get("type") == "string" and not self.choices else text.strip())
        if problems := self._problems(value):
            raise ValueError(problems)
        return value

    def show(self, value: Any) -> str:
        """A value in the words of the field."""
        if value is NOTHING:
            return "–"
        if self.many and self.choices and isinstance(value, list):
            return ", ".join(map(self._show_one, value)) or "none"
        return self._show_one(value)

    @property
    def numbered(self) -> bool:
        """Whether choices can be given by number: not where a value or a title could be taken for one."""
        return not any(word.isdecimal() for choice in self.choices or () for word in (str(choice.value), choice.title))

    def _value(self, text: str) -> Any:
        if self.choices and self.many:
            return [self._choice(part.strip()) for part in text.split(",") if part.strip()]
        if self.choices:
            return self._choice(text)
        if self.schema.get("type") == "boolean":
            if text.lower() not in YES_NO:
                raise ValueError(f"{quote(text)} is not accepted; {self.expected} is expected")
            return YES_NO[text.lower()]
        return coerce_text(self.schema, text)

    def _choice(self, text: str) -> Any:
        assert self.choices is not None
        if self.numbered and text.isdecimal() and 1 <= int(text) <= len(self.choices):
            return self.choices[int(text) - 1].value
        for same in (str.__eq__, lambda one, other: one.lower() == other.lower()):
            for choice in self.choices:
                if same(str(choice.value), text) or same(choice.title, text):
                    return choice.value
        by = f"a number from 1 to {len(self.choices)}" if self.numbered else "one of the values above"
        raise ValueError(f"{quote(text)} is not among the choices; {by} is expected")

    def _show_one(self, value: Any) -> str:
        for choice in self.choices or ():
            if choice.value == value:
                return choice.title
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)

    def _problems(self, value: Any) -> str:
        return "; ".join(map(str, self._validator.errors(value)))


class Questionnaire:
    """All that a server asks at once.

    Args:
        params: the question.

    Raises:
        SchemaError: what is asked for is no valid JSON Schema.
    """

    def __init__(self, params: ElicitParams) -> None:
        schema = params.requested_schema or {}
        self._validator = Validator(schema)
        self.message = params.message
        required = schema.get("required")
        names = required if isinstance(required, list) else []
        dialect = {"$schema": schema["$schema"]} if "$schema" in schema else {}
        self.fields = [Field(name, dialect | part, name in names) for name, part in properties_of(schema).items()]

    def problems(self, values: Mapping[str, Any]) -> list[Problem]:
        """What is wrong with the values taken together."""
        return self._validator.errors(dict(values))

    def defaults(self) -> dict[str, Any]:
        """The defaults, of the fields that have one (DEF-2)."""
        return {field.name: field.default for field in self.fields if field.default is not NOTHING}


def _choices(schema: dict[str, Any]) -> list[Choice] | None:
    """The five shapes of enums: plain, titled, titled by `enumNames`; several of plain, several of titled."""
    values = schema.get("enum")
    if isinstance(values, list) and values:
        names = schema.get("enumNames")
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        return [Choice(value, str(title)) for value, title in zip(values, titles, strict=True)]
    for members in (schema.get("oneOf"), schema.get("anyOf")):
        if isinstance(members, list) and members and all(isinstance(one, dict) and "const" in one for one in members):
            return [Choice(one["const"], _text(one.get("title")) or str(one["const"])) for one in members]
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
