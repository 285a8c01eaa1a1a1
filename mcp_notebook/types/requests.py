"""The parameters of what a client asks."""

from __future__ import annotations

from typing import Any

from .base import Cursor, WithMeta
from .completion import CompletionArgument, CompletionContext, Reference
from .notifications import LoggingLevel


class PageParams(WithMeta):
    """Which page of a list; none for the first."""

    cursor: Cursor | None = None


class CallToolParams(WithMeta):
    """`tools/call`."""

    name: str
    arguments: dict[str, Any] | None = None


class ResourceParams(WithMeta):
    """`resources/read`, `resources/subscribe`, `resources/unsubscribe`."""

    uri: str


class GetPromptParams(WithMeta):
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
