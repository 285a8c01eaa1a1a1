"""What HTTP headers say beside the body, and how it is written. Source: "Streamable HTTP" of 2026-07-28 (SEP-2243)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from ..errors import ProtocolError, SchemaError
from .metadata import VERSION
from .negotiation import HEADER_MISMATCH

ANNOTATION = "x-mcp-header"
VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"
PARAM_PREFIX = "mcp-param-"

Annotated: TypeAlias = Mapping[str, tuple[str, ...]]
"""Header (in lower case) -> where in the arguments its value stands."""

_NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLAIN = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?|")
_SENTINEL = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_VALUES = ("default", "const", "enum", "examples")
_SAFE_INTEGER = 2**53 - 1


def encoded(value: str | int | bool) -> str:
    """A value as a header writes it: plain where that is safe, else in Base64 between marks.

    Raises:
        ValueError: an integer that not every reader could hold.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) > _SAFE_INTEGER:
            raise ValueError(f"{value} is too large for a header (at most 2**53 - 1)")
        return str(value)
    if _PLAIN.fullmatch(value) and not _SENTINEL.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def decoded(text: str) -> str:
    """What a header says.

    Raises:
        ValueError: it holds what a header may not, or broken Base64.
    """
    marked = _SENTINEL.fullmatch(text)
    if marked is None:
        if not _PLAIN.fullmatch(text):
            raise ValueError("it contains invalid characters")
        return text
    try:
        return base64.b64decode(marked.group(1), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ValueError("its Base64 is broken") from None


def standard(method: str, params: Mapping[str, Any] | None) -> dict[str, str]:
    """The headers that every modern request bears."""
    params = params or {}
    headers = {METHOD_HEADER: method}
    version = (params.get("_meta") or {}).get(VERSION)
    if version is not None:
        headers[VERSION_HEADER] = version
    name = params.get(_NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers[NAME_HEADER] = encoded(name)
    return headers


def annotated(schema: Any) -> Annotated:
    """Which arguments of a tool are to be said in headers, by its input schema.

    Raises:
        SchemaError: an annotation is not as the specification allows.
    """
    found: dict[str, tuple[str, ...]] = {}
    reachable = 0
    for path, header, part in _reachable(schema, ()):
        reachable += 1
        if not isinstance(header, str) or not _TOKEN.fullmatch(header):
            raise SchemaError(f"{ANNOTATION!r} of {'.'.join(path)!r} is no name of a header: {header!r}.")
        if part.get("type") not in ("string", "integer", "boolean"):
            raise SchemaError(f"{ANNOTATION!r} stands at {'.'.join(path)!r}, which is no string, integer or boolean.")
        name = PARAM_PREFIX + header.lower()
        if name in found:
            raise SchemaError(f"{ANNOTATION!r} names the header {header!r} twice.")
        found[name] = path
    if reachable != _count(schema):
        raise SchemaError(f"{ANNOTATION!r} stands at a place that 'properties' alone do not lead to.")
    return found


def of_arguments(headers: Annotated, arguments: Mapping[str, Any]) -> dict[str, str]:
    """The `Mcp-Param-*` headers of one call."""
    values = {name: _value_at(arguments, path) for name, path in headers.items()}
    return {name: encoded(value) for name, value in values.items() if isinstance(value, (str, int))}


def check(headers: Mapping[str, str], method: str, params: Mapping[str, Any], wanted: Annotated) -> None:
    """Check what the headers of a modern request say against its body.

    Args:
        headers: the request's headers, names in lower case.
        method: the body's method.
        params: the body's parameters.
        wanted: the annotated arguments of the tool that is called, if one is.

    Raises:
        ProtocolError: they do not agree (-32020).
    """
    for name, value in standard(method, params).items():
        if headers.get(name) != value:
            _same(headers, name, decoded(value))
    arguments = params.get("arguments") or {}
    for name, path in wanted.items():
        value = _value_at(arguments, path)
        if isinstance(value, (str, int)):
            _same(headers, name, value)
        elif name in headers:
            raise _mismatch(f"{_title(name)} is given, but the body has no such value")


def _same(headers: Mapping[str, str], name: str, value: str | int | bool) -> None:
    given = headers.get(name)
    if given is None:
        raise _mismatch(f"the header {_title(name)} is missing")
    try:
        said = decoded(given)
    except ValueError as error:
        raise _mismatch(f"the header {_title(name)} cannot be read: {error}") from None
    written = value if isinstance(value, str) else encoded(value)
    if said != written and not _same_number(said, value):
        raise _mismatch(f"{_title(name)} says {said[:80]!r}, the body {written[:80]!r}")


def _same_number(said: str, value: str | int | bool) -> bool:
    """Whether an integer is written otherwise: `42.0` for 42."""
    if isinstance(value, (str, bool)):
        return False
    try:
        return Decimal(said) == value
    except InvalidOperation:
        return False


def _mismatch(reason: str) -> ProtocolError:
    return ProtocolError(HEADER_MISMATCH, f"Header mismatch: {reason}")


def _title(name: str) -> str:
    return "MCP-Protocol-Version" if name == VERSION_HEADER else name.title()


def _value_at(arguments: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        arguments = arguments.get(key) if isinstance(arguments, Mapping) else None
    return arguments


def _reachable(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, Mapping[str, Any]]]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for key, part in (properties or {}).items() if isinstance(properties, Mapping) else ():
        if isinstance(part, Mapping):
            if ANNOTATION in part:
                yield (*path, key), part[ANNOTATION], part
            yield from _reachable(part, (*path, key))


def _count(schema: Any) -> int:
    """How many annotations there are anywhere; names of properties, and values, that happen to look so are none."""
    found, left = 0, [(schema, False)]
    while left:
        value, names = left.pop()
        if isinstance(value, Mapping):
            found += ANNOTATION in value and not names
            left += [(part, key in _MAPS and not names) for key, part in value.items() if names or key not in _VALUES]
        elif isinstance(value, list):
            left += [(part, False) for part in value]
    return found
