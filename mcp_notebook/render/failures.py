"""Errors as short cards. An error's own text says what happened and what to do next; the rest is folded away."""

from __future__ import annotations

from typing import Literal

from .. import errors
from .data import data
from .parts import Card, Fold, Part, text

# The nearest class of an error, by its inheritance, names it.
_TITLES: dict[type, tuple[Literal["drop", "fail"], str]] = {
    errors.MCPError: ("fail", "that did not work"),
    errors.ProtocolError: ("fail", "the server answers with an error"),
    errors.UnsupportedFeature: ("fail", "not supported there"),
    errors.ConnectError: ("fail", "no connection"),
    errors.ConsentDenied: ("drop", "not started"),
    errors.ConnectionLost: ("fail", "the connection ended"),
    errors.OutcomeUnknown: ("drop", "outcome unknown"),
    errors.ResumeRefused: ("fail", "the call is no longer there"),
    errors.ServerExited: ("fail", "the server ended"),
    errors.TakenOver: ("drop", "the server is used elsewhere"),
    errors.RequestTimeout: ("fail", "no answer in time"),
    errors.CallCancelled: ("drop", "cancelled"),
    errors.LimitExceeded: ("fail", "too much"),
    errors.ToolError: ("fail", "the tool reports an error"),
    errors.InvalidResult: ("fail", "an answer that makes no sense"),
    errors.SchemaError: ("fail", "a schema that cannot be used"),
}


def failure(error: errors.MCPError) -> list[Part]:
    """A card for an error."""
    state, title = next(_TITLES[kind] for kind in type(error).__mro__ if kind in _TITLES)
    parts = text(str(error), "str(error)", "prose")
    if isinstance(error, errors.ServerExited) and error.stderr.strip():
        parts.append(Fold("what it wrote to stderr", text(error.stderr.rstrip(), "error.stderr")))
    if isinstance(error, errors.ProtocolError) and error.data is not None:
        parts.append(Fold("details", data(error.data, "error.data")))
    return [Card(state, title, parts)]
