"""What tools, resources and prompts answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_notebook import types
from mcp_notebook.limits import DISPLAY_LIMITS

from .page import answer, say, show

DAYS = [{"day": "Mon", "low": -4, "sky": "snow"}, {"day": "Tue", "low": None, "sky": "clear"}]


def test_blocks_are_shown_in_their_order() -> None:
    link = {"type": "resource_link", "uri": "demo://2", "name": "second", "size": 2048, "description": "It follows."}
    held = {"type": "resource", "resource": {"uri": "demo://3", "mimeType": "text/x", "text": "third"}}
    page, plain = show(answer(say("first"), link, held, {"type": "new", "field": 4}))
    for shown in (page.text, plain):
        places = [
            shown.index(word)
            for word in ("first", "second", "2.0 kB", "demo://2", "It follows.", "demo://3", "text/x", "third", "field")
        ]
        assert places == sorted(places)
    assert "a block of type new" in plain


def test_text_keeps_its_lines_and_blanks() -> None:
    page, plain = show(answer(say("a\n   b\n\nc")))
    assert page.text == plain == "a\n   b\n\nc"
    assert ("pre", {"class": "mcp-text"}) in page.elements


def test_an_answer_without_content_says_so() -> None:
    for value in (answer(), types.ReadResourceResult(contents=[]), types.GetPromptResult(messages=[])):
        page, plain = show(value)
        assert page.text == plain
        assert plain in ("(no content)", "(no messages)")


def test_an_error_of_a_tool_is_framed_and_says_in_words_that_it_is_one() -> None:
    page, plain = show(answer(say("city: not known"), isError=True))
    assert {"mcp-card", "mcp-fail"} <= page.classes()
    assert "● the tool reports an error" in page.text
    assert plain == "● the tool reports an error\n  city: not known"
    page, _ = show(answer(say("city: not known"), isError=False))
    assert "mcp-fail" not in page.classes()


@pytest.mark.parametrize("structured", [DAYS, {"result": DAYS}])
def test_a_list_of_flat_objects_is_a_table(structured: Any) -> None:
    page, plain = show(answer(structuredContent=structured))
    assert [tag for tag, _ in page.elements].count("tr") == 3
    assert plain.splitlines() == ["day  low  sky", "───  ───  ─────", "Mon  -4   snow", "Tue  –    clear"]


def test_data_of_other_shapes_is_a_tree_with_a_table_where_there_is_one() -> None:
    page, plain = show(answer(structuredContent={"city": "Oslo", "place": {"lat": 59.5}, "days": DAYS}))
    assert {"table", "details", "summary"} <= {tag for tag, _ in page.elements}
    assert plain.splitlines()[:4] == ['city: "Oslo"', 'place: {"lat": 59.5}', "days: [2]", "  day  low  sky"]


def test_branches_that_are_long_or_deep_are_folded() -> None:
    page, _ = show({"short": {"a": [1, {}, [2]], "b": {"c": {"d": [[1]]}}}, "long": {str(i): [[i]] for i in range(30)}})
    opened = [("open" in attributes) for tag, attributes in page.elements if tag == "details"]
    assert True in opened
    assert False in opened


@pytest.mark.parametrize(
    ("texts", "structured"),
    [
        ([json.dumps(DAYS)], {"result": DAYS}),
        ([json.dumps({"result": DAYS}, indent=2)], {"result": DAYS}),
        ([json.dumps(day) for day in DAYS], {"result": DAYS}),
        ([json.dumps({"a": {"b": "Mon"}})], {"a": {"b": "Mon"}}),
        (["Mon", "Tue"], {"result": ["Mon", "Tue"]}),
    ],
)
def test_text_that_only_repeats_the_data_is_not_shown_beside_it(texts: list[str], structured: Any) -> None:
    _, plain = show(answer(*map(say, texts), structuredContent=structured))
    assert plain == show(structured.get("result", structured))[1]


@pytest.mark.parametrize(("text", "structured"), [("22.5", {"result": 22.5}), ("mild", {"result": "mild"})])
def test_a_single_value_that_the_text_says_too_is_shown_as_text(text: str, structured: Any) -> None:
    page, plain = show(answer(say(text), structuredContent=structured))
    assert page.text == plain == text


def test_text_that_says_something_else_is_shown_with_the_data() -> None:
    for text in ("It will snow.", "[1, 2", json.dumps([*DAYS, {"day": "Wed"}])):
        _, plain = show(answer(say(text), structuredContent={"result": DAYS}))
        assert plain.startswith(text)
        assert "snow" in plain.removeprefix(text)
    _, plain = show(answer(say("It will"), say("snow."), structuredContent={"result": ["Mon", "Tue"]}))
    assert plain.splitlines() == ["It will", "snow.", '["Mon", "Tue"]']


def test_other_blocks_stay_where_the_text_repeats_the_data() -> None:
    link = {"type": "resource_link", "uri": "demo://2", "name": "second"}
    _, plain = show(answer(say('{"a": 1}'), link, structuredContent={"a": 1}))
    assert "demo://2" in plain
    assert plain.count("1") == 1


def test_annotations_are_said_in_words() -> None:
    _, plain = show(answer({**say("x"), "annotations": {"audience": ["user", "assistant"], "priority": 0.9}}))
    assert plain.splitlines() == ["for user and assistant · priority 0.9", "x"]


def test_a_resource_shows_its_uri_its_type_and_its_text() -> None:
    value = types.ReadResourceResult.model_validate(
        {
            "contents": [
                {"uri": "demo://1", "mimeType": "text/html", "text": "<p>x</p>"},
                {"uri": "demo://2", "text": "y"},
            ]
        }
    )
    page, plain = show(value)
    assert plain.splitlines() == ["demo://1 · text/html", "<p>x</p>", "", "demo://2", "y"]
    assert "<p>x</p>" in page.text


def test_a_prompt_shows_each_message_under_its_role() -> None:
    messages = [{"role": "user", "content": say("How cold?")}, {"role": "assistant", "content": say("Very.")}]
    page, plain = show(types.GetPromptResult.model_validate({"description": "Weather", "messages": messages}))
    assert plain.splitlines() == ["Weather", "", "user", "How cold?", "", "assistant", "Very."]
    assert "assistantVery." in page.text


def test_suggestions_are_listed_with_how_many_more_there_are() -> None:
    complete = types.CompleteResult.model_validate
    assert show(complete({"completion": {"values": ["Oslo", "Osaka"], "total": 7}}))[1] == "Oslo\nOsaka\n… 5 more of 7"
    assert show(complete({"completion": {"values": ["Oslo"], "hasMore": True}}))[1] == "Oslo\n… and more"
    assert show(complete({"completion": {"values": []}}))[1] == "(no suggestions)"


def test_long_text_is_cut_with_how_much_is_missing_and_where_it_is() -> None:
    limit = DISPLAY_LIMITS.text
    page, plain = show(answer(say("a"), say("b" * (limit + 1234))))
    note = f"… 1,234 more characters of {limit + 1234:,}; the whole is result.content[1].text"
    for shown in (page.text, plain):
        assert shown.count("b") == limit
        assert note in shown


def test_many_blocks_are_cut_with_how_many_are_missing_and_where_they_are() -> None:
    many = DISPLAY_LIMITS.blocks + 5
    page, plain = show(answer(*[say("b") for _ in range(many)]))
    for shown in (page.text, plain):
        assert f"… 5 more of {many}; all are in result.content" in shown
    message = {"role": "user", "content": say("b")}
    assert "all are in result.messages" in show(types.GetPromptResult.model_validate({"messages": [message] * many}))[1]
    held = {"uri": "x", "text": "b"}
    assert "all are in result.contents" in show(types.ReadResourceResult.model_validate({"contents": [held] * many}))[1]


def test_a_large_table_is_cut_with_how_much_is_missing_and_where_it_is() -> None:
    rows = [{"a": 1, "b": 2} for _ in range(DISPLAY_LIMITS.rows + 7)]
    page, plain = show(answer(structuredContent={"result": rows}))
    for shown in (page.text, plain):
        assert f"… 7 more rows of {len(rows)}; the whole is result.structured" in shown
    assert [tag for tag, _ in page.elements].count("tr") == DISPLAY_LIMITS.rows + 1
    wide = [{f"c{column}": "x" for column in range(DISPLAY_LIMITS.columns + 3)} for _ in rows]
    page, plain = show(answer(structuredContent={"result": wide}))
    assert f"and 3 more columns of {len(wide[0])}; the whole is result.structured" in plain
    assert [tag for tag, _ in page.elements].count("td") <= DISPLAY_LIMITS.nodes


def test_a_large_tree_is_cut_where_it_is_large() -> None:
    page, plain = show({"many": [[i, [[i]]] for i in range(10_000)], "last": "x" * 10_000})
    assert f"… {10_000 - DISPLAY_LIMITS.rows:,} more of 10,000" in plain
    assert plain.splitlines()[-1].startswith('last: "xxx')
    assert len(plain.splitlines()[-1]) < DISPLAY_LIMITS.cell + 10
    wide = {str(i): {str(j): {str(k): [[]] for k in range(30)} for j in range(30)} for i in range(30)}
    page, plain = show(wide)
    assert len(plain.splitlines()) < DISPLAY_LIMITS.nodes + 100
    assert "more of 30" in plain
    assert "more of 30" in page.text


def test_plain_values_are_shown_as_json_says_them() -> None:
    assert [show(value)[1] for value in (None, True, 1.5, {}, [1, "a"])] == ["null", "true", "1.5", "{}", '[1, "a"]']


def test_a_thing_without_a_display_of_its_own_is_shown_as_its_data_or_its_repr() -> None:
    assert show(types.Implementation.model_validate({"name": "x", "version": "1"}))[1].splitlines()[0] == 'name: "x"'
    assert show({1, 2})[1] == "{1, 2}"
