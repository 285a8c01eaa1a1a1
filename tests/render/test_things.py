"""Lists of what servers offer, and the help of one tool."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mcp_notebook import types
from mcp_notebook.limits import DISPLAY_LIMITS

from .page import show

FORECAST = types.Tool.model_validate(
    {
        "name": "get_forecast",
        "title": "Weather forecast",
        "description": "Get the forecast.\nFor a city.\n\nAt most 10 days ahead.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "days": {"type": "integer", "default": 3, "minimum": 1, "maximum": 10, "description": "How many."},
                "city": {"type": "string", "description": "Where."},
            },
            "required": ["city"],
        },
        "outputSchema": {"type": "object", "properties": {"sky": {"type": "string", "description": "Its colour."}}},
        "annotations": {"readOnlyHint": True, "destructiveHint": True, "openWorldHint": True},
    }
)


def argument(schema: Any, defs: Any = None) -> list[str]:
    """The cells of one argument's row in the help of a tool."""
    root = {"properties": {"a": schema}, "$defs": defs or {}}
    _, plain = show(types.Tool(name="t", input_schema=root))
    lines = plain.splitlines()
    head = next(i for i, line in enumerate(lines) if "argument" in line)
    return [cell for cell in lines[head + 2].strip().split("  ")[1:] if cell]


def test_tools_are_a_table_of_names_summaries_arguments_and_hints() -> None:
    other = types.Tool(name="echo", title="Echo", input_schema={})
    page, plain = show([FORECAST, other])
    head, _, first, second = plain.splitlines()
    assert head.split("  ")[0] == "tool"
    cells = [
        "get_forecast",
        "Get the forecast. For a city.",
        "city* string, days integer",
        "only reads, reaches outside",
    ]
    assert re.split("  +", first) == cells
    assert re.split("  +", second) == ["echo", "Echo"]
    for words in ("get_forecast", "Get the forecast. For a city.", "city* string, days integer", "only reads"):
        assert words in page.text
    assert "10 days" not in page.text


def test_hints_are_words_and_only_what_was_said() -> None:
    def hints(**said: bool) -> str:
        annotations = types.ToolAnnotations.model_validate(said)
        tool = types.Tool(name="t", input_schema={}, annotations=annotations)
        return show(tool)[1].splitlines()[0].removeprefix("t").strip()

    assert hints() == ""
    assert hints(destructive_hint=True, idempotent_hint=True) == "may destroy, safe to repeat"
    assert hints(read_only_hint=True, destructive_hint=True) == "only reads"
    assert hints(read_only_hint=False, open_world_hint=False) == ""
    task = types.Tool(name="t", input_schema={}, execution=types.ToolExecution(task_support="required"))
    assert "runs as a task" in show(task)[1]


def test_columns_without_entries_are_left_out() -> None:
    _, plain = show([types.Resource(uri="demo://1", name="one")])
    assert plain.splitlines()[0].split() == ["resource", "uri"]


def test_resources_templates_and_prompts_are_tables() -> None:
    resource = types.Resource(uri="demo://1", name="one", title="The first", mime_type="text/plain", size=2048)
    template = types.ResourceTemplate(uri_template="demo://{id}", name="by id", description="Any of them.")
    arguments = [types.PromptArgument(name="city", required=True), types.PromptArgument(name="day")]
    prompt = types.Prompt(name="ask", description="Asks.", arguments=arguments)
    expected = {
        "The first  demo://1  text/plain  2.0 kB": resource,
        "by id     demo://{id}  Any of them.": template,
        "ask     Asks.           city*, day": prompt,
    }
    for row, thing in expected.items():
        for value in (thing, [thing]):
            page, plain = show(value)
            assert plain.splitlines()[2] == row
            assert [tag for tag, _ in page.elements].count("tr") == 2


def test_a_long_list_is_cut_with_how_many_are_missing() -> None:
    page, plain = show([types.Tool(name=f"tool-{i}", input_schema={}) for i in range(DISPLAY_LIMITS.rows + 9)])
    note = f"… 9 more of {DISPLAY_LIMITS.rows + 9}; the list itself has them all"
    assert note in page.text
    assert plain.splitlines()[-1] == note


def test_lists_of_different_or_no_things_are_shown_as_well() -> None:
    assert show([])[1] == "(an empty list)"
    assert "echo" in show([{"name": "echo"}, FORECAST])[1]


def test_the_help_of_a_tool_says_everything_about_it() -> None:
    page, plain = show(FORECAST)
    lines = [line.rstrip() for line in plain.splitlines()]
    assert lines[0] == "get_forecast Weather forecast only reads, reaches outside"
    assert "  At most 10 days ahead." in lines
    assert "    %mcp call get_forecast city=… [days=…]" in lines
    rows = [re.split("  +", line.strip()) for line in lines]
    assert ["city*", "string", "Where."] in rows
    assert ["days", "integer", "3", "at least 1, at most 10", "How many."] in rows
    assert ["sky", "string", "Its colour."] in rows
    for words in ("%mcp call get_forecast city=… [days=…]", "at least 1, at most 10", "Its colour."):
        assert words in page.text
    assert '"maximum": 10' in page.text  # the schema itself, a fold away


def test_a_name_that_needs_quotes_has_them_in_the_call() -> None:
    _, plain = show(types.Tool(name="two words; rm", input_schema={}))
    assert "%mcp call 'two words; rm'" in plain


@pytest.mark.parametrize(
    ("schema", "cells"),
    [
        ({"type": "string", "format": "date"}, ["string (date)"]),
        ({"type": "array", "items": {"type": "number"}, "minItems": 1}, ["list of number", "at least 1 items"]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, ["string or null", "null"]),
        ({"type": ["integer", "string"]}, ["integer or string"]),
        ({"enum": ["a", "b", 3]}, ["string or integer", "a, b, 3"]),
        ({"const": True}, ["boolean", "true"]),
        ({"type": "string", "default": ""}, ["string", '""']),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}], "type": "string"}, ["string", "a, b"]),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, ["string or null", "a"]),
        ({"anyOf": [{"enum": ["a"]}, {"type": "string"}]}, ["string"]),
        ({"type": "array", "items": {"type": "string", "enum": ["x", "y"]}}, ["list of string", "x, y"]),
        ({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}, ["integer or null", "at least 0"]),
        (True, ["anything"]),
    ],
)
def test_what_an_argument_may_be_is_said_in_words(schema: Any, cells: list[str]) -> None:
    assert argument(schema) == cells


def test_references_within_the_schema_are_followed_and_others_are_not() -> None:
    defs = {"a/b": {"type": "integer", "maximum": 5}, "next": {"$ref": "#/$defs/a~1b"}}
    assert argument({"$ref": "#/$defs/next", "default": 2}, defs) == ["integer", "2", "at most 5"]
    for lost in ("#/$defs/none", "https://example.com/x", "other.json#/$defs/next"):
        assert argument({"$ref": lost}, defs) == ["anything"]  # JSC-4


def test_a_hundred_thousand_allowed_values_are_cut_with_how_many_are_missing() -> None:
    page, plain = show(types.Tool(name="t", input_schema={"properties": {"a": {"enum": list(range(100_000))}}}))
    assert "0, 1, 2, 3" in plain
    assert "… 99,980 more" in page.text
    assert "only the first 20,000 characters; the whole is tool.input_schema" in page.text
    assert len(page.text) < 30_000
