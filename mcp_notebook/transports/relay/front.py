"""The half of a relay that a client starts and ends: it passes bytes on, and says what the client has read of them.

One thread and one `poll`; no event loop, so that it starts fast.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
import termios
import time
from collections.abc import Iterable, Iterator

from ...limits import Limits
from . import KEEPER_ENDED, PREFIX
from .frames import Frame, FrameReader, Kind, data_frames, number_frame, number_in

__all__ = ["Front"]

_CHUNK = 64 * 1024
_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL
_FIRST_LOOK, _LONGEST_LOOK = 0.005, 0.5
"""Seconds until it is looked again whether the client has read what it was given: few at first, then more."""


class Front:
    """One attachment, from the keeper's greeting to its end.

    It ends when the client closes stdin or no longer reads stdout (which detaches it, and leaves the server running),
    when the server has ended, when another front takes its place, or by a signal.

    Args:
        keeper: the connection to the keeper, which has greeted us.
        frames: reads what comes over it.
        early: the frames that came with the greeting.
        first: what the client is told before anything else.
        limits: `stderr_tail` and `linger` are kept.
        streams: the client's ends: stdin, stdout, stderr.
    """

    def __init__(
        self,
        keeper: socket.socket,
        frames: FrameReader,
        early: Iterable[Frame],
        *,
        first: bytes,
        limits: Limits,
        streams: tuple[int, int, int] = (0, 1, 2),
    ) -> None:
        self._keeper = keeper
        self._frames = frames
        self._limits = limits
        self._stdin, self._stdout, self._stderr = streams
        self._to_keeper = bytearray()
        self._to_stdout = bytearray(first)
        self._to_stderr = bytearray()
        self._sent = self._allowed = 0  # bytes of stdin, in all
        self._written = -len(first)  # bytes of the server's that stand in stdout, in all
        self._read = 0  # of these, what the client has read
        self._look = _FIRST_LOOK
        self._ending: tuple[int, str] | None = None
        self._status: int | None = None
        self._stop: tuple[int, float] | None = None  # the signal that ends us, and when at the latest
        self._keeper_lives = True
        self._stays = True  # the client will still read what stands in the pipe
        for one in early:
            self._take(one)

    def run(self) -> int:
        """Relay until the end.

        Returns:
            The exit status: that of the server (128 and more for a signal), 0 where the client has detached.
        """
        self._keeper.setblocking(False)
        with _signals() as wakeup:
            while not self._is_over():
                self._turn(wakeup)
        self._leave()
        return self._status or 0

    def _turn(self, wakeup: int) -> None:
        """Wait until something can be done, and do it."""
        ready = self._wait(wakeup)
        if wakeup in ready:
            self._stop = os.read(wakeup, 1)[0], time.monotonic() + self._limits.linger
        if ready.get(self._keeper.fileno(), 0) & ~select.POLLOUT:
            self._hear()
        self._say()
        if self._stdin in ready and not self._overdue():
            self._take_stdin()
        elif self._stop is not None:
            self._detach(128 + self._stop[0])
        elif ready.get(self._stdout, 0) & _GONE:
            self._detach(0)
        elif self._to_stdout and self._stdout in ready:
            self._written += _write_some(self._stdout, self._to_stdout)
        if self._stderr in ready:
            self._complain(ready[self._stderr])
        if not ready or self._written - self._read >= _CHUNK:  # not after each message: it would cost as much as one
            self._tell_what_is_read()

    def _is_over(self) -> bool:
        """Whether the client has gone, or has been given all, and the end."""
        if self._status is None and self._ending is not None and not self._to_stdout:
            self._status, text = self._ending
            self._to_stderr += f"{PREFIX}{text}\n".encode()
        return self._status is not None

    def _wait(self, wakeup: int) -> dict[int, int]:
        """What can be read from or written to, as `poll` has it."""
        poll = select.poll()
        poll.register(wakeup, select.POLLIN)
        if self._keeper_lives:
            poll.register(self._keeper, select.POLLIN | (select.POLLOUT if self._to_keeper else 0))
        poll.register(self._stdout, select.POLLOUT if self._to_stdout else 0)
        if self._sent < self._allowed:
            poll.register(self._stdin, select.POLLIN)
        if self._to_stderr:
            poll.register(self._stderr, select.POLLOUT)
        if self._stop is not None:
            return dict(poll.poll(0))
        if self._read == max(self._written, 0):
            self._look = _FIRST_LOOK
            return dict(poll.poll())
        ready = dict(poll.poll(self._look * 1000))
        self._look = _FIRST_LOOK if ready else min(2 * self._look, _LONGEST_LOOK)
        return ready

    # What comes from the keeper

    def _hear(self) -> None:
        data = b""
        with contextlib.suppress(ConnectionError):
            data = self._keeper.recv(_CHUNK)
        for one in self._frames.feed(data):
            self._take(one)
        if not data:
            self._keeper_lives = False
            self._ending = self._ending or (1, KEEPER_ENDED)

    def _take(self, one: Frame) -> None:
        kind, payload = one
        match kind:
            case Kind.HELLO:
                self._allowed = json.loads(payload)["allowed"]
            case Kind.DATA:
                self._to_stdout += payload
            case Kind.STDERR:
                self._to_stderr += payload
                del self._to_stderr[: max(0, len(self._to_stderr) - self._limits.stderr_tail)]
            case Kind.ALLOWED:
                self._allowed = number_in(payload)
            case Kind.END:
                end = json.loads(payload)
                self._ending = end["status"], end["text"]
                if end["drop"]:
                    self._stays = False
                    self._to_stdout.clear()
            case _:
                pass

    # What comes from the client

    def _take_stdin(self) -> None:
        data = b""
        with contextlib.suppress(OSError):
            data = os.read(self._stdin, min(_CHUNK, self._allowed - self._sent))
        if not data:
            self._detach(0)
            return
        self._sent += len(data)
        self._to_keeper += b"".join(data_frames(Kind.DATA, data))

    def _detach(self, status: int) -> None:
        self._stays = False
        self._status = status

    def _overdue(self) -> bool:
        return self._stop is not None and time.monotonic() > self._stop[1]

    # What goes out

    def _say(self) -> None:
        if self._to_keeper:
            with contextlib.suppress(BlockingIOError, ConnectionError):  # the end is told by `recv`
                del self._to_keeper[: self._keeper.send(self._to_keeper)]

    def _complain(self, events: int) -> None:
        if events & _GONE:
            self._to_stderr.clear()
        else:
            _write_some(self._stderr, self._to_stderr)

    def _tell_what_is_read(self) -> None:
        read = self._written - (_unread(self._stdout) if self._written > self._read else 0)
        if read > self._read:
            self._read = read
            self._to_keeper += number_frame(Kind.READ, read)

    def _leave(self) -> None:
        """Say the last things, to both sides, within bounds."""
        if self._stays and self._written > self._read:
            self._to_keeper += number_frame(Kind.READ, self._written)
        else:
            self._tell_what_is_read()
        self._keeper.settimeout(self._limits.linger)
        with contextlib.suppress(OSError):
            self._keeper.sendall(self._to_keeper)
            self._keeper.shutdown(socket.SHUT_WR)
            while self._keeper.recv(_CHUNK):  # until it has heard all; closed before, it might fail to
                pass
        self._keeper.close()
        poll = select.poll()
        poll.register(self._stderr, select.POLLOUT)
        deadline = time.monotonic() + self._limits.linger
        while self._to_stderr and time.monotonic() < deadline:
            for _, events in poll.poll(self._limits.linger * 1000):
                self._complain(events)


def _write_some(fd: int, data: bytearray) -> int:
    """Write what a ready pipe takes without making us wait, and forget it; how many bytes that were."""
    count = 0
    with contextlib.suppress(OSError):  # a broken pipe is told by `poll`
        count = os.write(fd, data[: select.PIPE_BUF])
    del data[:count]
    return count


def _unread(fd: int) -> int:
    """How many bytes in a pipe nobody has read, not even now that nobody can; 0 where the system does not tell."""
    if sys.platform != "linux" or not stat.S_ISFIFO(os.fstat(fd).st_mode):
        return 0
    return struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]


@contextlib.contextmanager
def _signals() -> Iterator[int]:
    """A file in which the numbers of signals that should end us can be read."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    ours = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
    heeded = [number for number in ours if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda *_: None) for number in heeded}
    try:
        yield reading
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)
        os.close(writing)
        os.close(reading)
