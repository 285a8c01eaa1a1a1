"""Suggestions for arguments: from a function of the author's, or from the values that a type allows."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from ..protocol.json_schema import allowed_values
from .output import completions
from .registry import Complete
from .running import is_async

if TYPE_CHECKING:
    from .context import Context


def as_completer(function: Callable[..., Any], limiter: anyio.CapacityLimiter) -> Complete:
    """A completer of a function `(value)` or `(value, other_arguments)`, synchronous or asynchronous."""
    takes_others = len(inspect.signature(function).parameters) > 1

    async def suggest(value: str, others: dict[str, str], context: Context) -> list[str]:
        work = functools.partial(function, value, others) if takes_others else functools.partial(function, value)
        if is_async(function):
            return completions(await work())
        return completions(await anyio.to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True))

    return suggest


def from_schema(schema: dict[str, Any]) -> Iterator[tuple[str, Complete]]:
    """Completers for the properties of a schema that allow only some values."""
    for name in schema.get("properties", {}):
        values = allowed_values(schema, name)
        if values:
            yield name, functools.partial(_starting_with, values)


async def _starting_with(values: list[Any], value: str, others: dict[str, str], context: Context) -> list[str]:
    texts = [text if isinstance(text, str) else str(text).lower() for text in values]
    return [text for text in texts if text.lower().startswith(value.lower())]
