"""How two sides come to speak one revision. Source: "Lifecycle" of the handshake revisions."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError

from ..errors import NegotiationError, ProtocolError
from ..jsonrpc import INVALID_PARAMS
from ..types import (
    ClientCapabilities,
    DiscoverResult,
    Implementation,
    InitializeParams,
    InitializeResult,
    ServerCapabilities,
)
from ..types.problems import first_problem
from . import metadata
from .revision import Profile, Revision
from .revisions import ALL, LATEST_HANDSHAKE, MODERN

HEADER_MISMATCH = -32020
MISSING_REQUIRED_CLIENT_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022
MODERN_ERRORS = frozenset({HEADER_MISMATCH, MISSING_REQUIRED_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION})
"""Errors that only a server of a modern revision gives."""

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
        raise NegotiationError(f"The server's answer to 'initialize' is broken: {first_problem(error)}.") from None
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


def agreed(profile: Profile) -> dict[str, Any]:
    """What a server answered to `initialize`, for `conclude` to read again: as JSON data."""
    return InitializeResult(
        protocol_version=profile.revision.name,
        capabilities=profile.server,
        server_info=profile.server_info,
        instructions=profile.instructions,
    ).wire()


def accept(params: dict[str, Any] | None, capabilities: ServerCapabilities, info: Implementation) -> Profile:
    """What a server agrees on, from a client's `initialize`: the client's revision, or the latest one we speak.

    Raises:
        ProtocolError: the parameters have not the form of `initialize`.
    """
    try:
        opening = InitializeParams.model_validate(params or {})
    except ValidationError as error:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params of 'initialize': {first_problem(error)}") from None
    revision = agreed_revision(opening.protocol_version)
    return Profile(
        revision=revision,
        client=only(opening.capabilities, revision.client_capabilities),
        server=only(capabilities, revision.server_capabilities),
        client_info=opening.client_info,
        server_info=info,
    )


def agreed_revision(proposed: Any) -> Revision:
    """The revision that a server agrees on where a client's `initialize` proposes this one."""
    revision = ALL.get(proposed, LATEST_HANDSHAKE) if isinstance(proposed, str) else LATEST_HANDSHAKE
    return revision if revision.era == "handshake" else LATEST_HANDSHAKE


class Agreements:
    """What a server and its modern clients agree on. Each request says it, but mostly as the one before it did."""

    def __init__(self, capabilities: ServerCapabilities, info: Implementation) -> None:
        self._capabilities = capabilities
        self._info = info
        self._known: dict[bytes, Profile] = {}

    def of_request(self, params: dict[str, Any] | None) -> Profile:
        """What holds for one request, by its own metadata.

        Raises:
            ProtocolError: the metadata is broken, or names a revision that is not spoken (-32022).
        """
        said = metadata.digest(params)
        known = self._known.get(said)
        if known is None:
            known = of_request(params, self._capabilities, self._info)
            if len(said) <= metadata.REMEMBERED_SIZE:
                if len(self._known) >= metadata.REMEMBERED:
                    self._known.clear()
                self._known[said] = known
        return known


def of_request(params: dict[str, Any] | None, capabilities: ServerCapabilities, info: Implementation) -> Profile:
    """What holds for one modern request, by its own metadata.

    Raises:
        ProtocolError: the metadata is broken, or names a revision that is not spoken (-32022).
    """
    meta = metadata.read(params)
    revision = MODERN.get(meta.version)
    if revision is None:
        raise ProtocolError(
            UNSUPPORTED_PROTOCOL_VERSION,
            f"Unsupported protocol version: {meta.version[:80]!r}",
            {"supported": list(MODERN), "requested": meta.version},
        )
    return Profile(
        revision=revision,
        client=only(meta.capabilities, revision.client_capabilities),
        server=only(capabilities, revision.server_capabilities),
        client_info=meta.info,
        server_info=info,
        log_level=meta.log_level,
    )


def discovered(raw: Any, revision: Revision, capabilities: ClientCapabilities, info: Implementation) -> Profile:
    """What a client has agreed on, from the server's answer to `server/discover`.

    Raises:
        NegotiationError: the two have no modern revision in common, or the answer has not the form of one.
    """
    try:
        answer = DiscoverResult.model_validate(raw)
        server = Implementation.model_validate((answer.meta or {}).get(metadata.SERVER_INFO) or {"name": ""})
    except ValidationError as error:
        raise NegotiationError(f"The server's answer to 'server/discover' is broken: {first_problem(error)}.") from None
    chosen = common_modern(answer.supported_versions, revision)
    return Profile(
        revision=chosen,
        client=only(capabilities, chosen.client_capabilities),
        server=only(answer.capabilities, chosen.server_capabilities),
        client_info=info,
        server_info=server,
        instructions=answer.instructions,
    )


def common_modern(supported: list[str], preferred: Revision) -> Revision:
    """The modern revision to speak with a server that supports these: the preferred one, or the newest common one.

    Raises:
        NegotiationError: there is none.
    """
    if preferred.name in supported:
        return preferred
    for name in reversed(MODERN):
        if name in supported:
            return MODERN[name]
    raise NegotiationError(
        f"The server speaks {', '.join(supported) or 'no revision that it names'}; "
        f"of these none is spoken here ({', '.join(MODERN)} are). Update the server, or this package."
    )


def only(capabilities: Capabilities, known: frozenset[str]) -> Capabilities:
    """The capabilities that a revision has; the others are not offered under it."""
    return capabilities.model_copy(update={name: None for name in type(capabilities).model_fields if name not in known})
