"""The quick yes: never said of a value that the long way refuses, and said of what tools most often give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_notebook import Server
from mcp_notebook.errors import SchemaError
from mcp_notebook.protocol.json_schema import Validator, check_schema, checking
from mcp_notebook.protocol.json_schema.bounded import errors_of, make_validator
from mcp_notebook.protocol.json_schema.dialects import DEFAULT_DIALECT, DIALECTS, dialect_of
from mcp_notebook.protocol.json_schema.quick import PARTS, quick_yes

names = st.sampled_from(["a", "b", "c"])
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5, -0.0, 2**53 + 1, "", "a", "aä"])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
types = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
few = st.integers(0, 2)


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": types | st.lists(types, min_size=1, max_size=2, unique=True),
            "properties": st.dictionaries(names, inner, max_size=2),
            "required": st.lists(names, max_size=2, unique=True),
            "additionalProperties": inner,
            "items": inner,
            "minItems": few,
            "maxItems": few,
            "minLength": few,
            "maxLength": few,
            "minimum": few,
            "maximum": few,
            "enum": st.lists(scalars, min_size=1, max_size=2),
            "const": scalars,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "$ref": st.just("#/$defs/d"),
            "title": st.just("T"),
        },
    )


def leaf(of: str, **more: Any) -> dict[str, Any]:
    return {"type": of, **more}


plain_leaves = types.map(leaf) | st.sampled_from([True, {}, leaf("string", minLength=1), leaf("integer", maximum=1)])
schemas = st.recursive(
    plain_leaves,
    lambda inner: (
        keywords(inner)
        | st.builds(leaf, st.just("array"), items=inner)
        | st.builds(leaf, st.just("object"), properties=st.dictionaries(names, inner, max_size=2))
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(list(DIALECTS)), schemas, plain_leaves, values)
def test_a_yes_is_only_said_of_what_the_long_way_accepts(dialect: str, schema: Any, part: Any, value: Any) -> None:
    schema = {**schema, "$defs": {"d": part}, "$schema": f"https://{dialect}"} if isinstance(schema, dict) else schema
    try:
        check_schema(schema)
    except SchemaError:
        return  # older dialects lack some of it
    yes = quick_yes(schema)
    if yes is not None and yes(value):
        assert errors_of(make_validator(schema, dialect_of(schema)), value, 1) == []


ROW = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "name": {"title": "Name", "anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "kind": {"enum": ["a", "b"], "type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "size": {"type": ["number", "null"]},
        "more": {"type": "object", "additionalProperties": {"type": "boolean"}},
    },
    "required": ["id"],
    "additionalProperties": False,
    "x-order": 1,
}
TABLE = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}}},
    "$defs": {"Row": ROW},
}


@pytest.mark.parametrize(
    ("row", "fits"),
    [
        ({"id": 1}, True),
        ({"id": 2, "name": None, "kind": "b", "tags": ["x"], "size": 1, "more": {"y": True}}, True),
        ({"id": 0}, False),
        ({"id": True}, False),
        ({"id": 1.5}, False),
        ({}, False),
        ({"id": 1, "name": 5}, False),
        ({"id": 1, "kind": "c"}, False),
        ({"id": 1, "tags": ["x", "y", "z"]}, False),
        ({"id": 1, "size": "x"}, False),
        ({"id": 1, "more": {"y": 1}}, False),
        ({"id": 1, "other": 1}, False),
    ],
)
def test_a_table_of_objects_is_judged_as_the_long_way_judges_it(row: Any, fits: bool) -> None:
    yes = quick_yes(TABLE)
    assert yes is not None
    assert yes({"rows": [{"id": 5}, row]}) is fits
    long_way = make_validator(TABLE, DEFAULT_DIALECT)
    assert (errors_of(long_way, {"rows": [{"id": 5}, row]}, 1) == []) is fits


def test_what_servers_made_here_return_gets_a_quick_yes() -> None:
    server = Server("demo")

    @server.tool
    def numbers() -> list[float]:
        return []

    @server.tool
    def words() -> dict[str, int | None]:
        return {}

    for name, value in (("numbers", {"result": [1, 2.5]}), ("words", {"a": 1, "b": None})):
        yes = quick_yes(server.registry.tools[name].item.output_schema)
        assert yes is not None
        assert yes(value)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string", "pattern": "a"},
        {"type": "string", "format": "date"},
        {"type": "number", "maximum": 2**53},
        {"oneOf": [{"type": "string"}]},
        {"$ref": "https://elsewhere"},
        {"$ref": "#/$defs/missing"},
        {"enum": [1]},
        {"type": "object", "properties": {"a": False}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"items": {"type": "string"}}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "array", "items": {"$ref": "#/$defs/A"}}}},
        {"type": "array", "items": [{}]},
        {"type": "unheard of"},
    ],
)
def test_a_schema_that_is_not_plain_gets_none(schema: Any) -> None:
    assert quick_yes(schema) is None


def test_a_schema_of_too_many_parts_is_not_plain() -> None:
    part: dict[str, Any] = {"type": "string"}
    definitions: dict[str, Any] = {"d0": part}
    for number in range(40):  # each stands for twice as many parts as the one before
        refers = {"$ref": f"#/$defs/d{number}"}
        definitions[f"d{number + 1}"] = {"type": "object", "properties": {"a": refers, "b": refers}}
    assert quick_yes({"$ref": "#/$defs/d40", "$defs": definitions}) is None
    assert quick_yes({"type": "object", "properties": {str(n): part for n in range(PARTS)}}) is None


def test_where_there_is_a_quick_yes_the_long_way_is_not_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    validator = Validator(TABLE)
    monkeypatch.setattr(checking, "errors_of", lambda *_: pytest.fail("the long way"))
    assert validator.errors({"rows": [{"id": 1}]}) == []
