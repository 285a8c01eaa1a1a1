"""The validators of `jsonschema`, bounded: no network, no endless or exponential work, no slow regular expressions.

A schema comes from a peer, so it may refer to itself, nest without end, or bear a pattern that a backtracking engine
never finishes. Each keyword that is applied costs steps; when those for a property, or all of them, are used up, what
is left of it goes unchecked (JSC-4).
"""

from __future__ import annotations

import functools
import importlib
import itertools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from ...visible import quote
from .dialects import DIALECTS
from .formats import format_checker
from .keywords import KEYWORDS, unchecked
from .work import CURRENT, Unchecked, Work

_Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]


def errors_of(validator: Any, value: Any, limit: int) -> list[Any]:
    """What jsonschema finds wrong with a value, within the bounds: at most `limit` of its `ValidationError`s."""
    found: list[Any] = []
    token = CURRENT.set(Work())
    try:
        found.extend(itertools.islice(_until_unchecked(validator.iter_errors(value)), limit))
    finally:
        CURRENT.reset(token)
    return found


def _until_unchecked(errors: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from errors
    except Unchecked:
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


def _bounded(keyword: _Keyword) -> _Keyword:
    def apply(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        work = CURRENT.get()
        work.nesting += 1
        try:
            work.spend(1 + (_size(value) + _size(instance)) // 100)
            yield from keyword(validator, value, instance, schema) or ()
        except (Unchecked, GeneratorExit):
            raise
        except Exception as error:
            # A schema too large to be checked itself may hold anything, and so may a value.
            from referencing.exceptions import Unresolvable

            if not isinstance(error, Unresolvable):
                raise Unchecked from error
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


@functools.cache
def _formats() -> Any:
    return format_checker()


@functools.cache
def _validator_class(name: str, names_by_pattern: bool) -> Any:
    import attrs

    jsonschema = _import_jsonschema()
    base = getattr(jsonschema, name)
    own = {**KEYWORDS, **({"unevaluatedProperties": unchecked} if names_by_pattern else {})}
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
