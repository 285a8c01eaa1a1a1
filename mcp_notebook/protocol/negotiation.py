"""How two sides come to speak one revision. Source: "Lifecycle" of the handshake revisions."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError

from ..errors import NegotiationError, ProtocolError
from ..jsonrpc import INVALID_PARAMS
from ..types import ClientCapabilities, Implementation, InitializeParams, InitializeResult, ServerCapabilities
from .revision import Profile, Revision
from .revisions import ALL, LATEST_HANDSHAKE

Capabilities = TypeVar("Capabilities", ClientCapabilities, ServerCapabilities)


def known_revision(name: str) -> Revision:
    """The revision of that name.

    Raises:
        NegotiationError: there is none; the text lists those there are.
    """
    try:
        return ALL[name]
    except KeyError:
        raise NegotiationError(f"There is no protocol revision {name!r}; known are {', '.join(ALL)}.") from None


def propose(revision: Revision, capabilities: ClientCapabilities, info: Implementation) -> dict[str, Any]:
    """The parameters of `initialize`."""
    offered = only(capabilities, revision.client_capabilities)
    return InitializeParams(protocol_version=revision.name, capabilities=offered, client_info=info).wire()


def conclude(raw: Any, capabilities: ClientCapabilities, info: Implementation) -> Profile:
    """What a client has agreed on, from the server's answer to `initialize`.

    Raises:
        NegotiationError: the answer names a revision we do not speak, or has not the form of one.
    """
    try:
        answer = InitializeResult.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the result"
        raise NegotiationError(f"The server's answer to 'initialize' is broken at {where}: {first['msg']}.") from None
    revision = ALL.get(answer.protocol_version)
    if revision is None or revision.era != "handshake":
        raise NegotiationError(
            f"The server wants protocol revision {answer.protocol_version!r}, which is not spoken here "
            f"({', '.join(ALL)} are). Update the server, or this package."
        )
    return Profile(
        revision=revision,
        client=only(capabilities, revision.client_capabilities),
        server=only(answer.capabilities, revision.server_capabilities),
        client_info=info,
        server_info=answer.server_info,
        instructions=answer.instructions,
    )


def accept(params: dict[str, Any] | None, capabilities: ServerCapabilities, info: Implementation) -> Profile:
    """What a server agrees on, from a client's `initialize`: the client's revision, or the latest one we speak.

    Raises:
        ProtocolError: the parameters have not the form of `initialize`.
    """
    try:
        opening = InitializeParams.model_validate(params or {})
    except ValidationError as error:
        first = error.errors()[0]
        raise ProtocolError(
            INVALID_PARAMS, f"'initialize' is broken at {'.'.join(map(str, first['loc']))}: {first['msg']}"
        ) from None
    revision = ALL.get(opening.protocol_version, LATEST_HANDSHAKE)
    if revision.era != "handshake":
        revision = LATEST_HANDSHAKE
    return Profile(
        revision=revision,
        client=only(opening.capabilities, revision.client_capabilities),
        server=only(capabilities, revision.server_capabilities),
        client_info=opening.client_info,
        server_info=info,
    )


def only(capabilities: Capabilities, known: frozenset[str]) -> Capabilities:
    """The capabilities that a revision has; the others are not offered under it."""
    return capabilities.model_copy(update={name: None for name in type(capabilities).model_fields if name not in known})
