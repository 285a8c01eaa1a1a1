"""The arguments of a call as its card shows them, folded away. What may be secret stays out of a saved notebook."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..client import CallHandle
from ..limits import DISPLAY_LIMITS
from ..render.data import data
from ..render.parts import Fold, Part
from .words import Expression, Word

HIDDEN = "(hidden)"
_SECRET = re.compile(
    r"passw|passphrase|pwd|secret|token|(?:api|access|private)[_-]?key|credential|authorization", re.IGNORECASE
)


def as_written(words: Iterable[Word], names: Iterable[str]) -> dict[str, str]:
    """The arguments that Python values stand in, as they were typed: the values themselves are not in the notebook.

    Args:
        words: the words of the line.
        names: all arguments of it; those that no word gives are of a dict among the words.
    """
    python = [word for word in words if any(isinstance(piece, Expression) for piece in word.pieces)]
    whole = [word.raw for word in python if not word.key]
    shown = {name: f"{whole[-1]}[{name!r}]" for name in names} if whole else {}
    shown = {name: text for name, text in shown.items() if all(name != word.key for word in words)}
    return shown | {word.key: word.raw.removeprefix(word.key + word.operator) for word in python if word.key}


def shown_arguments(handle: CallHandle) -> Mapping[str, Any]:
    """What cards show of a call's arguments."""
    if handle.written is not None:
        return handle.written
    return handle.arguments if handle.arguments_known else {}


def is_secret(name: str) -> bool:
    """Whether what goes by this name may be secret."""
    return _SECRET.search(name) is not None


def without_secrets(arguments: Mapping[str, Any], depth: int = DISPLAY_LIMITS.depth) -> dict[str, Any]:
    """The same with nothing under names such as `password`, nor below so many levels, where nobody looks for them."""
    return {name: HIDDEN if is_secret(str(name)) else _inside(value, depth - 1) for name, value in arguments.items()}


def _inside(value: Any, depth: int) -> Any:
    if not isinstance(value, (Mapping, list)) or not value:
        return value
    if depth <= 0:
        return HIDDEN
    return without_secrets(value, depth) if isinstance(value, Mapping) else [_inside(one, depth - 1) for one in value]


def folded(arguments: Mapping[str, Any]) -> list[Part]:
    """Arguments, to be unfolded; plain text goes without them."""
    return [Fold("arguments", data(without_secrets(arguments), "arguments"), repeats=True)] if arguments else []
