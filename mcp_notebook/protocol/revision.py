"""One protocol revision as data, and what two sides agreed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from ..errors import UnsupportedFeature
from ..types import ClientCapabilities, Implementation, LoggingLevel, ServerCapabilities

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
    polling: bool = False
    """Whether a server may close an SSE stream before all is said, since the client comes back for the rest; each
    stream begins with an event id for that (SEP-1699)."""
    questions: Literal["pushed", "returned"] = "pushed"
    """How a server asks its client: by requests of its own, or by results that ask for more."""
    changes: Literal["pushed", "listened"] = "pushed"
    """How a client hears of changes: unasked (and of resources it subscribed to), or on `subscriptions/listen`."""
    log_level: Literal["session", "request"] = "session"
    """Where the level of log lines is set: by `logging/setLevel`, or in each request, which else gets none."""
    result_types: frozenset[str] = frozenset({"complete"})
    """The values of `resultType`."""
    cacheable: frozenset[str] = frozenset()
    """Methods whose results say how long they may be kept."""
    http_statuses: Mapping[int, int] = field(default_factory=dict)
    """JSON-RPC error code -> the HTTP status of a response that holds nothing else."""
    headers: bool = False
    """Whether HTTP headers repeat what the body says, and are checked against it."""
    tasks: tuple[str, ...] = ()
    """The forms of tasks that it has (`protocol.extensions.TASKS`), the one to be preferred first."""
    sessions: bool = True
    """Whether a connection, or a session, is one client's."""
    url_required: int | None = None
    """The error code for what needs a URL to be visited first; None: it has no such error."""
    resource_not_found: int = -32002
    missing_capability: int | None = None
    """The error code for what needs a capability that the client did not declare; None: no code of its own."""

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
    log_level: LoggingLevel | None = None
    """The level that one request asked for, where the revision has it there."""

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
            raise UnsupportedFeature(
                self._lacks("The client", method, method in self.revision.server_requests),
                capabilities=required(self.revision.needs.get(method)),
            )

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


def required(path: Path | None) -> dict[str, Any]:
    """A capabilities object that holds just this path."""
    needed: dict[str, Any] = {}
    for key in reversed(path or ()):
        needed = {key: needed}
    return needed


def _has(capabilities: ClientCapabilities | ServerCapabilities, path: Path | None) -> bool:
    if path is None:
        return True
    value = getattr(capabilities, path[0], None)
    for key in path[1:]:
        value = value.get(key) if isinstance(value, dict) else None
    return value is not None and value is not False
