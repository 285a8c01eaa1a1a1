"""What completion knows of a line that is being written, and where it gets its suggestions from, in a short time."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ...errors import MCPError
from ...protocol.json_schema import allowed_values, properties_of
from ...render.letters import hides
from ...types import PromptReference, ResourceTemplateReference, Tool
from .. import kept
from ..interpolation import Names
from ..words import Word
from ..workspace import Kind, Workspace
from .naming import Found, offered

T = TypeVar("T")

_PLAIN = re.compile(r"[^\s'\"\\${}]+")
SECONDS = 0.4
"""How long a suggestion is waited for, in all. Whoever presses Tab looks at the cursor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completing:
    """A line that is being written.

    Attributes:
        workspace: the connections.
        names: the variables of the notebook.
        words: the words between the command and the one at the cursor, without options.
        current: the word at the cursor as it stands so far; "" where a new one begins.
    """

    workspace: Workspace
    names: Names
    words: Sequence[Word]
    current: str
    _until: float = field(default_factory=lambda: time.monotonic() + SECONDS)

    def soon(self, coroutine: Coroutine[Any, Any, T]) -> T | None:
        """What comes of a coroutine on the background loop, if it does within the time that is left."""
        return self.workspace.soon(coroutine, max(0.0, self._until - time.monotonic()))

    def offered(self, kind: Kind) -> list[Found]:
        """What the connected servers offer."""
        return self.soon(offered(self.workspace, kind)) or []

    def kept(self) -> list[str]:
        """The servers that run on from before."""
        return kept.names(self.workspace.place, max(0.1, self._until - time.monotonic()))

    def names_of(self, kind: Kind) -> Iterable[str]:
        """The names of tools or prompts: alone where only one server has it, and behind the server's name."""
        found = [one for one in self.offered(kind) if writable(one.item.name)]
        alone = [one.item.name for one in found]
        return [*(name for name in alone if alone.count(name) == 1), *(one.full_name for one in found)]

    def found(self, kind: Kind) -> Found | None:
        """The tool or prompt that the first word names."""
        name = self.words[0].raw if self.words else ""
        matching = [one for one in self.offered(kind) if name in (one.item.name, one.full_name)]
        return matching[0] if matching else None

    def given(self) -> Mapping[str, str]:
        """The `key=value` words so far."""
        return {word.key: "".join(map(str, word.pieces)) for word in self.words if word.key}

    @property
    def key(self) -> str | None:
        """The key whose value is being written; None where it is the key itself, or something else."""
        key, equals, _ = self.current.partition("=")
        return key if equals else None

    def keys(self, names: Iterable[str]) -> Iterable[str]:
        """`key=` for the names that are not given yet."""
        return [f"{name}=" for name in names if name not in self.given() and writable(name)]

    def values(self, values: Iterable[str]) -> Iterable[str]:
        """Values of the key that is being written; none with a line break or a character that cannot be seen."""
        return [f"{self.key}={shlex.quote(value)}" for value in values if "\n" not in value and not hides(value)]

    def suggested(self, found: Found, of: PromptReference | ResourceTemplateReference) -> Iterable[str]:
        """What the server suggests as the value of the key that is being written."""
        key, _, value = self.current.partition("=")
        return self.values(self.soon(_suggested(found, of, key, value, self.given())) or [])


def writable(name: str) -> bool:
    """Whether a server's word can stand in a line as it is. One with a line break, a quotation, or an expression in it
    would be something else there than a word, and that is not to come of a Tab."""
    return _PLAIN.fullmatch(name) is not None and not hides(name)


async def _suggested(found: Found, of: Any, key: str, value: str, others: Mapping[str, str]) -> list[str]:
    try:
        return (await found.member.client.complete(of, key, value, others=others)).values
    except MCPError:
        return []


def complete_arguments(completing: Completing, tool: Tool) -> Iterable[str]:
    """The arguments of a tool, and the values that its schema names for them."""
    if completing.key is None:
        return completing.keys(properties_of(tool.input_schema))
    values = allowed_values(tool.input_schema, completing.key)
    return completing.values(value if isinstance(value, str) else json.dumps(value) for value in values)
