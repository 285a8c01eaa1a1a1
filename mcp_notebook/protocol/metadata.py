"""The `_meta` of the modern revisions: what every request says of its sender. Source: basic/index, "_meta"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from ..errors import ProtocolError
from ..jsonrpc import INVALID_PARAMS
from ..types import LOGGING_LEVELS, ClientCapabilities, Implementation, LoggingLevel
from ..types.problems import first_problem

VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
TRACE_CONTEXT = ("traceparent", "tracestate", "baggage")
"""W3C trace context, carried as it comes (SEP-414)."""


@dataclass(frozen=True, slots=True)
class RequestMeta:
    """What a modern request says of its sender."""

    version: str
    capabilities: ClientCapabilities
    info: Implementation
    log_level: LoggingLevel | None


def is_modern(params: dict[str, Any] | None) -> bool:
    """Whether a request carries the metadata of a modern revision, whole or not."""
    meta = (params or {}).get("_meta")
    return isinstance(meta, dict) and (VERSION in meta or CLIENT_CAPABILITIES in meta)


def read(params: dict[str, Any] | None) -> RequestMeta:
    """Read the metadata of a modern request.

    Raises:
        ProtocolError: a required field is missing or broken (-32602).
    """
    meta = (params or {}).get("_meta")
    if not isinstance(meta, dict) or not isinstance(meta.get(VERSION), str):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: '_meta' needs {VERSION!r}.")
    if not isinstance(meta.get(CLIENT_CAPABILITIES), dict):
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: '_meta' needs {CLIENT_CAPABILITIES!r}.")
    level = meta.get(LOG_LEVEL)
    if level is not None and level not in LOGGING_LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: there is no log level {level!r}.")
    try:
        capabilities = ClientCapabilities.model_validate(meta[CLIENT_CAPABILITIES])
        info = Implementation.model_validate(meta[CLIENT_INFO]) if CLIENT_INFO in meta else Implementation(name="")
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params in '_meta': {first_problem(error)}") from None
    return RequestMeta(meta[VERSION], capabilities, info, level)


def digest(params: dict[str, Any] | None) -> bytes:
    """What a request says of its sender, as bytes to compare; `read` reads the same of what is equal here."""
    meta = (params or {}).get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    return to_json([meta.get(key) for key in (VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL)])


def written(version: str, capabilities: ClientCapabilities, info: Implementation) -> dict[str, Any]:
    """The metadata that a client of a modern revision sends with every request."""
    return {VERSION: version, CLIENT_INFO: info.wire(), CLIENT_CAPABILITIES: capabilities.wire()}
