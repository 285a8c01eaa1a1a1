"""One protocol revision as data, and what two sides agreed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..errors import UnsupportedFeature
from ..types import ClientCapabilities, Implementation, ServerCapabilities

Era: TypeAlias = Literal["handshake", "modern"]
"""Handshake revisions open with `initialize`; modern ones carry their metadata in every request."""

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What is particular to one revision. A new difference becomes a new field here, never a branch elsewhere."""

    name: str
    """The date that is its name on the wire."""
    era: Era
    client_requests: frozenset[str]
    """Methods that a client may ask for."""
    server_requests: frozenset[str]
    """Methods that a server may ask for."""
    client_capabilities: frozenset[str]
    server_capabilities: frozenset[str]
    needs: Mapping[str, Path]
    """Method -> the capability of the answering side that it needs, as a path into the capabilities object."""
    content_types: frozenset[str]
    """Content blocks it knows; others are told as text."""
    omit: Mapping[str, Any] = field(default_factory=dict)
    """Method -> fields of its result that the revision lacks, in the form of pydantic's `exclude`."""
    structured_output: bool = True
    """Whether tools have an output schema and structured content."""
    elicitation_modes: frozenset[str] = frozenset()
    sampling_tools: bool = False
    """Whether sampling knows tools, and lists of content blocks."""
    batches: bool = False
    """Whether several messages may come as one JSON array."""
    resource_not_found: int = -32002

    def __repr__(self) -> str:
        return f"<Revision {self.name}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What two sides agreed on: the revision folded with both sides' capabilities. Nobody asks further which it was."""

    revision: Revision
    client: ClientCapabilities
    server: ServerCapabilities
    client_info: Implementation
    server_info: Implementation
    instructions: str | None = None

    def server_has(self, method: str) -> bool:
        """Whether the server declared what this method needs."""
        return method in self.revision.client_requests and _has(self.server, self.revision.needs.get(method))

    def client_has(self, method: str) -> bool:
        """Whether the client declared what this method needs."""
        return method in self.revision.server_requests and _has(self.client, self.revision.needs.get(method))

    def check_server(self, method: str) -> None:
        """Raise UnsupportedFeature unless the server has this method."""
        if not self.server_has(method):
            raise UnsupportedFeature(self._lacks("The server", method, method in self.revision.client_requests))

    def check_client(self, method: str) -> None:
        """Raise UnsupportedFeature unless the client has this method."""
        if not self.client_has(method):
            raise UnsupportedFeature(self._lacks("The client", method, method in self.revision.server_requests))

    def elicitation_modes(self) -> frozenset[str]:
        """The modes of elicitation that the client can show: "form", "url"; an empty object means form (URL-1)."""
        declared = self.client.elicitation
        if declared is None:
            return frozenset()
        modes = {mode for mode in ("form", "url") if declared.get(mode) is not None} or {"form"}
        return self.revision.elicitation_modes & modes

    def _lacks(self, who: str, method: str, known: bool) -> str:
        if not known:
            return f"Protocol revision {self.revision.name} has no {method!r}; {who.lower()} cannot be asked for it."
        capability = ".".join(self.revision.needs[method])
        return f"{who} did not declare the capability {capability!r}, which {method!r} needs."


def _has(capabilities: ClientCapabilities | ServerCapabilities, path: Path | None) -> bool:
    if path is None:
        return True
    value = getattr(capabilities, path[0], None)
    for key in path[1:]:
        value = value.get(key) if isinstance(value, dict) else None
    return value is not None and value is not False
