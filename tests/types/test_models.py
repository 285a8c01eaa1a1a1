"""The protocol's vocabulary: what all models share."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from mcp_notebook.types import (
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ListToolsResult,
    ResourceContents,
    TextContent,
    Tool,
    ToolAnnotations,
    decode_base64,
    encode_base64,
    text_of,
)
from mcp_notebook.types.base import FORGIVING
from mcp_notebook.types.problems import first_problem


def test_names_are_pythonic_here_and_camel_case_on_the_wire_and_both_are_read() -> None:
    tool = Tool(name="t", input_schema={"a": None}, meta={"b": None})
    assert tool.wire() == {"name": "t", "inputSchema": {"a": None}, "_meta": {"b": None}}
    assert (
        Tool.model_validate(tool.wire())
        == tool
        == Tool.model_validate({"name": "t", "input_schema": {"a": None}, "meta": {"b": None}})
    )


def test_fields_that_nobody_knows_are_kept_and_sent_on() -> None:
    raw = {"name": "t", "newThing": {"a": None}, "annotations": {"alsoNew": 1}}
    assert Tool.model_validate(raw).wire() == raw


def test_a_label_is_the_title_else_the_hint_else_the_name() -> None:
    assert Tool(name="n").label == "n"
    assert Tool(name="n", annotations=ToolAnnotations(title="A")).label == "A"
    assert Tool(name="n", title="T", annotations=ToolAnnotations(title="A")).label == "T"


def test_a_repr_names_what_there_is_and_cuts_long_text() -> None:
    assert repr(TextContent(text="t")) == "TextContent(type='text', text='t')"
    shown = repr(TextContent(text="x" * 10_000))
    assert len(shown) < 400
    assert "10,000 characters" in shown


def test_broken_optional_fields_are_left_out_only_of_what_the_other_side_sent() -> None:
    raw: dict[str, Any] = {"tools": [{"name": "t", "title": 5}]}
    with pytest.raises(ValidationError):
        ListToolsResult.model_validate(raw)
    (tool,) = ListToolsResult.model_validate(raw, context=FORGIVING).tools
    assert tool == Tool(name="t")
    with pytest.raises(ValidationError):
        ListToolsResult.model_validate({"tools": [{"title": "no name"}]}, context=FORGIVING)
    with pytest.raises(ValidationError):
        Tool(name="t", title=5)  # pyright: ignore[reportArgumentType]


def test_a_result_is_no_thing_that_can_do_without_its_fields() -> None:
    with pytest.raises(ValidationError):
        CallToolResult.model_validate({"content": "text"}, context=FORGIVING)


def test_resource_contents_hold_text_or_bytes() -> None:
    with pytest.raises(ValidationError, match="need 'text' or 'blob'"):
        ResourceContents(uri="a:b")
    assert ResourceContents(uri="a:b", text="").text == ""


@pytest.mark.parametrize("data", ["AAE=", "AA\nE=\n", " A A E = "])
def test_line_breaks_in_base64_are_tolerated(data: str) -> None:
    assert decode_base64(data) == b"\x00\x01"
    assert ImageContent(data=data, mime_type="image/png").to_bytes() == b"\x00\x01"


@pytest.mark.parametrize("data", ["A", "????", "AAE", "ä"])
def test_what_is_no_base64_is_a_value_error(data: str) -> None:
    with pytest.raises(ValueError, match=r"base64|ASCII"):
        decode_base64(data)


def test_bytes_come_back_from_base64() -> None:
    data = bytes(range(256))
    assert decode_base64(encode_base64(data)) == data


def test_the_text_of_blocks_is_that_of_text_and_embedded_text() -> None:
    blocks = [
        TextContent(text="a"),
        ImageContent(data="", mime_type="image/png"),
        EmbeddedResource(resource=ResourceContents(uri="a:b", text="b")),
        EmbeddedResource(resource=ResourceContents(uri="a:b", blob="")),
    ]
    assert text_of(blocks) == "a\nb"


def test_the_first_problem_is_led_by_its_place() -> None:
    with pytest.raises(ValidationError) as caught:
        ListToolsResult.model_validate({"tools": [{"name": 5}]})
    assert first_problem(caught.value) == "tools.0.name: Input should be a valid string"
    with pytest.raises(ValidationError) as caught:
        ListToolsResult.model_validate([])
    assert first_problem(caught.value).startswith("Input should be")
