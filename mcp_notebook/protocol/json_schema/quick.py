"""A quick yes for plain values: pydantic says in a fiftieth of the time that a value fits, where the schema is plain.

Only a yes counts. A value that gets none, and every value where the schema has anything that is not understood here,
goes the long way, which also knows what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema

PARTS, NESTING = 1000, 30
"""The largest schema in parts, and the deepest. A reference counts as what it stands for: one to itself is too deep."""

_SAYS_NOTHING = frozenset(
    ("$defs", "definitions", "$comment", "title", "description", "default", "examples", "deprecated")
)
_REFERENCE = "#/$defs/"


class _NotPlain(Exception):
    pass


def quick_yes(schema: Any) -> Callable[[Any], bool] | None:
    """What tells of many values that they fit a valid schema; None where it could not tell of any."""
    if isinstance(schema, Mapping):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    try:
        return SchemaValidator(_Reader(schema).plain(schema)).isinstance_python
    except (_NotPlain, SchemaError):
        return None


class _Reader:
    """Reads one schema."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._parts = 0
        self._nesting = 0

    def plain(self, schema: Any) -> core_schema.CoreSchema:
        """What accepts nothing that the schema does not."""
        self._parts += 1
        self._nesting += 1
        if self._parts > PARTS or self._nesting > NESTING:
            raise _NotPlain
        try:
            return self._read(schema)
        finally:
            self._nesting -= 1

    def _read(self, schema: Any) -> core_schema.CoreSchema:
        if schema is True:
            return core_schema.any_schema()
        if not isinstance(schema, Mapping):
            raise _NotPlain
        keywords = {key: value for key, value in schema.items() if key not in _SAYS_NOTHING and key[:2] != "x-"}
        match keywords:
            case {"$ref": str(reference), **rest} if not rest:
                return self.plain(self._referred(reference))
            case {"anyOf": [*parts], **rest} if not rest:
                return core_schema.union_schema([self.plain(part) for part in parts], mode="left_to_right")
            case {"enum": [*values], **rest} if not rest or rest == {"type": "string"}:
                return _one_of(values)
            case {"const": value, **rest} if not rest or rest == {"type": "string"}:
                return _one_of([value])
            case {"type": str(name), **rest}:
                return self._typed(name, rest)
            case {"type": [*names], **rest} if not rest:
                return core_schema.union_schema([self._typed(name, {}) for name in names], mode="left_to_right")
            case {**rest} if not rest:
                return core_schema.any_schema()
        raise _NotPlain

    def _referred(self, reference: str) -> Any:
        name = reference.removeprefix(_REFERENCE)
        definitions = self._root.get("$defs") if isinstance(self._root, Mapping) else None
        if name == reference or not isinstance(definitions, Mapping) or name not in definitions:
            raise _NotPlain
        return definitions[name]

    def _typed(self, name: str, rest: dict[str, Any]) -> core_schema.CoreSchema:
        match name:
            case "string":
                bounds = _bounds(rest, minLength="min_length", maxLength="max_length")
                return core_schema.str_schema(strict=True, **bounds)
            case "integer":
                return core_schema.int_schema(strict=True, **_bounds(rest, minimum="ge", maximum="le"))
            case "number":  # without bounds: as a float a large integer would be another number
                return core_schema.float_schema(strict=True, **_bounds(rest))
            case "boolean":
                return core_schema.bool_schema(strict=True, **_bounds(rest))
            case "null":
                return core_schema.none_schema(**_bounds(rest))
            case "array":
                items = self.plain(rest.pop("items", True))
                bounds = _bounds(rest, minItems="min_length", maxItems="max_length")
                return core_schema.list_schema(items, strict=True, **bounds)
            case "object":
                return self._object(rest)
        raise _NotPlain

    def _object(self, rest: dict[str, Any]) -> core_schema.CoreSchema:
        parts = {name: self.plain(part) for name, part in rest.pop("properties", {}).items()}
        required, others = rest.pop("required", []), rest.pop("additionalProperties", True)
        _bounds(rest)
        parts |= {name: self.plain(others) for name in required if name not in parts}
        fields = {name: core_schema.typed_dict_field(part, required=name in required) for name, part in parts.items()}
        if others is False:
            return core_schema.typed_dict_schema(fields, strict=True, extra_behavior="forbid")
        return core_schema.typed_dict_schema(
            fields, strict=True, extra_behavior="allow", extras_schema=self.plain(others)
        )


def _bounds(keywords: dict[str, Any], **names: str) -> dict[str, Any]:
    """These keywords as pydantic calls them; there must be no others."""
    if not keywords.keys() <= names.keys():
        raise _NotPlain
    return {names[key]: value for key, value in keywords.items()}


def _one_of(values: list[Any]) -> core_schema.CoreSchema:
    """Text only: of numbers and truth values, Python and JSON do not say alike which are equal."""
    if not all(isinstance(value, str) for value in values):
        raise _NotPlain
    return core_schema.literal_schema(values)
