"""How a client comes to an agreement with a server: the handshake, discovery, and finding out which it needs.

Source: "Lifecycle" of the handshake revisions; "Versioning" and "stdio" of 2026-07-28 (backward compatibility).
"""

from __future__ import annotations

import asyncio
from typing import Any

from ..errors import HTTPError, MCPError, NegotiationError, ProtocolError, RequestTimeout, SessionExpired
from ..journal import SavedSession
from ..limits import Limits
from ..protocol.metadata import written
from ..protocol.negotiation import (
    MODERN_ERRORS,
    UNSUPPORTED_PROTOCOL_VERSION,
    common_modern,
    conclude,
    discovered,
    only,
    propose,
)
from ..protocol.revision import Profile, Revision
from ..protocol.revisions import ALL, LATEST_HANDSHAKE, LATEST_MODERN, MODERN
from ..transports.base import InSession
from ..transports.connection import Connection
from ..types import ClientCapabilities, Implementation

LEGACY_STATUSES = frozenset({400, 404, 405, 406, 415, 422, 500, 501})
"""HTTP statuses with which servers of before answer what they do not know; never 401 or 403."""


class Opening:
    """One attempt to agree with a server over a connection.

    Args:
        connection: the open connection.
        capabilities: what the client declares.
        info: how it introduces itself.
        limits: how long to wait.
    """

    def __init__(
        self, connection: Connection, capabilities: ClientCapabilities, info: Implementation, limits: Limits
    ) -> None:
        self._connection = connection
        self._capabilities = capabilities
        self._info = info
        self._limits = limits

    async def agree(self, revision: Revision | None) -> Profile:
        """Agree on a revision: this one, or one of the same era; None finds out what the server speaks.

        Raises:
            NegotiationError: there is no agreement.
            ConnectionLost: the connection ended meanwhile.
        """
        if revision is None:
            return await self._probe()
        if revision.era == "modern":
            return await self._discover(revision)
        return await self._shake_hands(revision)

    async def rejoin(self, saved: SavedSession) -> Profile | None:
        """Go on in a session that another connection has left; None where it is over, or there is no such thing.

        Raises:
            MCPError: the server cannot be asked.
        """
        channel = self._connection.channel
        if not isinstance(channel, InSession):
            return None
        try:
            profile = conclude(saved.agreed, self._capabilities, self._info)
            channel.rejoin(saved.id, profile.revision.name)
            await self._connection.request("ping", timeout=self._limits.connect)
        except (NegotiationError, ProtocolError, SessionExpired, HTTPError) as error:
            if isinstance(error, HTTPError) and error.status not in LEGACY_STATUSES:
                raise
            channel.rejoin(None, None)
            return None
        await channel.listen()
        return profile

    async def _shake_hands(self, revision: Revision, timeout: float | None = None) -> Profile:
        try:
            raw = await self._connection.request(
                "initialize",
                propose(revision, self._capabilities, self._info),
                timeout=timeout if timeout is not None else self._limits.connect,
            )
        except ProtocolError as error:
            raise NegotiationError(f"The server refused to connect: {error}{_hint(error)}") from None
        except RequestTimeout:
            raise NegotiationError(
                f"The server did not answer within {self._limits.connect:g} s. Does it speak MCP over this transport? "
                "Give it longer with timeout=SECONDS."
            ) from None
        profile = conclude(raw, self._capabilities, self._info)
        await self._connection.notify("notifications/initialized")
        return profile

    async def _discover(self, revision: Revision) -> Profile:
        try:
            return await self._ask_discover(revision)
        except (ProtocolError, HTTPError) as error:
            if isinstance(error, HTTPError) and error.status not in LEGACY_STATUSES:
                raise
            raise NegotiationError(
                f"The server does not speak protocol revision {revision.name}: {error}. "
                "Connect without a revision to find out what it speaks."
            ) from None
        except RequestTimeout as error:
            raise NegotiationError(
                f"The server did not answer 'server/discover' within {error.seconds:g} s. "
                "Connect without a revision to find out what it speaks."
            ) from None

    async def _ask_discover(self, revision: Revision) -> Profile:
        """Discover with a modern server, in the revision it has in common with us.

        Raises:
            ProtocolError: it is no modern server, or refuses.
        """
        try:
            raw = await self._request_discover(revision)
        except ProtocolError as error:
            revision = _offered(error, revision)
            raw = await self._request_discover(revision)
        return discovered(raw, revision, self._capabilities, self._info)

    async def _request_discover(self, revision: Revision) -> Any:
        meta = written(revision.name, only(self._capabilities, revision.client_capabilities), self._info)
        return await self._connection.request("server/discover", {"_meta": meta}, timeout=self._limits.connect)

    async def _probe(self) -> Profile:
        """Ask as a modern client first; a server that answers otherwise, or not in time, gets the handshake.

        A slow starter that answers late is still taken at its first word.
        """
        modern = asyncio.ensure_future(self._ask_discover(LATEST_MODERN))
        probe = min(self._limits.probe, self._limits.connect / 2)
        try:
            await asyncio.wait([modern], timeout=probe)
            if not modern.done():
                return await self._race(modern, self._limits.connect - probe)
            error = modern.exception()
            if error is None:
                return modern.result()
            if _says_modern(error):
                raise error
            return await self._shake_hands(LATEST_HANDSHAKE)
        finally:
            modern.cancel()

    async def _race(self, modern: asyncio.Future[Profile], timeout: float) -> Profile:
        """The first agreement of the two."""
        legacy = asyncio.ensure_future(self._shake_hands(LATEST_HANDSHAKE, timeout))
        try:
            await asyncio.wait([modern, legacy], return_when=asyncio.FIRST_COMPLETED)
            if not modern.done() and legacy.exception() is not None:
                await asyncio.wait([modern])
            if modern.done() and modern.exception() is None:
                return modern.result()
            return await legacy
        finally:
            legacy.cancel()
            if modern.done():
                modern.exception()  # seen


def _says_modern(error: BaseException) -> bool:
    """Whether what came instead of an answer to `server/discover` still comes from a modern server, with which there
    is nothing but modern revisions to agree on."""
    if isinstance(error, ProtocolError):
        return error.code in MODERN_ERRORS and not _offers_handshake(error)
    if isinstance(error, HTTPError):
        return error.status not in LEGACY_STATUSES
    return not isinstance(error, RequestTimeout)  # a lost connection, say, is no reason for a handshake


def _offered(error: ProtocolError, revision: Revision) -> Revision:
    """The revision that a modern server offers in its refusal; else the refusal itself is raised."""
    names = _supported(error)
    if names is None or _offers_handshake(error):
        raise error
    return common_modern(names, revision)


def _offers_handshake(error: ProtocolError) -> bool:
    """Whether a server that knows none of our modern revisions offers one of before."""
    names = _supported(error) or []
    return not any(name in MODERN for name in names) and any(name in ALL for name in names)


def _supported(error: ProtocolError) -> list[str] | None:
    """The revisions that a refusal offers; None where it is no such refusal."""
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    if error.code != UNSUPPORTED_PROTOCOL_VERSION or not isinstance(supported, list):
        return None
    return [name for name in supported if isinstance(name, str)]


def _hint(error: MCPError) -> str:
    if isinstance(error, ProtocolError) and error.code == UNSUPPORTED_PROTOCOL_VERSION:
        return " Connect without a revision to find out what it speaks."
    return ""
