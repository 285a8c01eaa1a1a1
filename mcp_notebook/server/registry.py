"""What a server offers: tools, resources, templates, prompts, completions, by name and in order."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ProtocolError, SchemaError
from ..jsonrpc import INVALID_PARAMS
from ..protocol.headers import Annotated, annotated
from ..protocol.resuming import ResumeTerms
from ..protocol.tasks import Support
from ..types import Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool
from .uri_template import UriTemplate

if TYPE_CHECKING:
    from .context import Context

Run = Callable[[Any, "Context"], Coroutine[Any, Any, Any]]
"""Runs a handler with its (raw) arguments and its context, and gives what the protocol answers with."""
Complete = Callable[[str, dict[str, str], "Context"], Awaitable[list[str]]]
"""Suggests values: what stands there so far, and the other arguments."""
Kind = str
"""What a list_changed notification speaks of: "tools", "resources" or "prompts"."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A thing of the protocol, and what runs for it."""

    item: Any
    run: Run
    asks: bool = True
    """Whether its handler could ask the client something: it takes the running call."""
    headers: Annotated = field(default_factory=dict)
    """The arguments that HTTP headers repeat."""
    resume: ResumeTerms | None = None
    """What is promised to clients that can resume; None where it is not resumable."""
    task: Support = "forbidden"
    """Whether it can, or must, be called as a task."""
    late_task: bool = False
    """Whether its handler says when that begins, where it may."""


_HOLDERS: dict[Kind, tuple[str, ...]] = {
    "tools": ("tools",),
    "resources": ("resources", "templates"),
    "prompts": ("prompts",),
}
"""Where the things of each list are kept."""


@dataclass(slots=True)
class Registry:
    """Everything a server offers. `on_changed` is told which list changed."""

    on_changed: Callable[[Kind], None]
    tools: dict[str, Entry] = field(default_factory=dict)
    resources: dict[str, Entry] = field(default_factory=dict)
    templates: dict[str, Entry] = field(default_factory=dict)
    prompts: dict[str, Entry] = field(default_factory=dict)
    completions: dict[tuple[str, str], Complete] = field(default_factory=dict)
    _patterns: dict[str, UriTemplate] = field(default_factory=dict)

    def add_tool(
        self,
        tool: Tool,
        run: Run,
        *,
        asks: bool = True,
        resume: ResumeTerms | None = None,
        task: Support = "forbidden",
        late_task: bool = False,
    ) -> None:
        """Offer a tool; one of the same name is replaced."""
        entry = Entry(tool, run, asks, annotated(tool.input_schema), resume, task, late_task)
        self._put(self.tools, tool.name, entry, "tools")

    def add_resource(self, resource: Resource, run: Run) -> None:
        """Offer a resource; one of the same URI is replaced."""
        self._put(self.resources, resource.uri, Entry(resource, run), "resources")

    def add_template(self, template: ResourceTemplate, run: Run) -> None:
        """Offer a family of resources; one of the same template is replaced."""
        self._patterns[template.uri_template] = UriTemplate(template.uri_template)
        self._put(self.templates, template.uri_template, Entry(template, run), "resources")

    def add_prompt(self, prompt: Prompt, run: Run) -> None:
        """Offer a prompt; one of the same name is replaced."""
        self._put(self.prompts, prompt.name, Entry(prompt, run), "prompts")

    def remove(self, kind: Kind, name: str) -> None:
        """No longer offer something.

        Raises:
            KeyError: there is none of that name.
        """
        for holder in _HOLDERS[kind]:
            if getattr(self, holder).pop(name, None) is not None:
                self.on_changed(kind)
                return
        raise KeyError(name)

    def take_over(self, other: Registry) -> None:
        """Offer what another registry offers, in place of all that was offered so far. What changed is told once."""
        changed = [kind for kind in _HOLDERS if self._offers(kind) != other._offers(kind)]
        for holder in ("tools", "resources", "templates", "prompts", "completions", "_patterns"):
            setattr(self, holder, getattr(other, holder))
        for kind in changed:
            self.on_changed(kind)

    async def read(self, uri: str, context: Context) -> ReadResourceResult:
        """Read a resource, listed or of a template.

        Raises:
            ProtocolError: there is none of that URI.
        """
        entry = self.resources.get(uri)
        if entry is not None:
            return await entry.run((uri, {}), context)
        for name, pattern in self._patterns.items():
            variables = pattern.match(uri)
            if variables is not None and name in self.templates:
                return await self.templates[name].run((uri, variables), context)
        raise ProtocolError(context.profile.revision.resource_not_found, f"Resource not found: {uri}", {"uri": uri})

    def _offers(self, kind: Kind) -> list[list[Any]]:
        return [items(getattr(self, holder).values()) for holder in _HOLDERS[kind]]

    def _put(self, holder: dict[str, Entry], name: str, entry: Entry, kind: Kind) -> None:
        if not name:
            raise SchemaError(f"Nothing can be offered under an empty name ({kind}).")
        holder[name] = entry
        self.on_changed(kind)


Found = TypeVar("Found")


def find(holder: dict[str, Found], name: str, what: str) -> Found:
    """The entry of that name.

    Raises:
        ProtocolError: there is none (VAL-2); the text says which names are close.
    """
    try:
        return holder[name]
    except KeyError:
        close = difflib.get_close_matches(name, list(holder), n=3) if len(holder) <= 1000 else []  # more take too long
        hint = f". Did you mean {' or '.join(close)}?" if close else ""
        raise ProtocolError(INVALID_PARAMS, f"Unknown {what}: {name}{hint}") from None


def items(holder: Iterable[Entry]) -> list[Any]:
    """The things themselves, without what runs for them."""
    return [entry.item for entry in holder]
