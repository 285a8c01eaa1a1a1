"""What a server has said and no client has read yet, line by line. Pure: no I/O."""

from __future__ import annotations

from collections import deque

__all__ = ["Backlog"]


class Backlog:
    """Keeps each line until a reader has read it whole. Readers come one after the other.

    Args:
        limit: how many bytes are kept before `full`.
        window: how many bytes a reader is given ahead of what it has read; a longer line goes alone.
    """

    def __init__(self, limit: int, window: int) -> None:
        self._limit = limit
        self._window = window
        self._given: deque[bytes] = deque()
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._ahead = 0  # bytes of the lines in _given
        self._dropped = 0  # bytes of the lines that this reader has read whole

    def add(self, line: bytes) -> None:
        """The server said this, its end included."""
        self._waiting.append(line)
        self._size += len(line)

    @property
    def full(self) -> bool:
        """Whether the server should have to wait. What it says all the same is kept, too."""
        return self._size >= self._limit

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return self._size

    @property
    def all_given(self) -> bool:
        """Whether the reader has been given all that there is."""
        return not self._waiting

    def rewind(self) -> None:
        """A new reader: it begins with the first line that has not been read whole."""
        while self._given:
            self._waiting.appendleft(self._given.pop())
        self._ahead = self._dropped = 0

    def take(self) -> bytes | None:
        """The next line for the reader; None where there is none, or it has enough to read."""
        if not self._waiting or (self._ahead and self._ahead + len(self._waiting[0]) > self._window):
            return None
        line = self._waiting.popleft()
        self._given.append(line)
        self._ahead += len(line)
        return line

    def read(self, count: int) -> None:
        """The reader has read so many bytes in all, since it came. What it has read whole is forgotten."""
        while self._given and self._dropped + len(self._given[0]) <= count:
            size = len(self._given.popleft())
            self._dropped += size
            self._ahead -= size
            self._size -= size
