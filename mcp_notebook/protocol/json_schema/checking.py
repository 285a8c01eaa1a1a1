"""Judging: whether a schema is one, and whether a value fits it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pydantic_core import from_json, to_json

from ...errors import SchemaError
from .bounded import errors_of, make_validator, metaschema_validator
from .dialects import dialect_of
from .problems import Problem, problems_of
from .quick import quick_yes
from .words import show

_CACHED = 256 * 1024
"""Larger schemas (bytes of JSON) are compiled anew for each `Validator`."""


def check_schema(schema: Any) -> None:
    """See that a JSON Schema is valid in the dialect it declares, or in 2020-12 (JSC-1, JSC-3).

    Args:
        schema: JSON data. References are not followed: one that leads nowhere fails the values it stands for (JSC-4).

    Raises:
        SchemaError: it is not, or its dialect is not supported; `path` says where in the schema.
    """
    if not isinstance(schema, (dict, bool)):
        raise SchemaError(f"A JSON Schema is an object, or true or false; not {show(schema)}.")
    metaschema = metaschema_validator(dialect_of(schema))
    for error in errors_of(metaschema, schema, 1):
        problem = next(problems_of(error, metaschema.schema))
        raise SchemaError(f"This is not a valid JSON Schema. {problem}", path=problem.pointer)


class Validator:
    """Judges values by a schema. Compiled once for each schema, however often it is made.

    Args:
        schema: JSON data; None accepts everything, like true and {}.

    Raises:
        SchemaError: as `check_schema`.
    """

    def __init__(self, schema: Any) -> None:
        try:
            text = to_json(True if schema is None else schema)
        except ValueError as error:
            raise _no_json(error) from None
        make = _compiled if len(text) <= _CACHED else _compiled.__wrapped__
        self._validator, self._quick_yes = make(text)

    def errors(self, value: Any, limit: int = 20) -> list[Problem]:
        """What is wrong with a value; [] if nothing, or if it cannot be told within the bounds of `work`.

        Args:
            value: JSON data.
            limit: how many problems are wanted at most.
        """
        if self._quick_yes is not None and self._quick_yes(value):
            return []
        root = self._validator.schema
        found = [problem for error in errors_of(self._validator, value, limit) for problem in problems_of(error, root)]
        return list(dict.fromkeys(found))[:limit]


@functools.lru_cache(maxsize=64)
def _compiled(text: bytes) -> tuple[Any, Callable[[Any], bool] | None]:
    try:
        schema = from_json(text)
    except ValueError as error:  # it reads less deeply nested JSON than can be written
        raise _no_json(error) from None
    check_schema(schema)
    validator = make_validator(schema, dialect_of(schema), names_by_pattern=b'"patternProperties"' in text)
    return validator, quick_yes(schema)


def _no_json(error: ValueError) -> SchemaError:
    return SchemaError(f"This schema cannot be told as JSON: {error}")
