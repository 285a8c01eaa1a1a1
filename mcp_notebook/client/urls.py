"""URLs that a server wants a person to open: what is accepted, and what a person should know first (URL-5)."""

from __future__ import annotations

import ipaddress
import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..limits import DEFAULT_LIMITS
from ..visible import visible

LOOPBACK_NAMES = frozenset({"localhost"})


@dataclass(frozen=True, slots=True)
class ExaminedUrl:
    """A URL that may be shown as a link.

    Args:
        url: the URL as it came; it holds nothing that cannot be seen, but perhaps what looks like something else.
        host: its host as the network knows it: names beyond ASCII in punycode.
        warnings: what is unusual about it, a sentence each.
    """

    url: str
    host: str
    warnings: tuple[str, ...]


def examine(url: str | None, *, loopback: bool = False) -> ExaminedUrl:
    """Look at a URL without opening it.

    Args:
        url: the URL.
        loopback: whether plain http will do on this machine's own addresses, as while one develops a server.

    Raises:
        ValueError: it must not be opened; the text says why.
    """
    if not url or any(character.isspace() or unicodedata.category(character)[0] in "CZ" for character in url):
        raise ValueError("it is missing, or holds characters that cannot be seen")
    if len(url) > DEFAULT_LIMITS.url:
        raise ValueError(f"it is longer than {DEFAULT_LIMITS.url:,} characters, and nobody could judge it")
    try:
        parts = urlsplit(url)
        name, port = parts.hostname or "", parts.port
        host = name if name.isascii() else name.encode("idna").decode()
    except (ValueError, UnicodeError) as error:
        raise ValueError(f"it is no valid URL ({error})") from None
    if not host:
        raise ValueError("it names no host")
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback and is_loopback(host)):
        raise ValueError(f"it is not encrypted (https), but {visible(parts.scheme)!r}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a name or password stands before its host, which hides where it leads")
    return ExaminedUrl(url, host if port is None else f"{host}:{port}", tuple(_warnings(name, host)))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or address alone."""
    if host in LOOPBACK_NAMES or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _warnings(name: str, host: str) -> list[str]:
    found = []
    if "xn--" in host:
        found.append(f"The name of the host has letters beyond the usual ones, which may look like others: {host}.")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return found
    if not address.is_loopback:
        found.append("The host is a bare address, not a name.")
    return found
