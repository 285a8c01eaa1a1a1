"""Which arguments a tool's error speaks of (VAL-3)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...limits import DISPLAY_LIMITS

LINES = 200
"""How many lines of an error are looked at."""


def blamed(text: str, names: Iterable[str]) -> dict[str, str]:
    """What an error says of each argument that it names.

    It names one where a line begins with it and a colon, as ours do (`- city: …`), holds nothing else (then the next
    line tells more, as pydantic's do), or has it in quotes or as a JSON pointer. Words in sentences may mean anything.

    Args:
        text: the error.
        names: the arguments there are.
    """
    lines = text[: DISPLAY_LIMITS.text].splitlines()[:LINES]
    found: dict[str, str] = {}
    for name in names:
        word = re.escape(name)
        patterns = (
            rf"^[\s\-*•]*(?:\w+:\s+)?[\"'`]?(?:[\w\]\[]+\.)*{word}[\"'`]?(?:\[\d+\])*\s*:\s*(?P<said>\S.*)$",
            rf"^[\s\-*•]*(?:[\w\]\[]+\.)*{word}(?:\.\d+)*\s*$",
            rf"[\"'`“‘]{word}[\"'`”’]|/{word}(?![\w/])|\b(?:argument|parameter|field|property) {word}\b",
        )
        for at, line in enumerate(lines):
            match = next((match for pattern in patterns if (match := re.search(pattern, line))), None)
            if match is None:
                continue
            said = match.groupdict().get("said") or line.strip()
            if said == line.strip() == match[0].strip() and at + 1 < len(lines):
                said = lines[at + 1].strip() or said
            found[name] = said
            break
    return found
