"""Python values in a magic's line: looking them up, and making JSON of them."""

from __future__ import annotations

import json
import os
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from .brief import CommandError, hinted
from .words import Expression, Word


class Names(Mapping[str, Any]):
    """What names in a line stand for.

    Args:
        spaces: the namespaces, the innermost first.
    """

    def __init__(self, *spaces: Mapping[str, Any]) -> None:
        self._spaces = spaces
        self._all: Mapping[str, Any] = ChainMap(*spaces)  # pyright: ignore[reportArgumentType]

    def __getitem__(self, name: str) -> Any:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def with_values(self, values: Mapping[str, Any]) -> Names:
        """The same, with further names that come first."""
        return Names(values, *self._spaces)

    def visible(self) -> list[str]:
        """The names that people gave."""
        return [name for name in self if not name.startswith("_")]

    def evaluate(self, expression: Expression) -> Any:
        """The value of an expression. `$name` is a variable of the notebook, or else of the environment.

        Raises:
            CommandError: it has none.
        """
        if expression.name:
            return self._named(expression.source)
        try:
            return eval(compile(expression.source, str(expression), "eval"), dict(self))
        except Exception as error:
            raise CommandError(
                f"{expression} has no value: {type(error).__name__}: {error}. Braces hold a Python expression; single "
                "quotes around them make them plain text."
            ) from error

    def _named(self, source: str) -> Any:
        """What `$name.attribute` stands for; where a value has no such attribute, the rest is text: `$folder.zip`."""
        name, *attributes = source.split(".")
        value = self[name] if name in self else self._from_environment(name)
        for at, attribute in enumerate(attributes):
            if not hasattr(value, attribute):
                return ".".join([str(value), *attributes[at:]])
            value = getattr(value, attribute)
        return value

    def text(self, word: Word) -> str:
        """A whole word as text, with its expressions' values in it."""
        return f"{word.key}{word.operator}{self.value_text(word)}"

    def value_text(self, word: Word) -> str:
        """What stands after `key=`, as text. Raises CommandError."""
        text = "".join(piece if isinstance(piece, str) else str(self.evaluate(piece)) for piece in word.pieces)
        if word.open_brace and not _is_json(text):
            raise CommandError(
                f"In {word.raw} a brace holds neither JSON nor a Python expression. For a Python dict write "
                "{{'key': value}}, and for the text itself put it in single quotes."
            )
        return text

    def _from_environment(self, name: str) -> str:
        try:
            return os.environ[name]
        except KeyError:
            missing = f"${name} has no value: there is no variable {name!r}, neither here nor in the environment"
            raise CommandError(
                f"{hinted(missing, name, self.visible())} For the text itself write it in single quotes: '${name}'."
            ) from None


def as_json(value: Any) -> Any:
    """A Python value as JSON data: what Python writes as such, dataclasses, pydantic models, dates, enums, sets, bytes
    (as base64), data frames (as a list of records), arrays.

    Raises:
        CommandError: it cannot be told as JSON.
    """
    try:
        return to_jsonable_python(value, bytes_mode="base64", inf_nan_mode="null", fallback=_by_its_methods)
    except (PydanticSerializationError, ValueError) as error:
        raise CommandError(
            f"A value of type {type(value).__name__} cannot be passed as JSON: {error}. Pass its parts, as numbers, "
            "text, lists and dicts."
        ) from None


_METHODS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("to_json", lambda frame: json.loads(frame.to_json(orient="records", date_format="iso"))),  # pandas
    ("to_dicts", lambda frame: frame.to_dicts()),  # polars
    ("tolist", lambda array: array.tolist()),  # numpy, and what behaves like it
)
"""How the values of libraries that may not be there are told: by the first of these methods that they have."""


def _by_its_methods(value: Any) -> Any:
    for name, told in _METHODS:
        if callable(getattr(value, name, None)):
            return told(value)
    raise ValueError(f"there is no JSON for {type(value).__name__}")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
