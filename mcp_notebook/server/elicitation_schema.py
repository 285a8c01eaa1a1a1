"""The forms of elicitation from Python types: flat objects of plain fields, and the person's answer as a Python value.

Source: "Elicitation" of revision 2025-11-25 (client/elicitation), SEP-1034, SEP-1330; DEF-1.
"""

from __future__ import annotations

import inspect
from decimal import Decimal
from typing import Any

from ..errors import InvalidResult, SchemaError
from ..protocol.json_schema import Problem, Validator, check_schema, inlined
from ..protocol.json_schema.reading import choices, variants
from .json_types import Rejected, TidySchema, listed, make_model, parse, why_not

_FORMATS = frozenset({"email", "uri", "date", "date-time"})
_KEPT: dict[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "pattern"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
    "array": ("minItems", "maxItems"),
}
"""The kinds of fields, and what the restricted schema can say of each. The rest is judged when the answer comes."""
_NULL = {"type": "null"}
_WHAT_CAN_BE = "text, numbers, true or false, a choice of texts, and lists of such choices"


def elicitation_schema(type_: Any) -> dict[str, Any]:
    """The `requestedSchema` that asks a person for a value of a type.

    Args:
        type_: a pydantic model, dataclass or TypedDict of plain fields; a plain type such as `str`, `int`, `date`, a
            Literal or an Enum, or a list of one of these two, asked for under the name "value"; None for a mere
            confirmation; or a schema of your own as a dict. A field that may be None may be left out. An Enum whose
            members are named otherwise than their values shows the names.

    Raises:
        SchemaError: the type has parts that a form cannot ask for, or a default that its own schema does not allow
            (DEF-1).
    """
    if isinstance(type_, dict):
        return _checked(type_)
    return _Form(type_).schema


def parse_answer(type_: Any, content: dict[str, Any] | None) -> Any:
    """The Python value that an accepted form holds.

    Args:
        type_: what `elicitation_schema` was given; by a schema of your own the content is the value.
        content: the answer's content.

    Raises:
        InvalidResult: the content does not fit.
    """
    content = content or {}
    try:
        if isinstance(type_, dict):
            problems = Validator(type_).errors(content)
            if problems:
                raise Rejected(problems)
            return content
        return _Form(type_).parse(content)
    except Rejected as rejected:
        raise InvalidResult(f"The answer does not fit the form:\n{listed(rejected.problems)}") from None


class _Form:
    """A type as a form. `value` is the one field of the model that reads it."""

    def __init__(self, type_: Any) -> None:
        name = inspect.formatannotation(type_)
        try:
            self._model = make_model({"value": type_}, names={}, extra="ignore")
            self._full_schema = self._model.model_json_schema(schema_generator=_FormSchema)
        except Exception as error:
            raise SchemaError(f"No form can ask for {name}. {why_not(error)}") from error
        whole = inlined(self._full_schema)["properties"]["value"]
        self._is_object = whole.get("type") == "object" and isinstance(whole.get("properties"), dict)
        fields = whole["properties"] if self._is_object else {"value": whole}
        required = set(whole.get("required", ())) if self._is_object else set(fields)
        nullable = {key for key, field in fields.items() if _NULL in (field, *variants(field))}
        self._null_if_left_out = required & nullable
        needed = [key for key in fields if key in required - nullable]
        properties = {key: _plain(field, key) for key, field in fields.items() if field != _NULL}
        self.schema = _checked({"type": "object", "properties": properties, **({"required": needed} if needed else {})})

    def parse(self, content: dict[str, Any]) -> Any:
        content = {**dict.fromkeys(self._null_if_left_out), **content}
        data = {"value": content} if self._is_object else content
        try:
            return parse(self._model, data, self._full_schema).value
        except Rejected as rejected:
            start = 1 if self._is_object else 0
            raise Rejected([Problem(each.path[start:], each.message) for each in rejected.problems]) from None


class _FormSchema(TidySchema):
    """Enums with the names of their members, where these say more than the values; decimals as numbers."""

    def enum_schema(self, schema: Any) -> dict[str, Any]:
        result = super().enum_schema(schema)
        titles = {member.value: member.name.replace("_", " ").capitalize() for member in schema["members"]}
        if all(isinstance(value, str) and value.lower() == title.lower() for value, title in titles.items()):
            return result
        del result["enum"]
        return {**result, "oneOf": [{"const": value, "title": title} for value, title in titles.items()]}

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        return {"type": "number"}

    def encode_default(self, dft: Any) -> Any:
        return float(dft) if isinstance(dft, Decimal) else super().encode_default(dft)


def _plain(field: dict[str, Any], name: str) -> dict[str, Any]:
    """A field in what the restricted schema can say.

    Raises:
        SchemaError: it cannot say it.
    """
    about = {key: field[key] for key in ("title", "description", "default") if field.get(key) is not None}
    members = [member for member in variants(field) if member != _NULL]
    if "anyOf" in field and len(members) == 1:
        return {**_plain(members[0], name), **about}
    kind, texts = field.get("type"), _texts(field)
    if texts is not None:
        return {"type": "string", **about, **texts}
    if kind == "array":
        texts = _texts(field.get("items"))
        if texts is None:
            raise _refusal(name)
        own = {"items": {"anyOf": texts["oneOf"]} if "oneOf" in texts else {"type": "string", **texts}}
    elif kind not in _KEPT or members or choices(field) is not None or "contentEncoding" in field:
        raise _refusal(name)
    else:
        own = {"format": field["format"]} if field.get("format") in _FORMATS else {}
    if kind == "integer":
        own |= {"minimum": field["exclusiveMinimum"] + 1} if "exclusiveMinimum" in field else {}
        own |= {"maximum": field["exclusiveMaximum"] - 1} if "exclusiveMaximum" in field else {}
    return {"type": kind, **about, **own, **{key: field[key] for key in _KEPT[kind] if key in field}}


def _texts(field: Any) -> dict[str, Any] | None:
    """The part of a schema that lists the texts to choose from; None where it does not."""
    field = field if isinstance(field, dict) else {}
    titled = field.get("oneOf")
    if titled and all(isinstance(each.get("const"), str) for each in titled):
        return {"oneOf": titled}
    named = choices(field)
    return {"enum": named} if named and all(isinstance(each, str) for each in named) else None


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, if it is a flat one whose defaults fit (DEF-1)."""
    check_schema(schema)
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict):
        raise SchemaError('A form is an object with fields: "type" is "object", and there are "properties".')
    for name, field in properties.items():
        if not isinstance(field, dict) or field.get("type") not in _KEPT:
            raise _refusal(name)
        problems = Validator(field).errors(field["default"]) if "default" in field else []
        if problems:
            raise SchemaError(
                f"The default of {name!r} does not fit its own schema: {problems[0]}. Change one of them.",
                path=f"{_pointer(name)}/default",
            )
    return schema


def _refusal(name: str) -> SchemaError:
    return SchemaError(
        f"A form cannot ask for {name!r}: its fields are {_WHAT_CAN_BE}. Ask for the parts of anything larger as "
        "fields of their own.",
        path=_pointer(name),
    )


def _pointer(name: str) -> str:
    return Problem(("properties", name), "").pointer
