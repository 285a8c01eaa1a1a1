"""Python types as JSON: a tidy schema for them, and values of them from JSON data, strictly and with plain errors.

Pydantic does the work. A set of named types becomes one model whose fields have names of ours and the given names as
aliases, so that no name is impossible (`schema`, `self`, `_x`).
"""

from __future__ import annotations

import math
import types
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    PydanticSchemaGenerationError,
    PydanticUndefinedAnnotation,
    ValidationError,
)
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, NoDefault
from pydantic_core import PydanticSerializationError, to_json
from pydantic_core.core_schema import ErrorType

from ..protocol.json_schema import Problem, Validator, describe, inlined
from ..protocol.json_schema.words import show
from .typed_dicts import make_readable

_CONFIG = ConfigDict(
    val_json_bytes="base64",
    ser_json_bytes="base64",
    allow_inf_nan=False,
    defer_build=True,
    validate_by_alias=True,
    validate_by_name=False,
)


_MODEL = "Fields"


class Default:
    """A default of a parameter: shown in the schema, never copied or used, since the function has it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Rejected(Exception):
    """JSON data does not fit a type; `problems` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


def listed(problems: Iterable[Problem]) -> str:
    """Problems as a list, a line each."""
    return "\n".join(f"- {problem}" for problem in problems)


# Models and schemas


def make_model(
    fields: Mapping[str, Any],
    *,
    names: Mapping[str, Any],
    defaults: Mapping[str, Any] | None = None,
    extra: Literal["forbid", "ignore", "allow"] = "forbid",
    extra_type: Any = Any,
) -> type[BaseModel]:
    """A model of some fields.

    Args:
        fields: the annotation of each field.
        names: what forward references within the types may refer to.
        defaults: the defaults of the fields that have one.
        extra: what becomes of further fields.
        extra_type: their type, where they are allowed.

    Raises:
        PydanticUserError: a type is nothing that pydantic can handle, or refers to an unknown name.
    """
    annotations = dict(fields)
    for annotation in (*annotations.values(), extra_type):
        make_readable(annotation, names)
    if extra == "allow":
        annotations["__pydantic_extra__"] = dict[str, extra_type]
    body = {
        "__module__": __name__,
        "__annotations__": annotations,
        "model_config": {**_CONFIG, "extra": extra},
        **(defaults or {}),
    }
    model = types.new_class(_MODEL, (BaseModel,), exec_body=lambda namespace: namespace.update(body))
    model.model_rebuild(_types_namespace=dict(names))
    return model


def why_not(error: Exception) -> str:
    """Why no model or schema could be made of a type, and what to do."""
    if isinstance(error, PydanticUndefinedAnnotation):
        return f"Its type refers to {error.name!r}, which is not defined where that type is. Define or import it there."
    if isinstance(error, (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema)):
        return (
            "That, or a part of it, is nothing JSON can tell. Use numbers, text, lists, dicts, dataclasses, TypedDicts "
            "or pydantic models, or leave the annotation out."
        )
    return str(error).partition("\n")[0]


def schema_of(model: type[BaseModel], mode: JsonSchemaMode = "validation") -> dict[str, Any]:
    """The JSON Schema (2020-12) of a model."""
    return model.model_json_schema(schema_generator=TidySchema, mode=mode)


class TidySchema(GenerateJsonSchema):
    """Pydantic's schemas without titles that only repeat a name, and without defaults that JSON cannot tell."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}

    def sort(self, value: Any, parent_key: str | None = None) -> Any:
        return value

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def get_default_value(self, schema: Any) -> Any:
        value = super().get_default_value(schema)
        if isinstance(value, Default):
            value = value.value
        return NoDefault if isinstance(value, float) and not math.isfinite(value) else value

    def bytes_schema(self, schema: Any) -> dict[str, Any]:
        result = super().bytes_schema(schema)
        if result.get("format") == "base64url":
            del result["format"]
            # Pydantic reads both alphabets of base64, and writes the one for URLs.
            result["contentEncoding"] = "base64" if self.mode == "validation" else "base64url"
        return result

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        result = super().decimal_schema(schema)
        for part in result.get("anyOf", [result]):
            if part.get("type") == "string":
                part["format"] = "decimal"
        return result

    def generate(self, schema: Any, mode: JsonSchemaMode = "validation") -> dict[str, Any]:
        result = super().generate(schema, mode)
        for name, part in {_MODEL: result, **result.get("$defs", {})}.items():
            if part.get("title") == name:
                del part["title"]
        return result


# Values


def parse(model: type[BaseModel], data: Any, schema: dict[str, Any]) -> Any:
    """An instance of the model from JSON data. Nothing is converted: "10" is no number, 10 is no text.

    Raises:
        Rejected: the data does not fit.
    """
    validate = model.__pydantic_validator__.validate_json
    try:
        return validate(to_json(data), strict=True)
    except PydanticSerializationError as error:
        raise Rejected([Problem((), f"this cannot be written as JSON: {error}")]) from None
    except ValidationError as error:
        whole, changed = _with_whole_numbers(data)
        if not changed:
            raise Rejected(_problems(error, data, schema)) from None
    # JSON does not tell 1.0 from 1: where an integer is wanted, either is one.
    try:
        return validate(to_json(whole), strict=True)
    except ValidationError as error:
        raise Rejected(_problems(error, whole, schema)) from None


def _with_whole_numbers(data: Any) -> tuple[Any, bool]:
    """The data with floats such as 1.0 as integers, and whether there were any."""
    match data:
        case float() if data.is_integer():
            return int(data), True
        case list():
            parts = [_with_whole_numbers(part) for part in data]
            return [part for part, _ in parts], any(changed for _, changed in parts)
        case dict():
            named = {key: _with_whole_numbers(part) for key, part in data.items()}
            return {key: part for key, (part, _) in named.items()}, any(changed for _, changed in named.values())
        case _:
            return data, False


def _problems(error: ValidationError, data: Any, schema: dict[str, Any]) -> list[Problem]:
    """What is wrong: in the words of the schema, and for fields the schema has nothing against, in the type's own."""
    problems = Validator(schema).errors(data)
    told = {problem.path[:1] for problem in problems}
    return problems + [each for each in type_problems(error, data, schema) if each.path[:1] not in told]


def type_problems(error: ValidationError, data: Any, schema: dict[str, Any]) -> list[Problem]:
    """What pydantic found wrong, in plain words."""
    found = []
    for one in error.errors(include_url=False):
        path = _path_in(data, one["loc"])
        if one["type"] == "missing":
            path += one["loc"][-1:]
        found.append(Problem(path, _message(one, path, schema)))
    return list(dict.fromkeys(found))


def _path_in(data: Any, location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The steps of a location that the data has. The others name the members of unions and the like."""
    path: list[int | str] = []
    for step in location:
        try:
            data = data[step]
        except (TypeError, LookupError):
            continue
        path.append(step)
    return tuple(path)


def _message(error: Any, path: tuple[int | str, ...], schema: dict[str, Any]) -> str:
    if error["type"] in ("value_error", "assertion_error"):
        return str(error.get("ctx", {}).get("error") or "is not accepted")
    if error["type"] not in _PYDANTIC_ERRORS:
        return error["msg"]
    if error["type"] == "finite_number":
        return f"{error['input']} is not a number that JSON can tell; give null (None) for no number"
    wrong = "missing" if error["type"] == "missing" else f"{show(error['input'])} is not accepted"
    return f"{wrong}; {describe(_part(schema, path))} is expected"


_PYDANTIC_ERRORS = frozenset(get_args(ErrorType))


def _part(schema: dict[str, Any], path: tuple[int | str, ...]) -> Any:
    part: Any = inlined(schema)
    for step in path:
        part = part if isinstance(part, dict) else {}
        part = part.get("properties", {}).get(step, {}) if isinstance(step, str) else part.get("items", {})
    return part
