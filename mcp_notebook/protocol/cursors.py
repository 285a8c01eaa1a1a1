"""Cursors of pages: a position, opaque to whoever gets it (server/utilities/pagination)."""

from __future__ import annotations

import base64
import binascii


def cursor(word: str, position: int) -> str:
    """A cursor for a position; the word says what is counted, so that no list takes another's cursor."""
    return base64.urlsafe_b64encode(f"{word} {position}".encode()).decode()


def position(cursor: str, word: str, last: int) -> int | None:
    """The position that a cursor tells, from 0 to `last`; None if it is not a cursor of this word."""
    try:
        said, _, number = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        found = int(number)
    except (binascii.Error, ValueError):
        return None
    return found if said == word and 0 <= found <= last else None
