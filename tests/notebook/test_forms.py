"""The forms by themselves: what is put in, what is sent, what is wrong and where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_notebook.notebook.forms import NOTHING, Entry, Form, Group, Leaf, List, Union
from mcp_notebook.protocol.json_schema import Validator

from .test_prompter_fields import ENUMS

CITY = {"type": "string", "minLength": 2}
POINT = {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x"]}
TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "left": {"$ref": "#/$defs/tree"}, "sub": {"$ref": "#/$defs/trees"}},
    "required": ["name"],
}
SHAPES = {
    "oneOf": [
        {"title": "Circle", "type": "object", "properties": {"r": {"type": "number"}}, "required": ["r"]},
        {
            "type": "object",
            "properties": {"kind": {"const": "square"}, "side": {"type": "integer"}},
            "required": ["kind"],
        },
        {"type": "string"},
    ]
}


def form(required: list[str] | None = None, **properties: Any) -> Form:
    return Form({"type": "object", "properties": properties, "required": required or []})


def at(made: Form, *path: str | int) -> Any:
    return made.root.find(path)


def test_untouched_optionals_are_left_out_and_defaults_sent() -> None:  # DEF-2
    made = form(
        a={"type": "string"},
        b={"type": "boolean"},
        c={"type": "array", "items": {"type": "string"}},
        d=POINT,
        e=SHAPES,
        f=ENUMS["several of titled"],
        g={"type": "integer", "default": 3},
        h={**ENUMS["plain"], "default": "#0f0"},
        i={"type": "boolean", "default": False},
    )
    assert made.value == {"g": 3, "h": "#0f0", "i": False}
    assert made.attempt()


def test_a_wrong_default_is_not_put_in() -> None:  # DEF-1
    made = form(n={"type": "integer", "maximum": 3, "default": 4}, c={**ENUMS["plain"], "default": "blue"})
    assert made.value == {}
    assert "4 is too large" in at(made, "n").field.misfit
    assert "'#f00' or '#0f0' is expected" in at(made, "c").field.misfit


def test_what_is_typed_is_checked_at_once_and_told_beside_its_field() -> None:
    made = form(["n", "city"], n={"type": "integer", "minimum": 1, "maximum": 9}, city=CITY)
    n = at(made, "n")
    n.type("2o")
    assert not made.check()
    assert "a whole number from 1 to 9 is expected" in n.problem
    assert at(made, "city").problem == ""  # nobody has been there yet
    n.type("10")
    made.check()
    assert n.problem == "10 is too large; a whole number from 1 to 9 is expected"
    n.type("9")
    made.check()
    assert n.problem == ""
    assert not made.attempt()
    assert at(made, "city").problem == "needed: text of at least 2 characters"


def test_a_text_that_is_taken_away_is_left_out_again() -> None:
    made = form(a={"type": "string", "default": "x"})
    at(made, "a").type("")
    assert made.value == {}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, ""),
        ({"type": "string"}, "007"),
        ({"type": ["string", "null"]}, None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 3),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, None),
        ({"type": ["integer", "boolean"]}, True),
        (SHAPES, {"r": 1.5}),
        (SHAPES, {"kind": "square", "side": 2}),
        (SHAPES, "none"),
        (POINT, {"x": 1}),
        ({"type": "array", "items": POINT}, [{"x": 1}, {"x": 2, "y": 3}]),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, ["a", 1]),
        ({"type": "object"}, {"any": ["thing"]}),
        ({}, {"any": ["thing"]}),
        (ENUMS["several of titled"], ["#0f0"]),
        ({"const": 3}, 3),
    ],
)
def test_a_pasted_value_of_any_shape_comes_back_as_it_was(schema: dict[str, Any], value: Any) -> None:
    made = form(["it"], it=schema)
    made.paste(json.dumps({"it": value}))
    assert made.value == {"it": value}
    assert type(made.value["it"]) is type(value)
    assert made.attempt(), [entry.problem for entry in made.root.walk()]
    made.paste("{}")
    assert made.value == {}


@pytest.mark.parametrize("wrong", [5, "text", True, None, [], {}, [1], {"a": 1}, 1.5])
@pytest.mark.parametrize("schema", [CITY, {"type": "integer"}, {"type": "boolean"}, POINT, SHAPES, ENUMS["plain"]])
def test_a_pasted_value_that_does_not_fit_is_kept_and_told(schema: dict[str, Any], wrong: Any) -> None:
    made = form(it=schema)
    made.paste(json.dumps({"it": wrong}))
    fits = not Validator(schema).errors(wrong)
    assert made.value["it"] == wrong
    assert made.attempt() is fits
    assert any(entry.problem for entry in made.root.walk()) is not fits


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "{'a': 1}", "NaN"])
def test_what_is_no_json_object_is_refused_and_loses_nothing(text: str) -> None:
    made = form(a={"type": "string", "default": "x"})
    with pytest.raises(ValueError, match=r"JSON|object"):
        made.paste(text)
    assert made.value == {"a": "x"}


def test_names_without_a_field_are_kept() -> None:
    made = form(a={"type": "string"})
    made.paste('{"a": "x", "other": [1]}')
    assert made.value == {"a": "x", "other": [1]}


def test_an_optional_object_is_there_once_it_is_opened() -> None:
    made = form(p={**POINT, "properties": {**POINT["properties"], "y": {"type": "number", "default": 2}}})
    p = at(made, "p")
    assert isinstance(p, Group)
    assert made.value == {}
    p.open = True
    assert made.value == {"p": {"y": 2}}
    assert not made.attempt()
    assert at(made, "p", "x").problem == "needed: a number"


def test_items_are_added_and_taken_away_and_problems_stay_with_theirs() -> None:
    made = form(stops={"type": "array", "items": CITY, "minItems": 2})
    stops = at(made, "stops")
    assert isinstance(stops, List)
    first, second, third = items = [at(made, "stops").add() for _ in range(3)]
    for item, text in zip(items, ("", "Oslo", "x"), strict=True):
        item.type(text)
    assert not made.attempt()
    assert [item.problem for item in stops.parts] == [
        "needed: text of at least 2 characters",
        "",
        "'x' is too short; text of at least 2 characters is expected",
    ]
    stops.remove(first)
    third.type("Rome")
    assert made.check()
    assert made.value == {"stops": ["Oslo", "Rome"]}
    stops.remove(second)
    assert not made.check()
    assert "1 is too few" in stops.problem
    stops.remove(third)
    assert made.value == {}


def test_a_union_is_told_by_its_variants_and_keeps_what_was_put_into_each() -> None:
    made = form(["shape"], shape=SHAPES)
    shape = at(made, "shape")
    assert isinstance(shape, Union)
    assert [variant.title for variant in shape.field.variants] == ["Circle", "square", "text"]
    assert not made.attempt()
    assert shape.problem.startswith("needed: ")
    shape.choose(0)
    made.check()
    assert at(made, "shape", "r").problem == "needed: a number"
    at(made, "shape", "r").type("2")
    shape.choose(1)
    assert made.value == {"shape": {"kind": "square"}}
    shape.choose(0)
    assert made.value == {"shape": {"r": 2}}
    assert made.check()


def test_a_schema_that_refers_to_itself_is_as_deep_as_one_goes_and_json_below() -> None:
    made = Form({**TREE, "$defs": {"tree": TREE, "trees": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}})
    entry: Entry = made.root
    levels = 0
    while isinstance(entry, Group):
        entry.open = True
        entry.named["name"].put(f"level {levels}")
        entry = entry.named["left"]
        levels += 1
    assert levels == 6
    assert isinstance(entry, Leaf)
    assert entry.field.kind == "json"
    entry.type('{"name": "deeper", "left": {"name": "still"}}')
    assert made.attempt()
    entry.type('{"left": {}}')
    assert not made.check()
    assert "missing" in entry.problem


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "#/properties/it"},
        {"allOf": [{"$ref": "#/properties/it"}, {"$ref": "#/properties/it"}]},
        {"anyOf": [{"$ref": "#/properties/it"}, {"$ref": "#/properties/it"}]},
        {"$ref": "https://elsewhere.example/schema"},
        {"$ref": "#/nowhere"},
        {"type": "array", "items": {"$ref": "#/properties/it"}, "minItems": 3},
        {"type": "object", "properties": {"it": {"$ref": "#/properties/it"}}, "required": ["it"]},
    ],
)
def test_a_schema_without_an_end_can_be_shown(part: dict[str, Any]) -> None:  # JSC-4
    made = form(["it"], it=part)
    assert 0 < len(list(made.root.walk())) < 2000
    made.attempt()


def test_more_properties_than_can_be_shown_are_given_as_json() -> None:  # JSC-4
    made = Form({"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(3000)}})
    assert len(made.fields) == 200
    assert made.root.field.unnamed == 2800
    made.paste('{"p0": "a", "p2999": "b"}')
    assert made.value == {"p0": "a", "p2999": "b"}


def test_very_many_values_are_searched() -> None:
    made = form(city={"type": "string", "oneOf": [{"const": n, "title": f"City {n:06}"} for n in range(100_000)]})
    city = at(made, "city")
    choices = city.field.choices
    assert choices.search("99999", 5) == ["City 099999"]
    assert choices.search("city 0000", 3) == ["City 000000", "City 000001", "City 000002"]
    city.put(choices.labelled("city 099999").value)
    assert made.value == {"city": 99999}
    city.put("nowhere")
    assert not made.attempt()
    assert city.problem == "'nowhere' is not among the choices; one of 100,000 values is expected"


def test_several_of_very_many_values_are_kept_to_them() -> None:
    made = form(it={"type": "array", "maxItems": 2, "items": {"enum": [f"v{n}" for n in range(100_000)]}})
    made.paste('{"it": ["v1", "v99999"]}')
    assert made.attempt()
    made.paste('{"it": ["v1", "v100000"]}')
    assert not made.attempt()
    assert at(made, "it").problem == "'v100000' is not among the choices; one of 100,000 values is expected"
    made.paste('{"it": ["v1", "v2", "v3"]}')
    assert not made.attempt()
    assert "too many" in at(made, "it").problem


def test_choices_that_look_the_same_have_labels_of_their_own() -> None:
    titles = ["Red", "Red", "Blue\u202e", "Blue<U+202E>"]
    made = form(it={"oneOf": [{"const": n, "title": title} for n, title in enumerate([*titles, "Red"])]})
    choices = at(made, "it").field.choices
    assert choices.labels == ["Red (0)", "Red (1)", "Blue<U+202E> (2)", "Blue<U+202E> (3)", "Red (4)"]
    same = form(it={"enum": ["a", "a\n", " a"]})
    assert len(set(at(same, "it").field.choices.labels)) == 3


@pytest.mark.parametrize("value", [0, False, 1, True, 0.0, "0", None])
def test_values_of_other_types_are_not_mixed_up(value: Any) -> None:
    made = form(it={"enum": [0, False, 1, True, "0", None]})
    made.paste(json.dumps({"it": value}))
    leaf = at(made, "it")
    chosen = leaf.field.choices[leaf.index].value
    assert chosen == value
    assert isinstance(chosen, bool) is isinstance(value, bool)


def test_one_problem_of_several_fields_is_told_for_the_whole() -> None:
    made = Form({"type": "object", "properties": {"a": {}, "b": {}}, "minProperties": 1})
    assert made.problems == []
    assert not made.attempt()
    assert "too few" in made.problems[0]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("city: 'Osl0' is not a known city", "'Osl0' is not a known city"),
        ("ValueError: city: no such place", "no such place"),
        ("The arguments do not fit:\n- city: 'O' is too short\n- days: missing", "'O' is too short"),
        ("1 validation error for call[get]\ncity\n  Input should be a valid string", "Input should be a valid string"),
        ("Unknown value for 'city': Osl0", "Unknown value for 'city': Osl0"),
        ("invalid argument city", "invalid argument city"),
        ("at /city: no such place", "at /city: no such place"),
    ],
)
def test_a_tools_error_is_told_at_the_field_that_it_names(error: str, said: str) -> None:  # VAL-3
    made = form(city={"type": "string"}, a={"type": "string"})
    assert made.blame(error)
    assert at(made, "city").problem == said
    assert at(made, "a").problem == ""
    at(made, "city").type("Oslo")
    made.check()
    assert at(made, "city").problem == ""


@pytest.mark.parametrize("error", ["Something went wrong", "Each city has a name", "", "x" * 10_000_000])
def test_an_error_that_names_no_field_is_told_at_none(error: str) -> None:
    made = form(city={"type": "string"}, a={"type": "string"})
    assert not made.blame(error)


def test_what_is_given_beforehand_is_put_in() -> None:
    made = Form({"type": "object", "properties": {"a": CITY, "p": POINT}}, {"a": "x", "p": {"x": 1}, "other": 2})
    assert made.value == {"a": "x", "p": {"x": 1}, "other": 2}
    assert "too short" in at(made, "a").problem


@pytest.mark.parametrize("schema", [None, True, {}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_what_asks_for_nothing_can_be_sent(schema: Any) -> None:
    made = Form(schema)
    assert made.fields == []
    assert made.attempt()
    assert made.value == {}


scalars = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "integer"}),
    st.just({"type": "number"}),
    st.just({"type": "boolean"}),
    st.just({"type": ["string", "null"]}),
    st.just({"enum": ["a", 1, None, True]}),
    st.just(ENUMS["titled"]),
    st.just(ENUMS["several of titled"]),
    st.just({}),
)


def _larger(parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    objects = st.dictionaries(st.sampled_from("abc"), parts, min_size=1).map(
        lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)[:1]}
    )
    return st.one_of(
        objects,
        parts.map(lambda items: {"type": "array", "items": items}),
        st.lists(parts, min_size=2, max_size=3).map(lambda members: {"anyOf": members}),
    )


schemas = st.dictionaries(st.sampled_from("abcd"), st.recursive(scalars, _larger, max_leaves=6), min_size=1).map(
    lambda properties: {"type": "object", "properties": properties}
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "#f00", "null", "1"]),
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(st.sampled_from("abcd"), parts, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(schemas, st.dictionaries(st.sampled_from("abcde"), values, max_size=4))
def test_whatever_is_pasted_is_what_is_sent_and_judged(schema: dict[str, Any], value: dict[str, Any]) -> None:
    made = Form(schema)
    made.paste(json.dumps(value))
    assert json.dumps(made.value, sort_keys=True) == json.dumps(value, sort_keys=True)
    fits = not Validator(schema).errors(value)
    assert made.attempt() is fits
    assert (any(entry.problem for entry in made.root.walk()) or bool(made.problems)) is not fits
    made.paste(made.written)
    assert json.dumps(made.value, sort_keys=True) == json.dumps(value, sort_keys=True)


@settings(max_examples=100, deadline=None)
@given(schemas)
def test_a_form_that_nobody_touched_sends_nothing(schema: dict[str, Any]) -> None:
    made = Form(schema)
    assert made.value == {}
    assert all(leaf.value is NOTHING for leaf in made.root.walk() if leaf is not made.root)
