"""`client.tools`: the server's tools as Python functions, with signatures, help and completion."""

from __future__ import annotations

import difflib
import inspect
import keyword
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..limits import DISPLAY_LIMITS
from ..protocol.json_schema import properties_of, required_of
from ..render.letters import excerpt, legible, line, one_line
from ..types import Tool

if TYPE_CHECKING:
    from .calls import CallHandle
    from .client import Client

_PYTHON_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": None,
}


class Tools:
    """The tools of a client, as attributes (`client.tools.add`) and by name (`client.tools["get-sum"]`)."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __getattr__(self, name: str) -> ToolFunction:
        if name.startswith(("__", "_repr_", "_ipython_")):
            raise AttributeError(name)
        tools = self._client.known_tools()
        if tools is None:
            return ToolFunction(self._client, Tool(name=name))  # not listed yet: the server will say
        for tool in tools.values():
            if tool.name == name or python_name(tool.name) == name:
                return ToolFunction(self._client, tool)
        raise AttributeError(unknown_name("tool", name, tools, self._client.name))

    def __getitem__(self, name: str) -> ToolFunction:
        tools = self._client.known_tools()
        if tools is None:
            return ToolFunction(self._client, Tool(name=name))
        if name not in tools:
            raise KeyError(unknown_name("tool", name, tools, self._client.name))
        return ToolFunction(self._client, tools[name])

    def __iter__(self) -> Iterator[ToolFunction]:
        return (ToolFunction(self._client, tool) for tool in (self._client.known_tools() or {}).values())

    def __len__(self) -> int:
        return len(self._client.known_tools() or {})

    def __contains__(self, name: object) -> bool:
        return name in (self._client.known_tools() or {})

    def __dir__(self) -> list[str]:
        return [python_name(name) for name in self._client.known_tools() or {}]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._client.known_tools() or {})

    def __repr__(self) -> str:
        names = one_line(legible(", ".join(self._client.known_tools() or {})))
        return f"<tools of {self._client.name}: {excerpt(names, DISPLAY_LIMITS.line) or 'none'}>"


class ToolFunction:
    """One tool as a function: calling it begins the call, and gives its `CallHandle`."""

    def __init__(self, client: Client, tool: Tool) -> None:
        self._client = client
        self.tool = tool
        self.__name__ = self.__qualname__ = python_name(tool.name)
        self.__doc__ = documentation(tool)
        self.__signature__ = signature(tool)

    def __call__(self, /, *args: Any, **kwargs: Any) -> CallHandle:
        arguments = self.__signature__.bind(*args, **kwargs).arguments
        for parameter in self.__signature__.parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                arguments |= arguments.pop(parameter.name, {})
        own = properties_of(self.tool.input_schema)
        names = {**{python_name(name): name for name in own}, **{name: name for name in own}}
        return self._client.begin_call(self.tool.name, {names.get(key, key): value for key, value in arguments.items()})

    def __repr__(self) -> str:
        return f"<tool {line(self.tool.name)}{self.__signature__} of {self._client.name}>"


def python_name(name: str) -> str:
    """The name as a Python identifier: `get-sum` becomes `get_sum`."""
    word = re.sub(r"\W", "_", name)
    if not word or word[0].isdigit():
        word = f"_{word}"
    return f"{word}_" if keyword.iskeyword(word) else word


def signature(tool: Tool) -> inspect.Signature:
    """The signature that a tool's input schema tells of; what the schema does not name is taken by keyword."""
    schema = tool.input_schema
    properties, required = properties_of(schema), required_of(schema)
    names = sorted(properties, key=lambda name: name not in required)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(
            python_name(name),
            kind,
            annotation=_annotation(properties[name]),
            default=inspect.Parameter.empty if name in required else _default(properties[name]),
        )
        for name in names
    ]
    more = _is_open(schema)
    taken = {parameter.name for parameter in parameters}
    if len(taken) < len(parameters):
        parameters, more = [], True  # two names look alike in Python: take all by their own names
    if more:
        name = "kwargs" if "kwargs" not in taken else "more_kwargs"
        parameters.append(inspect.Parameter(name, inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _is_open(schema: Any) -> bool:
    """Whether a schema plainly wants more than it names. (That it does not forbid more says nothing.)"""
    if not isinstance(schema, dict):
        return schema is not False
    return bool(schema.get("additionalProperties", "properties" not in schema))


def documentation(tool: Tool) -> str:
    """The help text of a tool, nothing hidden in it."""
    lines = [tool.description or f"The tool {tool.name!r}."]
    properties = properties_of(tool.input_schema)
    if properties:
        lines += ["", "Args:"]
        lines += [f"    {python_name(name)}: {_about(schema)}" for name, schema in properties.items()]
    lines += ["", "Returns:", "    A CallHandle: await it, or ask for its .result()."]
    return legible("\n".join(lines))


def unknown_name(what: str, name: str, known: Any, server: str) -> str:
    """What to say of a name that is not there."""
    close = difflib.get_close_matches(name, [python_name(one) for one in known] + list(known), n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"{server} has no {what} {name!r}.{hint}"


def _annotation(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return inspect.Parameter.empty
    kind = schema.get("type")
    return _PYTHON_TYPES.get(kind, inspect.Parameter.empty) if isinstance(kind, str) else inspect.Parameter.empty


def _default(schema: Any) -> Any:
    return schema["default"] if isinstance(schema, dict) and "default" in schema else None


def _about(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "anything"
    text = str(schema.get("description") or schema.get("title") or schema.get("type") or "anything")
    choices = schema.get("enum")
    return f"{text} (one of {', '.join(map(repr, choices[:10]))})" if isinstance(choices, list) else text
