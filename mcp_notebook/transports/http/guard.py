"""Who may ask an endpoint at all: Host, Origin, bearer token. Source: "Security" of Streamable HTTP."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ...jsonrpc import INVALID_REQUEST
from .answers import Refusal

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules of one endpoint.

    Args:
        hosts: names that may stand in Host (without port) beside the loopback ones, for servers behind a proxy;
            "*" allows any.
        origins: origins (`https://example.org`) whose pages may ask, beside pages from loopback; "*" allows any.
        tokens: secrets of which every request must bear one as `Authorization: Bearer …`; where there are none, none is
            needed. What is kept for one is not given to another.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    tokens: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not all(self.tokens):
            raise ValueError("An empty token protects nothing. Give one, or none at all: token=None.")

    def admit(self, headers: Mapping[str, str]) -> str | None:
        """Let a request in, and say who asks: a digest of its token, None where there are no tokens.

        Raises:
            Refusal: it may not come in.
        """
        host = _hostname(headers.get("host", ""))
        if host not in LOOPBACK and host not in self.hosts and "*" not in self.hosts:
            raise Refusal(
                421, INVALID_REQUEST, f"This server does not answer to the host {host[:80]!r}. Add it to allowed_hosts."
            )
        origin = headers.get("origin")
        if origin is not None and not self._knows(origin):
            raise Refusal(403, INVALID_REQUEST, f"Pages from {origin[:80]!r} may not ask this server.")
        return self._principal(headers.get("authorization", ""))

    def _knows(self, origin: str) -> bool:
        if origin in self.origins or "*" in self.origins:
            return True
        try:
            return urlsplit(origin).hostname in LOOPBACK
        except ValueError:
            return False

    def _principal(self, authorization: str) -> str | None:
        if not self.tokens:
            return None
        kind, _, given = authorization.partition(" ")
        secret = given.strip().encode() if kind.lower() == "bearer" else b""
        if not any(hmac.compare_digest(secret, token.encode()) for token in self.tokens):
            raise Refusal(
                401,
                INVALID_REQUEST,
                "This server wants its token: 'Authorization: Bearer …'.",
                headers=((b"www-authenticate", b"Bearer"),),
            )
        return hashlib.sha256(secret).hexdigest()[:16]


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return host
