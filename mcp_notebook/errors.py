"""The one exception tree.

MCPError
├── ProtocolError            the other side answered with an error: .code, .message, .data
├── UnsupportedFeature       the negotiated revision or the other side's capabilities lack it; nothing was sent
├── ConnectError             no connection could be made
│   ├── ConsentDenied          a person (or the policy in their place) did not allow the command to start
│   └── NegotiationError       the two sides have no protocol revision in common
├── ConnectionLost           the connection ended while something was waiting for it
│   ├── OutcomeUnknown         it ended while a call ran; nobody can know whether the call was carried out
│   ├── ResumeRefused          the server no longer has the call that was to be resumed
│   ├── ServerExited           the server's process ended: .exit_status, .stderr
│   ├── SessionExpired         the server at a URL has forgotten the session
│   └── TakenOver              another client has the server now, which runs on
├── HTTPError                the server at a URL answered with an HTTP error: .status
├── RequestTimeout           a time limit was reached (also a TimeoutError): .seconds
├── CallCancelled            the call was cancelled, by whom and why: .reason
├── LimitExceeded            something was larger or more than a named limit: .limit, .allowed
├── ToolError                a tool says that it failed (raised by handlers; by `result.raise_for_error()`)
├── InvalidResult            the other side's answer does not have the form that the protocol gives it
├── StoreError               what is remembered in a file cannot be read or written; the file was left as it is
└── SchemaError              a JSON Schema, or a function it should be made from, cannot be used: .path

Every text says what happened, where, and what to do next; it names no secret and quotes at most a line of foreign text.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "CallCancelled",
    "ConnectError",
    "ConnectionLost",
    "ConsentDenied",
    "HTTPError",
    "InvalidResult",
    "LimitExceeded",
    "MCPError",
    "NegotiationError",
    "OutcomeUnknown",
    "ProtocolError",
    "RequestTimeout",
    "ResumeRefused",
    "SchemaError",
    "ServerExited",
    "SessionExpired",
    "StoreError",
    "TakenOver",
    "ToolError",
    "URLElicitationRequired",
    "UnsupportedFeature",
]


class MCPError(Exception):
    """The root: whatever can go wrong here is one of these."""


QUOTED = 10_000
"""How many characters of the other side's message the text of an error quotes; its `message` is the whole."""


class ProtocolError(MCPError):
    """A JSON-RPC error response.

    Raised on the calling side when the other side answers with an error; raised by a handler to answer with one.

    Args:
        code: the error code, as `mcp_notebook.jsonrpc` names them.
        message: one sentence.
        data: anything JSON can say, or None.
        received: whether the other side answered so. Such an error is no answer of a handler's own: it is a failure of
            what the handler asked for.
    """

    def __init__(self, code: int, message: str, data: Any = None, *, received: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.received = received

    def __str__(self) -> str:
        said = self.message if len(self.message) <= QUOTED else f"{self.message[:QUOTED]}…"
        return f"{said} (error {self.code})"


class UnsupportedFeature(MCPError):
    """The negotiated revision, or what the other side declared, has no such thing. Nothing was sent.

    Args:
        message: what is missing.
        capabilities: what the client would have to declare, as a capabilities object, where it is that.
    """

    def __init__(self, message: str, *, capabilities: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.capabilities = capabilities


class ConnectError(MCPError):
    """No connection could be made."""


class ConsentDenied(ConnectError):
    """Nobody allowed the command to start, so nothing was started (CON-2)."""


class NegotiationError(ConnectError):
    """Client and server have no protocol revision in common."""


class ConnectionLost(MCPError):
    """The connection ended while something was waiting for it."""


class OutcomeUnknown(ConnectionLost):
    """The connection ended while a call ran that can neither be resumed nor safely be repeated."""


class ResumeRefused(ConnectionLost):
    """The server no longer has the call that was to be resumed: it has expired, or was cancelled."""


class ServerExited(ConnectionLost):
    """The server's process ended.

    Args:
        message: what happened.
        exit_status: the process's status; negative for a signal (as in `subprocess`), None where unknown.
        stderr: the end of what it wrote to stderr.
    """

    def __init__(self, message: str, *, exit_status: int | None = None, stderr: str = "") -> None:
        super().__init__(message)
        self.exit_status = exit_status
        self.stderr = stderr


class SessionExpired(ConnectionLost):
    """The server at a URL has forgotten the session; a new one has to be opened."""


class TakenOver(ConnectionLost):
    """Another client has taken over the server, which runs on behind a relay. Nobody takes it back unasked."""


class HTTPError(MCPError):
    """The server at a URL answered with an HTTP error; `status` is its number."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class RequestTimeout(MCPError, TimeoutError):
    """A time limit was reached; `seconds` is the limit."""

    def __init__(self, message: str, *, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class CallCancelled(MCPError):
    """The call was cancelled."""

    def __init__(self, message: str = "The call was cancelled.", *, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class LimitExceeded(MCPError):
    """Something was larger or more than a limit of `mcp_notebook.limits.Limits` allows.

    Args:
        message: what was too large, and what to do.
        limit: the limit's name.
        allowed: its value.
    """

    def __init__(self, message: str, *, limit: str, allowed: float) -> None:
        super().__init__(message)
        self.limit = limit
        self.allowed = allowed


class ToolError(MCPError):
    """A tool failed in a way its caller should read: it becomes a result with `isError: true` (VAL-1)."""


class URLElicitationRequired(MCPError):
    """Raised by a handler that cannot go on before the person at the client has visited a URL (URL-4).

    Args:
        url: the URL, which holds no secret of anybody's.
        message: why it should be visited.
        more: further ones, as (url, message).
    """

    def __init__(self, url: str, message: str, *more: tuple[str, str]) -> None:
        super().__init__(f"{message} ({url})")
        self.elicitations = [(url, message), *more]


class InvalidResult(MCPError):
    """The other side's answer does not have the form that the protocol gives it."""


class StoreError(MCPError):
    """What is remembered in a file cannot be read or written. The file was left as it is."""


class SchemaError(MCPError):
    """A JSON Schema, or the function it should be made from, cannot be used.

    Args:
        message: what is wrong and what would be right.
        path: where in the schema, as a JSON pointer ("" for its root).
    """

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path
