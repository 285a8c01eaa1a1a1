"""Keywords of our own in place of jsonschema's: linear in time, bounded for each field, with an error for each name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from .work import CURRENT

PATTERN_STEPS = 500
"""What compiling one pattern counts for."""


def _properties(validator: Any, properties: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    work = CURRENT.get()
    for name, part in properties.items():
        if name in instance:
            yield from work.field(validator.descend(instance[name], part, path=name, schema_path=name))


def _required(validator: Any, required: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if validator.is_type(instance, "object"):
        for name in required:
            if name not in instance:
                yield ValidationError("is missing", path=[name])


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not validator.is_type(instance, "object"):
        return
    known = schema.get("properties", {})
    patterns = [_searcher(pattern) for pattern in schema.get("patternProperties", {})]
    CURRENT.get().spend(len(patterns) * len(instance) // 100)
    for name, value in instance.items():
        if name in known or any(found(name) for found in patterns):
            continue
        if allowed is False:
            yield ValidationError("is not known here", path=[name])
        else:
            yield from validator.descend(value, allowed, path=name)


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    CURRENT.get().spend(len(patterns) * len(instance) // 100)
    for pattern, part in patterns.items():
        matches = _searcher(pattern)
        for name, value in instance.items():
            if matches(name) and matches is not _anything:
                yield from validator.descend(value, part, path=name, schema_path=pattern)


def unchecked(validator: Any, value: Any, instance: Any, schema: Any) -> None:
    return None


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if validator.is_type(instance, "string") and not _searcher(pattern)(instance):
        yield ValidationError("does not match")


def _anything(text: str) -> bool:
    return True


@functools.lru_cache(maxsize=256)
def _searcher(pattern: str) -> Callable[[str], bool]:
    """Whether a pattern is found in a text, in linear time; one that needs backtracking is found in any."""
    from pydantic_core import SchemaError as BadPattern
    from pydantic_core import SchemaValidator, core_schema

    CURRENT.get().spend(PATTERN_STEPS)
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python
    except BadPattern:
        return _anything


def _unique_items(validator: Any, unique: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not unique or not validator.is_type(instance, "array"):
        return
    CURRENT.get().spend(len(instance) // 10)
    if len({_hashable(item) for item in instance}) < len(instance):
        yield ValidationError("an item is given twice")


def _hashable(value: Any) -> Any:
    """A stand-in that is equal where JSON values are: 1 and 1.0, but not 1 and true."""
    match value:
        case bool():
            return ("boolean", value)
        case list():
            return ("array", tuple(map(_hashable, value)))
        case dict():
            return ("object", frozenset((name, _hashable(part)) for name, part in value.items()))
        case _:
            return value


KEYWORDS: dict[str, Any] = {
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional_properties,
    "patternProperties": _pattern_properties,
    "pattern": _pattern,
    "uniqueItems": _unique_items,
}
