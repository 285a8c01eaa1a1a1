"""JSON Schemas in words: what an argument may be. A schema that cannot be read gives fewer words, never an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..limits import DISPLAY_LIMITS
from .letters import excerpt

_HOPS = 8
"""How many references are followed, one after the other."""
_DEPTH = 3
"""How many levels of a type are described."""
_VARIANTS = 4
_LENGTH = 80
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "pattern": "matches {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool; its words are found when they are asked for."""

    name: str
    required: bool
    schema: Any
    root: Any
    """The schema that references are looked up in."""

    @property
    def marked(self) -> str:
        """The name, with a star if it must be given."""
        return f"{self.name}*" if self.required else self.name

    @property
    def type(self) -> str:
        """What kind of value it is."""
        return type_words(self.schema, self.root)

    @property
    def allowed(self) -> str:
        """Which values it may have."""
        return allowed_words(self.schema, self.root)

    @property
    def default(self) -> str:
        """What it is where it is not given; "" without a default."""
        found = _resolved(self.schema, self.root)
        return excerpt(_json(found["default"]), _LENGTH) if "default" in found else ""

    @property
    def description(self) -> str:
        """What the server says of it."""
        description = _resolved(self.schema, self.root).get("description")
        return description if isinstance(description, str) else ""


def arguments(schema: Any) -> list[Argument]:
    """The arguments that an input schema names, those that must be given first."""
    schema = _resolved(schema, schema)
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return []
    required = schema.get("required")
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    names = sorted(properties, key=lambda name: name not in needed)
    return [Argument(name, name in needed, properties[name], schema) for name in names]


def type_words(schema: Any, root: Any, depth: int = 0) -> str:
    """What kind of value a schema asks for: `integer`, `list of string`, `string or null`."""
    schema = _resolved(schema, root)
    kind = schema.get("type")
    if depth > _DEPTH:
        return "anything"
    if isinstance(kind, list):
        return _either(kind)
    if kind == "array":
        return f"list of {type_words(schema['items'], root, depth + 1)}" if "items" in schema else "list"
    if isinstance(kind, str):
        form = schema.get("format")
        return excerpt(f"{kind} ({form})" if isinstance(form, str) else kind, _LENGTH)
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return _either([type_words(variant, root, depth + 1) for variant in schema[key][: _VARIANTS + 1]])
    return _either([_kind_of(value) for value in _choices(schema)[: DISPLAY_LIMITS.choices]]) or "anything"


def allowed_words(schema: Any, root: Any) -> str:
    """Which values a schema allows beyond their type: its choices, or its bounds."""
    schema = _resolved(schema, root)
    items = _resolved(schema.get("items"), root)
    choices = _choices(schema) or _choices(items)
    if choices:
        shown = [excerpt(_json(choice), _LENGTH) for choice in choices[: DISPLAY_LIMITS.choices]]
        more = len(choices) - len(shown)
        return ", ".join(shown) + (f", … {more:,} more" if more else "")
    variants = schema.get("anyOf")
    bounded = [schema, *(variants if isinstance(variants, list) else [])[:_VARIANTS]]
    return ", ".join(words for variant in bounded for words in _bounds(_resolved(variant, root)))


def _bounds(schema: dict[str, Any]) -> Iterator[str]:
    for key, words in _BOUNDS.items():
        if key in schema:
            yield words.format(excerpt(str(schema[key]), _LENGTH))


def _choices(schema: dict[str, Any], variants: bool = True) -> list[Any]:
    """The values of an enum or of a constant; those of a union, if all its members have such or are null."""
    if isinstance(schema.get("enum"), list):
        return schema["enum"]
    if "const" in schema:
        return [schema["const"]]
    members = schema.get("oneOf") or schema.get("anyOf") if variants else None
    if not isinstance(members, list):
        return []
    choices: list[Any] = []
    for member in members:
        found = _choices(member, variants=False) if isinstance(member, dict) else []
        if not found and not (isinstance(member, dict) and member.get("type") == "null"):
            return []
        choices += found
    return choices


def _resolved(schema: Any, root: Any) -> dict[str, Any]:
    """A schema with its own reference replaced; {} where it has no keywords or leads nowhere."""
    for _ in range(_HOPS):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            break
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**_at(root, reference), **siblings}
    return schema if isinstance(schema, dict) else {}


def _at(root: Any, reference: str) -> dict[str, Any]:
    """What a reference within the schema points at. Others are never followed (JSC-4)."""
    found = root if reference.startswith("#") else None
    for step in reference[1:].split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _either(words: list[Any]) -> str:
    """Words joined by "or", each once."""
    once = list(dict.fromkeys(word for word in words if isinstance(word, str)))
    return " or ".join([*once[:_VARIANTS], *(["…"] if len(once) > _VARIANTS else [])])


def _kind_of(value: Any) -> str:
    """The JSON Schema type of a value."""
    if value is None:
        return "null"
    for kind, python in (("boolean", bool), ("integer", int), ("number", float), ("string", str), ("array", list)):
        if isinstance(value, python):
            return kind
    return "object"


def _json(value: Any) -> str:
    """A value as one would type it: text bare, all else as JSON."""
    if isinstance(value, str):
        return value or '""'
    return json.dumps(value, ensure_ascii=False, default=str)
