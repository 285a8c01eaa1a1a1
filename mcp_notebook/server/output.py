"""What handlers return, as the protocol's results."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from pydantic_core import to_json, to_jsonable_python

from ..types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    PromptMessage,
    ReadResourceResult,
    ResourceContents,
    ResourceLink,
    TextContent,
    UnknownContent,
    encode_base64,
)
from .signature import Signature

BLOCKS = (TextContent, ImageContent, AudioContent, ResourceLink, EmbeddedResource, UnknownContent)
IMAGE_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}


def tool_result(value: Any, signature: Signature) -> CallToolResult:
    """The result of a tool that returned `value`; where the signature has an output schema, as data too."""
    if isinstance(value, CallToolResult):
        return value
    return CallToolResult(content=blocks_of(value), structured_content=signature.wrap_output(value))


def tool_failure(message: str) -> CallToolResult:
    """The result of a tool that failed in a way its caller should read (VAL-1)."""
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


def blocks_of(value: Any) -> list[ContentBlock]:
    """Content blocks for anything a tool may return."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)) and any(isinstance(item, BLOCKS) for item in value):
        return [block for item in value for block in blocks_of(item)]
    return [block_of(value)]


def block_of(value: Any) -> ContentBlock:
    """One content block: blocks as they are, pictures as images, text as text, anything else as JSON text."""
    if isinstance(value, str):
        return TextContent(text=value)
    if isinstance(value, BLOCKS):
        return value
    picture = _png(value)
    if picture is not None:
        return ImageContent(data=encode_base64(picture), mime_type="image/png")
    if isinstance(value, (bytes, bytearray)):
        return _block_of_bytes(bytes(value))
    return TextContent(text=json_text(value))


def json_text(value: Any) -> str:
    """Any value as JSON text; what JSON cannot say is written as Python writes it."""
    records = getattr(value, "to_dict", None)
    if records is not None and hasattr(value, "columns"):  # a DataFrame, without importing pandas
        value = records(orient="records")
    text = to_json(value, indent=2, fallback=str, by_alias=True, bytes_mode="base64", inf_nan_mode="null")
    return text.decode()


def _block_of_bytes(data: bytes) -> ContentBlock:
    for signature, mime_type in IMAGE_SIGNATURES.items():
        if data.startswith(signature):
            return ImageContent(data=encode_base64(data), mime_type=mime_type)
    contents = ResourceContents(
        uri="data:application/octet-stream", mime_type="application/octet-stream", blob=encode_base64(data)
    )
    return EmbeddedResource(resource=contents)


def _png(value: Any) -> bytes | None:
    """The picture of a thing that draws itself: a matplotlib figure, a PIL image, whatever has `_repr_png_`."""
    draw = getattr(value, "_repr_png_", None)
    if draw is not None and not isinstance(value, type):
        return draw()
    if type(value).__module__.startswith("matplotlib") and hasattr(value, "savefig"):
        buffer = io.BytesIO()
        value.savefig(buffer, format="png", bbox_inches="tight")
        return buffer.getvalue()
    return None


def resource_result(value: Any, uri: str, mime_type: str | None) -> ReadResourceResult:
    """The result of a resource whose handler returned `value`."""
    if isinstance(value, ReadResourceResult):
        return value
    several = isinstance(value, (list, tuple)) and value and all(isinstance(one, ResourceContents) for one in value)
    items = value if several else [value]
    return ReadResourceResult(contents=[_contents(item, uri, mime_type) for item in items])


def _contents(value: Any, uri: str, mime_type: str | None) -> ResourceContents:
    if isinstance(value, ResourceContents):
        return value
    if isinstance(value, str):
        return ResourceContents(uri=uri, mime_type=mime_type or "text/plain", text=value)
    picture = _png(value)
    if picture is not None:
        return ResourceContents(uri=uri, mime_type="image/png", blob=encode_base64(picture))
    if isinstance(value, (bytes, bytearray)):
        return ResourceContents(
            uri=uri, mime_type=mime_type or "application/octet-stream", blob=encode_base64(bytes(value))
        )
    return ResourceContents(uri=uri, mime_type=mime_type or "application/json", text=json_text(value))


def prompt_result(value: Any, description: str | None) -> GetPromptResult:
    """The result of a prompt whose handler returned `value`: text, messages, or a list of both."""
    if isinstance(value, GetPromptResult):
        return value
    items: Iterable[Any] = value if isinstance(value, (list, tuple)) else [value]
    return GetPromptResult(description=description, messages=[_message(item) for item in items])


def _message(value: Any) -> PromptMessage:
    if isinstance(value, PromptMessage):
        return value
    if isinstance(value, dict) and set(value) == {"role", "content"}:
        if isinstance(value["content"], dict):
            return PromptMessage.model_validate(value)
        return PromptMessage(role=value["role"], content=block_of(value["content"]))
    return PromptMessage(role="user", content=block_of(value))


def completions(value: Any) -> list[str]:
    """The suggestions that a completion handler returned."""
    return [str(item) for item in to_jsonable_python(list(value), fallback=str)]
