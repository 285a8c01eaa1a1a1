"""Elicitation: a server asks a person."""

from __future__ import annotations

from typing import Any, Literal

from .base import Result, WithMeta


class ElicitParams(WithMeta):
    """What a server asks: a form of `requested_schema`, or (mode "url") a visit to `url`."""

    mode: Literal["form", "url"] = "form"
    message: str
    requested_schema: dict[str, Any] | None = None
    url: str | None = None
    elicitation_id: str | None = None


class ElicitResult(Result):
    """What the person did; `content` has the form's values where it was accepted."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None
