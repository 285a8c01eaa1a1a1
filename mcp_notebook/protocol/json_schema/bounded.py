"""The validators of `jsonschema`, bounded: no network, no endless or exponential work, no slow regular expressions.

A schema comes from a peer, so it may refer to itself, nest without end, or bear a pattern that a backtracking engine
never finishes. Each keyword that is applied costs steps; when those of one property of the root, or all of them, are
used up, what is left of it goes unchecked (JSC-4).
"""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
import types
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from ...errors import SchemaError
from ...visible import quote
from .formats import format_checker

STEPS = 50_000
"""How many keywords may be applied in one check; a step takes some microseconds."""
FIELD_STEPS = 10_000
"""How many of them one property of the root may use."""
NESTING = 150
"""How many keywords may be open within each other."""
PATTERN_STEPS = 500
"""What compiling one pattern counts for."""

DIALECTS = {
    "json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "json-schema.org/draft-07/schema": "Draft7Validator",
    "json-schema.org/draft-06/schema": "Draft6Validator",
    "json-schema.org/draft-04/schema": "Draft4Validator",
}
"""The dialects that `$schema` may name (with http or https, with or without a final #), and their validators."""
DEFAULT_DIALECT = "json-schema.org/draft/2020-12/schema"


def dialect_of(schema: Any) -> str:
    """The dialect a schema is written in, as a key of DIALECTS (JSC-1).

    Raises:
        SchemaError: it declares another one.
    """
    declared = schema.get("$schema", DEFAULT_DIALECT) if isinstance(schema, dict) else DEFAULT_DIALECT
    name = declared.rstrip("#").removeprefix("https://").removeprefix("http://") if isinstance(declared, str) else ""
    if name not in DIALECTS:
        known = ", ".join(key.removeprefix("json-schema.org/").removesuffix("/schema") for key in DIALECTS)
        raise SchemaError(
            f"The JSON Schema dialect {quote(str(declared))} is not supported. Supported are {known}; "
            "without '$schema' it is draft/2020-12.",
            path="/$schema",
        )
    return name


def errors_of(validator: Any, value: Any, limit: int) -> list[Any]:
    """What jsonschema finds wrong with a value, within the bounds: at most `limit` of its `ValidationError`s."""
    found: list[Any] = []
    token = _work.set(_Work())
    try:
        found.extend(itertools.islice(_until_unchecked(validator.iter_errors(value)), limit))
    finally:
        _work.reset(token)
    return found


def _until_unchecked(errors: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from errors
    except _Unchecked:
        return


def make_validator(schema: Any, dialect: str, *, names_by_pattern: bool = False) -> Any:
    """A bounded validator.

    Args:
        schema: a valid schema.
        dialect: the dialect it is written in.
        names_by_pattern: whether it has `patternProperties` anywhere; then `unevaluatedProperties` goes unchecked, as
            jsonschema would search names by backtracking for it.
    """
    from referencing import Registry

    # A registry that retrieves nothing; jsonschema adds the metaschemas to it.
    found = _validator_class(DIALECTS[dialect], names_by_pattern)
    return found(schema, registry=Registry(), format_checker=_formats())


@functools.cache
def metaschema_validator(dialect: str) -> Any:
    """A bounded validator for the schemas of a dialect."""
    return make_validator(_validator_class(DIALECTS[dialect], False).META_SCHEMA, dialect)


# Work


class _Unchecked(Exception):
    """What comes here cannot be checked within the bounds."""


@dataclass(slots=True)
class _Work:
    steps: int = STEPS
    field_steps: int = FIELD_STEPS
    nesting: int = 0
    in_field: bool = False

    def spend(self, steps: int) -> None:
        self.steps -= steps
        self.field_steps -= steps
        if self.steps < 0 or self.field_steps < 0 or self.nesting > NESTING:
            raise _Unchecked

    def field(self, errors: Iterator[Any]) -> Iterator[Any]:
        """The errors of one property; one of the root has its own bound, and fails to be checked alone."""
        if self.in_field:
            yield from errors
            return
        self.in_field, self.field_steps = True, FIELD_STEPS
        try:
            yield from errors
        except _Unchecked:
            if self.steps < 0:
                raise
        finally:
            self.in_field, self.field_steps = False, FIELD_STEPS


_work: ContextVar[_Work] = ContextVar("_work")

_Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]


def _bounded(keyword: _Keyword) -> _Keyword:
    def apply(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        work = _work.get()
        work.nesting += 1
        try:
            work.spend(1 + (_size(value) + _size(instance)) // 100)
            yield from keyword(validator, value, instance, schema) or ()
        except (_Unchecked, GeneratorExit):
            raise
        except Exception as error:
            # A schema too large to be checked itself may hold anything, and so may a value.
            from referencing.exceptions import Unresolvable

            if not isinstance(error, Unresolvable):
                raise _Unchecked from error
            yield _unresolvable(value if isinstance(value, str) else error.ref)
        finally:
            work.nesting -= 1

    return apply


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (list, dict)) else 0


def _unresolvable(reference: Any) -> Any:
    from jsonschema import ValidationError

    return ValidationError(
        f"cannot be checked; its schema refers to {quote(str(reference))}, which it does not hold, "
        "and nothing is fetched for a schema"
    )


# Classes


@functools.cache
def _formats() -> Any:
    return format_checker()


@functools.cache
def _validator_class(name: str, names_by_pattern: bool) -> Any:
    import attrs

    jsonschema = _import_jsonschema()
    base = getattr(jsonschema, name)
    own = {**_OWN, **({"unevaluatedProperties": _unchecked} if names_by_pattern else {})}
    keywords = {**base.VALIDATORS, **{key: keyword for key, keyword in own.items() if key in base.VALIDATORS}}
    found = jsonschema.validators.extend(base, {key: _bounded(keyword) for key, keyword in keywords.items()})
    # The original `evolve` takes another class, without bounds, for a part of a schema that names a dialect.
    parts = [(field.name, field.alias) for field in attrs.fields(found) if field.init]

    def evolve(self: Any, **changes: Any) -> Any:
        for name, argument in parts:
            if argument not in changes:
                changes[argument] = getattr(self, name)
        return found(**changes)

    found.evolve = evolve
    return found


def _import_jsonschema() -> Any:
    """jsonschema, without a second and a half for a grammar that one of its formats uses.

    Where `rfc3987_syntax` is installed (Jupyter brings it), importing jsonschema makes it build a parser, although only
    the formats "iri" and "iri-reference" ever ask for it. A module that loads it when it is asked stands in meanwhile.
    """
    name = "rfc3987_syntax"
    if name in sys.modules or "jsonschema" in sys.modules:
        return importlib.import_module("jsonschema")
    stand_in = types.ModuleType(name)

    def is_valid_syntax(term: str, value: str) -> bool:
        return importlib.import_module(name).is_valid_syntax(term, value)

    stand_in.is_valid_syntax = is_valid_syntax  # pyright: ignore[reportAttributeAccessIssue]
    sys.modules[name] = stand_in
    try:
        return importlib.import_module("jsonschema")
    finally:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]


# Keywords of our own: bounded per property, linear in time, or with an error for each name


def _properties(validator: Any, properties: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    work = _work.get()
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
    _work.get().spend(len(patterns) * len(instance) // 100)
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
    _work.get().spend(len(patterns) * len(instance) // 100)
    for pattern, part in patterns.items():
        matches = _searcher(pattern)
        for name, value in instance.items():
            if matches(name) and matches is not _anything:
                yield from validator.descend(value, part, path=name, schema_path=pattern)


def _unchecked(validator: Any, value: Any, instance: Any, schema: Any) -> None:
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

    _work.get().spend(PATTERN_STEPS)
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python
    except BadPattern:
        return _anything


def _unique_items(validator: Any, unique: Any, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if not unique or not validator.is_type(instance, "array"):
        return
    _work.get().spend(len(instance) // 10)
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


_OWN: dict[str, Any] = {
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional_properties,
    "patternProperties": _pattern_properties,
    "pattern": _pattern,
    "uniqueItems": _unique_items,
}
