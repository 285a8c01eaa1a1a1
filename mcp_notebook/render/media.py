"""Pictures and sounds: shown only if of a known type, of a fair size, and what they say they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from ..limits import DISPLAY_LIMITS
from ..types import decode_base64
from .letters import excerpt, size
from .parts import Media, Part, Text


def _starts(*beginnings: bytes) -> Callable[[bytes], bool]:
    return lambda data: data.startswith(beginnings)


def _riff(form: bytes) -> Callable[[bytes], bool]:
    return lambda data: data[:4] == b"RIFF" and data[8:12] == form


def _svg(data: bytes) -> bool:
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"<") and b"<svg" in head


_SOUNDS: dict[str, Callable[[bytes], bool]] = {
    "audio/wav": _riff(b"WAVE"),
    "audio/mpeg": _starts(b"ID3", b"\xff\xfb", b"\xff\xfa", b"\xff\xf3", b"\xff\xf2"),
    "audio/ogg": _starts(b"OggS"),
    "audio/webm": _starts(b"\x1a\x45\xdf\xa3"),
    "audio/flac": _starts(b"fLaC"),
    "audio/aac": _starts(b"\xff\xf1", b"\xff\xf9"),
    "audio/mp4": lambda data: data[4:8] == b"ftyp",
}
# SVG is safe in an <img>: there a browser runs no scripts in it and loads nothing for it.
_PICTURES: dict[str, Callable[[bytes], bool]] = {
    "image/png": _starts(b"\x89PNG\r\n\x1a\n"),
    "image/jpeg": _starts(b"\xff\xd8\xff"),
    "image/gif": _starts(b"GIF87a", b"GIF89a"),
    "image/webp": _riff(b"WEBP"),
    "image/svg+xml": _svg,
}
_ALIASES = {
    "image/jpg": "image/jpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
    "audio/x-flac": "audio/flac",
    "audio/x-m4a": "audio/mp4",
    "audio/m4a": "audio/mp4",
}
_KINDS: tuple[tuple[Literal["image", "audio"], dict[str, Callable[[bytes], bool]]], ...] = (
    ("image", _PICTURES),
    ("audio", _SOUNDS),
)


def media(data: str, mime_type: str | None, keep: str) -> Part:
    """Base64 data as a picture or a sound, or a line that says what it is and how to keep it.

    Args:
        data: the bytes, as base64.
        mime_type: what the server calls them.
        keep: how to get at the bytes, in words.
    """
    called = excerpt(mime_type or "bytes of no stated type", 80)
    if len(data) * 3 // 4 > DISPLAY_LIMITS.media:
        return Text(
            f"{called}, {size(len(data) * 3 // 4)}: too large to show here (more than {size(DISPLAY_LIMITS.media)}); "
            f"{keep}",
            "note",
        )
    try:
        content = decode_base64(data)
    except ValueError:
        return Text(f"{called} whose data is not base64, {len(data):,} characters", "note")
    known = _known(mime_type)
    if known is None:
        return Text(f"{called}, {size(len(content))}; {keep}", "note")
    kind, name, fits = known
    if not fits(content):
        return Text(f"{called} that is not one, {size(len(content))}; {keep}", "note")
    return Media(kind, name, content, f"{name}, {size(len(content))}; {keep}")


def is_svg(mime_type: str | None) -> bool:
    """Whether text of this type is a picture (SVG)."""
    return _essence(mime_type) == "image/svg+xml"


def _known(mime_type: str | None) -> tuple[Literal["image", "audio"], str, Callable[[bytes], bool]] | None:
    name = _essence(mime_type)
    return next(((kind, name, table[name]) for kind, table in _KINDS if name in table), None)


def _essence(mime_type: str | None) -> str:
    """The type without parameters, by the name that we use for it."""
    name = (mime_type or "").partition(";")[0].strip().lower()
    return _ALIASES.get(name, name)
