"""The arguments of a function: their schema, and Python values from the JSON that comes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Annotated, Any, Optional, Protocol

from pydantic import Field
from pydantic.fields import FieldInfo

from ..errors import SchemaError
from ..protocol.json_schema import Problem, Validator, check_schema
from .annotations import MADE, is_plain, unpacked
from .json_types import Default, Rejected, make_model, parse, schema_of, why_not

NO_PARAMETERS = {"type": "object", "additionalProperties": False}
_EMPTY = inspect.Parameter.empty


class Arguments(Protocol):
    """How the arguments of a call are judged."""

    schema: dict[str, Any]

    def validate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Values by parameter name, for `function(**values)`. What is not given is left to the function's defaults.

        Raises:
            Rejected: the arguments do not fit.
        """
        ...


class SchemaArguments:
    """Arguments judged by a schema that the author wrote, and passed on as they came.

    Raises:
        SchemaError: the schema is none, or not one of an object (JSC-3).
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        check_schema(schema)
        if not isinstance(schema, dict) or schema.get("type", "object") != "object":
            raise SchemaError('An input schema describes an object: its "type" is "object".', path="/type")
        self.schema = {"type": "object", **schema}
        self._validator = Validator(self.schema)

    def validate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        problems = self._validator.errors(arguments)
        if problems:
            raise Rejected(problems)
        return dict(arguments)


def typed_arguments(
    name: str,
    parameters: list[inspect.Parameter],
    *,
    reserved: set[str],
    documented: Mapping[str, str],
    names: Mapping[str, Any],
) -> TypedArguments:
    """`TypedArguments`, as described there; where there were the same before, those: to make them takes a while."""
    if all(_is_plain(parameter) for parameter in parameters):
        descriptions = tuple(documented.get(parameter.name) for parameter in parameters)
        try:
            return _made_once(tuple(map(repr, parameters)), tuple(parameters), frozenset(reserved), descriptions)
        except SchemaError:
            pass  # it is raised again, with the name
    return TypedArguments(name, parameters, reserved=reserved, documented=documented, names=names)


def _is_plain(parameter: inspect.Parameter) -> bool:
    default = parameter.default
    return is_plain(parameter.annotation) and (
        default is _EMPTY or type(default) in (str, int, float, bool, type(None))
    )


@functools.lru_cache(maxsize=MADE)
def _made_once(
    _: tuple[str, ...],
    parameters: tuple[inspect.Parameter, ...],
    reserved: frozenset[str],
    descriptions: tuple[str | None, ...],
) -> TypedArguments:
    """The reprs tell apart what is equal to Python: 1 and True, `int | str` and `str | int`."""
    documented = {
        parameter.name: text for parameter, text in zip(parameters, descriptions, strict=True) if text is not None
    }
    return TypedArguments("", list(parameters), reserved=set(reserved), documented=documented, names={})


class TypedArguments:
    """Arguments judged by the annotations of a function's parameters.

    Args:
        name: what errors call the function.
        parameters: its parameters, resolved, without those that the caller fills in.
        reserved: the names of those.
        documented: descriptions of parameters.
        names: what forward references within the types may refer to.

    Raises:
        SchemaError: a parameter cannot be filled in from JSON.
    """

    def __init__(
        self,
        name: str,
        parameters: list[inspect.Parameter],
        *,
        reserved: set[str],
        documented: Mapping[str, str],
        names: Mapping[str, Any],
    ) -> None:
        fields: dict[str, Any] = {}
        defaults: dict[str, Any] = {}
        extra_type: Any = None
        self._parameters: dict[str, str] = {}
        self._filled_in: set[str] = set()
        """The fields that have no default in the function: they get their value here, if only one that Field names."""
        try:
            for parameter in parameters:
                _check_kind(name, parameter)
                if parameter.kind is parameter.VAR_KEYWORD:
                    extra_type = Any if parameter.annotation is _EMPTY else parameter.annotation
                    continue
                field = f"p{len(fields)}"
                self._parameters[field] = parameter.name
                fields[field] = _annotation(parameter, documented.get(parameter.name))
                if parameter.default is _EMPTY or isinstance(parameter.default, FieldInfo):
                    self._filled_in.add(field)
                else:
                    defaults[field] = Default(parameter.default)
            extra: dict[str, Any] = {} if extra_type is None else {"extra": "allow", "extra_type": extra_type}
            self._model = make_model(fields, names=names, defaults=defaults, **extra)
            schema = schema_of(self._model)
        except SchemaError:
            raise
        except Exception as error:
            raise _unusable(name, parameters, names, error) from error
        self._reserved = reserved | set(self._parameters.values())
        self.schema = {"type": "object", **schema} if fields or extra else dict(NO_PARAMETERS)

    def validate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        found = parse(self._model, arguments, self.schema)
        given, values = found.__pydantic_fields_set__ | self._filled_in, found.__dict__
        result = {name: values[field] for field, name in self._parameters.items() if field in given}
        extra = found.__pydantic_extra__
        if extra:
            taken = self._reserved.intersection(extra)
            if taken:
                raise Rejected([Problem((key,), "there is no such name here") for key in sorted(taken)])
            result.update(extra)
        return result


def _check_kind(name: str, parameter: inspect.Parameter) -> None:
    if parameter.kind is parameter.VAR_POSITIONAL:
        raise SchemaError(
            f"{name}: arguments come by name, so *{parameter.name} could never be filled in. "
            f"Take a list instead: {parameter.name}: list[...]."
        )
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise SchemaError(
            f"{name}: arguments come by name, so the positional-only parameter {parameter.name!r} could never be "
            "filled in. Remove the '/', or wrap the function in one with ordinary parameters."
        )


def _annotation(parameter: inspect.Parameter, documented: str | None) -> Any:
    """The parameter's type with what is known about it, under the name it has in JSON."""
    base, metadata = unpacked(Any if parameter.annotation is _EMPTY else parameter.annotation)
    texts = [each for each in metadata if isinstance(each, str)]
    rest = [each for each in metadata if not isinstance(each, str)]
    if isinstance(parameter.default, FieldInfo):
        rest.append(parameter.default)
    infos = [each for each in rest if isinstance(each, FieldInfo)]
    if parameter.default is None and base is not Any:
        base = Optional[base]  # noqa: UP045 - `x: int = None` has always meant that None is fine
    aliases = [each.alias for each in infos if each.alias is not None]
    own: dict[str, Any] = {"alias": aliases[-1] if aliases else parameter.name}
    description = texts[0] if texts else documented
    if description is not None and not any(each.description for each in infos):
        own["description"] = description
    return Annotated[(base, *rest, Field(**own))]


def _unusable(
    name: str, parameters: list[inspect.Parameter], names: Mapping[str, Any], error: Exception
) -> SchemaError:
    """The error for a signature that no model can be made of. It names the parameter that is to blame."""
    for parameter in parameters:
        annotation = Any if parameter.annotation is _EMPTY else parameter.annotation
        try:
            schema_of(make_model({"p": annotation}, names=names))
        except Exception as found:
            text = inspect.formatannotation(annotation)
            return SchemaError(f"{name}: the parameter {parameter.name!r} is {text}. {why_not(found)}")
    return SchemaError(f"{name}: no schema can be made of its parameters. {why_not(error)}")
