"""The parameters of a function, with their annotations as types: however it is wrapped, wherever its types are."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from ..errors import SchemaError

MADE = 256
"""How much of each kind that was made of annotations is kept for the next function that has the same ones."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a function takes and gives. Annotations that are missing are `inspect.Parameter.empty`."""

    parameters: dict[str, inspect.Parameter]
    returns: Any
    local_names: dict[str, Any]
    """Names that types within those types may refer to, where the globals of their own modules do not have them."""


def innermost(function: Any) -> Any:
    """The plain function (or class, or built-in) that is called in the end."""
    while True:
        if isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, type) or inspect.isroutine(function):
            return function
        else:
            function = type(function).__call__


def read_parameters(
    function: Callable[..., Any], *, name: str, localns: Mapping[str, Any] | None, skip: Collection[str] = ()
) -> Parameters:
    """The parameters of a function and its return annotation, resolved.

    Args:
        function: a function, method, partial, or object that can be called; decorated or not.
        name: what errors call it.
        localns: the names where it was defined, such as the locals of an enclosing function.
        skip: parameters that are left as they are.

    Raises:
        SchemaError: it has no signature, or an annotation cannot be resolved.
    """
    try:
        signature = inspect.signature(function)
    except (NameError, TypeError, ValueError) as error:
        raise SchemaError(f"{name}: its parameters cannot be read: {error}.") from None
    names = _Names(innermost(function), localns)
    resolved = {
        key: parameter if key in skip else parameter.replace(annotation=names.resolve(parameter.annotation, name, key))
        for key, parameter in signature.parameters.items()
    }
    return Parameters(resolved, names.resolve(signature.return_annotation, name, "return"), names.local_names)


class _Names:
    """What the names in annotations stand for."""

    def __init__(self, function: Any, localns: Mapping[str, Any] | None) -> None:
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        self.global_names: dict[str, Any] = getattr(function, "__globals__", None) or (vars(module) if module else {})
        self.local_names = {one.__name__: one for one in getattr(function, "__type_params__", ())}
        self.local_names.update(localns or {})
        code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
        for key, cell in zip(code.co_freevars if code else (), cells, strict=False):
            try:
                self.local_names[key] = cell.cell_contents
            except ValueError:  # not assigned yet
                pass

    def resolve(self, annotation: Any, name: str, key: str) -> Any:
        if annotation is inspect.Parameter.empty:
            return annotation
        holder = types.SimpleNamespace(__annotations__={key: annotation})
        try:
            return typing.get_type_hints(holder, self.global_names, self.local_names, include_extras=True)[key]
        except Exception as error:
            what = "return annotation" if key == "return" else f"annotation of the parameter {key!r}"
            text = annotation if isinstance(annotation, str) else repr(annotation)
            raise SchemaError(
                f"{name}: the {what}, {text}, cannot be resolved ({type(error).__name__}: {error}). Define or import "
                "that name before the function (not under TYPE_CHECKING), or leave the annotation out.",
            ) from None


def unpacked(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type and the metadata that `Annotated` gives it."""
    if typing.get_origin(annotation) is Annotated:
        base, *metadata = typing.get_args(annotation)
        return base, tuple(metadata)
    return annotation, ()


def members(annotation: Any, containers: tuple[Any, ...] = ()) -> Iterator[Any]:
    """The types that an annotation allows: those within `Annotated`, unions and the given generic types, too."""
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        yield from members(typing.get_args(annotation)[0], containers)
    elif origin in (typing.Union, types.UnionType, *containers):
        for part in typing.get_args(annotation):
            yield from members(part, containers)
    else:
        yield annotation


def is_plain(annotation: Any) -> bool:
    """Whether an annotation is made of nothing but the types of JSON. Then it means the same wherever it stands, and
    its repr tells all of it."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return all(type(part) in (str, int, bool, type(None)) for part in parts)
    if origin in (typing.Union, types.UnionType, list, dict):
        return all(is_plain(part) for part in parts)
    return any(annotation is one for one in _PLAIN)


_PLAIN = (str, int, float, bool, None, type(None), Any, inspect.Parameter.empty)


def is_subclass(annotation: Any, classes: tuple[type, ...]) -> bool:
    """Whether an annotation is one of the classes, or derived from one."""
    found = typing.get_origin(annotation) or annotation
    return isinstance(found, type) and issubclass(found, classes)
