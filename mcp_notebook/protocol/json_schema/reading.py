"""Reading a schema for people: its properties, and the values it names. Never for judging a value.

Schemas come from outside, so whatever has not the form it should have is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias
from urllib.parse import unquote

Schema: TypeAlias = dict[str, Any] | bool

NODES = 2_000
"""How many subschemas `inlined` writes out; where there are more, the rest says nothing ({})."""
DEPTH = 40
"""How deep it goes."""

_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_PLACES = frozenset(
    {"additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
    | {"unevaluatedItems", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "prefixItems"}
)
_DEFINITIONS = frozenset({"$defs", "definitions"})


def inlined(schema: Any, within: Any = None) -> dict[str, Any]:
    """The schema with its local `$ref`s written out and its `allOf` merged, so that any part of it stands alone.

    A reference that leads nowhere, outside, or round in a circle says nothing there; all the rest stays (JSC-4).

    Args:
        schema: a schema, or a part of one.
        within: the whole schema that references are resolved in; the schema itself by default.
    """
    result = _Inliner(schema if within is None else within).unfold(schema, frozenset(), 0)
    return result if isinstance(result, dict) else {}


def resolved(schema: Any, within: Any) -> dict[str, Any]:
    """The schema with its own `$ref`s followed and its `allOf` merged; its parts stay as they are.

    So what refers to itself can be read as deep as somebody goes. A reference that leads nowhere says nothing.

    Args:
        schema: a part of a schema.
        within: the whole schema that references are resolved in.
    """
    return _Inliner(within).open(schema, frozenset())


class _Inliner:
    def __init__(self, root: Any) -> None:
        self.root = root
        self.left = NODES

    def unfold(self, schema: Any, opened: frozenset[str], depth: int) -> Schema:
        if isinstance(schema, bool):
            return schema
        self.left -= 1
        if not isinstance(schema, dict) or self.left < 0 or depth > DEPTH:
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            target = None if reference in opened else _at(self.root, reference)
            if target is False:
                return False
            found = target if isinstance(target, dict) else {}
            return self.unfold({**found, **beside}, opened | {reference}, depth + 1)
        result = {key: self._value(key, schema[key], opened, depth + 1) for key in schema if key not in _DEFINITIONS}
        return _merged(result)

    def open(self, schema: Any, opened: frozenset[str]) -> dict[str, Any]:
        """The same for the schema alone, without its parts."""
        self.left -= 1
        if not isinstance(schema, dict) or self.left < 0:
            return {}
        reference, parts = schema.get("$ref"), schema.get("allOf")
        if isinstance(reference, str):
            target = None if reference in opened else _at(self.root, reference)
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            return self.open({**(target if isinstance(target, dict) else {}), **beside}, opened | {reference})
        if isinstance(parts, list) and len(opened) < DEPTH:
            inside = opened | {f"allOf {len(opened)}"}
            return _merged({**schema, "allOf": [self.open(part, inside) for part in parts]})
        return schema

    def _value(self, key: str, value: Any, opened: frozenset[str], depth: int) -> Any:
        if key in _MAPS and isinstance(value, dict):
            return {name: self.unfold(part, opened, depth) for name, part in value.items()}
        if key in _PLACES and isinstance(value, list):
            return [self.unfold(part, opened, depth) for part in value]
        if key in _PLACES:
            return self.unfold(value, opened, depth)
        return value


def _at(root: Any, reference: str) -> Any:
    """What a JSON pointer within the schema leads to; None where that is nothing."""
    if not reference.startswith("#"):
        return None
    found = root
    for step in unquote(reference[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found if reference == "#" or reference[1] == "/" else None


def _merged(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with the parts of its `allOf` put together. Where they disagree the first one is kept."""
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return schema
    result = {key: value for key, value in schema.items() if key != "allOf"}
    for part in parts:
        for key, value in part.items() if isinstance(part, dict) else ():
            present = result.get(key)
            if key == "properties" and isinstance(present, dict) and isinstance(value, dict):
                result[key] = {**value, **present}
            elif key == "required" and isinstance(present, list) and isinstance(value, list):
                result[key] = list(dict.fromkeys([*present, *value]))
            else:
                result.setdefault(key, value)
    return result


def properties_of(schema: Any) -> dict[str, dict[str, Any]]:
    """The properties that an object may have by this schema, each with a schema that stands alone.

    Those of all variants (`allOf`, `anyOf`, `oneOf`) are named; one that variants describe in different ways allows
    what any of them allows.
    """
    schema = inlined(schema)
    found = named_properties(schema)
    for variant in variants(schema):
        for name, part in named_properties(variant).items():
            present = found.setdefault(name, part)
            if present != part:
                found[name] = {"anyOf": [present, part]}
    return found


def required_of(schema: Any) -> list[str]:
    """The names of the properties that an object must have by this schema."""
    required = inlined(schema).get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def named_properties(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The properties that it names itself, each with its schema."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: part for name, part in properties.items() if isinstance(part, dict)} | {
        name: {} for name, part in properties.items() if part is True
    }


def variants(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The members of the schema's `anyOf` and `oneOf`."""
    members = [member for key in ("anyOf", "oneOf") for member in _list(schema.get(key))]
    return [member for member in members if isinstance(member, dict)]


def choices(schema: dict[str, Any]) -> list[Any] | None:
    """The values of an `enum` or `const`; None where there is neither."""
    if isinstance(schema.get("enum"), list):
        return schema["enum"]
    return [schema["const"]] if "const" in schema else None


def allowed_values(schema: Any, name: str) -> list[Any]:
    """The values that a schema names for one of its properties: of enums, constants and booleans, in any variant.

    Null is left out. A property with a variant that is open to more may have other values, too.
    """
    found: dict[tuple[type, Any], Any] = {}
    for value in _values(properties_of(schema).get(name, {})):
        if value is not None:
            key = json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else value
            found.setdefault((type(value), key), value)
    return list(found.values())


def _values(schema: dict[str, Any]) -> Iterator[Any]:
    named = choices(schema)
    if named is not None:
        yield from named
    elif schema.get("type") == "boolean" or "boolean" in _list(schema.get("type")):
        yield from (True, False)
    for variant in variants(schema):
        yield from _values(variant)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
