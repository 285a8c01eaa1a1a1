"""Values that a person typed as text, as the JSON values that a schema asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic_core import from_json

from ...visible import quote
from .reading import choices, inlined, variants
from .words import describe, did_you_mean

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?")
_DIGITS = 1_000
"""A number with more is not read as one."""
_TYPES = ("null", "boolean", "integer", "number", "array", "object", "string")
_NOTHING = object()
"""What a reader gives for a text it does not read."""


def coerce_text(schema: Any, text: str) -> Any:
    """The value that a text stands for, such as the `3` of `count=3`, by the schema of the argument.

    Where the schema allows text and something else, the something else wins if the text is written like it: by
    `str | None` the text `null` is None, by `int | str` the text `10` is a number, but `007` stays text. Where the
    schema allows only text, it stays as it is. Where the schema does not say, numbers, true, false, null, lists and
    objects are read as JSON, and all else stays text. Lists and objects are written as JSON. Bounds and formats are not
    judged here: that is for `Validator`.

    Args:
        schema: the argument's schema. Its references are resolved within itself.
        text: what was typed.

    Raises:
        ValueError: the text is nothing that the schema allows; the message says what would be.
    """
    schema = inlined(schema)
    alternatives = list(_alternatives(schema))
    for read, stands_for in _READERS:
        for alternative in filter(stands_for, alternatives):
            value = read(alternative, text)
            if value is not _NOTHING:
                return value
    known = [value for alternative in alternatives for value in choices(alternative) or ()]
    as_json = ", written as JSON," if any(a.get("type") in ("array", "object") for a in alternatives) else ""
    hint = did_you_mean(text, known)
    raise ValueError(f"{quote(text, 60)} is not accepted; {describe(schema)}{as_json} is expected{hint}")


def _alternatives(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema as alternatives that each have one type at most."""
    members = variants(schema)
    types = schema.get("type")
    if choices(schema) is None and members:
        for member in members:
            yield from _alternatives(member)
    elif choices(schema) is None and isinstance(types, list):
        yield from ({**schema, "type": name} for name in types)
    else:
        yield schema


def _of_type(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda schema: choices(schema) is None and schema.get("type") == name


def _choice(schema: dict[str, Any], text: str) -> Any:
    allowed = choices(schema) or []
    if text in allowed:
        return text
    value = _json(schema, text)
    return next((each for each in allowed if each == value and type(each) is type(value)), _NOTHING)


def _null(schema: dict[str, Any], text: str) -> Any:
    return None if text == "null" else _NOTHING


def _boolean(schema: dict[str, Any], text: str) -> Any:
    return {"true": True, "false": False}.get(text.lower(), _NOTHING)


def _number(schema: dict[str, Any], text: str) -> Any:
    if len(text) > _DIGITS or not _NUMBER.fullmatch(text):
        return _NOTHING
    if text.lstrip("+-").isdecimal():
        return int(text)
    value = float(text)
    return _NOTHING if value in (float("inf"), float("-inf")) else value


def _integer(schema: dict[str, Any], text: str) -> Any:
    value = _number(schema, text)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else _NOTHING


def _array(schema: dict[str, Any], text: str) -> Any:
    value = _json(schema, text)
    return value if isinstance(value, list) else _NOTHING


def _object(schema: dict[str, Any], text: str) -> Any:
    value = _json(schema, text)
    return value if isinstance(value, dict) else _NOTHING


def _json(schema: dict[str, Any], text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return _NOTHING


def _json_or_text(schema: dict[str, Any], text: str) -> Any:
    value = _json(schema, text)
    return text if value is _NOTHING or isinstance(value, str) else value


_READERS: list[tuple[Callable[[dict[str, Any], str], Any], Callable[[dict[str, Any]], bool]]] = [
    (_choice, lambda schema: choices(schema) is not None),
    (_null, _of_type("null")),
    (_boolean, _of_type("boolean")),
    (_integer, _of_type("integer")),
    (_number, _of_type("number")),
    (_array, _of_type("array")),
    (_object, _of_type("object")),
    (_json_or_text, lambda schema: choices(schema) is None and schema.get("type") not in _TYPES),
    (lambda schema, text: text, _of_type("string")),
]
"""How text is read for each kind of schema; the first that reads it wins."""
