"""Tools."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .base import Forgiving, Model, Named, PaginatedResult, Result
from .content import ContentBlock

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "additionalProperties": False}
"""The input schema of a tool without parameters (JSC-2)."""


class ToolAnnotations(Model):
    """Hints about what a tool does. They are the server's own word, and not to be trusted alone."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class ToolExecution(Model):
    """How a tool may be run: `task_support` says whether as a task."""

    task_support: Literal["forbidden", "optional", "required"] | None = None


class Tool(Named):
    """Something a server can do. `input_schema` is a JSON Schema; None where the server gave none."""

    description: str | None = None
    input_schema: dict[str, Any] | bool | None = None
    output_schema: dict[str, Any] | bool | None = None
    annotations: ToolAnnotations | None = None
    execution: ToolExecution | None = None

    @property
    def label(self) -> str:
        """What to call it before people."""
        return self.title or (self.annotations.title if self.annotations else None) or self.name


class ListToolsResult(PaginatedResult):
    """One page of `tools/list`."""

    tools: Forgiving[Tool]


class ListTasksResult(PaginatedResult):
    """One page of `tasks/list`; a task's state is read by its form."""

    tasks: list[dict[str, Any]]


class CallToolResult(Result):
    """The answer to `tools/call`: blocks for people and models, and data for programs."""

    content: list[ContentBlock] = Field(default_factory=list)
    structured_content: Any = None
    is_error: bool | None = None
