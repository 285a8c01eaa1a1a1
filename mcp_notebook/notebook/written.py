"""A call as one would write it: as a magic, and in Python."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..protocol.json_schema import coerce_text, properties_of
from ..render.letters import hides
from ..types import Tool

_KEY = re.compile(r"[A-Za-z_][\w.\-]*")
_PLAIN = re.compile(r"[\w@%+:,./][\w@%+:,./\-]*")


def as_magic(server: str, tool: Tool, arguments: Mapping[str, Any]) -> str:
    """`%mcp call …`; with the arguments as JSON in the cell where a line cannot hold them."""
    name = f"{server}.{tool.name}"
    words = _words(tool, arguments)
    if words is None or not _PLAIN.fullmatch(name):
        quoted = name if _PLAIN.fullmatch(name) else _single_quoted(name)
        return f"%%mcp call {quoted}\n{json.dumps(arguments, ensure_ascii=False, indent=2)}"
    return " ".join(["%mcp call", name, *words])


def as_python(server: str, tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The same with the client. Literals are Python's."""
    given = f", {dict(arguments)!r}" if arguments else ""
    return f"client = %mcp servers {server}\nresult = await client.call_tool({tool.name!r}{given})"


def as_words(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """The arguments alone, for a card's head."""
    words = _words(tool, arguments)
    return json.dumps(arguments, ensure_ascii=False) if words is None else " ".join(words)


def _words(tool: Tool, arguments: Mapping[str, Any]) -> list[str] | None:
    """The arguments as words; None where a name is none that can stand in a line."""
    if not all(map(_KEY.fullmatch, arguments)):
        return None
    properties = properties_of(tool.input_schema)
    return [_word(name, value, properties.get(name)) for name, value in arguments.items()]


def _word(name: str, value: Any, schema: dict[str, Any] | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if schema is not None and not isinstance(value, (list, dict)) and _reads_as(schema, text, value):
        if _PLAIN.fullmatch(text):
            return f"{name}={text}"
        if isinstance(value, str) and not re.search(r"['\n\t]", text) and not hides(text):
            return f"{name}={_single_quoted(text)}"
    return f"{name}:={json.dumps(value)}"


def _reads_as(schema: dict[str, Any], text: str, value: Any) -> bool:
    try:
        read = coerce_text(schema, text)
    except ValueError:
        return False
    return read == value and type(read) is type(value)


def _single_quoted(text: str) -> str:
    return f"'{text}'"
