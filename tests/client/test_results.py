"""What servers answer, as Python values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json

from mcp_notebook import PromptResult, ReadResult, ToolError, ToolResult, connect
from mcp_notebook.client.results import Listing
from mcp_notebook.types import Tool, encode_base64

from ..scripted import Scripted

PNG = b"\x89PNG\r\n\x1a\n"


def result(*blocks: dict[str, Any], **fields: Any) -> ToolResult:
    return ToolResult.model_validate({"content": list(blocks), **fields})


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def image(data: bytes = PNG, mime_type: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "data": encode_base64(data), "mimeType": mime_type}


def contents(**fields: Any) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "a:b", **fields}}


# Data


@pytest.mark.parametrize(
    ("given", "data"),
    [
        (result(text("plain")), "plain"),
        (result(text("one"), image(), text("two")), "one\ntwo"),
        (result(text('{"a": 1}')), {"a": 1}),
        (result(text("[1, 2]")), [1, 2]),
        (result(text("[not json]")), "[not json]"),
        (result(text("12")), "12"),
        (result(contents(text="embedded")), "embedded"),
        (result(image()), ""),
        (result(), ""),
        (result(text("x"), structuredContent={"a": 1}), {"a": 1}),
        (result(text("x"), structuredContent={"result": 5}), 5),
        (result(text("x"), structuredContent={"result": None}), None),
        (result(text("x"), structuredContent={"result": 5, "more": 1}), {"result": 5, "more": 1}),
        (result(text("x"), structuredContent={}), {}),
        (result(text("x"), structuredContent=0), 0),
        (result(text("x"), structuredContent=[]), []),
    ],
)
def test_data_is_the_most_useful_form_of_the_answer(given: ToolResult, data: Any) -> None:
    assert given.data == data


def test_structured_content_and_text_are_there_as_they_came() -> None:
    given = result(text("a"), text("b"), structuredContent={"result": 1})
    assert given.structured == {"result": 1}
    assert given.text == "a\nb"
    assert given.raise_for_error() is given


@pytest.mark.parametrize(("blocks", "says"), [([text("disk full")], "disk full"), ([], "says nothing more")])
def test_an_error_of_the_tool_can_be_raised(blocks: Any, says: str) -> None:
    with pytest.raises(ToolError, match=says):
        result(*blocks, isError=True).raise_for_error()


# Tables


@pytest.mark.parametrize(
    ("given", "columns", "rows"),
    [
        (result(structuredContent={"result": [{"a": 1, "b": 2}, {"a": 3}]}), ["a", "b"], 2),
        (result(structuredContent=[{"a": 1}]), ["a"], 1),
        (result(text('[{"a": 1}, {"a": 2}]')), ["a"], 2),
        (result(structuredContent={"a": [1, 2, 3], "b": [4, 5, 6]}), ["a", "b"], 3),
    ],
)
def test_rows_and_columns_become_a_data_frame(given: ToolResult, columns: list[str], rows: int) -> None:
    frame = given.to_pandas()
    assert list(frame.columns) == columns
    assert len(frame) == rows


@pytest.mark.parametrize(
    ("given", "says"),
    [(result(text("plain")), "text"), (result(structuredContent={"a": [1], "b": [1, 2]}), "no table")],
)
def test_what_is_no_table_says_so_and_where_its_raw_form_is(given: ToolResult, says: str) -> None:
    with pytest.raises(ValueError, match=rf"{says}.*\.(data|text)"):
        given.to_pandas()


def test_a_table_of_a_tool_that_failed_is_its_error() -> None:
    with pytest.raises(ToolError, match="disk full"):
        result(text("disk full"), isError=True).to_pandas()


# Files


def test_a_single_block_is_saved_under_the_name_itself(tmp_path: Path) -> None:
    assert result(image()).save(tmp_path / "a.png") == [tmp_path / "a.png"]
    assert (tmp_path / "a.png").read_bytes() == PNG
    assert result(text("ä")).save(str(tmp_path / "note.md")) == [tmp_path / "note.md"]
    assert (tmp_path / "note.md").read_text("utf-8") == "ä"


def test_a_name_without_an_ending_gets_the_one_that_fits(tmp_path: Path) -> None:
    assert result(image()).save(tmp_path / "a") == [tmp_path / "a.png"]
    assert result(text("x")).save(tmp_path / "b") == [tmp_path / "b.txt"]
    assert result(image(mime_type="made/up")).save(tmp_path / "c") == [tmp_path / "c.bin"]


def test_several_blocks_are_numbered_and_what_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    link = {"type": "resource_link", "uri": "a:b", "name": "n"}
    blocks = [
        text("x"),
        link,
        image(),
        {"type": "video"},
        contents(blob="AAE="),
        contents(text="y", mimeType="text/html"),
    ]
    files = result(*blocks).save(tmp_path / "out")
    assert [file.name for file in files] == ["out-1.txt", "out-2.png", "out-3.bin", "out-4.html"]
    assert files[2].read_bytes() == b"\x00\x01"


def test_nothing_to_save_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing in this answer"):
        result({"type": "video"}).save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_base64_is_an_error_and_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not base64"):
        result(image(), {"type": "image", "data": "?", "mimeType": "image/png"}).save(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_the_name_is_the_callers_and_nothing_of_the_server_enters_it(tmp_path: Path) -> None:
    given = result({"type": "image", "data": "AA==", "mimeType": "../../../etc/x"})
    assert given.save(tmp_path / "x") == [tmp_path / "x.bin"]


# Resources and prompts


def resource(*found: dict[str, Any]) -> ReadResult:
    return ReadResult.model_validate({"contents": [{"uri": "a:b", **one} for one in found]})


@pytest.mark.parametrize(
    ("given", "data"),
    [
        (resource({"text": "x"}), "x"),
        (resource({"text": "[1]", "mimeType": "application/json"}), [1]),
        (resource({"text": "[1]", "mimeType": "application/ld+json; charset=utf-8"}), [1]),
        (resource({"text": "[1]"}), "[1]"),
        (resource({"text": "[1", "mimeType": "application/json"}), "[1"),
        (resource({"blob": "AA\nE="}), b"\x00\x01"),
        (resource({"text": "x"}, {"blob": "AAE="}), ["x", b"\x00\x01"]),
        (resource(), []),
    ],
)
def test_a_resource_is_data_text_or_bytes(given: ReadResult, data: Any) -> None:
    assert given.data == data


def test_a_resource_is_saved_like_a_result(tmp_path: Path) -> None:
    given = resource({"text": "x", "mimeType": "text/html"}, {"blob": "AAE=", "mimeType": "image/png"})
    assert [file.name for file in given.save(tmp_path / "r")] == ["r-1.html", "r-2.png"]
    assert given.text == "x"


def test_a_prompt_gives_the_text_of_its_messages() -> None:
    messages = [{"role": "user", "content": text("Hi")}, {"role": "assistant", "content": image()}]
    assert PromptResult.model_validate({"messages": messages}).text == "Hi"


def test_results_show_themselves_as_html_and_as_text() -> None:
    for one in (result(text("shown")), resource({"text": "shown"}), Listing([Tool(name="shown")])):
        bundle = one._repr_mimebundle_()
        assert "shown" in bundle["text/html"]
        assert "shown" in bundle["text/plain"]


def test_a_repr_is_short() -> None:
    assert len(repr(result(text("x" * 100_000)))) < 1000


@pytest.mark.parametrize("said", [{}, {"isError": False}, {"isError": True}])
def test_a_good_result_is_no_error_and_is_passed_on_as_it_came(said: dict[str, bool]) -> None:
    given = result(text("3"), **said)
    assert given.is_error is said.get("isError", False)
    came = {"content": [{"type": "text", "text": "3"}], **said}
    assert given.wire() == json.loads(to_json(given, exclude_none=True)) == came
    assert {name: value for name, value in given.shallow().items() if name != "content"} == said
    assert result(text("3"), isError=None).is_error is False


@pytest.mark.anyio
async def test_a_tool_with_an_unusable_output_schema_stays_callable_and_is_reported() -> None:  # JSC-1, JSC-3
    dialect = {"$schema": "https://example.org/another-dialect", "type": "object"}
    tool = {"name": "odd", "inputSchema": {"type": "object"}, "outputSchema": dialect}
    answer = {"content": [], "structuredContent": {"a": 1}}
    async with connect(Scripted({"tools/list": {"tools": [tool]}, "tools/call": answer})) as client:
        await client.list_tools()
        assert (await client.call_tool("odd")).data == {"a": 1}
        assert any("another-dialect" in fault for fault in client.session.faults)
