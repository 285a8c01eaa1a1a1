"""Server-sent events, read from bytes as they come. Pure: bytes in, events out.

Source: "Server-sent events", section "Interpreting an event stream", of the HTML standard. Written here since the
libraries hold an event back until more bytes come after a final CR, take a negative `retry`, and lose an id behind a
byte order mark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ..errors import LimitExceeded

IDS = 1000
"""How many ids of a stream are remembered, so that what is sent again is known."""
_BOM = b"\xef\xbb\xbf"
LONGEST_RETRY = 3_600_000
"""The longest `retry` that is believed, in milliseconds; a longer one is ignored (SSE-4)."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event.

    Attributes:
        event: what kind it is.
        data: what it says.
        id: the last id that the stream has named, this event's own or an earlier one.
        again: whether it bears an id that was named before the stream was gone on with.
    """

    event: str
    data: bytes
    id: str | None
    again: bool = False


class EventReader:
    """Reads a stream.

    Args:
        limit: the largest event in bytes.
        last_id: the last id of the stream that this one goes on with.
        ids: those that were named on it before.

    Attributes:
        last_id: the id named last by an event that came whole, with data or without.
        retry: milliseconds to wait before connecting anew, as the server wishes; None where it does not say.
    """

    def __init__(self, limit: int, last_id: str | None = None, ids: Collection[str] = ()) -> None:
        self.last_id = last_id
        self.retry: int | None = None
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0
        self._started = False
        self._skip_newline = False
        self._id = last_id
        self._before = ids
        self._named: dict[str, None] = {}
        self._names = False
        self._event = ""
        self._data: list[bytes] = []
        self._size = 0

    def following(self) -> EventReader:
        """What reads on where this stream ended."""
        ids = dict.fromkeys([*self._before, *self._named][-IDS:])
        reader = EventReader(self._limit, self.last_id, ids)
        reader.retry = self.retry
        return reader

    def feed(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Take in bytes, cut anywhere; give the events that they complete, those without data left out.

        Raises:
            LimitExceeded: an event is larger than allowed.
        """
        self._buffer += data
        if not self._started and not self._start():
            return
        for line in self._lines():
            event = self._take(line)
            if event is not None:
                yield event
        if self._size + len(self._buffer) > self._limit:
            raise LimitExceeded(
                f"The server sent an event of more than {self._limit:,} bytes.", limit="message", allowed=self._limit
            )

    def _start(self) -> bool:
        """Drop a byte order mark at the very beginning, once enough has come to tell."""
        if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
            return False
        if self._buffer.startswith(_BOM):
            del self._buffer[: len(_BOM)]
        self._started = True
        return True

    def _lines(self) -> Iterator[bytes]:
        if self._skip_newline and self._buffer:
            if self._buffer[0] == 0x0A:  # the second half of a CRLF that was cut in two
                del self._buffer[0]
            self._skip_newline = False
        position = 0
        while (end := self._line_end(max(position, self._searched))) >= 0:
            line = bytes(self._buffer[position:end])
            position = end + 1
            if self._buffer[end] == 0x0D:
                if position == len(self._buffer):
                    self._skip_newline = True
                elif self._buffer[position] == 0x0A:
                    position += 1
            yield line
        del self._buffer[:position]
        self._searched = len(self._buffer)

    def _line_end(self, start: int) -> int:
        """Where the next line ends (CR or LF); -1 where it goes on. Two finds are ten times as fast as a pattern."""
        newline = self._buffer.find(b"\n", start)
        carriage = self._buffer.find(b"\r", start, newline if newline >= 0 else len(self._buffer))
        return carriage if carriage >= 0 else newline

    def _take(self, line: bytes) -> ServerSentEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
                self._size += len(value) + 1
            case b"event":
                self._event = value.decode("utf-8", "replace")
            case b"id" if b"\0" not in value:
                self._id, self._names = value.decode("utf-8", "replace"), True
            case b"retry" if value.isdigit() and len(value) <= len(str(LONGEST_RETRY)) and int(value) <= LONGEST_RETRY:
                self.retry = int(value)
        return None  # anything else is a comment, or a field that nobody knows

    def _dispatch(self) -> ServerSentEvent | None:
        data, event = b"\n".join(self._data), self._event or "message"
        self._data, self._event, self._size = [], "", 0
        self.last_id = self._id  # not before: of an event that is cut short, nothing has arrived
        names, self._names = self._names, False
        again = names and self._id in self._before
        if names and self._id is not None:
            self._named[self._id] = None
            if len(self._named) > IDS:
                del self._named[next(iter(self._named))]
        return ServerSentEvent(event, data, self.last_id, again) if data else None
