"""What is told without being asked."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

from .base import ProgressToken, WithMeta

LoggingLevel: TypeAlias = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
LOGGING_LEVELS: tuple[LoggingLevel, ...] = get_args(LoggingLevel)
"""From the least to the most severe (RFC 5424)."""


class Progress(WithMeta):
    """How far a request has come; `progress` and `total` have the unit the server chose."""

    progress_token: ProgressToken | None = None
    progress: float
    total: float | None = None
    message: str | None = None


class LogMessage(WithMeta):
    """A line for the log; `data` is any JSON, most often text."""

    level: LoggingLevel
    logger: str | None = None
    data: Any = None


class ResourceUpdated(WithMeta):
    """A subscribed resource changed."""

    uri: str
