"""Saying in plain words what a schema expects, and what is wrong with a value."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...visible import quote, visible
from .reading import choices, inlined, variants

if TYPE_CHECKING:
    from jsonschema import ValidationError

_SHOWN = 10
"""How many alternatives are written out."""
_LENGTH = 60
"""How many characters of a value are quoted."""
_DEPTH = 3

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


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a value: where, and a sentence on what is wrong and what would be right."""

    path: tuple[str | int, ...]
    """The names and indices that lead to the place; () for the value itself."""
    message: str

    @property
    def pointer(self) -> str:
        """The place as a JSON pointer, such as `/stops/0/city`."""
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.path)

    @property
    def where(self) -> str:
        """The place for people, such as `stops[0].city`."""
        steps = (f"[{step}]" if isinstance(step, int) else f".{visible(step[:_LENGTH])}" for step in self.path)
        return "".join(steps).removeprefix(".")

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.path else self.message


def show(value: Any) -> str:
    """A JSON value in at most a line."""
    if isinstance(value, str):
        return quote(value, _LENGTH)
    if isinstance(value, (list, dict)) and len(value) > _SHOWN:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value):,} items"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return visible(text[:_LENGTH] + ("…" if len(text) > _LENGTH else ""))


def either(words: list[str]) -> str:
    """The words joined by commas and "or", each once."""
    once = list(dict.fromkeys(words))
    if len(once) > _SHOWN:
        return ", ".join(once[:_SHOWN]) + f" or one of {len(once) - _SHOWN:,} more"
    return ", ".join(once[:-1]) + " or " + once[-1] if len(once) > 1 else "".join(once)


def did_you_mean(given: Any, known: list[Any]) -> str:
    """A hint at the nearest of the known names, led by a semicolon; "" where none is near."""
    names = [name for name in known if isinstance(name, str)]
    if not isinstance(given, str) or len(given) > 100 or len(names) > 1000:
        return ""
    lowered = {name.lower(): name for name in names}
    near = difflib.get_close_matches(given.lower(), lowered, n=1)
    return f"; did you mean {quote(lowered[near[0]], _LENGTH)}?" if near else ""


# What a schema expects


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
        words += f" that matches {quote(schema['pattern'], _LENGTH)}"
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
        parts = [_noun(part, depth + 1) if isinstance(part, dict) else "a value" for part in prefix[:_SHOWN]]
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
    names = [quote(name, _LENGTH) for name in required if isinstance(name, str)] if isinstance(required, list) else []
    if not names:
        return "an object"
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"an object with {', '.join(names[:_SHOWN])}{more}"


# What is wrong with a value


def problems_of(error: ValidationError, root: Any) -> Iterator[Problem]:
    """The problems that one error of jsonschema stands for.

    Args:
        error: the error.
        root: the schema that references are resolved in for the words.
    """
    likely = _likely_variant(error) if error.validator in ("anyOf", "oneOf") else []
    if not likely:
        yield Problem(tuple(error.absolute_path), _MESSAGES.get(str(error.validator), _misfit)(error, root))
    for within in likely:
        yield from problems_of(within, root)


def _likely_variant(error: ValidationError) -> list[ValidationError]:
    """The errors of the one variant that the value was meant for; [] where that is not plain."""
    by_variant: dict[Any, list[ValidationError]] = {}
    for within in error.context or ():
        if within.schema_path:  # a variant that is `false` has no path, and is never meant
            by_variant.setdefault(within.schema_path[0], []).append(within)
    meant = [errors for errors in by_variant.values() if not _fails(errors, 0, "type", "const", "enum")]
    if len(meant) > 1:  # objects of several kinds: a constant inside them tells which is meant
        meant = [errors for errors in meant if not _fails(errors, 1, "const", "enum")]
    return meant[0] if len(meant) == 1 else []


def _fails(errors: list[ValidationError], depth: int, *keywords: str) -> bool:
    return any(len(error.path) == depth and error.validator in keywords for error in errors)


def _expected(error: ValidationError, root: Any) -> str:
    if error.validator in ("anyOf", "oneOf") and error.context:
        # An error of the variant itself holds the schema that its references led to.
        led_to = {each.schema_path[0]: each.schema for each in error.context if each.schema_path and not each.path}
        return either(
            [describe(led_to.get(index, part), root) for index, part in enumerate(_list(error.validator_value))]
        )
    return describe(error.schema, root)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _told(wrong: Callable[[Any], str]) -> Callable[[ValidationError, Any], str]:
    """A message of two parts: what is wrong with the value, and what its schema expects."""
    return lambda error, root: f"{wrong(error.instance)}; {_expected(error, root)} is expected"


def given(value: Any) -> str:
    """What a value is, as the beginning of a sentence."""
    match value:
        case str():
            return f"{show(value)} is text"
        case bool() | None:
            return f"{show(value)} is not accepted"
        case int() | float():
            return f"{show(value)} is a number"
        case list():
            return "a list is given"
        case _:
            return "an object is given"


def _missing(error: ValidationError, root: Any) -> str:
    properties = error.schema.get("properties") if isinstance(error.schema, dict) else None
    name = error.path[-1]
    expected = describe(properties[name], root) if isinstance(properties, dict) and name in properties else "a value"
    return f"missing; {expected} is expected"


def _unknown(error: ValidationError, root: Any) -> str:
    properties = error.schema.get("properties") if isinstance(error.schema, dict) else None
    known = list(properties) if isinstance(properties, dict) else []
    hint = did_you_mean(error.path[-1], known) if known else ""
    if not hint:
        hint = f"; known here: {', '.join(quote(name, _LENGTH) for name in known[:_SHOWN])}" if known else ""
        hint += f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
    return f"there is no such name here{hint}"


def _not_chosen(error: ValidationError, root: Any) -> str:
    value, known = error.instance, choices(error.schema) if isinstance(error.schema, dict) else None
    return f"{show(value)} is not accepted; {_expected(error, root)} is expected{did_you_mean(value, known or [])}"


def _no_variant(error: ValidationError, root: Any) -> str:
    if not error.context:
        return f"{show(error.instance)} fits several variants where it must fit exactly one"
    known = [value for within in error.context if within.validator == "enum" for value in _list(within.validator_value)]
    hint = did_you_mean(error.instance, known)
    return f"{show(error.instance)} is not accepted; {_expected(error, root)} is expected{hint}"


def _dependent(error: ValidationError, root: Any) -> str:
    needs = error.validator_value if isinstance(error.validator_value, dict) else {}
    for name, needed in needs.items():
        for other in needed if name in error.instance and isinstance(needed, list) else ():
            if other not in error.instance:
                return f"{quote(str(other), _LENGTH)} is needed together with {quote(name, _LENGTH)}"
    return _misfit(error, root)


_misfit = _told(lambda value: f"{show(value)} does not fit")
_too_small = _told(lambda value: f"{show(value)} is too small")
_too_large = _told(lambda value: f"{show(value)} is too large")
_too_few = _told(lambda value: f"{len(value):,} is too few")
_too_many = _told(lambda value: f"{len(value):,} is too many")

_MESSAGES: dict[str, Callable[[ValidationError, Any], str]] = {
    "None": lambda error, root: "nothing is accepted here",
    "type": _told(given),
    "required": _missing,
    "additionalProperties": _unknown,
    "unevaluatedProperties": lambda error, root: "it has names that are not known here",
    "unevaluatedItems": lambda error, root: "it has more items than are known here",
    "enum": _not_chosen,
    "const": _not_chosen,
    "anyOf": _no_variant,
    "oneOf": _no_variant,
    "not": lambda error, root: f"{show(error.instance)} is not accepted here",
    "minimum": _too_small,
    "exclusiveMinimum": _too_small,
    "maximum": _too_large,
    "exclusiveMaximum": _too_large,
    "minLength": _told(lambda value: f"{show(value)} is too short"),
    "maxLength": _told(lambda value: f"{show(value)} is too long"),
    "pattern": _told(lambda value: f"{show(value)} does not match"),
    "format": _told(lambda value: f"{show(value)} has not the right form"),
    "items": _too_many,
    "minItems": _too_few,
    "minProperties": _too_few,
    "maxItems": _too_many,
    "maxProperties": _too_many,
    "uniqueItems": _told(lambda value: "an item is given twice"),
    "contains": lambda error, root: f"no item is {describe(error.validator_value, root)}",
    "dependentRequired": _dependent,
    "dependencies": _dependent,
    "$ref": lambda error, root: error.message,
    "$dynamicRef": lambda error, root: error.message,
    "$recursiveRef": lambda error, root: error.message,
}
