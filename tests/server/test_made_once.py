"""What is made of annotations is made once for all functions that have the same ones, and for no others."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, Optional

import pytest

from mcp_notebook.errors import ProtocolError, SchemaError
from mcp_notebook.server import json_types
from mcp_notebook.server.annotations import is_plain
from mcp_notebook.server.signature import Signature


class Row: ...


def function(of: type | Any, default: Any = inspect.Parameter.empty, doc: str = "") -> Callable[..., Any]:
    def made(x: Any = default) -> Any:
        return x

    made.__doc__ = doc
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    made.__signature__ = inspect.Signature(  # pyright: ignore[reportFunctionMemberAccess]
        [inspect.Parameter("x", kind, default=default, annotation=of)], return_annotation=of
    )
    return made


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What models are made of from here on."""
    fields: list[Any] = []
    schema_of = json_types.schema_of
    for module in ("arguments", "returned"):
        monkeypatch.setattr(
            f"mcp_notebook.server.{module}.schema_of",
            lambda model, *mode: fields.append(model) or schema_of(model, *mode),
        )
    return fields


@pytest.mark.parametrize("of", [str, int | None, list[dict[str, float]], Literal["a", 1, None], Any])
def test_plain_annotations_are_read_once(of: Any, made: list[Any]) -> None:
    Signature.of(function(of))
    before = len(made)
    again = Signature.of(function(of), name="other")
    assert len(made) == before
    assert again.name == "other"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (function(int, 1), function(int, True)),
        (function(Any, 1), function(Any, 1.0)),
        (function(Any, 0.0), function(Any, -0.0)),
        (function(int | str), function(str | int)),
        (function(list[int | str]), function(list[str | int])),
        (function(Literal[1]), function(Literal[True])),
        (function(Optional[int]), function(int)),  # noqa: UP045
        (function(int), function(int, doc="Text.\n\nArgs:\n    x: a number")),
    ],
)
def test_what_only_looks_alike_is_read_apart(one: Callable[..., Any], other: Callable[..., Any]) -> None:
    schemas = [repr(Signature.of(each).input_schema) for each in (one, other, one, other)]
    assert schemas[0] != schemas[1]
    assert schemas[2:] == schemas[:2]


def test_what_depends_on_other_things_is_not_plain() -> None:
    class Local: ...

    for of in (Row, Local, list[Row], dict[str, "Row"], Literal["a"] | Row, tuple[int, ...], bytes):
        assert not is_plain(of)


def test_errors_name_the_function_that_they_are_about() -> None:
    def first(x: int, /) -> int:
        return x

    def second(x: int, /) -> int:
        return x

    for wrong in (first, second):
        with pytest.raises(SchemaError, match=wrong.__name__):
            Signature.of(wrong)
    for name in ("third", "fourth"):
        with pytest.raises(ProtocolError, match=name):
            Signature.of(function(int), name=name).wrap_output("text")
