"""Bytes of a pipe -> lines -> messages and back, for both ends of stdio. Pure: no I/O.

Source: "stdio" of each revision's transports page: one message per line, no line breaks within.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import LimitExceeded
from ..jsonrpc import INVALID_REQUEST, InvalidMessage, Message, RequestId, dump, load
from ..visible import quote
from .base import Receiver

__all__ = ["LineBuffer", "MessageReader", "as_line"]

_KEPT = 512
"""How much of each end of a line beyond the limit is kept, to quote it and to find its id."""

_VALUE = rb'(-?\d{1,18}|"[^"\\]{0,200}")'
# An id as the first or second member, or as the last or last but one: it then is the message's own, not a nested one's.
_ID_AT_START = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*' + _VALUE + rb"\s*,")
_ID_AT_END = re.compile(rb',\s*"id"\s*:\s*' + _VALUE + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


def as_line(message: Message, limit: int) -> bytes:
    """A message as it stands on the wire.

    Raises:
        LimitExceeded: it is larger than `limit` bytes (`Limits.message`).
        Unserializable: it holds something that JSON cannot say.
    """
    data = dump(message)
    if len(data) > limit:
        text = f"A message of {len(data):,} bytes was not sent, since Limits.message allows {limit:,}."
        raise LimitExceeded(text, limit="message", allowed=limit)
    return data + b"\n"


class LineBuffer:
    """Splits bytes into lines in time linear in their number, however they are cut up.

    Args:
        limit: of a line longer than this many bytes only both ends are kept, so that memory stays bounded.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()
        self._size = 0

    def feed(self, data: bytes) -> Iterator[tuple[bytes | bytearray, int]]:
        """The lines that these bytes complete, without their ends, each with the size it has on the wire."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            if not self._size:
                yield end, len(end)
                continue
            self._grow(end)
            yield self.take()
        self._grow(rest)

    def take(self) -> tuple[bytes | bytearray, int]:
        """What has come of the line that is not complete yet, and its size; it is then forgotten."""
        line, size = self._rest, self._size
        self._rest, self._size = bytearray(), 0
        return line, size

    def _grow(self, data: bytes) -> None:
        self._rest += data
        self._size += len(data)
        if self._size > self._limit:
            del self._rest[_KEPT:-_KEPT]


class MessageReader:
    """Tells a receiver of the messages in a stream of bytes, and of what is none.

    Empty lines are passed over, CRLF ends a line too, and a batch is told message by message. A line beyond the limit
    is an `InvalidMessage` whose cause is a `LimitExceeded`. Where a line that cannot be read looks like a message with
    an id, the error bears the id, so that whoever waits for this answer need not wait longer.

    Args:
        receiver: who is told.
        limit: the largest line, in bytes (`Limits.message`).
        forgiving: the stream comes from a server, which may mix log lines in: what is no message is reported only
            once (but always if it has an id), and a message behind a log text on the same line is found.
    """

    def __init__(self, receiver: Receiver, limit: int, *, forgiving: bool) -> None:
        self._receiver = receiver
        self._limit = limit
        self._forgiving = forgiving
        self._lines = LineBuffer(limit)
        self._reported = False
        self._stopped = False

    def feed(self, data: bytes) -> None:
        """Read some more."""
        for line, size in self._lines.feed(data):
            self._read(line, size)

    def finish(self) -> bool:
        """The stream has ended. A last line may lack its end; whether it was cut off in the middle of a message."""
        line, size = self._lines.take()
        if not self._forgiving:
            self._read(line, size)
            return False
        try:
            self._deliver(load(line))
        except InvalidMessage:
            return line.lstrip().startswith(b"{")
        return False

    def stop(self) -> None:
        """Tell the receiver of nothing more, whatever comes."""
        self._stopped = True

    def _read(self, line: bytes | bytearray, size: int) -> None:
        if self._stopped:
            return
        if size > self._limit:
            self._report(_too_long(line, size, self._limit))
            return
        try:
            found = load(line)
        except InvalidMessage as error:
            if line and not line.isspace():
                self._read_around(line, error)
            return
        self._deliver(found)

    def _read_around(self, line: bytes | bytearray, error: InvalidMessage) -> None:
        start = line.find(b'{"') if self._forgiving else -1
        if start > 0:
            try:
                found = load(line[start:])
            except InvalidMessage:
                pass
            else:
                log = quote(line[:start])
                self._report(
                    InvalidMessage(f"Text before a message on the same line was skipped: {log}", code=error.code)
                )
                self._deliver(found)
                return
        text = f"A line that is no message was skipped ({error}): {quote(line)}"
        id = error.id if error.id is not None else _id_of(line)
        self._report(InvalidMessage(text, code=error.code, id=id))

    def _deliver(self, found: Message | list[Message | InvalidMessage]) -> None:
        for message in found if isinstance(found, list) else (found,):
            if self._stopped:
                return
            if isinstance(message, InvalidMessage):
                self._report(message)
            else:
                self._receiver.received(message)

    def _report(self, error: InvalidMessage) -> None:
        if self._forgiving and self._reported and error.id is None:
            return
        self._reported = True
        self._receiver.received_invalid(error)


def _too_long(line: bytes | bytearray, size: int, limit: int) -> InvalidMessage:
    text = (
        f"A line of {size:,} bytes was skipped, since Limits.message allows {limit:,}. It begins with {quote(line, 80)}"
    )
    error = InvalidMessage(text, code=INVALID_REQUEST, id=_id_of(line))
    error.__cause__ = LimitExceeded(text, limit="message", allowed=limit)
    return error


def _id_of(line: bytes | bytearray) -> RequestId | None:
    """The id of a message that cannot be read as a whole, if it stands where ids usually stand."""
    if b'"jsonrpc"' not in line[:_KEPT] and b'"jsonrpc"' not in line[-_KEPT:]:
        return None
    found = _ID_AT_START.match(line[:_KEPT]) or _ID_AT_END.search(line[-_KEPT:])
    if found is None:
        return None
    value = found[1]
    return value[1:-1].decode("utf-8", "replace") if value.startswith(b'"') else int(value)
