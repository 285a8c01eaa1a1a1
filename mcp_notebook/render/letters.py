"""Foreign text made fit to be shown: nothing hidden in it, nothing endless about it."""

from __future__ import annotations

import json
import re

from ..limits import DISPLAY_LIMITS
from ..visible import visible

# Only "control sequences" (colours, cursor moves) are dropped: they hold no text. All else stays, made visible.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
# Control characters but for line breaks and tabs, text direction, what has no width but could carry a message, what
# UTF-8 cannot say. A command line is judged more strictly (CON-4): in prose there is nothing wrong with curly quotes,
# other scripts, or the joiners that scripts and emoji need. What went through `visible` stays as it is.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)


def legible(text: str) -> str:
    """The text without terminal colours, with control and bidirectional characters written as `<U+202E>`."""
    return _HIDDEN.sub(lambda match: visible(match[0]), _ANSI.sub("", text).replace("\r\n", "\n"))


def hides(text: str) -> bool:
    """Whether there is something in it that `legible` would write out, or drop."""
    return bool(_HIDDEN.search(text))


def escaped(text: str) -> str:
    """JSON with such characters in it written as JSON has them: the same JSON, and nothing hidden in it."""
    return _HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def shorten(text: str, limit: int) -> tuple[str, int]:
    """The first `limit` characters, and how many were left out."""
    return text[:limit], max(0, len(text) - limit)


def excerpt(text: str, limit: int = DISPLAY_LIMITS.cell) -> str:
    """At most `limit` characters, ending in "…" where more was there."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_line(text: str) -> str:
    """The text as a single line."""
    return " ".join(text.split())


def line(text: str) -> str:
    """Foreign text as one line with an end, nothing hidden in it."""
    return excerpt(one_line(legible(text)))


def size(count: int) -> str:
    """A number of bytes for people: `812 bytes`, `3.4 MB`."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:,.1f} MB"
