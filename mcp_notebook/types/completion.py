"""Completion of arguments."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from .base import Model, Result


class PromptReference(Model):
    """A prompt whose argument is to be completed."""

    type: Literal["ref/prompt"] = "ref/prompt"
    name: str
    title: str | None = None


class ResourceTemplateReference(Model):
    """A resource template whose variable is to be completed."""

    type: Literal["ref/resource"] = "ref/resource"
    uri: str


Reference: TypeAlias = Annotated[PromptReference | ResourceTemplateReference, Field(discriminator="type")]


class CompletionArgument(Model):
    """The argument, and what stands in it so far."""

    name: str
    value: str


class CompletionContext(Model):
    """What was already chosen for the other arguments."""

    arguments: dict[str, str] | None = None


class Completion(Model):
    """Suggestions, at most 100; `total` is how many there are, `has_more` whether some were left out."""

    values: list[str]
    total: int | None = None
    has_more: bool | None = None


class CompleteResult(Result):
    """The answer to `completion/complete`."""

    completion: Completion
