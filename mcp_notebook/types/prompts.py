"""Prompts."""

from __future__ import annotations

from .base import Forgiving, Model, Named, PaginatedResult, Result, Role
from .content import ContentBlock


class PromptArgument(Named):
    """One argument of a prompt; its value is always text."""

    description: str | None = None
    required: bool | None = None


class Prompt(Named):
    """Messages that a server has ready."""

    description: str | None = None
    arguments: Forgiving[PromptArgument] | None = None


class PromptMessage(Model):
    """One message."""

    role: Role
    content: ContentBlock


class ListPromptsResult(PaginatedResult):
    """One page of `prompts/list`."""

    prompts: Forgiving[Prompt]


class GetPromptResult(Result):
    """The answer to `prompts/get`."""

    description: str | None = None
    messages: list[PromptMessage]
