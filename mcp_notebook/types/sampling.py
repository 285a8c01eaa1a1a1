"""Sampling: a server asks the client's language model."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from .base import Model, Result, Role, WithMeta
from .content import AudioContent, ContentBlock, ImageContent, TextContent, UnknownContent
from .tools import Tool


class ToolUseContent(WithMeta):
    """The model wants a tool called."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: dict[str, Any]


class ToolResultContent(WithMeta):
    """What the tool gave."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: list[ContentBlock] = Field(default_factory=list)
    structured_content: Any = None
    is_error: bool | None = None


_Known: TypeAlias = Annotated[
    TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent, Field(discriminator="type")
]
SamplingContent: TypeAlias = Annotated[_Known | UnknownContent, Field(union_mode="left_to_right")]


class SamplingMessage(WithMeta):
    """One message of the conversation; several blocks only where the revision has them."""

    role: Role
    content: SamplingContent | list[SamplingContent]


class ModelHint(Model):
    """Part of a model's name."""

    name: str | None = None


class ModelPreferences(Model):
    """Which model would suit; the priorities are from 0 to 1."""

    hints: list[ModelHint] | None = None
    cost_priority: float | None = None
    speed_priority: float | None = None
    intelligence_priority: float | None = None


class ToolChoice(Model):
    """Whether tools may, must or must not be used."""

    mode: Literal["auto", "required", "none"] | None = None


class CreateMessageParams(WithMeta):
    """What the server asks of the model."""

    messages: list[SamplingMessage]
    max_tokens: int
    model_preferences: ModelPreferences | None = None
    system_prompt: str | None = None
    include_context: str | None = None
    temperature: float | None = None
    stop_sequences: list[str] | None = None
    metadata: dict[str, Any] | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None


class CreateMessageResult(Result):
    """What the model said. `stop_reason` is an open set of words (SMP-5)."""

    role: Role = "assistant"
    content: SamplingContent | list[SamplingContent]
    model: str
    stop_reason: str | None = None
