"""From a Python function to what the protocol needs: schemas, descriptions, and values checked both ways."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ToolError
from .annotations import is_subclass, members, read_parameters
from .arguments import Arguments, SchemaArguments, typed_arguments
from .docstring import read_docstring
from .json_types import Rejected, listed
from .returned import Returned, read_returned


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and gives, as JSON. Make one with `Signature.of`."""

    name: str
    description: str | None
    """The docstring's summary and body."""
    context_parameter: str | None
    """The name of the parameter that wants the running call."""
    _arguments: Arguments
    _returned: Returned | None

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        context: type | None = None,
        skip: Collection[str] = (),
        localns: Mapping[str, Any] | None = None,
        name: str | None = None,
        input_schema: dict[str, Any] | None = None,
    ) -> Signature:
        """Read a function: synchronous or not, a method, partial, callable object, decorated or plain.

        Args:
            function: the function.
            context: the class whose annotation marks the parameter that the caller fills in with the running call.
            skip: further parameters that the caller fills in.
            localns: the names where the function was defined, for annotations that are text; its globals and its
                closure are searched anyway.
            name: a name other than the function's.
            input_schema: a schema to judge arguments by in place of the annotations; they are passed as they came.

        Raises:
            SchemaError: an annotation cannot be resolved or told as JSON, a parameter cannot be given by name, or
                `input_schema` is no valid schema (JSC-3).
        """
        own_name, docstring = _identity(function)
        name = name or own_name
        read = read_parameters(function, name=f"{name}()", localns=localns, skip=skip)
        parameters = read.parameters
        wanted = () if context is None else (context,)
        of_context = [
            key
            for key, one in parameters.items()
            if key not in skip and any(is_subclass(member, wanted) for member in members(one.annotation))
        ]
        filled_in = {*skip, *of_context}
        documentation = read_docstring(docstring)
        if input_schema is None:
            arguments: Arguments = typed_arguments(
                f"{name}()",
                [one for key, one in parameters.items() if key not in filled_in],
                reserved=filled_in,
                documented=documentation.parameters,
                names=read.local_names,
            )
        else:
            arguments = SchemaArguments(input_schema)
        return cls(
            name=name,
            description=documentation.description,
            context_parameter=of_context[0] if of_context else None,
            _arguments=arguments,
            _returned=read_returned(f"{name}()", read.returns, read.local_names),
        )

    def without_output(self) -> Signature:
        """The same, with what is returned not told as data."""
        return replace(self, _returned=None)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema (2020-12) of the arguments (JSC-2)."""
        return self._arguments.schema

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of what is returned, as data; None where there is no data to tell."""
        return None if self._returned is None else self._returned.schema

    def validate(self, arguments: dict[str, Any] | None) -> dict[str, Any]:
        """Python values for `function(**values)` from JSON arguments.

        Raises:
            ToolError: they do not fit; the text lists what is wrong, where, and what would be right (VAL-1).
        """
        try:
            return self._arguments.validate(arguments or {})
        except Rejected as rejected:
            raise ToolError(f"The arguments of {self.name} do not fit:\n{listed(rejected.problems)}") from None

    def wrap_output(self, value: Any) -> dict[str, Any] | None:
        """What the function returned, as structured data; None where there is no output schema.

        A value that is no object stands under "result".

        Raises:
            ProtocolError: the value does not fit the return annotation (VAL-2).
        """
        return None if self._returned is None else self._returned.to_data(value)


def _identity(function: Any) -> tuple[str, str | None]:
    """The name and the docstring of a function; those of its class, for an object that can be called."""
    while isinstance(function, functools.partial):
        function = function.func
    if hasattr(function, "__name__"):
        return function.__name__, function.__doc__
    return type(function).__name__, type(function).__call__.__doc__ or type(function).__doc__
