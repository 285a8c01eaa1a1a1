from typing import Any

import pytest

from mcp_notebook.errors import SchemaError
from mcp_notebook.notebook.forms import NOTHING, Field, Form

COLOURS = [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]
ENUMS: dict[str, dict[str, Any]] = {
    "plain": {"type": "string", "enum": ["#f00", "#0f0"]},
    "titled": {"type": "string", "oneOf": COLOURS},
    "titled by enumNames": {"type": "string", "enum": ["#f00", "#0f0"], "enumNames": ["Red", "Green"]},
    "several of plain": {"type": "array", "items": {"type": "string", "enum": ["#f00", "#0f0"]}},
    "several of titled": {"type": "array", "items": {"anyOf": COLOURS}},
}


def field(schema: dict[str, Any]) -> Field:
    return Field("name", schema, False)


@pytest.mark.parametrize("shape", ENUMS)
def test_every_shape_of_enum_is_a_choice(shape: str) -> None:  # INS#933
    made = field(ENUMS[shape])
    assert [choice.value for choice in made.choices or ()] == ["#f00", "#0f0"]
    titled = "titled" in shape
    assert [choice.title for choice in made.choices or ()] == (["Red", "Green"] if titled else ["#f00", "#0f0"])
    expected: Any = ["#0f0"] if made.many else "#0f0"
    assert made.read("#0f0") == made.read("2") == made.read(" 2 ") == expected
    if titled:
        assert made.read("Green") == made.read("green") == expected


def test_several_choices_are_separated_by_commas() -> None:
    made = field(ENUMS["several of titled"])
    assert made.read("2, red") == ["#0f0", "#f00"]
    assert made.show(["#0f0", "#f00"]) == "Green, Red"


def test_bounds_on_how_many_are_chosen_are_told() -> None:
    made = field({**ENUMS["several of plain"], "maxItems": 1})
    with pytest.raises(ValueError, match=r"too many.*at most 1 item"):
        made.read("1,2")


def test_a_value_that_looks_like_a_number_is_not_taken_for_a_position() -> None:
    made = field({"type": "string", "enum": ["2", "1"]})
    assert not made.numbered
    assert made.read("1") == "1"


def test_something_that_is_no_choice_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"'blue' is not among the choices; a number from 1 to 2 is expected"):
        field(ENUMS["titled"]).read("blue")


@pytest.mark.parametrize("text", ["y", "Yes", "true"])
def test_yes_is_true(text: str) -> None:
    assert field({"type": "boolean"}).read(text) is True


@pytest.mark.parametrize("text", ["n", "NO", "false"])
def test_no_is_false(text: str) -> None:
    assert field({"type": "boolean"}).read(text) is False


def test_maybe_is_neither() -> None:
    with pytest.raises(ValueError, match=r"'maybe' is not accepted; y \(yes\) or n \(no\) is expected"):
        field({"type": "boolean"}).read("maybe")


@pytest.mark.parametrize("text", ["0", "10", "2o", "2.5", "{}"])
def test_what_does_not_fit_is_told_with_what_would(text: str) -> None:  # codex#41797
    with pytest.raises(ValueError, match="a whole number from 1 to 9 is expected"):
        field({"type": "integer", "minimum": 1, "maximum": 9}).read(text)


def test_text_stays_as_it_was_typed() -> None:
    made = field({"type": "string"})
    assert (made.read("007"), made.read(" a "), made.read("null")) == ("007", " a ", "null")


def test_an_unknown_format_is_ignored() -> None:  # spring-ai#4993
    assert field({"type": "integer", "format": "int32"}).read("3") == 3


@pytest.mark.parametrize(
    ("schema", "default"),
    [
        ({"type": "string", "default": "a"}, "a"),
        ({"type": "number", "default": 0}, 0),
        ({"type": "integer", "default": 3}, 3),
        ({"type": "boolean", "default": False}, False),
        ({**ENUMS["titled"], "default": "#0f0"}, "#0f0"),
        ({**ENUMS["several of plain"], "default": []}, []),
        ({"type": ["string", "null"], "default": None}, None),
    ],
)
def test_a_default_of_every_type_is_taken(schema: dict[str, Any], default: Any) -> None:  # DEF-1, DEF-2, INS#353
    made = field(schema)
    assert made.default == default
    assert made.misfit == ""


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "default": 1},
        {"type": "integer", "maximum": 3, "default": 4},
        {"type": "boolean", "default": "true"},
        {**ENUMS["plain"], "default": "blue"},
        {**ENUMS["several of titled"], "default": ["Red"]},
    ],
)
def test_a_default_that_does_not_fit_is_shown_not_used(schema: dict[str, Any]) -> None:  # DEF-1
    made = field(schema)
    assert made.default is NOTHING
    assert "expected" in made.misfit


def test_what_is_asked_for_keeps_its_order_and_its_dialect() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"b": {"type": "string"}, "a": {"$ref": "#/$defs/A"}},
        "required": ["a"],
        "$defs": {"A": {"type": "integer", "default": 1}},
    }
    made = Form(schema)
    assert [(one.name, one.required) for one in made.fields] == [("b", False), ("a", True)]
    assert made.defaults() == {"a": 1}
    assert made.fields[1].read("2") == 2


def test_a_broken_schema_is_reported() -> None:
    with pytest.raises(SchemaError):
        Form({"type": "object", "properties": 3})
