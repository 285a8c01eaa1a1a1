"""What a client knows of its server's tools: by it results are checked, and repeated in HTTP headers what has to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import InvalidResult, SchemaError
from ..protocol.headers import Annotated, annotated, of_arguments
from ..types import Tool
from .results import Listing, ToolResult, parsed

if TYPE_CHECKING:  # it costs time to import, which many programs never need
    from ..protocol.json_schema import Validator


class KnownTools:
    """The tools as they were listed last.

    Args:
        on_fault: told what is wrong with a tool.
    """

    def __init__(self, on_fault: Callable[[str], None]) -> None:
        self.by_name: dict[str, Tool] | None = None
        """None while they are not listed, or have changed since."""
        self._on_fault = on_fault
        self._headers: dict[str, Annotated] = {}
        self._validators: dict[str, Validator] = {}

    def take(self, tools: Listing[Tool], *, headers: bool) -> Listing[Tool]:
        """They were listed anew; those that can be used.

        Args:
            tools: all of them.
            headers: whether HTTP headers repeat arguments here: a tool whose schema says that wrongly must not be used.
        """
        if headers:
            self._headers = self._annotated(tools)
            tools = Listing(tool for tool in tools if tool.name in self._headers)
        self.by_name = {tool.name: tool for tool in tools}
        self._validators.clear()
        return tools

    def forget(self) -> None:
        """They may be others now."""
        self.by_name = None

    def get(self, name: str) -> Tool | None:
        """What is known of a tool."""
        return (self.by_name or {}).get(name)

    def headers_of(self, params: Mapping[str, Any]) -> Mapping[str, str]:
        """The HTTP headers that repeat arguments of a call, of whose parameters they are."""
        return of_arguments(self._headers.get(params["name"], {}), params.get("arguments") or {})

    def validated(self, name: str, raw: Any) -> ToolResult:
        """A tool's result, checked against its output schema where that is known.

        Raises:
            InvalidResult: it has not the form.
        """
        result = parsed(ToolResult, raw, f"the tool {name!r}")
        tool = (self.by_name or {}).get(name)
        if tool is None or tool.output_schema is None or result.is_error:
            return result  # an error is the tool's own word, and needs no schema
        if result.structured_content is None:
            raise InvalidResult(f"The tool {name!r} has an output schema, but its answer holds no structured content.")
        problems = self._validator(tool).errors(result.structured_content)
        if problems:
            told = "; ".join(map(str, problems))
            raise InvalidResult(f"The answer of the tool {name!r} does not fit its output schema: {told}")
        return result

    def _validator(self, tool: Tool) -> Validator:
        """What checks a tool's data; an unusable schema is reported, and then anything will do (JSC-1, JSC-3)."""
        validator = self._validators.get(tool.name)
        if validator is None:
            from ..protocol.json_schema import Validator

            try:
                validator = Validator(tool.output_schema)
            except SchemaError as error:
                self._on_fault(f"the output schema of the tool {tool.name!r} cannot be used: {error}")
                validator = Validator(True)
            self._validators[tool.name] = validator
        return validator

    def _annotated(self, tools: list[Tool]) -> dict[str, Annotated]:
        """Which arguments of each tool HTTP headers repeat, where that can be told."""
        found: dict[str, Annotated] = {}
        for tool in tools:
            try:
                found[tool.name] = annotated(tool.input_schema)
            except SchemaError as error:
                self._on_fault(f"the tool {tool.name!r} is left out: {error}")
        return found
