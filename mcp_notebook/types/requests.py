"""The parameters of what a client asks."""

from __future__ import annotations

from typing import Any

from .base import Cursor, WithMeta
from .completion import CompletionArgument, CompletionContext, Reference
from .notifications import LoggingLevel


class PageParams(WithMeta):
    """Which page of a list; none for the first."""

    cursor: Cursor | None = None


class Retryable(WithMeta):
    """A request that may be made again with answers to what its first answer asked (modern revisions)."""

    input_responses: dict[str, Any] | None = None
    request_state: str | None = None


class CallToolParams(Retryable):
    """`tools/call`."""

    name: str
    arguments: dict[str, Any] | None = None


class ResourceParams(WithMeta):
    """`resources/subscribe`, `resources/unsubscribe`."""

    uri: str


class ReadResourceParams(Retryable):
    """`resources/read`."""

    uri: str


class GetPromptParams(Retryable):
    """`prompts/get`."""

    name: str
    arguments: dict[str, str] | None = None


class CompleteParams(WithMeta):
    """`completion/complete`."""

    ref: Reference
    argument: CompletionArgument
    context: CompletionContext | None = None


class SetLevelParams(WithMeta):
    """`logging/setLevel`."""

    level: LoggingLevel
