"""From a function to its schemas, and values checked on the way in and out."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import functools
import sys
import timeit
import types
import typing
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, Required, TypedDict, Union

import pytest
import typing_extensions
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, model_validator

from mcp_notebook.errors import ProtocolError, SchemaError, ToolError
from mcp_notebook.jsonrpc import INTERNAL_ERROR
from mcp_notebook.protocol.json_schema import Validator, check_schema
from mcp_notebook.server.signature import Signature
from mcp_notebook.types import CallToolResult, ImageContent, TextContent


class Context:
    """What stands for the running call."""


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Address:
    """Where somebody lives."""

    city: str
    zip: str = ""


class Person(BaseModel):
    name: str = Field(title="Full name", min_length=1)
    home: Address | None = None
    friends: list[Person] = []


class Options(TypedDict, total=False):
    verbose: Required[bool]
    depth: int
    more: list[Options]


def read(function: Callable[..., Any], **options: Any) -> Signature:
    """The signature of a function defined in the caller, in whose locals its annotations are resolved."""
    return Signature.of(function, context=Context, localns=sys._getframe(1).f_locals, **options)


def taking(annotation: Any, default: Any = ...) -> Signature:
    """The signature of a function with one parameter, `x`."""

    def function(x): ...  # pyright: ignore[reportMissingParameterType]

    function.__annotations__["x"] = annotation
    if default is not ...:
        function.__defaults__ = (default,)
    return Signature.of(function)


def giving(annotation: Any) -> Signature:
    """The signature of a function with a return annotation."""

    def function(): ...

    function.__annotations__["return"] = annotation
    return Signature.of(function)


def schema_of(annotation: Any) -> dict[str, Any]:
    """The schema of a parameter."""
    schema = taking(annotation).input_schema
    check_schema(schema)
    return schema["properties"]["x"]


def accepted(annotation: Any, value: Any) -> Any:
    return taking(annotation).validate({"x": value})["x"]


def refused(signature: Signature, arguments: dict[str, Any]) -> list[str]:
    """The problems that the error tells."""
    with pytest.raises(ToolError) as raised:
        signature.validate(arguments)
    heading, *problems = str(raised.value).splitlines()
    assert heading == f"The arguments of {signature.name} do not fit:"
    assert not any(word in str(raised.value).lower() for word in ("pydantic", "http", "input should", "type="))
    return [problem.removeprefix("- ") for problem in problems]


@pytest.fixture
def cell(request: pytest.FixtureRequest) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Runs source as a notebook cell does: in a module of its own, which remembers what earlier cells defined."""
    module = types.ModuleType(f"cell_of_{request.node.name}")
    sys.modules[module.__name__] = module

    def run(source: str) -> dict[str, Any]:
        exec(source, vars(module))
        return vars(module)

    yield run
    del sys.modules[module.__name__]


# The schema of arguments


def test_a_function_without_parameters_has_exactly_the_recommended_schema() -> None:  # JSC-2
    def now(ctx: Context) -> None: ...

    assert read(lambda: None).input_schema == {"type": "object", "additionalProperties": False}
    assert read(now).input_schema == {"type": "object", "additionalProperties": False}


def test_the_schema_holds_types_defaults_and_what_must_be_given_and_no_noise() -> None:
    def add(
        a: int, b: float | None = None, *, mode: Literal["fast", "exact"] = "fast", home: Address | None = None
    ): ...

    signature = read(add)
    assert signature.input_schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
            "mode": {"enum": ["fast", "exact"], "type": "string", "default": "fast"},
            "home": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}], "default": None},
        },
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {
            "Address": {
                "type": "object",
                "description": "Where somebody lives.",
                "properties": {"city": {"type": "string"}, "zip": {"type": "string", "default": ""}},
                "required": ["city"],
                "additionalProperties": False,
            }
        },
    }


def test_titles_that_the_author_wrote_stay() -> None:
    assert "title" not in taking(Person).input_schema["$defs"]["Person"]
    assert taking(Person).input_schema["$defs"]["Person"]["properties"]["name"]["title"] == "Full name"
    assert schema_of(Annotated[int, Field(title="Count")]) == {"type": "integer", "title": "Count"}


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        (Color.RED, "red"),
        (Path("a"), "a"),
        (dt.date(2025, 12, 31), "2025-12-31"),
        (dt.timedelta(minutes=5), "PT5M"),
        (b"hi", "aGk="),
        ({"b"}, ["b"]),
        (Address("Rom"), {"city": "Rom", "zip": ""}),
        (None, None),
    ],
)
def test_a_default_is_shown_as_json(default: Any, shown: Any) -> None:
    assert taking(Any, default).input_schema["properties"]["x"]["default"] == shown


@pytest.mark.parametrize("default", [object(), float("nan"), float("inf"), print, sys])
def test_a_default_that_json_cannot_tell_is_left_to_the_function(default: Any) -> None:
    signature = taking(Any, default)
    assert signature.input_schema["properties"]["x"] == {}
    assert "required" not in signature.input_schema
    assert signature.validate({}) == {}


def test_what_is_not_given_is_left_to_the_defaults_of_the_function_which_are_not_copied() -> None:
    class Big:
        def __deepcopy__(self, memo: Any) -> Any:
            raise AssertionError("copied")

        __hash__ = None  # pyright: ignore[reportAssignmentType]

    assert taking(Any, Big()).validate({}) == {}
    assert taking(list[int], [1]).validate({}) == {}


def test_none_as_a_default_allows_null() -> None:
    def search(limit: int = None, page: Annotated[int, Field(ge=1)] = None): ...  # type: ignore[assignment] # noqa: RUF013

    signature = read(search)
    assert signature.validate({"limit": None, "page": None}) == {"limit": None, "page": None}
    assert refused(signature, {"page": 0}) == ["page: 0 is too small; a whole number of at least 1 is expected"]


@pytest.mark.parametrize(
    "name", ["schema", "json", "copy", "model_config", "model_fields", "self", "_private", "p0", "class_", "ü"]
)
def test_no_name_of_a_parameter_is_impossible(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def function({name}: int, other: str = '', *, p1: int = 0): return {name}", namespace)
    signature = Signature.of(namespace["function"])
    assert set(signature.input_schema["properties"]) == {name, "other", "p1"}
    assert namespace["function"](**signature.validate({name: 3, "p1": 2})) == 3


def test_names_that_pydantic_gives_a_meaning_can_be_further_arguments() -> None:
    def function(a: int, **rest: str): ...

    assert read(function).validate({"a": 1, "p0": "x", "model_config": "y"}) == {"a": 1, "p0": "x", "model_config": "y"}


def test_a_name_for_json_can_differ_from_that_of_the_parameter() -> None:
    def copy(from_: Annotated[str, Field(alias="from")], to: str): ...

    signature = read(copy)
    assert signature.validate({"from": "a", "to": "b"}) == {"from_": "a", "to": "b"}
    assert refused(signature, {"from_": "a", "to": "b"}) == [
        "from: missing; text is expected",
        "from_: there is no such name here; did you mean 'from'?",
    ]


def test_field_can_stand_as_a_default_and_give_one() -> None:
    sizes, tags, numbers = Field(10, ge=1), Field(default_factory=list), Field(ge=0)

    def page(size: int = sizes, tags: list[str] = tags, number: int = numbers): ...

    signature = read(page)
    assert signature.input_schema["required"] == ["number"]
    assert signature.validate({"number": 1}) == {"size": 10, "tags": [], "number": 1}
    assert taking(Annotated[int, Field(default=3)]).validate({}) == {"x": 3}


def test_further_arguments_are_allowed_by_a_parameter_for_them() -> None:
    def call(a: int, ctx: Context, **rest: int): ...

    def anything(**rest): ...  # pyright: ignore[reportMissingParameterType]

    signature = read(call)
    assert signature.input_schema["additionalProperties"] == {"type": "integer"}
    assert signature.validate({"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert refused(signature, {"a": 1, "b": "x"}) == ["b: 'x' is text; a whole number is expected"]
    assert refused(signature, {"a": 1, "ctx": 2}) == ["ctx: there is no such name here"]
    assert read(anything).input_schema == {"type": "object", "properties": {}, "additionalProperties": True}


def test_a_parameter_without_annotation_takes_any_json() -> None:
    def echo(x, y=1): ...  # pyright: ignore[reportMissingParameterType]

    signature = read(echo)
    assert signature.input_schema["properties"] == {"x": {}, "y": {"default": 1}}
    for value in (None, 1, "1", [1], {"a": None}):
        assert signature.validate({"x": value}) == {"x": value}


# Values


@pytest.mark.parametrize(
    ("annotation", "value", "found"),
    [
        (str, "123", "123"),
        (int, 10, 10),
        (int, 10**30, 10**30),
        (int, 1.0, 1),  # JSON has one kind of number
        (float, 1, 1.0),
        (int | str, "10", "10"),
        (str | None, None, None),
        (Literal["a", 1], 1, 1),
        (Color, "red", Color.RED),
        (dt.datetime, "2025-12-31T18:00:00Z", dt.datetime(2025, 12, 31, 18, tzinfo=dt.UTC)),
        (dt.date, "2025-12-31", dt.date(2025, 12, 31)),
        (dt.time, "18:00", dt.time(18)),
        (dt.timedelta, "PT5M", dt.timedelta(minutes=5)),
        (uuid.UUID, "123e4567-e89b-12d3-a456-426614174000", uuid.UUID("123e4567-e89b-12d3-a456-426614174000")),
        (decimal.Decimal, "1.10", decimal.Decimal("1.10")),
        (decimal.Decimal, 1.5, decimal.Decimal("1.5")),
        (Path, "/a", Path("/a")),
        (bytes, "aGk=", b"hi"),
        (bytes, "+/+/", b"\xfb\xff\xbf"),
        (set[int], [1, 2], {1, 2}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2], (1, 2)),
        (Sequence[int], [1, 2], [1, 2]),
        (dict[int, Color], {"1": "red"}, {1: Color.RED}),
        (Point, [1, 2], Point(1, 2)),
        (Address, {"city": "Rom"}, Address("Rom")),
        (Options, {"verbose": True, "more": [{"verbose": False}]}, {"verbose": True, "more": [{"verbose": False}]}),
        (Person, {"name": "Jo", "friends": [{"name": "Al"}]}, Person(name="Jo", friends=[Person(name="Al")])),
        (Optional[Person], None, None),  # noqa: UP045
        (Union[int, list[str]], ["a"], ["a"]),  # noqa: UP007
        (list[Address | None], [None, {"city": "Rom", "zip": "1"}], [None, Address("Rom", "1")]),
    ],
)
def test_json_becomes_the_python_value_of_the_annotation(annotation: Any, value: Any, found: Any) -> None:
    result = accepted(annotation, value)
    assert result == found
    assert type(result) is type(found)


@pytest.mark.parametrize(
    ("annotation", "value", "words"),
    [
        (int, "10", "x: '10' is text; a whole number is expected"),
        (int, 1.5, "x: 1.5 is a number; a whole number is expected"),
        (int, True, "x: true is not accepted; a whole number is expected"),
        (str, 123, "x: 123 is a number; text is expected"),
        (str, None, "x: null is not accepted; text is expected"),
        (float, "1", "x: '1' is text; a number is expected"),
        (bool, 1, "x: 1 is a number; true or false is expected"),
        (Color, "bleu", "x: 'bleu' is not accepted; one of 'red' or 'blue' is expected; did you mean 'blue'?"),
        (Literal["a", 1], "A", "x: 'A' is not accepted; one of 'a' or 1 is expected; did you mean 'a'?"),
        (dt.date, "31.12.2025", "x: '31.12.2025' has not the right form; a date such as 2025-12-31 is expected"),
        (
            dt.datetime,
            1700000000,
            "x: 1700000000 is a number; a date and time such as 2025-12-31T18:00:00Z is expected",
        ),
        (dt.timedelta, "5m", "x: '5m' is not accepted; a duration such as PT1H30M is expected"),
        (decimal.Decimal, "x", "x: 'x' is not accepted; a number or a decimal number as text is expected"),
        (bytes, "?", "x: '?' is not accepted; base64 text is expected"),
        (list[int], [1, "a"], "x[1]: 'a' is text; a whole number is expected"),
        (tuple[int, str], [1], "x: 1 is too few; a list of a whole number, then text is expected"),
        (Address, {"zip": "1"}, "x.city: missing; text is expected"),
        (Address, {"city": "Rom", "citty": 1}, "x.citty: there is no such name here; did you mean 'city'?"),
        (list[Person], [{"name": "Jo", "home": {"city": 1}}], "x[0].home.city: 1 is a number; text is expected"),
        (Address | None, {"city": 1}, "x.city: 1 is a number; text is expected"),
        (int | None, "x", "x: 'x' is not accepted; a whole number or null is expected"),
        (Annotated[int, Field(ge=1, le=9)], 12, "x: 12 is too large; a whole number from 1 to 9 is expected"),
        (Annotated[str, Field(pattern="^a")], "b", "x: 'b' does not match; text that matches '^a' is expected"),
    ],
)
def test_a_wrong_value_is_refused_with_what_would_be_right(annotation: Any, value: Any, words: str) -> None:  # VAL-1
    assert refused(taking(annotation), {"x": value}) == [words]


def test_every_problem_is_told_at_once() -> None:  # VAL-1
    def book(
        day: dt.date, passengers: Annotated[int, Field(ge=1, le=9)], seat: Literal["aisle", "window"] = "aisle"
    ): ...

    assert set(refused(read(book), {"passengers": "2o", "seet": "aisle"})) == {
        "passengers: '2o' is text; a whole number from 1 to 9 is expected",
        "day: missing; a date such as 2025-12-31 is expected",
        "seet: there is no such name here; did you mean 'seat'?",
    }


def test_what_the_authors_own_check_says_reaches_the_caller_in_its_own_words() -> None:  # VAL-1, SEP-1303
    def future(day: dt.date) -> dt.date:
        if day.year < 2025:
            raise ValueError("Dates must be in the future. Current date is 08/08/2025.")
        return day

    class Trip(BaseModel):
        start: dt.date
        end: dt.date

        @model_validator(mode="after")
        def in_order(self) -> Trip:
            if self.end < self.start:
                raise AssertionError("The trip ends before it starts.")
            return self

    def book(day: Annotated[dt.date, AfterValidator(future)], trip: Trip, passengers: int = 1): ...

    arguments = {"passengers": "2o", "day": "2024-12-12", "trip": {"start": "2025-02-01", "end": "2025-01-01"}}
    assert refused(read(book), arguments) == [
        "passengers: '2o' is text; a whole number is expected",
        "day: Dates must be in the future. Current date is 08/08/2025.",
        "trip: The trip ends before it starts.",
    ]


def test_arguments_that_are_not_given_at_all_are_none() -> None:
    def function(a: int = 1): ...

    assert read(function).validate(None) == {}


def test_a_validator_that_raises_a_tool_error_is_heard() -> None:
    def refuse(value: int) -> int:
        raise ToolError("No such flight.")

    with pytest.raises(ToolError, match=r"^No such flight\.$"):
        accepted(Annotated[int, AfterValidator(refuse)], 1)


def test_two_arguments_are_validated_in_a_few_microseconds() -> None:
    def add(a: int, b: int = 0) -> int: ...

    signature, arguments = read(add), {"a": 1, "b": 2}
    best = min(timeit.repeat(lambda: signature.validate(arguments), number=1_000, repeat=20)) / 1_000
    assert best < 50e-6  # measured: 2 microseconds on an idle machine


# A schema of the author's own


def test_a_schema_of_the_authors_own_judges_the_arguments_which_pass_as_they_came() -> None:
    schema = {"properties": {"when": {"type": "string", "format": "date"}, "n": {"type": "integer"}}, "required": ["n"]}

    def function(n: Any, when: dt.date | None = None, ctx: Context | None = None): ...

    signature = read(function, input_schema=schema)
    assert signature.input_schema == {"type": "object", **schema}
    assert signature.context_parameter == "ctx"
    assert signature.validate({"n": 1, "when": "2025-12-31"}) == {"n": 1, "when": "2025-12-31"}
    assert refused(signature, {"n": "x"}) == ["n: 'x' is text; a whole number is expected"]


@pytest.mark.parametrize(
    "schema", [{"type": "strin"}, {"type": "string"}, {"$schema": "https://example.org/"}, [], True]
)
def test_a_schema_of_the_authors_own_must_be_one_of_an_object(schema: Any) -> None:  # JSC-3
    with pytest.raises(SchemaError):
        read(lambda: None, input_schema=schema)


# Where types come from


def test_types_of_an_enclosing_function_are_found() -> None:  # FM#905, FM#3238
    @dataclasses.dataclass
    class Leaf:
        size: Size

    class Size(enum.Enum):
        SMALL = "small"

    def function(leaf: Leaf, size: Size, maybe: Optional[Leaf] = None): ...  # noqa: UP045

    assert read(function).validate({"leaf": {"size": "small"}, "size": "small"}) == {
        "leaf": Leaf(Size.SMALL),
        "size": Size.SMALL,
    }


def test_types_that_a_function_uses_are_found_in_its_closure() -> None:
    class Local(BaseModel):
        n: int

    def function(x: Local) -> Local:
        return Local(n=x.n)

    assert Signature.of(function).validate({"x": {"n": 1}}) == {"x": Local(n=1)}


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_types_defined_in_notebook_cells_are_found(cell: Callable[[str], dict[str, Any]], future: str) -> None:
    cell("from typing import *\nimport dataclasses, enum\nclass Kind(enum.Enum):\n    A = 'a'\nNames = list[str]")
    names = cell(
        future
        + """
class Inner(TypedDict, total=False):
    kind: Required[Kind]
    names: "Names"

class Outer(NamedTuple):
    inner: Inner
    more: "list[Inner]" = []

@dataclasses.dataclass
class Holder:
    outer: Outer

def tool(holder: Holder, inner: Inner, again: "Inner | None" = None) -> Inner: ...
"""
    )
    signature = Signature.of(names["tool"], localns=names)
    check_schema(signature.input_schema)
    check_schema(signature.output_schema)
    found = signature.validate({"holder": {"outer": [{"kind": "a"}]}, "inner": {"kind": "a", "names": ["x"]}})
    kind = names["Kind"].A
    assert found == {"holder": names["Holder"](names["Outer"]({"kind": kind})), "inner": {"kind": kind, "names": ["x"]}}
    assert sorted(refused(signature, {"holder": {"outer": [{"kind": "a"}]}, "inner": {"names": [1]}})) == [
        "inner.kind: missing; 'a' is expected",
        "inner.names[0]: 1 is a number; text is expected",
    ]


def test_names_of_the_notebook_do_not_shadow_those_of_a_module(cell: Callable[[str], dict[str, Any]]) -> None:
    library = types.ModuleType("a_library_with_forward_references")
    sys.modules[library.__name__] = library
    try:
        exec(
            "from __future__ import annotations\nimport dataclasses, typing\nConfig = int\n"
            "@dataclasses.dataclass\nclass Settings:\n    config: Config\n"
            "class More(typing.TypedDict):\n    config: Config",
            vars(library),
        )
        names = cell("Config = str")
        names.update(Settings=vars(library)["Settings"], More=vars(library)["More"])
        names = cell("def tool(settings: 'Settings', more: 'More', config: 'Config'): ...")
        schema = Signature.of(names["tool"], localns=names).input_schema
        assert schema["$defs"]["Settings"]["properties"]["config"] == {"type": "integer"}
        assert schema["$defs"]["More"]["properties"]["config"] == {"type": "integer"}
        assert schema["properties"]["config"] == {"type": "string"}
    finally:
        del sys.modules[library.__name__]


@pytest.mark.parametrize("module", [typing, typing_extensions])
def test_typed_dicts_of_either_module_are_read(module: Any) -> None:
    inner = module.TypedDict("Inner", {"a": int, "b": NotRequired[str]})
    outer = module.TypedDict("Outer", {"inner": list[inner], "c": Required[int]}, total=False)
    assert accepted(outer, {"c": 1, "inner": [{"a": 1}]}) == {"c": 1, "inner": [{"a": 1}]}
    assert refused(taking(outer), {"x": {"inner": [{}], "c": 1}}) == [
        "x.inner[0].a: missing; a whole number is expected"
    ]
    assert giving(outer).wrap_output({"c": 1}) == {"c": 1}


def test_an_annotation_that_cannot_be_resolved_is_an_error_that_names_function_parameter_and_way_out() -> None:
    def function(a: int, b: list[Missing]): ...  # type: ignore[name-defined] # noqa: F821 # pyright: ignore

    def returning() -> Missing: ...  # type: ignore[name-defined] # noqa: F821 # pyright: ignore

    with pytest.raises(
        SchemaError, match=r"function\(\): the annotation of the parameter 'b', list\[Missing\]"
    ) as raised:
        read(function)
    assert "Define or import that name" in str(raised.value)
    with pytest.raises(SchemaError, match=r"returning\(\): the return annotation, Missing"):
        read(returning)


def test_a_type_within_a_type_that_cannot_be_resolved_is_named() -> None:
    @dataclasses.dataclass
    class Holder:
        part: Missing  # type: ignore[name-defined] # noqa: F821 # pyright: ignore

    def function(a: int, holder: Holder): ...

    with pytest.raises(SchemaError, match=r"function\(\): the parameter 'holder' is .*'Missing', which is not defined"):
        read(function)


@pytest.mark.parametrize("annotation", [types.ModuleType, Callable[[int], str], range, list[range], 3])
def test_a_parameter_that_json_cannot_tell_is_an_error_that_names_it(annotation: Any) -> None:
    with pytest.raises(SchemaError, match=r"function\(\): the parameter 'x' is ") as raised:
        taking(annotation)
    assert "pydantic-core" not in str(raised.value)


def test_parameters_that_cannot_be_given_by_name_are_refused() -> None:
    def stars(*numbers: int): ...

    def positional(a: int, /): ...

    with pytest.raises(SchemaError, match=r"\*numbers could never be filled in\. Take a list instead"):
        read(stars)
    with pytest.raises(SchemaError, match=r"positional-only parameter 'a'.*Remove the '/'"):
        read(positional)
    with pytest.raises(SchemaError, match="parameters cannot be read"):
        read(dict)


# Kinds of functions


class Counter:
    """Counts."""

    def __call__(self, by: int) -> int:
        """Count on.

        Args:
            by: how far.
        """
        return by

    def method(self, by: int, schema: str = "") -> None:
        """A method."""

    @classmethod
    def of_class(cls, by: int) -> None:
        """A class method."""

    @staticmethod
    def static(by: int) -> None:
        """A static method."""


@pytest.mark.parametrize(
    ("function", "name", "description", "parameters"),
    [
        (Counter(), "Counter", "Count on.", ["by"]),
        (Counter().method, "method", "A method.", ["by", "schema"]),
        (Counter.of_class, "of_class", "A class method.", ["by"]),
        (Counter.static, "static", "A static method.", ["by"]),
        (functools.partial(Counter().method, 1), "method", "A method.", ["schema"]),
        (functools.partial(Counter().method, schema="x"), "method", "A method.", ["by", "schema"]),
        (functools.lru_cache(Counter.static), "static", "A static method.", ["by"]),
    ],
)
def test_whatever_can_be_called_can_be_read(function: Any, name: str, description: str, parameters: list[str]) -> None:
    signature = Signature.of(function)
    assert signature.name == name
    assert signature.description == description
    assert list(signature.input_schema["properties"]) == parameters
    assert signature.input_schema["properties"].get("by", {"type": "integer"})["type"] == "integer"


def test_a_decorated_function_is_read_as_what_it_wraps() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @logged
    @logged
    async def search(day: dt.date, ctx: Context) -> dict[str, int]:
        """Search."""
        return {}

    signature = read(search)
    assert (signature.name, signature.description, signature.context_parameter) == ("search", "Search.", "ctx")
    assert signature.validate({"day": "2025-12-31"}) == {"day": dt.date(2025, 12, 31)}
    assert signature.output_schema == {"type": "object", "additionalProperties": {"type": "integer"}}


def test_a_partial_with_a_value_for_a_parameter_shows_it_as_its_default() -> None:
    def add(a: int, b: int): ...

    signature = read(functools.partial(add, b=3))
    assert signature.input_schema["properties"]["b"] == {"type": "integer", "default": 3}
    assert signature.input_schema["required"] == ["a"]


@pytest.mark.parametrize(
    "annotation",
    [Context, Optional[Context], Context | None, Annotated[Context, "the call"], type("Sub", (Context,), {})],  # noqa: UP045
)
def test_the_parameter_for_the_context_is_found_by_its_type(annotation: Any) -> None:
    def function(a: int, call=None): ...  # pyright: ignore[reportMissingParameterType]

    function.__annotations__["call"] = annotation
    signature = Signature.of(function, context=Context)
    assert signature.context_parameter == "call"
    assert list(signature.input_schema["properties"]) == ["a"]
    assert refused(signature, {"a": 1, "call": 2}) == ["call: there is no such name here; known here: 'a'"]


def test_skipped_parameters_are_not_looked_at() -> None:
    def function(a: int, session: Missing): ...  # type: ignore[name-defined] # noqa: F821 # pyright: ignore

    assert list(read(function, skip=["session"]).input_schema["properties"]) == ["a"]


def test_a_name_can_be_given() -> None:
    signature = read(lambda a: a, name="echo")
    assert signature.name == "echo"
    with pytest.raises(ToolError, match="The arguments of echo do not fit"):
        signature.validate({})


# Descriptions


GOOGLE = """Add two numbers.

    Both are whole.

    Args:
        a (int): the first,
            over two lines.
        b: the second.

    Returns:
        the sum
    """
NUMPY = """Add two numbers.

    Both are whole.

    Parameters
    ----------
    a : int
        the first,
        over two lines.
    b : int, optional
        the second.

    Returns
    -------
    int
        the sum
    """
SPHINX = """Add two numbers.

    Both are whole.

    :param a: the first,
        over two lines.
    :param int b: the second.
    :returns: the sum
    """


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX])
def test_what_a_docstring_says_of_parameters_becomes_their_description(docstring: str) -> None:  # PS#226, FM#1542
    def add(a: int, b: int = 0): ...

    add.__doc__ = docstring
    signature = read(add)
    assert signature.description == "Add two numbers.\n\nBoth are whole.\n\nReturns: the sum"
    assert signature.input_schema["properties"]["a"]["description"] == "the first, over two lines."
    assert signature.input_schema["properties"]["b"]["description"] == "the second."


def test_a_description_beside_the_type_goes_before_the_docstring() -> None:
    def function(a: Annotated[int, "from the type"], b: Annotated[int, Field(description="from the field")], c: int):
        """Do.

        Args:
            a: from the docstring
            b: from the docstring
            c: from the docstring
        """

    properties = read(function).input_schema["properties"]
    assert [part["description"] for part in properties.values()] == [
        "from the type",
        "from the field",
        "from the docstring",
    ]


@pytest.mark.parametrize(
    ("docstring", "description"),
    [(None, None), ("", None), ("Just this.", "Just this."), ("List:\n\n- a: b\n- c", "List:\n\n- a: b\n- c")],
)
def test_a_docstring_without_sections_is_the_description(docstring: str | None, description: str | None) -> None:
    def function(): ...

    function.__doc__ = docstring
    assert read(function).description == description


# What is returned


@pytest.mark.parametrize(
    ("annotation", "value", "data"),
    [
        (Address, Address("Rom"), {"city": "Rom", "zip": ""}),
        (Person, Person(name="Jo"), {"name": "Jo", "home": None, "friends": []}),
        (Options, {"verbose": True}, {"verbose": True}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict[str, Any], {"a": [dt.date(2025, 12, 31)]}, {"a": ["2025-12-31"]}),
        (Awaitable[Address], Address("Rom"), {"city": "Rom", "zip": ""}),
    ],
)
def test_an_object_is_told_as_it_is(annotation: Any, value: Any, data: Any) -> None:
    signature = giving(annotation)
    assert signature.output_schema is not None
    assert signature.output_schema["type"] == "object"
    check_schema(signature.output_schema)
    assert signature.wrap_output(value) == data
    assert Validator(signature.output_schema).errors(data) == []


@pytest.mark.parametrize(
    ("annotation", "value", "data"),
    [
        (str, "x", "x"),
        (int, 3, 3),
        (float, 3, 3.0),
        (bool, True, True),
        (int | None, None, None),
        (list[int], (1, 2), [1, 2]),
        (set[int], {1}, [1]),
        (tuple[int, str], (1, "a"), [1, "a"]),
        (Point, Point(1), [1, 0]),
        (Color, Color.RED, "red"),
        (dt.date, dt.date(2025, 12, 31), "2025-12-31"),
        (decimal.Decimal, decimal.Decimal("1.10"), "1.10"),
        (list[Address], [Address("Rom")], [{"city": "Rom", "zip": ""}]),
        (Person | None, Person(name="Jo"), {"name": "Jo", "home": None, "friends": []}),
        (Address | Point, Point(1, 2), [1, 2]),
        (Literal["a"], "a", "a"),
    ],
)
def test_what_is_no_object_is_told_as_a_result_with_a_mark_for_clients(annotation: Any, value: Any, data: Any) -> None:
    signature = giving(annotation)
    assert signature.output_schema is not None
    assert signature.output_schema["type"] == "object"
    assert signature.output_schema["required"] == ["result"]
    assert signature.output_schema["x-fastmcp-wrap-result"] is True
    check_schema(signature.output_schema)
    assert signature.wrap_output(value) == {"result": data}
    assert Validator(signature.output_schema).errors({"result": data}) == []


@pytest.mark.parametrize(
    "annotation",
    [
        None,
        Any,
        object,
        bytes,
        bytearray,
        TextContent,
        list[TextContent | ImageContent],
        tuple[TextContent, str],
        TextContent | None,
        Sequence[ImageContent],
        Annotated[ImageContent, "a picture"],
        CallToolResult,
        types.ModuleType,
        AsyncIterator[int],
    ],
)
def test_content_and_types_unknown_to_json_have_no_output_schema(annotation: Any) -> None:
    signature = giving(annotation)
    assert signature.output_schema is None
    assert signature.wrap_output("anything") is None


def test_the_root_of_an_output_schema_is_written_out_and_only_what_is_referred_to_is_defined() -> None:
    assert giving(Address).output_schema == {
        "type": "object",
        "description": "Where somebody lives.",
        "properties": {"city": {"type": "string"}, "zip": {"type": "string", "default": ""}},
        "required": ["city"],
    }
    recursive = giving(Options)
    data = recursive.wrap_output({"verbose": True, "more": [{"verbose": False}]})
    assert Validator(recursive.output_schema).errors(data) == []


def test_a_function_without_return_annotation_has_no_output_schema() -> None:
    assert read(lambda: None).output_schema is None


def test_bytes_within_data_are_told_as_base64() -> None:
    signature = giving(dict[str, bytes])
    assert signature.output_schema == {
        "type": "object",
        "additionalProperties": {"type": "string", "contentEncoding": "base64url"},
    }
    assert signature.wrap_output({"a": b"\xff"}) == {"a": "_w=="}


@pytest.mark.parametrize(
    ("annotation", "value", "words"),
    [
        (int, "x", "result: 'x' is not accepted; a whole number is expected"),
        (Address, {"zip": "1"}, "result.city: missing; text is expected"),
        (list[int], [1, None], "result[1]: null is not accepted; a whole number is expected"),
        (int, None, "result: null is not accepted; a whole number is expected"),
        (list[float], [1.0, float("nan")], "result[1]: nan is not a number that JSON can tell"),
    ],
)
def test_a_value_that_does_not_fit_the_return_annotation_is_a_fault_of_the_server(
    annotation: Any, value: Any, words: str
) -> None:  # VAL-2
    with pytest.raises(ProtocolError) as raised:
        giving(annotation).wrap_output(value)
    assert raised.value.code == INTERNAL_ERROR
    assert raised.value.message.startswith("function() returned what does not fit its return annotation:\n- ")
    assert words in raised.value.message


def test_arrays_and_their_scalars_count_as_lists_and_numbers() -> None:
    class Array:
        def __init__(self, value: Any) -> None:
            self.value = value

        def tolist(self) -> Any:
            return self.value

    assert giving(list[float]).wrap_output(Array([1.0, 2.0])) == {"result": [1.0, 2.0]}
    assert giving(dict[str, int]).wrap_output({"a": Array(3)}) == {"a": 3}
    assert giving(int).wrap_output(Array(3)) == {"result": 3}


# Any annotation


PLAIN = [str, int, float, bool, bytes, Any, None, Path, uuid.UUID, decimal.Decimal]
TIMES = [dt.datetime, dt.date, dt.time, dt.timedelta]
NAMED = [Color, Point, Address, Person, Options, Literal["a", 1, None]]
LEAVES = st.sampled_from([*PLAIN, *TIMES, *NAMED, Annotated[int, Field(ge=1)], Annotated[str, "text"]])
ANNOTATIONS = st.recursive(
    LEAVES,
    lambda part: (
        st.builds(lambda one: list[one], part)
        | st.builds(lambda one: dict[str, one], part)
        | st.builds(lambda one: Optional[one], part)  # noqa: UP045
        | st.builds(lambda one, other: Union[one, other], part, part)  # noqa: UP007
        | st.builds(lambda one, other: tuple[one, other], part, part)
    ),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(ANNOTATIONS, max_size=3), ANNOTATIONS)
def test_generated_schemas_are_valid_2020_12(parameters: list[Any], returned: Any) -> None:  # JSC-3
    names = [f"p{i}" for i in range(len(parameters))]
    namespace: dict[str, Any] = {}
    exec(f"def function({', '.join(names)}): ...", namespace)
    function = namespace["function"]
    function.__annotations__ = {**dict(zip(names, parameters, strict=True)), "return": returned}
    signature = Signature.of(function)
    check_schema(signature.input_schema)
    if signature.output_schema is not None:
        check_schema(signature.output_schema)
