"""The Model Context Protocol in Jupyter: clients, servers, and `%mcp`.

from mcp_notebook import connect, Server

In a notebook, `%load_ext mcp_notebook` and `%mcp help` are the way in.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client import CallHandle, CallMap, Client, PromptResult, ReadResult, ToolResult, connect
    from .errors import (
        CallCancelled,
        ConnectError,
        ConnectionLost,
        ConsentDenied,
        HTTPError,
        InvalidResult,
        LimitExceeded,
        MCPError,
        NegotiationError,
        OutcomeUnknown,
        ProtocolError,
        RequestTimeout,
        ResumeRefused,
        SchemaError,
        ServerExited,
        SessionExpired,
        StoreError,
        TakenOver,
        ToolError,
        UnsupportedFeature,
        URLElicitationRequired,
    )
    from .limits import Limits
    from .notebook import load_ipython_extension, unload_ipython_extension
    from .server import Answer, Context, Server
    from .transports.command import Command

__all__ = [
    "Answer",
    "CallCancelled",
    "CallHandle",
    "CallMap",
    "Client",
    "Command",
    "ConnectError",
    "ConnectionLost",
    "ConsentDenied",
    "Context",
    "HTTPError",
    "InvalidResult",
    "LimitExceeded",
    "Limits",
    "MCPError",
    "NegotiationError",
    "OutcomeUnknown",
    "PromptResult",
    "ProtocolError",
    "ReadResult",
    "RequestTimeout",
    "ResumeRefused",
    "SchemaError",
    "Server",
    "ServerExited",
    "SessionExpired",
    "StoreError",
    "TakenOver",
    "ToolError",
    "ToolResult",
    "URLElicitationRequired",
    "UnsupportedFeature",
    "connect",
    "load_ipython_extension",
    "unload_ipython_extension",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())  # what is logged goes where the program says

_HOMES = {
    "client": ("CallHandle", "CallMap", "Client", "PromptResult", "ReadResult", "ToolResult", "connect"),
    "limits": ("Limits",),
    "server": ("Answer", "Context", "Server"),
    "transports.command": ("Command",),
    "notebook": ("load_ipython_extension", "unload_ipython_extension"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Imported when first asked for: importing the package costs nothing that is not used.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_MODULE_OF.get(name, 'errors')}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
