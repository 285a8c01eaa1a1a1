"""What tools return, as content blocks and data."""

from __future__ import annotations

import base64
import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import Server
from mcp_notebook.server.output import blocks_of
from mcp_notebook.types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    UnknownContent,
)

from .visiting import visiting

PNG = b"\x89PNG\r\n\x1a\n..."


@dataclass
class Point:
    x: int
    when: datetime.date


class Picture:
    def _repr_png_(self) -> bytes:
        return PNG


class NoPicture:
    def _repr_png_(self) -> None:
        return None

    def __str__(self) -> str:
        return "as text"


def image(data: bytes, mime_type: str) -> ImageContent:
    return ImageContent(data=base64.b64encode(data).decode(), mime_type=mime_type)


BLOCKS = [
    TextContent(text="t"),
    image(PNG, "image/png"),
    AudioContent(data="AA==", mime_type="audio/wav"),
    ResourceLink(uri="a:b", name="n"),
    EmbeddedResource(resource=ResourceContents(uri="a:b", text="t")),
    UnknownContent(type="video"),
]


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        (None, []),
        ("text", [TextContent(text="text")]),
        ("", [TextContent(text="")]),
        (5, [TextContent(text="5")]),
        (True, [TextContent(text="true")]),
        (float("nan"), [TextContent(text="null")]),
        ({"a": None}, [TextContent(text='{\n  "a": null\n}')]),
        (["a", 1], [TextContent(text='[\n  "a",\n  1\n]')]),
        ([], [TextContent(text="[]")]),
        (Point(1, datetime.date(2025, 1, 2)), [TextContent(text='{\n  "x": 1,\n  "when": "2025-01-02"\n}')]),
        (Path("a"), [TextContent(text='"a"')]),
        (object, [TextContent(text="\"<class 'object'>\"")]),
        (PNG, [image(PNG, "image/png")]),
        (bytearray(b"\xff\xd8\xff"), [image(b"\xff\xd8\xff", "image/jpeg")]),
        (b"GIF89a", [image(b"GIF89a", "image/gif")]),
        (Picture(), [image(PNG, "image/png")]),
        (NoPicture(), [TextContent(text='"as text"')]),
        *((block, [block]) for block in BLOCKS),
        (BLOCKS, BLOCKS),
        (("before", BLOCKS[1], {"a": 1}), [TextContent(text="before"), BLOCKS[1], TextContent(text='{\n  "a": 1\n}')]),
        ([TextContent(text="t"), None], [TextContent(text="t")]),
    ],
    ids=repr,
)
def test_whatever_a_tool_returns_becomes_blocks(value: Any, blocks: Any) -> None:
    assert blocks_of(value) == blocks


def test_other_bytes_are_an_embedded_resource() -> None:
    (block,) = blocks_of(b"\x00\x01")
    assert isinstance(block, EmbeddedResource)
    assert (block.resource.mime_type, block.resource.blob) == ("application/octet-stream", "AAE=")


def test_a_data_frame_is_told_row_by_row() -> None:
    import pandas

    (block,) = blocks_of(pandas.DataFrame({"a": [1, 2], "b": ["x", None]}))
    assert isinstance(block, TextContent)
    assert "".join(block.text.split()) == '[{"a":1,"b":"x"},{"a":2,"b":null}]'


@pytest.mark.anyio
async def test_a_whole_result_is_sent_as_it_is() -> None:
    server = Server("demo")

    @server.tool
    def whole() -> CallToolResult:
        return CallToolResult(
            content=[TextContent(text="t")], structured_content={"a": None}, is_error=True, meta={"m": 1}
        )

    async with visiting(server) as visitor:
        (tool,) = (await visitor.ask("tools/list"))["tools"]
        assert "outputSchema" not in tool
        assert await visitor.call("whole") == {
            "content": [{"type": "text", "text": "t"}],
            "structuredContent": {"a": None},
            "isError": True,
            "_meta": {"m": 1},
        }


@pytest.mark.anyio
async def test_data_are_told_as_data_and_as_text() -> None:
    server = Server("demo")

    @server.tool
    def point() -> Point:
        return Point(1, datetime.date(2025, 1, 2))

    @server.tool
    def points() -> list[Point]:
        return [Point(1, datetime.date(2025, 1, 2))]

    @server.tool
    def maybe() -> int | None:
        return None

    async with visiting(server) as visitor:
        data = {"x": 1, "when": "2025-01-02"}
        result = await visitor.call("point")
        assert result["structuredContent"] == data
        assert "".join(result["content"][0]["text"].split()) == '{"x":1,"when":"2025-01-02"}'
        assert (await visitor.call("points"))["structuredContent"] == {"result": [data]}
        assert await visitor.call("maybe") == {"content": [], "structuredContent": {"result": None}}
