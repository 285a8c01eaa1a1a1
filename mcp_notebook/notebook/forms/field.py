"""One place of what is asked for: what it is called, what fits there, and how a person can give it."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any, Literal, TypeAlias

from ...limits import DISPLAY_LIMITS
from ...protocol.json_schema import Problem, Validator, coerce_text, describe, inlined
from ...protocol.json_schema.reading import resolved
from ...visible import quote
from .choices import Choice, Choices, choices_in, title_of
from .shapes import items_of, kind_of, properties_of, required_of, variants_of, without_null

Kind: TypeAlias = Literal["text", "choice", "many", "group", "list", "union", "json"]
"""How a value is given: as a line of text, as one of several values or some of them, by its parts (an object's, a
list's), as one of several variants, or as JSON."""

Role: TypeAlias = Literal["property", "item", "variant"]

YES_NO = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"

    def __bool__(self) -> bool:
        return False


NOTHING = _Nothing()
"""What stands for something that is left out."""


class Field:
    """One place of what is asked for.

    Args:
        name: what it is called by its schema: a property's name.
        schema: its schema.
        required: whether it must be given.
        within: the whole schema that references are resolved in; None: the schema itself.
        depth: how many levels lie above it.
        role: what it is: an object's property, a list's item, or a variant of a union.

    Attributes:
        kind: how it is given.
        title: what to call it.
        description: the server's words about it; "" where there are none.
        nullable: whether null fits besides.
        choices: the values to choose from; None where it is open.
    """

    def __init__(
        self, name: str, schema: Any, required: bool, within: Any = None, depth: int = 0, role: Role = "property"
    ) -> None:
        self.name = name
        self.required = required
        self.depth = depth
        self.role: Role = role
        self._within = schema if within is None else within
        self._whole = resolved(schema, self._within)
        self.schema, self.nullable = without_null(self._whole, self._within)
        self.title = _text(self._whole.get("title")) or name
        self.description = _text(self._whole.get("description"))
        self.kind: Kind = kind_of(self.schema, self._within, depth)
        self.choices = self._read_choices()

    @property
    def many(self) -> bool:
        """Whether several of the choices can be chosen."""
        return self.kind == "many"

    @property
    def plain(self) -> bool:
        """Whether it goes without a name: the whole form, and a variant, which is named where it is chosen."""
        return not self.name or self.role == "variant"

    @property
    def fixed(self) -> bool:
        """Whether it can only be one value, and must be."""
        return self.required and "const" in self.schema and not self.nullable

    @property
    def format(self) -> str:
        """The format of a text: "date", "email"; "" where there is none."""
        return _text(self.schema.get("format")) if self.schema.get("type") == "string" else ""

    @property
    def type(self) -> str:
        """Its JSON type, where it has one."""
        return _text(self.schema.get("type"))

    @cached_property
    def expected(self) -> str:
        """What fits, in our words: "a whole number from 1 to 9"."""
        return "y (yes) or n (no)" if self.type == "boolean" and not self.nullable else describe(self._standing_alone)

    @cached_property
    def wanted(self) -> str:
        """The same for whoever chooses: by the titles of the choices, where these are few."""
        if not self.choices:
            return self.expected
        if len(self.choices) > _NAMED:
            return f"one of {len(self.choices):,} values"
        return " or ".join(quote(choice.title) for choice in self.choices)

    @cached_property
    def default(self) -> Any:
        """The server's default; NOTHING where there is none, or where it does not fit the field's own schema.

        What can only have one value has that.
        """
        return NOTHING if self.misfit else self._declared_default

    @cached_property
    def misfit(self) -> str:
        """The default that does not fit, and why; "" where there is none. It is shown, not used (DEF-1)."""
        value = self._declared_default
        wrong = "" if value is NOTHING else self.wrong(value)
        return f"{quote(json.dumps(value, ensure_ascii=False, default=str))}: {wrong}" if wrong else ""

    # The parts of it

    @cached_property
    def fields(self) -> list[Field]:
        """The fields of an object, by its properties."""
        required = required_of(self.schema)
        properties = list(properties_of(self.schema, self._within).items())[: DISPLAY_LIMITS.fields]
        return [Field(name, part, name in required, self._within, self.depth + 1) for name, part in properties]

    @cached_property
    def unnamed(self) -> int:
        """How many properties of an object have no field, as there are too many."""
        return max(0, len(properties_of(self.schema, self._within)) - DISPLAY_LIMITS.fields)

    def item(self, index: int) -> Field:
        """The field of a list's item."""
        return Field(f"{index + 1}", items_of(self.schema, index), True, self._within, self.depth + 1, "item")

    @property
    def least(self) -> int:
        """How many items a list must have."""
        least = self.schema.get("minItems")
        return least if isinstance(least, int) and 0 <= least <= DISPLAY_LIMITS.boxes else 0

    @property
    def most(self) -> int | None:
        """How many it may have."""
        most = self.schema.get("maxItems")
        return most if isinstance(most, int) else None

    @property
    def how_many(self) -> str:
        """How many may be given, in words such as "1 to 3"; "" where it is any number."""
        low, high = self.least, self.most
        if low and high is not None:
            return f"{low}" if low == high else f"{low} to {high}"
        return f"at least {low}" if low else f"at most {high}" if high is not None else ""

    @cached_property
    def variants(self) -> list[Field]:
        """The variants of a union, each called by what tells it from the others."""
        return [
            Field(name, part, True, self._within, self.depth + 1, "variant")
            for name, part in variants_of(self.schema, self.nullable, self._within)
        ]

    # Text, for lines that are typed

    def coerce(self, text: str) -> Any:
        """The value that a text stands for; bounds and formats are not looked at.

        Raises:
            ValueError: it stands for none; the message says what would.
        """
        if self.choices and self.many:
            return [self._choice(part.strip()) for part in text.split(",") if part.strip()]
        if self.choices:
            return self._choice(text.strip())
        return coerce_text(self._standing_alone, text if self.type == "string" else text.strip())

    def read(self, text: str) -> Any:
        """The value that a text stands for. Choices are given by value, title or number, several by commas.

        Raises:
            ValueError: it does not fit; the message says what would.
        """
        value = self.coerce(text)
        if wrong := self.wrong(value):
            raise ValueError(wrong)
        return value

    def show(self, value: Any) -> str:
        """A value in the words of the field."""
        if value is NOTHING:
            return "–"
        if self.many and isinstance(value, list):
            return ", ".join(map(self._show_one, value)) or "none"
        return self._show_one(value)

    @cached_property
    def numbered(self) -> bool:
        """Whether choices can be given by number: not where a value or a title could be taken for one."""
        return self.type != "boolean" and not any(
            word.isdecimal() for choice in self.choices or () for word in (title_of(choice.value), choice.title)
        )

    def wrong(self, value: Any) -> str:
        """What is wrong with a value, by the field's own schema; "" where nothing is."""
        if self.choices and (strange := self.strange(value)):
            return strange
        return "" if self.kind == "choice" else "; ".join(map(str, self.errors(value)))

    def strange(self, value: Any) -> str:
        """What is wrong with a value that is none of the choices, or holds one that is none; "" where nothing is."""
        for one in value if self.many and isinstance(value, list) else () if self.many else (value,):
            if not self._among(one):
                return f"{quote(title_of(one))} is not among the choices; {self.wanted} is expected"
        return ""

    def errors(self, value: Any) -> list[Problem]:
        """The same, each thing with the place within the value that it is about."""
        return self._validator.errors(value)

    # Within

    def _read_choices(self) -> Choices | None:
        if self.kind == "many":
            return choices_in(resolved(self.schema["items"], self._within))
        found = choices_in(self.schema) if self.kind == "choice" else None
        if found and self.nullable and not any(choice.value is None for choice in found):
            return Choices([*found, Choice(None, "null")])
        return found

    @cached_property
    def _standing_alone(self) -> dict[str, Any]:
        return inlined(self._whole, self._within)

    @cached_property
    def _validator(self) -> Validator:
        dialect = self._within.get("$schema") if isinstance(self._within, dict) else None
        return Validator(self._standing_alone if dialect is None else {"$schema": dialect, **self._standing_alone})

    @property
    def _declared_default(self) -> Any:
        if self.fixed:
            return self._whole.get("default", self.schema["const"])
        return self._whole.get("default", NOTHING)

    def _choice(self, text: str) -> Any:
        assert self.choices is not None
        if self.type == "boolean":
            if text.lower() in YES_NO:
                return YES_NO[text.lower()]
            if not (self.nullable and text == "null"):
                raise ValueError(f"{quote(text)} is not accepted; {self.expected} is expected")
        if self.numbered and text.isdecimal() and 1 <= int(text) <= len(self.choices):
            return self.choices[int(text) - 1].value
        for same in (str.__eq__, lambda one, other: one.lower() == other.lower()):
            for choice in self.choices:
                if same(title_of(choice.value), text) or same(choice.title, text):
                    return choice.value
        by = f"a number from 1 to {len(self.choices)}" if self.numbered else "one of the values above"
        raise ValueError(f"{quote(text)} is not among the choices; {by} is expected")

    def _among(self, value: Any) -> bool:
        assert self.choices is not None
        try:
            self.choices.index(value)
        except ValueError:
            return False
        return True

    def _show_one(self, value: Any) -> str:
        for choice in self.choices or ():
            if choice.value == value and isinstance(choice.value, bool) == isinstance(value, bool):
                return choice.title
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_NAMED = 10


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
