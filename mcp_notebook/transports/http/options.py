"""How a server at a URL is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """How a server at a URL is reached. Nothing of it stands in a repr: headers hold secrets.

    Args:
        headers: sent with every request.
        verify: how TLS certificates are checked, as in httpx2: True, False, a file of authorities, or an `SSLContext`.
        cert: the client's own certificate, as in httpx2.
        proxy: the URL of a proxy.
        auth: anything that httpx2 takes as `auth`.
        client: an `httpx2.AsyncClient` of your own to use in place of one made of all this; it stays yours to close.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify: ssl.SSLContext | str | bool = True
    cert: Any = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    auth: Any = field(default=None, repr=False)
    client: Any = field(default=None, repr=False)
