"""Saying in plain words what a schema expects."""

from __future__ import annotations

import difflib
import json
from typing import Any

from ...visible import quote, visible
from .reading import choices, inlined, variants

SHOWN = 10
"""How many alternatives are written out."""
LENGTH = 60
"""How many characters of a value are quoted."""
_DEPTH = 3
_COMPARED = 200
"""With how many names one is compared; alike ones take long."""

_FORMATS = {
    "date": "a date such as 2025-12-31",
    "date-time": "a date and time such as 2025-12-31T18:00:00Z",
    "time": "a time such as 18:00:00",
    "duration": "a duration such as PT1H30M",
    "email": "an email address",
    "uri": "a URI such as https://example.org/",
    "uuid": "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "path": "a file path",
    "decimal": "a decimal number as text",
}


def show(value: Any) -> str:
    """A JSON value in at most a line."""
    if isinstance(value, str):
        return quote(value, LENGTH)
    if isinstance(value, (list, dict)) and len(value) > SHOWN:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value):,} items"
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError):  # nested too deeply, or no JSON
        text = "this value"
    return visible(text[:LENGTH] + ("…" if len(text) > LENGTH else ""))


def either(words: list[str]) -> str:
    """The words joined by commas and "or", each once."""
    once = list(dict.fromkeys(words))
    if len(once) > SHOWN:
        return ", ".join(once[:SHOWN]) + f" or one of {len(once) - SHOWN:,} more"
    return ", ".join(once[:-1]) + " or " + once[-1] if len(once) > 1 else "".join(once)


def did_you_mean(given: Any, known: list[Any]) -> str:
    """A hint at the nearest of the known names, led by a semicolon; "" where none is near."""
    if not isinstance(given, str) or len(given) > LENGTH:
        return ""
    lowered = {name.lower(): name for name in known[:_COMPARED] if isinstance(name, str) and len(name) <= LENGTH}
    near = difflib.get_close_matches(given.lower(), lowered, n=1)
    return f"; did you mean {quote(lowered[near[0]], LENGTH)}?" if near else ""


def describe(schema: Any, within: Any = None) -> str:
    """What a schema expects, as a noun: "a whole number from 1 to 9", "one of 'a' or 'b'", "text, or null".

    Args:
        schema: the schema; a broken one gives fewer words, never an error.
        within: the whole schema that its references are resolved in; itself by default.
    """
    return _noun(inlined(schema, within), 0)


def _noun(schema: dict[str, Any], depth: int) -> str:
    named = choices(schema)
    if named is not None:
        words = either([show(value) for value in named]) or "nothing"
        return f"one of {words}" if len(named) > 1 else words
    members = variants(schema)
    if members and depth < _DEPTH:
        return _union(members, depth)
    kind = schema.get("type")
    if isinstance(kind, list):
        return either([_of_type(name, schema, depth) for name in kind if isinstance(name, str)]) or "a value"
    return _of_type(kind, schema, depth)


def _union(members: list[dict[str, Any]], depth: int) -> str:
    constants = [choices(member) for member in members]
    if all(constants):
        values = [value for named in constants for value in named or ()]
        return _noun({"enum": values}, depth)
    return either([_noun(member, depth + 1) for member in members])


def _of_type(kind: Any, schema: dict[str, Any], depth: int) -> str:
    match kind:
        case "integer":
            return "a whole number" + _range(schema)
        case "number":
            return "a number" + _range(schema)
        case "string":
            return _text(schema)
        case "boolean":
            return "true or false"
        case "null":
            return "null"
        case "array":
            return _array(schema, depth)
        case "object":
            return _object(schema)
        case _:
            guess = next((kind for key, kind in _TYPE_BY_KEYWORD.items() if key in schema), None)
            return _of_type(guess, schema, depth) if guess else "a value"


_TYPE_BY_KEYWORD = {
    "properties": "object",
    "required": "object",
    "items": "array",
    "prefixItems": "array",
    "minItems": "array",
    "maxItems": "array",
    "uniqueItems": "array",
    "pattern": "string",
    "format": "string",
    "minLength": "string",
    "maxLength": "string",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
}
"""What a schema without a type speaks of."""


def _range(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    words = []
    if low is not None and high is not None:
        words.append(f"from {show(low)} to {show(high)}")
    elif low is not None:
        words.append(f"of at least {show(low)}")
    elif high is not None:
        words.append(f"of at most {show(high)}")
    if isinstance(above, (int, float)) and above is not True:
        words.append(f"above {show(above)}")
    if isinstance(below, (int, float)) and below is not True:
        words.append(f"below {show(below)}")
    if "multipleOf" in schema:
        words.append(f"that is a multiple of {show(schema['multipleOf'])}")
    return "".join(" " + word for word in words)


def _text(schema: dict[str, Any]) -> str:
    words = _FORMATS.get(str(schema.get("format")), "text")
    if schema.get("contentEncoding") in ("base64", "base64url"):
        words = "base64 text"
    words += _count(schema.get("minLength"), schema.get("maxLength"), "character")
    if isinstance(schema.get("pattern"), str):
        words += f" that matches {quote(schema['pattern'], LENGTH)}"
    return words


def _count(low: Any, high: Any, unit: str) -> str:
    plural = unit + "s"
    if low is not None and high is not None:
        return f" of {show(low)} {plural}" if low == high else f" of {show(low)} to {show(high)} {plural}"
    if low is not None:
        return f" of at least {show(low)} {unit if low == 1 else plural}"
    if high is not None:
        return f" of at most {show(high)} {unit if high == 1 else plural}"
    return ""


def _array(schema: dict[str, Any], depth: int) -> str:
    prefix = schema.get("prefixItems")
    if isinstance(prefix, list) and depth < _DEPTH:
        parts = [_noun(part, depth + 1) if isinstance(part, dict) else "a value" for part in prefix[:SHOWN]]
        return f"a list of {', then '.join(parts)}"
    words = "a list" + _count(schema.get("minItems"), schema.get("maxItems"), "item")
    if schema.get("uniqueItems") is True:
        words += " without repetitions"
    items = schema.get("items")
    if isinstance(items, dict) and items and depth < _DEPTH:
        words += f" (each {_noun(items, depth + 1)})"
    return words


def _object(schema: dict[str, Any]) -> str:
    required = schema.get("required")
    names = [quote(name, LENGTH) for name in required if isinstance(name, str)] if isinstance(required, list) else []
    if not names:
        return "an object"
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"an object with {', '.join(names[:SHOWN])}{more}"
