"""What front and keeper say to each other: frames of a kind, a size and so many bytes. Pure: no I/O."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

__all__ = ["VERSION", "Frame", "FrameReader", "Kind", "data_frames", "frame", "json_frame", "number_frame"]

VERSION = 2
"""Of this language. A front and a keeper of different versions refuse each other."""

_HEAD = struct.Struct("!BI")
_NUMBER = struct.Struct("!Q")
_LARGEST = 16 * 1024 * 1024
_PIECE = 64 * 1024


class Kind(IntEnum):
    """What a frame means. The front says HELLO, then DATA and READ; the keeper HELLO, then all but READ."""

    HELLO = 1
    """JSON. What the front wants; the keeper's answer."""
    DATA = 2
    """Bytes of the wire: the server's stdin or stdout."""
    STDERR = 3
    """Bytes of the server's stderr."""
    READ = 4
    """A number: how many bytes of DATA the client has read, in all."""
    ALLOWED = 5
    """A number: how many bytes of DATA the front may send, in all."""
    END = 6
    """JSON. The last word: status, text, and whether what is still on its way shall be dropped."""


Frame = tuple[Kind, bytes]


def frame(kind: Kind, payload: bytes) -> bytes:
    """The bytes of a frame."""
    return _HEAD.pack(kind, len(payload)) + payload


def json_frame(kind: Kind, value: dict[str, Any]) -> bytes:
    """A frame of JSON."""
    return frame(kind, json.dumps(value).encode())


def number_frame(kind: Kind, number: int) -> bytes:
    """A frame of one number."""
    return frame(kind, _NUMBER.pack(number))


def data_frames(kind: Kind, data: bytes) -> Iterator[bytes]:
    """Frames of bytes, in pieces, so that whoever reads them need not wait for the whole."""
    for start in range(0, len(data), _PIECE):
        yield frame(kind, data[start : start + _PIECE])


def number_in(payload: bytes) -> int:
    """The number of a READ or ALLOWED.

    Raises:
        ValueError: there is none.
    """
    try:
        return _NUMBER.unpack(payload)[0]
    except struct.error as error:
        raise ValueError(str(error)) from None


class FrameReader:
    """Finds the frames in a stream of bytes, however they are cut up."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The frames that these bytes complete.

        Raises:
            ValueError: these are no frames.
        """
        self._rest += data
        while len(self._rest) >= _HEAD.size:
            kind, size = _HEAD.unpack_from(self._rest)
            if size > _LARGEST:
                raise ValueError(f"a frame of {size:,} bytes")
            end = _HEAD.size + size
            if len(self._rest) < end:
                return
            payload = bytes(self._rest[_HEAD.size : end])
            del self._rest[:end]
            yield Kind(kind), payload
