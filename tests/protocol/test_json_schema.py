"""JSON Schema: what is judged, in which words, within which bounds; what is read for people; text as values."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_notebook.errors import SchemaError
from mcp_notebook.protocol.json_schema import (
    Problem,
    Validator,
    allowed_values,
    check_schema,
    coerce_text,
    describe,
    inlined,
    properties_of,
)

DRAFT_07 = "http://json-schema.org/draft-07/schema#"
BOOKING = {
    "type": "object",
    "properties": {
        "passengers": {"type": "integer", "minimum": 1, "maximum": 9},
        "seat": {"enum": ["aisle", "window"]},
        "stops": {"type": "array", "items": {"$ref": "#/$defs/Stop"}},
        "note": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}]},
    },
    "required": ["passengers"],
    "additionalProperties": False,
    "$defs": {"Stop": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
}


def told(schema: Any, value: Any) -> list[str]:
    return [str(problem) for problem in Validator(schema).errors(value)]


# Schemas


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "object"},
        BOOKING,
        {"$ref": "#/$defs/nowhere"},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "string"}]},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": "#"},
        {"$schema": DRAFT_07, "items": [{"type": "string"}], "dependencies": {"a": ["b"]}},
        {"$schema": "https://json-schema.org/draft-07/schema"},
        {"$schema": "http://json-schema.org/draft-06/schema#"},
        {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True},
        {"type": "string", "format": "int32", "x-anything": 1},
    ],
)
def test_a_valid_schema_of_a_known_dialect_is_accepted(schema: Any) -> None:  # JSC-1, JSC-2
    check_schema(schema)
    Validator(schema)


@pytest.mark.parametrize(
    ("schema", "path", "words"),
    [
        ({"type": "strin"}, "/type", "'strin' is not accepted; one of 'array', 'boolean', 'integer'"),
        ({"type": "strin"}, "/type", "did you mean 'string'?"),
        ({"properties": {"a/b": {"minimum": "3"}}}, "/properties/a~1b/minimum", "'3' is text; a number is expected"),
        ({"required": "a"}, "/required", "'a' is text; a list"),
        ({"items": [{"type": "string"}]}, "/items", "a list is given; an object or true or false is expected"),
        ({"$schema": DRAFT_07, "type": 3}, "/type", "3 is not accepted"),
        (None, "", "not null"),
        ([], "", "not []"),
    ],
)
def test_an_invalid_schema_is_an_error_that_says_where(schema: Any, path: str, words: str) -> None:  # JSC-3
    with pytest.raises(SchemaError) as raised:
        check_schema(schema)
    assert raised.value.path == path
    assert words in str(raised.value)


def test_without_a_declared_dialect_positional_items_are_those_of_2020_12() -> None:  # JSC-1
    schema = {"prefixItems": [{"type": "string"}]}
    assert told(schema, [1]) == ["[0]: 1 is a number; text is expected"]
    assert told({"$schema": DRAFT_07, **schema}, [1]) == []  # draft-07 has no such keyword
    assert told({"$schema": DRAFT_07, "items": [{"type": "string"}]}, [1]) == ["[0]: 1 is a number; text is expected"]


@pytest.mark.parametrize("dialect", ["https://example.org/mine", 5, None])
def test_an_unknown_dialect_is_named_beside_the_known_ones(dialect: Any) -> None:  # JSC-1
    with pytest.raises(SchemaError, match=r"draft/2020-12, draft/2019-09, draft-07") as raised:
        Validator({"$schema": dialect})
    assert raised.value.path == "/$schema"
    assert str(dialect) in str(raised.value)


def test_importing_the_package_does_not_import_jsonschema() -> None:
    code = "import sys, mcp_notebook, mcp_notebook.protocol.json_schema; assert 'jsonschema' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_first_check_builds_no_grammar_for_a_format_that_nobody_asked_for() -> None:
    code = """
import sys
from mcp_notebook.protocol.json_schema import check_schema
check_schema({})
assert "rfc3987_syntax" not in sys.modules and "lark" not in sys.modules
import jsonschema
checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
if "iri" in checker.checkers:  # it still works for whoever asks
    assert checker.conforms("https://example.org/", "iri") and not checker.conforms("<>", "iri")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# Values


@pytest.mark.parametrize("schema", [True, {}, None])
def test_schemas_that_say_nothing_accept_everything(schema: Any) -> None:  # JSC-2
    for value in (None, 1, "x", [], {"a": 1}):
        assert Validator(schema).errors(value) == []


def test_a_schema_that_is_false_accepts_nothing() -> None:
    assert told(False, 1) == ["nothing is accepted here"]
    assert told({"anyOf": [False, False]}, 1) == ["1 is not accepted; a value is expected"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"passengers": "2o"}, "passengers: '2o' is text; a whole number from 1 to 9 is expected"),
        ({"passengers": 12}, "passengers: 12 is too large; a whole number from 1 to 9 is expected"),
        ({"passengers": True}, "passengers: true is not accepted; a whole number from 1 to 9 is expected"),
        ({}, "passengers: missing; a whole number from 1 to 9 is expected"),
        ({"passengers": 1, "seat": "isle"}, "one of 'aisle' or 'window' is expected; did you mean 'aisle'?"),
        ({"passengers": 1, "pasengers": 1}, "pasengers: there is no such name here; did you mean 'passengers'?"),
        (
            {"passengers": 1, "xyz": 1},
            "xyz: there is no such name here; known here: 'passengers', 'seat', 'stops', 'note'",
        ),
        ({"passengers": 1, "stops": [{"city": "Rom"}, {}]}, "stops[1].city: missing; text is expected"),
        ({"passengers": 1, "note": "long"}, "note: 'long' is too long; text of at most 3 characters is expected"),
        ({"passengers": 1, "note": 3}, "note: 3 is not accepted; text of at most 3 characters or null is expected"),
        ("x", "'x' is text; an object with 'passengers' is expected"),
    ],
)
def test_a_problem_says_where_and_what_is_wrong_and_what_would_be_right(value: Any, words: str) -> None:  # VAL-1
    (problem,) = told(BOOKING, value)
    assert words in problem


def test_a_problem_has_its_place_for_programs_and_for_people() -> None:
    (problem,) = Validator(BOOKING).errors({"passengers": 1, "stops": [{"city": 1}]})
    assert problem == Problem(("stops", 0, "city"), "1 is a number; text is expected")
    assert problem.pointer == "/stops/0/city"
    assert problem.where == "stops[0].city"
    assert Problem(("a/b~c",), "").pointer == "/a~1b~0c"


def test_one_of_several_kinds_of_objects_is_told_by_its_constant() -> None:
    kinds = [
        {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
    ]
    assert told({"oneOf": kinds}, {"kind": "square", "side": "x"}) == ["side: 'x' is text; a number is expected"]
    assert told({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, 5) == [
        "5 fits several variants where it must fit exactly one"
    ]


@pytest.mark.parametrize(
    ("schema", "wrong", "words"),
    [
        ({"type": "string", "minLength": 2}, "x", "'x' is too short; text of at least 2 characters is expected"),
        ({"pattern": "^a"}, "x", "'x' does not match; text that matches '^a' is expected"),
        ({"exclusiveMinimum": 0}, 0, "0 is too small; a number above 0 is expected"),
        ({"multipleOf": 5}, 3, "3 does not fit; a number that is a multiple of 5 is expected"),
        ({"const": "a"}, "b", "'b' is not accepted; 'a' is expected"),
        ({"minItems": 1}, [], "0 is too few; a list of at least 1 item is expected"),
        ({"maxItems": 1}, [1, 2], "2 is too many"),
        ({"uniqueItems": True}, [1, 1.0], "an item is given twice; a list without repetitions is expected"),
        ({"contains": {"type": "integer"}}, ["x"], "no item is a whole number"),
        ({"not": {"type": "integer"}}, 5, "5 is not accepted here"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "'b' is needed together with 'a'"),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"b": 1}, "it has names that are not known here"),
        ({"prefixItems": [{}], "items": False}, [1, 2], "2 is too many"),
        ({"type": ["integer", "null"]}, "x", "'x' is text; a whole number or null is expected"),
    ],
)
def test_each_kind_of_rule_has_words_of_its_own(schema: Any, wrong: Any, words: str) -> None:
    (problem,) = told(schema, wrong)
    assert words in problem


def test_unique_items_are_compared_as_json_compares() -> None:
    assert told({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}, {"a": True}, None, 0, False]) == []
    assert told({"uniqueItems": True}, [{"a": [1], "b": 2}, {"b": 2.0, "a": [1]}]) != []


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", ["2025-12-31"], ["2025-13-01", "31.12.2025", "20251231"]),
        ("date-time", ["2025-12-31T18:00:00Z", "2025-12-31 18:00", "2016-12-31T23:59:60+01:00"], ["2025-12-31", "now"]),
        ("time", ["18:00:00", "18:00:00.5Z"], ["25:00:00", "6 pm"]),
        ("email", ["a@b.example"], ["a", "a@b@c", "a b@c"]),
        ("uri", ["https://example.org/a?b", "urn:isbn:1"], ["example.org", "http://a b"]),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
        ("ipv4", ["127.0.0.1"], ["300.1.1.1"]),
        ("ipv6", ["::1"], ["::g"]),
        ("int32", ["anything"], []),  # spring-ai#4993
        ("regex", ["("], []),
    ],
)
def test_formats_are_checked_softly_and_unknown_ones_never_fail(name: str, good: list[str], bad: list[str]) -> None:
    for value in (*good, 3):
        assert told({"format": name}, value) == []
    for value in bad:
        (problem,) = told({"format": name}, value)
        assert describe({"type": "string", "format": name}) in problem


def test_no_more_problems_are_told_than_asked_for() -> None:
    validator = Validator({"items": {"type": "string"}})
    assert len(validator.errors(list(range(100)))) == 20
    assert len(validator.errors(list(range(100)), limit=3)) == 3


def test_foreign_text_in_a_problem_is_short_and_shows_what_hides() -> None:
    (problem,) = told({"type": "integer"}, "\u202eevil\n" + "x" * 10_000)
    assert "<U+202E>" in problem
    assert len(problem) < 200
    (problem,) = told({"additionalProperties": False}, {"\u202e" + "x" * 10_000: 1})
    assert "<U+202E>" in problem
    assert len(problem) < 200


def test_a_change_of_the_schema_afterwards_does_not_change_the_validator() -> None:
    schema: dict[str, Any] = {"type": "string"}
    validator = Validator(schema)
    schema["type"] = "integer"
    assert validator.errors("x") == []


def test_a_schema_is_compiled_once_however_often_it_is_asked_for() -> None:
    schema = {"properties": {f"p{i}": {"type": "string", "minLength": i} for i in range(200)}}
    started = time.perf_counter()
    Validator(schema)
    compiled = time.perf_counter()
    for _ in range(10):
        Validator(schema)
    assert time.perf_counter() - compiled < compiled - started


# References


@pytest.mark.parametrize("reference", ["https://example.org/x.json", "other.json", "#/$defs/nowhere", "#nowhere"])
def test_a_reference_that_leads_nowhere_fails_only_there(reference: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched: list[Any] = []
    monkeypatch.setattr("urllib.request.urlopen", fetched.append)
    schema = {"properties": {"a": {"$ref": reference}, "b": {"type": "integer"}, "c": {"type": "string"}}}
    check_schema(schema)
    first, second = told(schema, {"a": 1, "b": "x", "c": "fine"})  # JSC-4
    assert first.startswith("a: cannot be checked; its schema refers to ")
    assert reference in first
    assert second == "b: 'x' is text; a whole number is expected"
    assert told(schema, {"b": 1}) == []
    assert fetched == []


def test_references_within_the_schema_are_followed_by_pointer_anchor_and_id() -> None:
    text = {"type": "string"}
    for schema in (
        {"$ref": "#/$defs/a~1b", "$defs": {"a/b": text}},
        {"$ref": "#here", "$defs": {"x": {"$anchor": "here", **text}}},
        {"$id": "https://example.org/root", "$ref": "part", "$defs": {"x": {"$id": "part", **text}}},
    ):
        assert told(schema, 1) == ["1 is a number; text is expected"]


# Bounds (JSC-4): each of these would run for ages, or end in an error, without them


def branching(levels: int, ways: int = 2) -> dict[str, Any]:
    """Definitions that name the next one several times, so that ways ** levels ways lead through them."""
    names = {f"n{i}": {"anyOf": [{"$ref": f"#/$defs/n{i + 1}"}] * ways} for i in range(levels)}
    return {**names, f"n{levels}": {"type": "string"}}


HOSTILE: dict[str, tuple[dict[str, Any], Any]] = {
    "a circle": ({"$ref": "#/$defs/n0"}, 1),
    "exponentially many ways": ({"$ref": "#/$defs/n1"}, 1),
    "a pattern that backtracks": ({"pattern": "(a+)+$"}, "a" * 60 + "!"),
    "names by such a pattern": ({"patternProperties": {"(a+)+$": False}}, {"a" * 60 + "!": 1}),
    "names beside such a pattern": (
        {"patternProperties": {"(a+)+$": True}, "additionalProperties": True, "unevaluatedProperties": False},
        {"a" * 60 + "!": 1},
    ),
    "a part in its own dialect": (
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "items": {"pattern": "(a+)+$"}},
        ["a" * 60 + "!"],
    ),
    "many equal objects": ({"uniqueItems": True}, [{"a": i} for i in range(30_000)]),
    "a very long list": ({"items": {"enum": [[i] for i in range(20_000)]}}, [[19_999]] * 300_000),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_field_is_left_unchecked_in_bounded_time_and_the_others_are_checked(kind: str) -> None:  # JSC-4
    field, value = HOSTILE[kind]
    definitions = {**branching(40), "n0": {"$ref": "#/$defs/n0"}}
    schema = {"properties": {"hostile": field, "plain": {"type": "string"}}, "$defs": definitions}
    started = time.perf_counter()
    problems = told(schema, {"hostile": value, "plain": 1})
    assert time.perf_counter() - started < 10
    assert problems[-1] == "plain: 1 is a number; text is expected"


def test_a_circle_is_left_early_whatever_the_recursion_limit() -> None:  # JSC-4
    code = """
import sys, threading
from mcp_notebook.protocol.json_schema import Validator
sys.setrecursionlimit(1_000_000)
threading.stack_size(1024 * 1024)
circle = Validator({"anyOf": [{"$ref": "#"}]})
thread = threading.Thread(target=circle.errors, args=(1,))
thread.start()
thread.join()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("levels", [11, 40])
def test_many_hostile_fields_together_are_bounded_too(levels: int) -> None:  # JSC-4
    names = [f"f{i}" for i in range(2_000)]
    schema = {"properties": {name: {"not": {"$ref": "#/$defs/n0"}} for name in names}, "$defs": branching(levels)}
    started = time.perf_counter()
    assert told(schema, dict.fromkeys(names, 1)) == []
    assert time.perf_counter() - started < 20


def test_a_deep_value_of_a_recursive_schema_is_checked_as_deep_as_goes() -> None:  # JSC-4
    tree = {"properties": {"kids": {"items": {"$ref": "#"}}, "name": {"type": "string"}}}
    value: dict[str, Any] = {"name": 1}
    for _ in range(5):
        value = {"kids": [value], "name": "x"}
    assert told(tree, value) == [f"{'kids[0].' * 5}name: 1 is a number; text is expected"]
    for _ in range(2_000):
        value = {"kids": [value]}
    assert told(tree, {"name": 1, **value}) == ["name: 1 is a number; text is expected"]


def test_a_huge_schema_is_checked_in_bounded_time() -> None:  # JSC-4
    huge = {
        "properties": {f"p{i}": {"properties": {f"q{j}": {"type": "string"} for j in range(50)}} for i in range(2_000)}
    }
    started = time.perf_counter()
    assert told(huge, {"p1999": {"q0": 1}, "p0": {"q0": 1}})[0] == "p0.q0: 1 is a number; text is expected"
    assert time.perf_counter() - started < 20


def test_a_schema_nested_too_deeply_to_be_read_is_refused() -> None:
    for levels in (110, 1_000):
        schema: dict[str, Any] = {}
        for _ in range(levels):
            schema = {"properties": {"a": schema}}
        with pytest.raises(SchemaError, match="cannot be told as JSON"):
            Validator(schema)


def test_names_that_are_long_and_alike_are_not_compared_for_ages() -> None:
    schema = {"properties": {"ba" * 25 + str(i): True for i in range(5_000)}, "additionalProperties": False}
    started = time.perf_counter()
    assert len(told(schema, {"ab" * 25 + str(i): 1 for i in range(20)})) == 20
    assert time.perf_counter() - started < 10


def test_a_pattern_that_only_a_backtracking_engine_knows_is_not_checked() -> None:
    assert told({"pattern": "^(?=.*x)"}, "y") == []
    assert told({"patternProperties": {"(?=x)": False}, "additionalProperties": False}, {"x": 1}) == []


# Reading


def test_properties_of_all_variants_are_found_with_their_references_written_out() -> None:
    schema = {
        "allOf": [{"properties": {"a": {"$ref": "#/$defs/Color"}}, "required": ["a"]}],
        "properties": {"b": {"type": "integer"}, "any": True},
        "oneOf": [{"properties": {"kind": {"const": "x"}}}, {"properties": {"kind": {"const": "y"}}}],  # INS#2123
        "$defs": {"Color": {"enum": ["red", "blue", None], "title": "Color"}},
    }
    found = properties_of(schema)
    assert set(found) == {"a", "b", "any", "kind"}
    assert found["a"] == {"enum": ["red", "blue", None], "title": "Color"}
    assert found["any"] == {}
    assert allowed_values(schema, "a") == ["red", "blue"]
    assert allowed_values(schema, "kind") == ["x", "y"]
    assert allowed_values(schema, "b") == allowed_values(schema, "nothing") == []
    assert inlined(schema)["required"] == ["a"]


def test_allowed_values_include_booleans_and_those_of_unions() -> None:
    properties = {
        "flag": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        "mode": {"anyOf": [{"const": "auto"}, {"type": "integer"}, {"enum": [1, True, "auto"]}]},
    }
    schema = {"properties": properties}
    assert allowed_values(schema, "flag") == [True, False]
    assert allowed_values(schema, "mode") == ["auto", 1, True]


def test_a_recursive_field_says_nothing_where_it_comes_round_and_hides_no_other() -> None:  # JSC-4, FM#3893
    schema = {
        "properties": {"tree": {"$ref": "#/$defs/Tree"}, "n": {"type": "integer"}, "own": {"$ref": "#/properties/own"}},
        "$defs": {
            "Tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}
        },
    }
    found = properties_of(schema)
    assert found["tree"] == {"type": "object", "properties": {"kids": {"type": "array", "items": {}}}}
    assert found["n"] == {"type": "integer"}
    assert found["own"] == {}
    assert (
        properties_of({"properties": {"a": {"$ref": "#/$defs/n0"}, "z": True}, "$defs": branching(60, ways=10)})["z"]
        == {}
    )


def test_a_part_of_a_schema_is_read_within_the_whole() -> None:
    whole = {"$defs": {"Color": {"enum": ["red", "blue"]}}}
    assert inlined({"$ref": "#/$defs/Color"}, whole) == {"enum": ["red", "blue"]}
    assert describe({"$ref": "#/$defs/Color"}, whole) == "one of 'red' or 'blue'"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 9}, "a whole number from 1 to 9"),
        ({"type": "number", "exclusiveMinimum": 0}, "a number above 0"),
        ({"type": "string", "format": "date"}, "a date such as 2025-12-31"),
        ({"type": "string", "contentEncoding": "base64"}, "base64 text"),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 1},
            "a list of at least 1 item (each a whole number)",
        ),
        ({"type": "array", "prefixItems": [{"type": "integer"}, True]}, "a list of a whole number, then a value"),
        ({"type": "object", "required": ["a", "b"]}, "an object with 'a', 'b'"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "a whole number or null"),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "one of 'a' or 'b'"),
        ({"enum": list(range(13))}, "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 or one of 3 more"),
        ({"const": None}, "null"),
        ({"enum": []}, "nothing"),
        ({"minLength": 2}, "text of at least 2 characters"),
        (True, "a value"),
        (None, "a value"),
    ],
)
def test_a_schema_is_described_in_plain_words(schema: Any, words: str) -> None:
    assert describe(schema) == words


# Text


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "3", "3"),
        ({"type": "string"}, "null", "null"),
        ({"type": "string", "format": "date-time"}, "2025-12-31T18:00:00Z", "2025-12-31T18:00:00Z"),
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, "+3", 3),
        ({"type": "integer"}, "3.0", 3),
        ({"type": "number"}, "3", 3),
        ({"type": "number"}, ".5", 0.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"type": "null"}, "null", None),
        ({"type": "array"}, "[1, 2]", [1, 2]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"enum": ["red", "1", 1]}, "1", "1"),
        ({"enum": ["red", 1, None]}, "1", 1),
        ({"enum": ["red", 1, None]}, "null", None),
        ({"enum": [True, 1]}, "1", 1),
        ({"const": 2.5}, "2.5", 2.5),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "x", "x"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "null", None),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "3", "3"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "10", 10),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "007", "007"),
        ({"anyOf": [{"type": "array"}, {"type": "string"}]}, "[1", "[1"),
        ({"type": ["integer", "null"]}, "null", None),
        ({"allOf": [{"type": "integer"}, {"minimum": 1}]}, "3", 3),
        ({"$ref": "#/$defs/N", "$defs": {"N": {"type": "integer"}}}, "3", 3),
        ({"type": "string", "oneOf": [{"const": "#F00", "title": "Red"}]}, "#F00", "#F00"),
        ({}, "3", 3),
        ({}, "true", True),
        ({}, "null", None),
        ({}, '{"a": [1]}', {"a": [1]}),
        ({}, '"3"', '"3"'),
        ({}, "NaN", "NaN"),
        ({}, "plain words", "plain words"),
        (True, "3", 3),
        (None, "x", "x"),
        ({"description": "anything"}, "3", 3),
    ],
)
def test_typed_text_becomes_what_the_schema_asks_for(schema: Any, text: str, value: Any) -> None:
    found = coerce_text(schema, text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "text", "words"),
    [
        ({"type": "integer", "minimum": 1}, "2o", "'2o' is not accepted; a whole number of at least 1 is expected"),
        ({"type": "integer"}, "3.5", "a whole number is expected"),
        ({"type": "integer"}, "9" * 5_000, "a whole number is expected"),
        ({"type": "number"}, "nan", "a number is expected"),
        ({"type": "number"}, "1e999", "a number is expected"),
        ({"type": "boolean"}, "1", "true or false is expected"),
        ({"type": "array"}, "1,2", "a list, written as JSON, is expected"),
        ({"type": "object"}, "[1]", "an object, written as JSON, is expected"),
        ({"enum": ["red", "blue"]}, "rde", "one of 'red' or 'blue' is expected; did you mean 'red'?"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "None", "a whole number or null is expected"),
    ],
)
def test_text_that_stands_for_nothing_allowed_is_an_error_with_what_would_be_right(
    schema: Any, text: str, words: str
) -> None:
    with pytest.raises(ValueError, match="is not accepted") as raised:
        coerce_text(schema, text)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


# Whatever comes


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=5)
WORDS = SCALARS | st.sampled_from(["string", "integer", "array", "#", "#/$defs/a", "(a+)+$", "[", DRAFT_07, "date"])
KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "$ref",
        "$defs",
        "additionalProperties",
        "pattern",
        "patternProperties",
        "minimum",
        "maxLength",
        "format",
        "uniqueItems",
        "contains",
        "prefixItems",
        "dependentRequired",
        "propertyNames",
        "$schema",
        "unevaluatedProperties",
        "unevaluatedItems",
        "$id",
        "$anchor",
        "$dynamicRef",
        "multipleOf",
        "default",
        "contentEncoding",
        "a",
        "b",
    ]
)
RUBBISH = st.recursive(
    WORDS, lambda part: st.lists(part, max_size=3) | st.dictionaries(KEYWORDS, part, max_size=5), max_leaves=20
)


@settings(max_examples=300, deadline=None)
@given(RUBBISH, RUBBISH, st.text(max_size=4) | st.sampled_from(["3", "null", "[1]"]))
def test_no_schema_however_broken_does_more_than_be_refused(schema: Any, value: Any, text: str) -> None:  # JSC-4
    properties_of(schema)
    allowed_values(schema, "a")
    describe(schema)
    try:
        coerce_text(schema, text)
    except ValueError:
        pass
    try:
        validator = Validator(schema)
    except SchemaError:
        return
    for problem in validator.errors(value):
        assert str(problem)


PARTS = st.deferred(lambda: SCHEMAS)
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "object", "array", "boolean", "null"]),
        "properties": st.dictionaries(st.sampled_from("ab"), PARTS, max_size=2),
        "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
        "additionalProperties": PARTS | st.booleans(),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), PARTS, max_size=1),
        "pattern": st.sampled_from(["^a", "b$"]),
        "uniqueItems": st.booleans(),
        "items": PARTS,
        "anyOf": st.lists(PARTS, min_size=1, max_size=2),
        "not": PARTS,
        "$ref": st.just("#/$defs/a"),
    },
)
VALUES = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from("abc"), part), max_leaves=8
)


@settings(max_examples=200, deadline=None)
@given(SCHEMAS, VALUES)
def test_within_the_bounds_the_verdict_is_that_of_jsonschema(schema: dict[str, Any], value: Any) -> None:
    import jsonschema

    schema = {**schema, "$defs": {"a": {"type": ["string", "integer", "array"]}}}
    assert (not Validator(schema).errors(value)) == jsonschema.Draft202012Validator(schema).is_valid(value)
