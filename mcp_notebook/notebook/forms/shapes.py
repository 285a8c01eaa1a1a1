"""What shape of value a schema asks for, one level at a time; so a schema may refer to itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...limits import DISPLAY_LIMITS
from ...protocol.json_schema import describe
from ...protocol.json_schema.reading import named_properties, resolved, variants
from ...render.letters import excerpt
from .choices import has_choices

if TYPE_CHECKING:
    from .field import Kind

_OBJECT = ("properties", "required", "additionalProperties", "patternProperties")
_NAME = 60
_VARIANTS = 50
"""In how many variants null is looked for."""
_MANY = 1_000
_LABELS = ("title", "description", "default")


def without_null(schema: dict[str, Any], within: Any) -> tuple[dict[str, Any], bool]:
    """The schema without the null that it allows besides other things, and whether it does."""
    types = schema.get("type")
    if isinstance(types, list) and "enum" not in schema:
        rest = [name for name in types if name != "null"]
        if len(rest) == 1:
            return {**schema, "type": rest[0]}, len(rest) < len(types)
        if rest:
            unlabelled = {key: value for key, value in schema.items() if key not in _LABELS}
            parts = [{**unlabelled, "type": name} for name in rest]
            return {**_labels(schema), "anyOf": parts}, len(rest) < len(types)
    for key in ("anyOf", "oneOf"):
        members = schema.get(key)
        if isinstance(members, list) and 1 < len(members) <= _VARIANTS:
            rest = [one for one in members if resolved(one, within).get("type") != "null"]
            outer = {name: value for name, value in schema.items() if name != key}
            if len(rest) == 1 and len(members) == 2:
                inner, nullable = without_null(resolved(rest[0], within), within)
                return {**inner, **outer}, nullable or len(rest) < len(members)
            if rest and len(rest) < len(members):
                return {**outer, key: rest}, True
    return schema, False


def kind_of(schema: dict[str, Any], within: Any, depth: int) -> Kind:
    """How a value of this schema is given."""
    kind = schema.get("type")
    if has_choices(schema):
        return "choice"
    if kind == "array" and has_choices(resolved(schema.get("items"), within)):
        return "many"
    if named_properties(schema):
        return "group" if depth < DISPLAY_LIMITS.levels else "json"
    if len(variants(schema)) > 1:
        return "union" if depth < DISPLAY_LIMITS.levels else "json"
    if kind == "array" and (schema.get("items") or schema.get("prefixItems")):
        return "list" if depth < DISPLAY_LIMITS.levels else "json"
    if kind in ("array", "object") or (kind is None and any(key in schema for key in _OBJECT)):
        return "json"
    return "text"


def without_many_choices(schema: Any) -> Any:
    """The schema without the choices that are so many that a check of each letter would take long.

    Whoever fills in a form is kept to them by the fields.
    """
    if isinstance(schema, dict):
        many = any(isinstance(schema.get(key), list) and len(schema[key]) > _MANY for key in ("enum", "oneOf", "anyOf"))
        if many and has_choices(schema):
            return {key: part for key, part in schema.items() if key not in ("enum", "oneOf", "anyOf")}
        return {key: without_many_choices(part) for key, part in schema.items()}
    return [without_many_choices(part) for part in schema] if isinstance(schema, list) else schema


def properties_of(schema: dict[str, Any], within: Any) -> dict[str, Any]:
    """The properties of an object; those of its variants too, each allowing what any of them allows."""
    found: dict[str, Any] = dict(named_properties(schema))
    for variant in variants(schema):
        for name, part in named_properties(resolved(variant, within)).items():
            present = found.setdefault(name, part)
            if present != part:
                found[name] = {"anyOf": [present, part]}
    return found


def required_of(schema: dict[str, Any]) -> list[Any]:
    """The names of the properties that must be given."""
    required = schema.get("required")
    return required if isinstance(required, list) else []


def items_of(schema: dict[str, Any], index: int) -> Any:
    """The schema of a list's item."""
    first = schema.get("prefixItems")
    items = schema.get("items")
    if not isinstance(first, list):
        first, items = (items, schema.get("additionalItems")) if isinstance(items, list) else ([], items)
    part = first[index] if index < len(first) else items
    return part if isinstance(part, dict) else {}


def variants_of(schema: dict[str, Any], nullable: bool, within: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The variants of a union, each with a name that no other has."""
    taken: dict[str, int] = {}
    for part in [*variants(schema), *([{"type": "null"}] if nullable else [])]:
        name = _name_of(resolved(part, within), within)
        taken[name] = taken.get(name, 0) + 1
        yield (name if taken[name] == 1 else f"{name} ({taken[name]})"), part


def _name_of(variant: dict[str, Any], within: Any) -> str:
    title = variant.get("title")
    if isinstance(title, str) and title:
        return title
    for part in named_properties(variant).values():
        constant = resolved(part, within).get("const")
        if isinstance(constant, str) and constant:
            return constant
    return excerpt(describe(variant, within), _NAME)


def _labels(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: schema[key] for key in _LABELS if key in schema}
