"""Results as a revision knows them: what it lacks is left out, or told as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..types import AudioContent, Cacheable, CallToolResult, GetPromptResult, ResourceLink, Result, TextContent
from .revision import Revision


def shape(revision: Revision, method: str, result: Result, about: Mapping[str, Any]) -> Any:
    """What to send as the result of `method`: the model itself, or JSON data without what the revision lacks.

    Args:
        revision: the revision that is spoken.
        method: what was asked.
        result: the answer.
        about: what a server says of itself in the `_meta` of results, where the revision has that.
    """
    if isinstance(result, CallToolResult):
        result = _with_known_blocks(revision, result)
    elif isinstance(result, GetPromptResult):
        result = _with_known_messages(revision, result)
    omit, fields = revision.omit.get(method), None
    if omit is not None and _has(result, omit):
        fields = result.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=omit)
    if "input_required" not in revision.result_types:
        return result if fields is None else fields
    return {**(result.shallow() if fields is None else fields), **_added(revision, method, result, about)}


def _has(value: Any, omit: Any) -> bool:
    """Whether anything is there of what is to be left out; most often nothing is, and the model can be sent itself."""
    if isinstance(value, list):
        return any(_has(one, omit["__all__"]) for one in value)
    for name in omit:
        part = getattr(value, name)
        if part is not None and (not isinstance(omit, Mapping) or omit[name] is True or _has(part, omit[name])):
            return True
    return False


def _added(revision: Revision, method: str, result: Result, about: Mapping[str, Any]) -> dict[str, Any]:
    """What the modern revisions say of every result."""
    added: dict[str, Any] = {
        "resultType": result.result_type or "complete",
        "_meta": {**about, **(result.meta or {})},
    }
    if method in revision.cacheable and isinstance(result, Cacheable):
        added["ttlMs"] = result.ttl_ms or 0
        added["cacheScope"] = result.cache_scope or "private"
    return added


def _with_known_blocks(revision: Revision, result: CallToolResult) -> CallToolResult:
    for block in result.content:
        if block.type not in revision.content_types:
            return result.model_copy(update={"content": [known_block(revision, one) for one in result.content]})
    return result


def _with_known_messages(revision: Revision, result: GetPromptResult) -> GetPromptResult:
    if all(message.content.type in revision.content_types for message in result.messages):
        return result
    messages = [
        message.model_copy(update={"content": known_block(revision, message.content)}) for message in result.messages
    ]
    return result.model_copy(update={"messages": messages})


def known_block(revision: Revision, block: Any) -> Any:
    """The block itself, or text in its place where the revision has no such blocks."""
    if block.type in revision.content_types:
        return block
    if isinstance(block, ResourceLink):
        return TextContent(text=f"{block.label}: {block.uri}")
    if isinstance(block, AudioContent):
        return TextContent(text=f"[{block.mime_type}, which this protocol revision cannot carry]")
    return TextContent(text=f"[content of type {block.type!r}, which this protocol revision cannot carry]")
