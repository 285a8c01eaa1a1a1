"""Saying in plain words what is wrong with a value, and what would be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...visible import quote, visible
from .reading import choices
from .words import LENGTH, SHOWN, describe, did_you_mean, either, show

if TYPE_CHECKING:
    from jsonschema import ValidationError


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
        steps = (f"[{step}]" if isinstance(step, int) else f".{visible(step[:LENGTH])}" for step in self.path)
        return "".join(steps).removeprefix(".")

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.path else self.message


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
        hint = f"; known here: {', '.join(quote(name, LENGTH) for name in known[:SHOWN])}" if known else ""
        hint += f" and {len(known) - SHOWN:,} more" if len(known) > SHOWN else ""
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
                return f"{quote(str(other), LENGTH)} is needed together with {quote(name, LENGTH)}"
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
