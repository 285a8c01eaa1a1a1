"""Who talks, and what each side can do."""

from __future__ import annotations

from typing import Any

from .base import Model, Named, Result


class Implementation(Named):
    """The name and version of a client or server: self-reported, for show only."""

    version: str = ""
    description: str | None = None
    website_url: str | None = None


class _Capabilities(Model):
    experimental: dict[str, Any] | None = None
    extensions: dict[str, Any] | None = None
    tasks: dict[str, Any] | None = None


class ClientCapabilities(_Capabilities):
    """What a client can do for its servers; each is an object, empty where there is nothing more to say."""

    resumable_requests: dict[str, Any] | None = None
    streams: dict[str, Any] | None = None
    roots: dict[str, Any] | None = None
    sampling: dict[str, Any] | None = None
    elicitation: dict[str, Any] | None = None


class ServerCapabilities(_Capabilities):
    """What a server offers; each is an object, empty where there is nothing more to say."""

    logging: dict[str, Any] | None = None
    completions: dict[str, Any] | None = None
    prompts: dict[str, Any] | None = None
    resources: dict[str, Any] | None = None
    tools: dict[str, Any] | None = None


class InitializeParams(Model):
    """How a client of the handshake revisions opens."""

    protocol_version: str
    capabilities: ClientCapabilities
    client_info: Implementation


class InitializeResult(Result):
    """How the server answers."""

    protocol_version: str
    capabilities: ServerCapabilities
    server_info: Implementation
    instructions: str | None = None
