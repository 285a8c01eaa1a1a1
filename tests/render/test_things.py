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
    return re.split("  +", lines[head + 2].strip())[1:]


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
    assert ["city*", "text", "Where."] in rows
    assert ["days", "a whole number from 1 to 10", "3", "How many."] in rows
    assert ["sky", "text", "Its colour."] in rows
    for words in ("%mcp call get_forecast city=… [days=…]", "a whole number from 1 to 10", "Its colour."):
        assert words in page.text
    assert '"maximum": 10' in page.text  # the schema itself, a fold away


def test_a_name_that_needs_quotes_has_them_in_the_call() -> None:
    _, plain = show(types.Tool(name="two words; rm", input_schema={}))
    assert "%mcp call 'two words; rm'" in plain


@pytest.mark.parametrize(
    ("schema", "cells"),
    [
        ({"type": "string", "format": "email"}, ["an email address"]),
        ({"type": "array", "items": {"type": "number"}}, ["a list (each a number)"]),
        (
            {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "default": None},
            ["a whole number of at least 0 or null", "null"],
        ),
        ({"enum": ["a", "b"], "default": "b"}, ["one of 'a' or 'b'", "b"]),
        ({"type": "string", "default": ""}, ["text", '""']),
        ({"type": "object", "default": {"a": [1]}}, ["an object", '{"a": [1]}']),
        ({"$ref": "#/$defs/limited", "default": 2}, ["a whole number of at most 5", "2"]),
        ({"$ref": "https://example.com/x"}, ["a value"]),
        (True, ["a value"]),
    ],
)
def test_what_an_argument_may_be_is_said_in_words(schema: Any, cells: list[str]) -> None:
    assert argument(schema, {"limited": {"type": "integer", "maximum": 5}}) == cells


def test_a_list_of_tools_gives_the_json_types_of_their_arguments() -> None:
    properties = {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "b": {"type": ["integer", 5]}, "c": {}}
    _, plain = show([types.Tool(name="t", input_schema={"properties": properties, "required": ["b"]})])
    assert re.split("  +", plain.splitlines()[-1])[-1] == "b* integer, a string or null, c"


def test_of_many_arguments_only_the_first_are_named_in_a_list_and_in_the_call() -> None:
    tool = types.Tool(name="t", input_schema={"properties": {f"a{i}": {} for i in range(50)}})
    assert show([tool])[1].endswith("a6, a7, …")
    assert "[a6=…] [a7=…] …" in show(tool)[1]


def test_a_hundred_thousand_allowed_values_are_cut_with_how_many_are_missing() -> None:
    page, plain = show(types.Tool(name="t", input_schema={"properties": {"a": {"enum": list(range(100_000))}}}))
    assert "one of 0, 1, 2, 3" in plain
    assert "or one of 99,990 more" in page.text
    assert "only the first 20,000 characters; the whole is tool.input_schema" in page.text
    assert len(page.text) < 30_000
