"""`typing.TypedDict` before Python 3.12, which pydantic refuses there. To be deleted with the support of 3.11.

Pydantic asks for the TypedDict of typing_extensions instead, since that keeps its bases. People write the usual import,
so each such class that an annotation leads to is told to be read as a twin of the other kind.
"""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Mapping
from typing import Any

import typing_extensions

_HOOK = "__get_pydantic_core_schema__"


def make_readable(annotation: Any, names: Mapping[str, Any]) -> None:
    """Let pydantic read the TypedDicts of the standard library that an annotation leads to.

    Args:
        annotation: a type, resolved.
        names: what their own annotations may refer to, where the globals of their modules do not have it.
    """
    if sys.version_info < (3, 12):
        _visit(annotation, dict(names), set())


def _visit(annotation: Any, names: dict[str, Any], seen: set[int]) -> None:
    if id(annotation) in seen:
        return
    seen.add(id(annotation))
    for part in typing.get_args(annotation):
        _visit(part, names, seen)
    has_fields = typing_extensions.is_typeddict(annotation) or hasattr(annotation, "_fields")
    if not isinstance(annotation, type) or not (has_fields or dataclasses.is_dataclass(annotation)):
        return
    try:
        # As pydantic does: what the class's own module says comes first.
        known = {**names, **vars(sys.modules[annotation.__module__])}
        hints = typing.get_type_hints(annotation, localns=known, include_extras=True)
    except Exception:
        return  # pydantic resolves more, and says what it cannot
    for hint in hints.values():
        _visit(hint, names, seen)
    if type(annotation).__module__ == "typing" and _HOOK not in vars(annotation):
        twin = _twin(annotation, hints)
        setattr(annotation, _HOOK, lambda source, handler: handler.generate_schema(twin))


def _twin(original: Any, hints: dict[str, Any]) -> Any:
    fields = {}
    for key, hint in hints.items():
        qualified = typing_extensions.get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired)
        required = key in original.__required_keys__
        qualifier = typing_extensions.Required if required else typing_extensions.NotRequired
        fields[key] = hint if qualified else qualifier[hint]
    twin = typing_extensions.TypedDict(original.__name__, fields)  # pyright: ignore[reportArgumentType]
    for attribute in ("__doc__", "__module__", "__qualname__", "__pydantic_config__"):
        if hasattr(original, attribute):
            setattr(twin, attribute, getattr(original, attribute))
    return twin
