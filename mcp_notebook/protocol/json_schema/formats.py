"""Formats of strings, checked softly: the usual ones, as people send them. Unknown ones such as int32 never fail."""

from __future__ import annotations

import datetime
import ipaddress
import re
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from jsonschema import FormatChecker

_LONGEST = 10_000
"""Longer strings are not looked at."""
_TIME = r"\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?"
_DATE = r"\d{4}-\d{2}-\d{2}"
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def _clock(form: str, parse: Callable[[str], Any]) -> Callable[[str], bool]:
    """A check by pattern and calendar. A leap second counts as the second before it."""
    pattern = re.compile(form, re.IGNORECASE)

    def check(text: str) -> bool:
        return bool(pattern.fullmatch(text)) and parse(re.sub(r":60\b", ":59", text.upper())) is not None

    return check


def _uri(text: str) -> bool:
    return bool(urlsplit(text).scheme) and not re.search(r"\s", text)


def _uuid(text: str) -> bool:
    return bool(_UUID.fullmatch(text)) and uuid.UUID(text) is not None


_CHECKS: dict[str, Callable[[str], Any]] = {
    "date": _clock(_DATE, datetime.date.fromisoformat),
    "date-time": _clock(rf"{_DATE}[T ]{_TIME}", datetime.datetime.fromisoformat),
    "time": _clock(_TIME, datetime.time.fromisoformat),
    "email": lambda text: bool(_EMAIL.fullmatch(text)),
    "uri": _uri,
    "uuid": _uuid,
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
}


def format_checker() -> FormatChecker:
    """The checks in the form that jsonschema takes."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, check in _CHECKS.items():
        checker.checks(name, raises=ValueError)(_for_strings(check))
    return checker


def _for_strings(check: Callable[[str], Any]) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or len(value) > _LONGEST or bool(check(value))
