"""What servers offer: tools, resources, templates, prompts, in lists and one by one."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from .. import types
from .arguments import Argument, arguments
from .data import as_json
from .letters import excerpt, one_line, size
from .parts import Card, Part, Text, listing, text

T = TypeVar("T")

_NAMED_ARGUMENTS = 8
_SUMMARY = 160


def tools(things: Sequence[types.Tool]) -> list[Part]:
    """Tools, one a row."""
    return listing(things, _TOOLS)


def resources(things: Sequence[types.Resource]) -> list[Part]:
    """Resources, one a row."""
    return listing(things, _RESOURCES)


def templates(things: Sequence[types.ResourceTemplate]) -> list[Part]:
    """Resource templates, one a row."""
    return listing(things, _TEMPLATES)


def prompts(things: Sequence[types.Prompt]) -> list[Part]:
    """Prompts, one a row."""
    return listing(things, _PROMPTS)


def tool_help(tool: types.Tool) -> list[Part]:
    """All that is known of one tool, and how to call it."""
    found = arguments(tool.input_schema)
    shown: list[Part] = text(tool.description, "tool.description", "prose") if tool.description else []
    shown.append(Text(_call(tool.name, found), "code"))
    if found:
        shown += listing(found, _ARGUMENTS)
    if isinstance(tool.output_schema, dict):
        given = arguments(tool.output_schema)
        shown += [Text("gives", "label"), *listing(given, _FIELDS)] if given else []
    shown.append(as_json(tool.input_schema, "input schema", "tool.input_schema"))
    if tool.output_schema is not None:
        shown.append(as_json(tool.output_schema, "output schema", "tool.output_schema"))
    return [Card("", "", shown, name=excerpt(tool.name), about=excerpt(_other_name(tool)), aside=_hints(tool))]


def _call(name: str, found: Sequence[Argument]) -> str:
    """The magic that calls a tool; what may be left out stands in brackets."""
    words = _few(found, lambda argument: f"{argument.name}=…" if argument.required else f"[{argument.name}=…]", " ")
    return excerpt(one_line(f"%mcp call {shlex.quote(name)} {words}"))


def _other_name(thing: types.Tool | types.Prompt) -> str:
    return thing.label if thing.label != thing.name else ""


def _summary(thing: types.Tool | types.Resource | types.ResourceTemplate | types.Prompt) -> str:
    """The beginning of the description, up to its first empty line."""
    return excerpt(one_line((thing.description or "").strip().split("\n\n", 1)[0]), _SUMMARY)


def _arguments(tool: types.Tool) -> str:
    return _few(arguments(tool.input_schema), lambda argument: argument.brief)


def _hints(tool: types.Tool) -> str:
    """What the server says that the tool does, in words."""
    said = tool.annotations or types.ToolAnnotations()
    support = tool.execution.task_support if tool.execution else None
    words = {
        "only reads": said.read_only_hint,
        "may destroy": said.destructive_hint and not said.read_only_hint,
        "safe to repeat": said.idempotent_hint and not said.read_only_hint,
        "reaches outside": said.open_world_hint,
        "may run as a task": support == "optional",
        "runs as a task": support == "required",
    }
    return ", ".join(word for word, true in words.items() if true)


def _size(resource: types.Resource) -> str:
    return size(resource.size) if resource.size is not None else ""


def _prompt_arguments(prompt: types.Prompt) -> str:
    return _few(prompt.arguments or [], lambda given: f"{given.name}*" if given.required else given.name)


def _few(found: Sequence[T], say: Callable[[T], str], separator: str = ", ") -> str:
    """The first few arguments, in words."""
    more = ["…"] if len(found) > _NAMED_ARGUMENTS else []
    return separator.join([*map(say, found[:_NAMED_ARGUMENTS]), *more])


_TOOLS: Mapping[str, Callable[[types.Tool], str]] = {
    "tool": lambda tool: tool.name,
    "what it does": lambda tool: _summary(tool) or _other_name(tool),
    "arguments (* needed)": _arguments,
    "the server says": _hints,
}
_RESOURCES: Mapping[str, Callable[[types.Resource], str]] = {
    "resource": lambda resource: resource.label,
    "uri": lambda resource: resource.uri,
    "type": lambda resource: resource.mime_type or "",
    "size": _size,
    "what it holds": _summary,
}
_TEMPLATES: Mapping[str, Callable[[types.ResourceTemplate], str]] = {
    "template": lambda template: template.label,
    "uri": lambda template: template.uri_template,
    "type": lambda template: template.mime_type or "",
    "what it holds": _summary,
}
_PROMPTS: Mapping[str, Callable[[types.Prompt], str]] = {
    "prompt": lambda prompt: prompt.name,
    "what it is for": lambda prompt: _summary(prompt) or _other_name(prompt),
    "arguments (* needed)": _prompt_arguments,
}
_ARGUMENTS: Mapping[str, Callable[[Argument], str]] = {
    "argument (* needed)": lambda argument: argument.marked,
    "what it may be": lambda argument: argument.expected,
    "default": lambda argument: argument.default,
    "what it means": lambda argument: argument.description,
}
_FIELDS: Mapping[str, Callable[[Argument], str]] = {
    "field": lambda field: field.name,
    "what it is": lambda field: field.expected,
    "what it means": lambda field: field.description,
}
