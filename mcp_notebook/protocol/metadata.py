"""The `_meta` of the modern revisions: what every request says of its sender. Source: basic/index, "_meta"."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json

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
_KEYS = (VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL)
REMEMBERED, REMEMBERED_SIZE = 100, 4096
"""How many clients' metadata is remembered, and the largest in bytes."""


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
    """Read the metadata of a modern request; what was read before is not read again.

    Raises:
        ProtocolError: a required field is missing or broken (-32602).
    """
    said = digest(params)
    return (_read_once if len(said) <= REMEMBERED_SIZE else _read)(said)


def digest(params: dict[str, Any] | None) -> bytes:
    """What a request says of its sender, as JSON to compare."""
    meta = (params or {}).get("_meta")
    return to_json({key: meta[key] for key in _KEYS if key in meta} if isinstance(meta, dict) else {})


def _read(said: bytes) -> RequestMeta:
    meta = from_json(said)
    if not isinstance(meta.get(VERSION), str):
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


_read_once = functools.lru_cache(maxsize=REMEMBERED)(_read)


def written(version: str, capabilities: ClientCapabilities, info: Implementation) -> dict[str, Any]:
    """The metadata that a client of a modern revision sends with every request."""
    return {VERSION: version, CLIENT_INFO: info.wire(), CLIENT_CAPABILITIES: capabilities.wire()}
