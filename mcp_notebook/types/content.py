"""Content: what tools, prompts and messages are made of."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, WrapValidator

from .base import Annotations, WithMeta, without_what_is_broken
from .resources import Resource, ResourceContents


class Block(WithMeta):
    """What every content block has."""

    annotations: Annotations | None = None


class TextContent(Block):
    """Text."""

    type: Literal["text"] = "text"
    text: str


class _Media(Block):
    data: str
    """The bytes, as base64."""
    mime_type: str

    def to_bytes(self) -> bytes:
        """The bytes themselves.

        Raises:
            ValueError: the data is no base64.
        """
        return decode_base64(self.data)


class ImageContent(_Media):
    """A picture."""

    type: Literal["image"] = "image"


class AudioContent(_Media):
    """A sound."""

    type: Literal["audio"] = "audio"


class ResourceLink(Resource):
    """A resource that can be read."""

    type: Literal["resource_link"] = "resource_link"


class EmbeddedResource(Block):
    """A resource's contents."""

    type: Literal["resource"] = "resource"
    resource: ResourceContents


class UnknownContent(WithMeta):
    """A block of a type (or form) that this library does not know, kept as it came."""

    type: str = "unknown"


KnownContent: TypeAlias = Annotated[
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource, Field(discriminator="type")
]


# A block of a new type or a broken one degrades alone: the rest of the result is still shown.
ContentBlock: TypeAlias = Annotated[
    # Most blocks are not broken: only those that are come to the second of these, which costs more.
    KnownContent | Annotated[KnownContent, WrapValidator(without_what_is_broken)] | UnknownContent,
    Field(union_mode="left_to_right"),
]


def decode_base64(data: str) -> bytes:
    """Bytes from base64; line breaks are tolerated.

    Raises:
        ValueError: it is no base64.
    """
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None


def encode_base64(data: bytes) -> str:
    """Base64 of bytes."""
    return base64.b64encode(data).decode("ascii")


def text_of(blocks: list[Any]) -> str:
    """The text of all text blocks (and embedded text), one after the other on lines of their own."""
    texts = []
    for block in blocks:
        if isinstance(block, TextContent):
            texts.append(block.text)
        elif isinstance(block, EmbeddedResource) and block.resource.text is not None:
            texts.append(block.resource.text)
    return "\n".join(texts)
