"""Searching what servers offer, by words in names, titles and descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..protocol.json_schema import properties_of
from ..render.letters import excerpt, one_line
from ..types import Prompt, Resource, ResourceTemplate, Tool
from ..visible import visible

_ABOUT = 120
_KINDS = {Tool: "tool", Resource: "resource", ResourceTemplate: "template", Prompt: "prompt"}


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that was found.

    Attributes:
        server: whose it is.
        item: the tool, resource, template or prompt.
    """

    server: str
    item: Any

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return _KINDS[type(self.item)]

    @property
    def about(self) -> str:
        """What it says of itself, in a line."""
        return excerpt(one_line(self.item.description or ""), _ABOUT)

    @property
    def attempt(self) -> str:
        """The line that tries it."""
        name = visible(self.item.name)
        match self.item:
            case Tool():
                return f"%mcp call {self.server}.{name}{_blanks(self.item)}"
            case Prompt():
                needed = [one.name for one in self.item.arguments or () if one.required]
                return f"%mcp prompt {self.server}.{name}{''.join(f' {visible(one)}=…' for one in needed)}"
            case Resource():
                return f"%mcp read {visible(self.item.uri)}"
            case _:
                return f"%mcp read {visible(self.item.uri_template)}"


def search(offers: Iterable[tuple[str, Sequence[Any]]], words: Sequence[str]) -> list[Hit]:
    """What holds all of the words, the best first: those with a word at the beginning of the name, then in it, then in
    the rest.

    Args:
        offers: servers by name, and what they offer.
        words: the words, of any case.
    """
    wanted = [word.lower() for word in words]
    found: list[tuple[int, Hit]] = []
    for server, items in offers:
        for item in items:
            name, rest = item.name.lower(), _rest(item)
            if all(word in name or word in rest for word in wanted):
                found.append((_rank(name, wanted), Hit(server, item)))
    found.sort(key=lambda one: one[0])  # keeps the servers' own order among equals
    return [hit for _, hit in found]


def _rank(name: str, words: Sequence[str]) -> int:
    if any(name.startswith(word) for word in words):
        return 0
    return 1 if any(word in name for word in words) else 2


def _rest(item: Any) -> str:
    uri = getattr(item, "uri", None) or getattr(item, "uri_template", None)
    return "\n".join(filter(None, (item.title, uri, item.description))).lower()


def _blanks(tool: Tool) -> str:
    required = tool.input_schema.get("required") if isinstance(tool.input_schema, dict) else None
    names = [name for name in properties_of(tool.input_schema) if isinstance(required, list) and name in required]
    return "".join(f" {visible(name)}=…" for name in names)
