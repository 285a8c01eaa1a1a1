"""What a function returns, as data: its schema, and JSON data that fits it."""

from __future__ import annotations

import copy
import functools
import inspect
import json
import typing
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from ..errors import ProtocolError
from ..jsonrpc import INTERNAL_ERROR
from ..types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    TextContent,
    UnknownContent,
)
from .annotations import MADE, is_plain, is_subclass, members, unpacked
from .json_types import listed, make_model, schema_of, type_problems

WRAPPED_RESULT = "x-fastmcp-wrap-result"
"""The mark in an output schema that the data is `{"result": value}` for a value that is no object.

Clients that know it (FastMCP's, ours) unwrap the value; to others it is a keyword they ignore.
"""

_NO_DATA = (
    TextContent,
    ImageContent,
    AudioContent,
    ResourceLink,
    EmbeddedResource,
    UnknownContent,
    ResourceContents,
    CallToolResult,
    bytes,
    bytearray,
    memoryview,
)

_AS_IN_JSON = (str, int, bool)


class Returned:
    """A return type that can be told as JSON.

    Args:
        name: what errors call the function.
        model: a model of the type as the field "result".
        plain: the type, where its values are JSON data as they are.

    Attributes:
        schema: the output schema; its root is an object.
        wrapped: whether data is `{"result": value}`, since the value is no object.
    """

    def __init__(self, name: str, model: type[BaseModel], plain: type | None = None) -> None:
        self.name = name
        self._model = model
        self._plain = plain
        self._schema = schema_of(model, "serialization")
        alone = _alone(self._schema)
        self.wrapped = alone.get("type") != "object"
        self.schema = {**self._schema, WRAPPED_RESULT: True} if self.wrapped else alone

    def to_data(self, value: Any) -> dict[str, Any]:
        """The value as JSON data that fits the schema.

        Raises:
            ProtocolError: the value is not of the return type; a fault of the server's (VAL-2).
        """
        if type(value) is self._plain:
            return {"result": value}
        validate = self._model.__pydantic_validator__.validate_python
        try:
            try:
                found = validate({"result": value}, by_alias=True, by_name=True)
            except ValidationError:
                plain = _without_arrays(value)
                if plain is None:
                    raise
                found = validate({"result": plain}, by_alias=True, by_name=True)
        except ValidationError as error:
            problems = type_problems(error, {"result": value}, self._schema)
            raise ProtocolError(
                INTERNAL_ERROR, f"{self.name} returned what does not fit its return annotation:\n{listed(problems)}"
            ) from None
        data = self._model.__pydantic_serializer__.to_python(found, mode="json", by_alias=True)
        return data if self.wrapped else data["result"]


def read_returned(name: str, annotation: Any, names: Mapping[str, Any]) -> Returned | None:
    """How values of a return annotation are told as data.

    None where there is nothing to tell: no annotation, None, Any; content blocks, bytes and results, which are
    content; types that JSON does not know, such as a DataFrame.
    """
    base, _ = unpacked(annotation)
    if typing.get_origin(base) in (Awaitable, Coroutine):
        annotation = typing.get_args(base)[-1]
        base, _ = unpacked(annotation)
    if base in (inspect.Signature.empty, None, type(None), Any, object):
        return None
    if any(is_subclass(member, _NO_DATA) for member in members(annotation, (list, tuple, Sequence))):
        return None
    if is_plain(annotation):
        made = copy.copy(_made_once(repr(annotation), annotation))
        made.name = name
        return made
    try:
        return _made(name, annotation, names)
    except Exception:  # pydantic's errors for types it does not know are of many classes
        return None


def _made(name: str, annotation: Any, names: Mapping[str, Any]) -> Returned:
    model = make_model({"result": annotation}, names=names, extra="ignore")
    return Returned(name, model, annotation if annotation in _AS_IN_JSON else None)


@functools.lru_cache(maxsize=MADE)
def _made_once(_: str, annotation: Any) -> Returned:
    """The repr tells apart what is equal to Python, such as `int | str` and `str | int`."""
    return _made("", annotation, {})


def _alone(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of the field "result", alone. A reference at its root is written out: a root must say its type."""
    field, definitions = schema["properties"]["result"], dict(schema.get("$defs", {}))
    name = field.get("$ref", "").removeprefix("#/$defs/")
    if name:
        field = {**definitions[name], **{key: value for key, value in field.items() if key != "$ref"}}
        if f'"#/$defs/{name}"' not in json.dumps([field, definitions]):
            del definitions[name]
    return {**field, "$defs": definitions} if definitions else field


def _without_arrays(value: Any) -> Any:
    """The value with the arrays and scalars of numpy and its like as plain values; None where that does not help."""
    try:
        return to_jsonable_python(value, fallback=lambda part: part.tolist())
    except (AttributeError, PydanticSerializationError):
        return None
