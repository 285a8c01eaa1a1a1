"""Whatever a server sends is text to show, never markup to run: in every place where its text can stand."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from mcp_notebook import errors, types
from mcp_notebook.render import mimebundle
from mcp_notebook.render.parts import Card, Fold, Table, Text
from mcp_notebook.visible import visible

from .page import answer, say, show

CORPUS = {
    "markup": "<b onclick=alert(1)>bold</b><iframe src=//evil.example></iframe>",
    "a script": "</script><script>alert(1)</script>",
    "an image": "<img src=x onerror=alert(1)>",
    "an end": "</pre></div></td></table></style><style>*{display:none}</style>",
    "an attribute": '"\' onmouseover="alert(1)" x=\'',
    "a comment": "<!-- --><![CDATA[x]]><?php ?><!doctype html>",
    "an entity": "&lt;script&gt; &#60;script&#62; &amp;",
    "an address": "javascript:alert(1)",
    "a data address": "data:text/html,<script>alert(1)</script>",
    "a path": "/etc/passwd",
    "a formula": "$$\\href{javascript:alert(1)}{x}$$ [x](javascript:alert(1))",
    "direction": "abc\u202etxt.exe\u2066\u2069\u200f",
    "nothing to see": "a\u200bb\ufeffc\U000e0041d",
    "control": "a\x00b\x07c\x1b[31mred\x1b[0m\x1b]0;title\x07\x08\x7f\x9b",
    "imitation": "<U+202E>",
    "lines": "a\nb\r\nc\rd\u2028e",
    "widgets": '{"application/vnd.jupyter.widget-view+json": {}}</script>',
}


def answers(text: str) -> list[types.CallToolResult]:
    """What a tool can answer, with a text in each place that shows it."""
    named: Any = {"name": text, "title": text, "description": text}
    return [
        answer(say(text)),
        answer(say(text), isError=True),
        answer(structuredContent={text: [text, {text: [text, [text, {}]]}]}),
        answer(structuredContent={"result": [{text: text, "other": 1}, {"other": None}]}),
        answer({"type": "image", "data": text, "mimeType": text}, {"type": "audio", "data": "AAAA", "mimeType": text}),
        answer({"type": "image", "data": text, "mimeType": "image/png"}),
        answer({"type": "resource_link", "uri": text, "mimeType": text, "size": 3, **named}),
        answer({"type": "resource", "resource": {"uri": text, "mimeType": text, "text": text}}),
        answer({"type": "resource", "resource": {"uri": text, "mimeType": "image/svg+xml", "text": text}}),
        answer({"type": text, text: text}),
    ]


def offers(text: str) -> tuple[types.Tool, types.Resource, types.ResourceTemplate, types.Prompt]:
    """What a server can offer, with a text in each place that shows it."""
    schema = {
        "type": "object",
        "properties": {
            text: {"type": text, "format": text, "description": text, "default": text},
            "kind": {"enum": [text, {text: text}], "pattern": text, "title": text},
            "other": {"anyOf": [{"type": [text, "null"]}, {"$ref": text}, {"const": text}]},
        },
        "required": [text],
    }
    named: Any = {"name": text, "title": text, "description": text}
    return (
        types.Tool(input_schema=schema, output_schema=schema, **named),
        types.Resource(uri=text, mime_type=text, size=3, **named),
        types.ResourceTemplate(uri_template=text, mime_type=text, **named),
        types.Prompt(arguments=[types.PromptArgument(name=text, required=True)], **named),
    )


def everywhere(text: str) -> list[Any]:
    """Values that carry a text in each place where a server's text can stand."""
    return [
        *answers(text),
        types.ReadResourceResult(contents=[types.ResourceContents(uri=text, mime_type=text, blob=text)]),
        types.GetPromptResult(
            description=text, messages=[types.PromptMessage.model_validate({"role": "user", "content": say(text)})]
        ),
        types.CompleteResult(completion=types.Completion(values=[text])),
        types.Implementation.model_validate({"name": text, "version": text}),
        *offers(text),
        *([offer] for offer in offers(text)),
        errors.MCPError(text),
        errors.ProtocolError(1, text, {text: text}),
        errors.ProtocolError(1, text, text),
        errors.ServerExited(text, exit_status=1, stderr=text),
        Card("done", text, [Fold(text, [Text(text, "label"), Table([text], [[text]])])], text, text, text),
        {text: {text: text}},
        [text, [[text]]],
        text,
        ValueError(text),
    ]


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())
def test_no_foreign_text_becomes_an_element_an_attribute_or_an_address(text: str) -> None:
    for value in everywhere(text):
        show(value)


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())
def test_neither_form_holds_characters_that_hide_or_turn_text_around(text: str) -> None:
    for value in everywhere(text):
        page, plain = show(value)
        for shown in (page.text, plain):
            assert not re.search(
                "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200c\u200e-\u200f\u2028-\u202e\u2066-\u2069]", shown
            )


def test_however_long_a_text_is_what_is_shown_of_it_has_an_end() -> None:
    for value in everywhere("x" * 1_000_000):
        bundle = mimebundle(value)
        assert len(bundle["text/html"]) < 100_000
        assert len(bundle["text/plain"]) < 100_000


def test_a_hidden_character_is_written_out_once() -> None:
    for text in ("a\u202eb", visible("a\u202eb")):
        page, plain = show(answer(say(text)))
        assert page.text == plain == "a<U+202E>b"


def test_prose_in_other_scripts_and_emoji_stay_as_they_are() -> None:
    text = "“Ĉu” я с вами − 東京 👩‍👩‍👧 \u00a0‘x’"
    page, plain = show(answer(say(text)))
    assert text in page.text
    assert text in plain


def test_terminal_colours_are_dropped_and_other_control_sequences_shown() -> None:
    page, plain = show(answer(say("\x1b[1;31mred\x1b[0m \x1b]8;;https://example.com\x07link")))
    assert page.text == plain == "red <U+001B>]8;;https://example.com<U+0007>link"


def test_an_address_is_text_and_not_a_link() -> None:
    page, _ = show(answer({"type": "resource_link", "uri": "https://example.com/a", "name": "a"}))
    assert "https://example.com/a" in page.text


def test_a_line_break_in_a_name_cannot_forge_a_row_of_plain_text() -> None:
    _, plain = show([types.Tool(name="good\nevil", input_schema={})])
    assert len(plain.splitlines()) == 3
    _, plain = show(answer(structuredContent={"a\nb: 1": {"c\nd": [[], {}, {"e": [1]}]}}))
    assert not any(line.startswith(("b:", "d:")) for line in plain.splitlines())


def test_half_a_character_in_plain_data_or_an_error_is_written_out() -> None:
    text = "a\ud800b"
    values: list[Any] = [text, {text: text}, [{text: text}], answer(structuredContent={text: [text, text]})]
    values += [ValueError(text), errors.ServerExited(text, stderr=text), errors.ProtocolError(1, text, {text: text})]
    for value in values:
        show(value)


def deep(make: Callable[[Any], Any], levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = make(value)
    return value


@pytest.mark.parametrize("make", [lambda v: [v], lambda v: {"k": v}, lambda v: [{"k": v, "n": 1}]])
def test_a_thousand_levels_are_cut_off_with_a_word_about_it(make: Callable[[Any], Any]) -> None:
    value = deep(make, 1000)
    for shown in (value, answer(structuredContent=value), answer(say("[]"), structuredContent={"result": value})):
        page, plain = show(shown)
        assert "deeper levels are not shown" in page.text
        assert "deeper levels are not shown" in plain


def test_a_schema_of_a_thousand_levels_or_that_refers_to_itself_leaves_the_tool_to_be_seen() -> None:
    schema = {
        "type": "object",
        "properties": {
            "deep": deep(lambda inner: {"type": "array", "items": inner}, 1000),
            "wide": deep(lambda inner: {"anyOf": [inner, {"type": "null"}]}, 1000),
            "self": {"$ref": "#/properties/self"},
            "tree": {"$ref": "#/$defs/tree"},
            "lost": {"$ref": "https://example.com/schema"},
            "odd": 5,
            "wrong": {"type": 3, "enum": "x", "anyOf": "y", "items": [1], "required": 1},
        },
        "required": ["tree", 3, None],
        "$defs": {"tree": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/tree"}}, {"type": "string"}]}},
    }
    tool = types.Tool(name="odd", input_schema=schema)
    page, plain = show(tool)
    for name in ("deep", "self", "tree*", "lost", "wrong"):
        assert name in page.text
        assert name in plain
    page, plain = show([tool])
    assert "tree* array or string" in page.text
    assert "tree* array or string" in plain


@pytest.mark.parametrize("schema", [None, True, False, {}, {"properties": 3}, {"properties": {}, "required": "x"}])
def test_a_schema_without_arguments_leaves_the_tool_to_be_seen(schema: Any) -> None:
    tool = types.Tool.model_construct(name="bare", input_schema=schema)
    page, plain = show(tool)
    assert "%mcp call bare" in page.text
    assert "%mcp call bare" in plain
