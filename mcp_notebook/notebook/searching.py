"""Searching what servers offer, by words in names, titles and descriptions, and in the names of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..protocol.json_schema import required_of
from ..render.letters import excerpt, one_line
from ..types import Prompt, Resource, Tool
from ..visible import visible
from .workspace import KINDS, OFFERS, Kind

_ABOUT = 120


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that can be found.

    Attributes:
        server: whose it is.
        item: the tool, resource, template or prompt.
        name: what it is called, in lower case: made once, since thousands are searched at each letter.
        rest: what else it says of itself, in lower case.
        arguments: what its arguments are called, in lower case.
    """

    server: str
    item: Any
    name: str
    rest: str
    arguments: str

    @property
    def kind(self) -> Kind:
        """What it is one of."""
        return next(kind for kind in KINDS if isinstance(self.item, OFFERS[kind].form))

    @property
    def noun(self) -> str:
        """What it is, in a word."""
        return OFFERS[self.kind].noun

    @property
    def about(self) -> str:
        """What it says of itself, in a line."""
        return excerpt(one_line(self.item.description or ""), _ABOUT)

    @property
    def address(self) -> str:
        """Where it is, if it is something to be read."""
        return _address(self.item)

    def holds(self, text: str) -> bool:
        """Whether a text in lower case stands in what it is called, or in what it says of itself."""
        return text in self.name or text in self.rest

    def is_of(self, item: Any) -> bool:
        """Whether something is what was found, or what has come in its place."""
        mine = type(self.item), _address(self.item) or self.item.name
        return mine == (type(item), _address(item) or item.name)

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


def hits_of(server: str, items: Sequence[Any]) -> list[Hit]:
    """What can be found of a server's.

    Args:
        server: what it is called.
        items: what it offers.
    """
    return [Hit(server, item, item.name.lower(), _rest(server, item), _arguments(item)) for item in items]


def search(offers: Iterable[Hit], words: Sequence[str]) -> list[Hit]:
    """What holds all of the words, the best first: those with a word at the beginning of the name, then in it, then in
    the rest, then those that hold a word only in the names of their arguments.

    Args:
        offers: what can be found.
        words: the words, of any case.
    """
    wanted = [word.lower() for word in words]
    found: tuple[list[Hit], ...] = ([], [], [], [])  # each keeps the servers' own order
    for hit in offers:
        name, rest = hit.name, hit.rest
        for word in wanted:  # a loop, not `all(…)`: it takes a third of the time
            if word not in name and word not in rest and word not in hit.arguments:
                break
        else:
            found[_rank(hit, wanted)].append(hit)
    return [hit for hits in found for hit in hits]


def _rank(hit: Hit, words: Sequence[str]) -> int:
    name, best = hit.name, 2
    for word in words:
        if word in name:
            if name.startswith(word):
                return 0
            best = 1
        elif best == 2 and word not in hit.rest:
            best = 3
    return best


def _rest(server: str, item: Any) -> str:
    return "\n".join(filter(None, (f"{server}.{item.name}", item.title, _address(item), item.description))).lower()


def _arguments(item: Any) -> str:
    """Of a tool those that its schema names at once: thousands are looked at."""
    match item:
        case Tool(input_schema={"properties": dict(properties)}):
            return "\n".join(map(str, properties)).lower()
        case Prompt(arguments=[*arguments]):
            return "\n".join(one.name for one in arguments).lower()
    return ""


def _address(item: Any) -> str:
    return getattr(item, "uri", None) or getattr(item, "uri_template", None) or ""


def _blanks(tool: Tool) -> str:
    return "".join(f" {visible(name)}=…" for name in required_of(tool.input_schema))
