"""Which value is displayed how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import Any

from .. import types
from ..errors import MCPError
from ..limits import DISPLAY_LIMITS
from . import as_html, as_text, content, things
from .data import data
from .failures import failure
from .parts import Part, Text, text

_LISTS: dict[type, Callable[[Sequence[Any]], list[Part]]] = {
    types.Tool: things.tools,
    types.Resource: things.resources,
    types.ResourceTemplate: things.templates,
    types.Prompt: things.prompts,
    Part: list,
}
"""How a list is displayed whose items are all of one class."""


def mimebundle(value: Any) -> dict[str, Any]:
    """A value as `text/html` and `text/plain`, which say the same.

    Args:
        value: anything of `mcp_notebook.types` that comes as an answer, a list of such things, an `MCPError`, JSON
            data, one or more `Part`s, or what was added with `parts_of.register`.
    """
    parts = parts_of(value)
    return {"text/html": as_html.document(parts), "text/plain": as_text.document(parts)}


@singledispatch
def parts_of(value: Any) -> list[Part]:
    """What the display of a value consists of."""
    return text(repr(value), "repr(value)")


@parts_of.register
def _(value: Part) -> list[Part]:
    return [value]


@parts_of.register
def _(value: MCPError) -> list[Part]:
    return failure(value)


@parts_of.register
def _(value: types.Model) -> list[Part]:
    return data(value.wire(), "the value itself")


@parts_of.register
def _(value: types.CallToolResult) -> list[Part]:
    return content.call_result(value)


@parts_of.register
def _(value: types.ReadResourceResult) -> list[Part]:
    return content.read_result(value)


@parts_of.register
def _(value: types.GetPromptResult) -> list[Part]:
    return content.prompt_result(value)


@parts_of.register
def _(value: types.CompleteResult) -> list[Part]:
    found = value.completion
    shown = found.values[: DISPLAY_LIMITS.rows]
    total = max(found.total or 0, len(found.values))
    parts: list[Part] = [Text("\n".join(shown) if shown else "(no suggestions)", "mono" if shown else "note")]
    if total > len(shown):
        parts.append(Text(f"… {total - len(shown):,} more of {total:,}", "note"))
    elif found.has_more:
        parts.append(Text("… and more", "note"))
    return parts


@parts_of.register
def _(value: types.Tool) -> list[Part]:
    return things.tool_help(value)


@parts_of.register(types.Resource)
@parts_of.register(types.ResourceTemplate)
@parts_of.register(types.Prompt)
def _(value: Any) -> list[Part]:
    return parts_of([value])


@parts_of.register
def _(value: list) -> list[Part]:
    if not value:
        return [Text("(an empty list)", "note")]
    for kind, listed in _LISTS.items():
        if all(isinstance(item, kind) for item in value):
            return listed(value)
    return data(value, "the value itself")


@parts_of.register(dict)
@parts_of.register(int)
@parts_of.register(float)
@parts_of.register(type(None))
def _(value: Any) -> list[Part]:
    return data(value, "the value itself")


@parts_of.register
def _(value: str) -> list[Part]:
    return text(value, "the value itself")
