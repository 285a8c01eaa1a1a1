"""Forms of elicitation from Python types, and answers as Python values."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import types
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from pydantic import BaseModel, Field

from mcp_notebook.errors import InvalidResult, SchemaError
from mcp_notebook.protocol.json_schema import check_schema
from mcp_notebook.server.elicitation_schema import elicitation_schema, parse_answer


class Paint(enum.Enum):
    RED = "#FF0000"
    DARK_GREEN = "#00FF00"


class Size(enum.Enum):
    SMALL = "small"
    BIG = "big"


class Level(enum.IntEnum):
    LOW = 1


TITLED = [{"const": "#FF0000", "title": "Red"}, {"const": "#00FF00", "title": "Dark green"}]


class Order(BaseModel):
    name: str = Field(title="Name", description="Yours", min_length=2, max_length=50)
    email: Annotated[str, Field(json_schema_extra={"format": "email"})] = "a@b.example"
    count: int = Field(default=1, ge=1, lt=10)
    price: decimal.Decimal = decimal.Decimal("1.5")
    day: dt.date = dt.date(2025, 12, 31)
    gift: bool = False
    paint: Paint = Paint.RED
    size: Size
    kind: Literal["new", "used"] = "new"
    paints: list[Paint] = Field(default=[Paint.RED], min_length=1, max_length=2)
    tags: set[Literal["a", "b"]] = set()
    note: str | None = None
    must: int | None


class Plain(TypedDict):
    a: int
    b: NotRequired[str]


@dataclasses.dataclass
class Contact:
    city: str
    floor: int = 0


def test_a_model_becomes_a_flat_form_in_the_restricted_schema() -> None:  # DEF-1
    schema = elicitation_schema(Order)
    check_schema(schema)
    assert schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "Yours", "minLength": 2, "maxLength": 50},
            "email": {"type": "string", "format": "email", "default": "a@b.example"},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1},
            "price": {"type": "number", "default": 1.5},
            "day": {"type": "string", "format": "date", "default": "2025-12-31"},
            "gift": {"type": "boolean", "default": False},
            "paint": {"type": "string", "oneOf": TITLED, "default": "#FF0000"},
            "size": {"type": "string", "enum": ["small", "big"]},
            "kind": {"type": "string", "enum": ["new", "used"], "default": "new"},
            "paints": {
                "type": "array",
                "items": {"anyOf": TITLED},
                "minItems": 1,
                "maxItems": 2,
                "default": ["#FF0000"],
            },
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": []},
            "note": {"type": "string"},
            "must": {"type": "integer"},
        },
        "required": ["name", "size"],
    }


def test_an_answer_becomes_the_value_with_what_was_left_out_as_default_or_none() -> None:
    answer = {"name": "Jo", "size": "big", "paint": "#00FF00", "tags": ["a"], "day": "2026-01-01", "unknown": 1}
    found = parse_answer(Order, answer)
    assert found == Order(
        name="Jo", size=Size.BIG, paint=Paint.DARK_GREEN, tags={"a"}, day=dt.date(2026, 1, 1), must=None
    )
    assert found.paints == [Paint.RED]


@pytest.mark.parametrize(
    ("type_", "field", "answer", "value"),
    [
        (str, {"type": "string"}, "x", "x"),
        (int, {"type": "integer"}, 3, 3),
        (float, {"type": "number"}, 3, 3.0),
        (bool, {"type": "boolean"}, True, True),
        (dt.datetime, {"type": "string", "format": "date-time"}, "2025-12-31T18:00", dt.datetime(2025, 12, 31, 18)),
        (Literal["a"], {"type": "string", "enum": ["a"]}, "a", "a"),
        (Size, {"type": "string", "enum": ["small", "big"]}, "big", Size.BIG),
        (Paint, {"type": "string", "oneOf": TITLED}, "#FF0000", Paint.RED),
        (list[Paint], {"type": "array", "items": {"anyOf": TITLED}}, ["#FF0000"], [Paint.RED]),
        (Annotated[int, Field(ge=1)], {"type": "integer", "minimum": 1}, 1, 1),
    ],
)
def test_a_plain_type_is_asked_for_as_value(type_: Any, field: Any, answer: Any, value: Any) -> None:
    assert elicitation_schema(type_) == {"type": "object", "properties": {"value": field}, "required": ["value"]}
    assert parse_answer(type_, {"value": answer}) == value


def test_what_may_be_none_may_be_left_out() -> None:
    assert elicitation_schema(str | None) == {"type": "object", "properties": {"value": {"type": "string"}}}
    assert parse_answer(str | None, {}) is None
    assert parse_answer(str | None, {"value": "x"}) == "x"


def test_nothing_can_be_asked_for_to_be_confirmed() -> None:
    assert elicitation_schema(None) == {"type": "object", "properties": {}}
    assert parse_answer(None, None) is None


def test_dataclasses_and_typed_dicts_are_forms_too() -> None:
    assert elicitation_schema(Contact)["required"] == ["city"]
    assert parse_answer(Contact, {"city": "Rom"}) == Contact("Rom", 0)
    assert elicitation_schema(Plain)["required"] == ["a"]
    assert parse_answer(Plain, {"a": 1}) == {"a": 1}


def test_a_schema_of_the_authors_own_is_used_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "enum": ["x"], "enumNames": ["X"], "default": "x"}},
    }
    assert elicitation_schema(schema) is schema
    assert parse_answer(schema, {"a": "x"}) == {"a": "x"}
    with pytest.raises(InvalidResult, match="a: 'y' is not accepted; 'x' is expected"):
        parse_answer(schema, {"a": "y"})


class Nested(BaseModel):
    home: Contact


class Recursive(BaseModel):
    part: Recursive | None = None


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (Nested, "home"),
        (Recursive, "part"),
        (TypedDict("T", {"l": list[int]}), "l"),
        (TypedDict("T", {"l": list[Contact]}), "l"),
        (TypedDict("T", {"l": Level}), "l"),
        (TypedDict("T", {"l": Literal[1, 2]}), "l"),
        (TypedDict("T", {"l": int | str}), "l"),
        (TypedDict("T", {"l": bytes}), "l"),
        (TypedDict("T", {"a/b": dict[str, int]}), "a/b"),
        (list[str], "value"),
        (dict[str, int], "value"),
        (Any, "value"),
        ({"type": "object", "properties": {"home": {"type": "object"}}}, "home"),
        ({"type": "object", "properties": {"home": True}}, "home"),
    ],
)
def test_what_a_flat_form_cannot_ask_for_is_refused_by_name(type_: Any, name: str) -> None:
    with pytest.raises(SchemaError, match=f"A form cannot ask for '{name}'.*Ask for the parts") as raised:
        elicitation_schema(type_)
    assert raised.value.path == "/properties/" + name.replace("/", "~1")


@pytest.mark.parametrize("type_", [types.ModuleType, {"type": "object"}, {"type": "array"}, {"properties": 3}])
def test_what_is_no_form_at_all_is_refused(type_: Any) -> None:
    with pytest.raises(SchemaError):
        elicitation_schema(type_)


def with_default(annotation: Any, default: Any) -> type:
    return dataclasses.make_dataclass("Form", [("field", annotation, dataclasses.field(default=default))])


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        (with_default(int, "x"), "'x' is text; a whole number is expected"),
        (with_default(Annotated[int, Field(le=9)], 10), "10 is too large; a whole number of at most 9 is expected"),
        (with_default(Annotated[str, Field(min_length=2)], "x"), "'x' is too short"),
        (with_default(bool, "no"), "'no' is text; true or false is expected"),
        (with_default(Literal["a", "b"], "c"), "'c' is not accepted; one of 'a' or 'b' is expected"),
        (with_default(Size, "huge"), "'huge' is not accepted"),
        (with_default(dt.date, "31.12."), "'31.12.' has not the right form; a date such as 2025-12-31 is expected"),
        (
            {"type": "object", "properties": {"field": {"type": "array", "items": {"enum": ["a"]}, "default": ["b"]}}},
            "[0]: 'b' is not accepted; 'a' is expected",
        ),
    ],
)
def test_a_default_that_its_own_schema_does_not_allow_is_an_error_for_the_author(type_: Any, words: str) -> None:
    with pytest.raises(SchemaError, match="The default of 'field' does not fit its own schema") as raised:  # DEF-1
        elicitation_schema(type_)
    assert words in str(raised.value)
    assert raised.value.path == "/properties/field/default"


@pytest.mark.parametrize(
    ("type_", "content", "words"),
    [
        (Contact, {}, "city: missing; text is expected"),
        (Contact, None, "city: missing; text is expected"),
        (Contact, {"city": "Rom", "floor": "1"}, "floor: '1' is text; a whole number is expected"),
        (str, {}, "value: missing; text is expected"),
        (int, {"value": "3"}, "value: '3' is text; a whole number is expected"),
        (list[Paint], {"value": ["red"]}, "value[0]: 'red' is not accepted"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(type_: Any, content: Any, words: str) -> None:
    with pytest.raises(InvalidResult, match="The answer does not fit the form") as raised:
        parse_answer(type_, content)
    assert str(raised.value).splitlines()[1].startswith(f"- {words}")
