"""Where the relays of one user meet: a folder that only they can enter, with a socket for each relay."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import socket
import stat
import struct
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from ...errors import ConnectError
from ..command import Command

__all__ = ["Place", "id_of", "id_of_name", "in_use"]

_SUFFIX = ".socket"
_BACKLOG = 128
_ID_LENGTH = 16
_OF_A_TERMINAL = frozenset({"_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TERM"})


def id_of(command: Command) -> str:
    """Who the relay of a command is: another for any other argument, folder or variable (but a terminal's)."""
    env = {name: value for name, value in command.env.items() if name not in _OF_A_TERMINAL}
    return Command(command.args, env, command.cwd).digest()[:_ID_LENGTH]


def id_of_name(name: str) -> str:
    """Who the relay of a name is."""
    return hashlib.sha256(f"name {name}".encode()).hexdigest()[:_ID_LENGTH]


def meeting_place() -> Path:
    """Where relays of this user meet, if there are any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that XDG_RUNTIME_DIR is not set: there is another folder then
        return Path(platformdirs.user_runtime_path("mcp_notebook", appauthor=False)) / "relay"


def in_use() -> bool:
    """Whether there may be relays, without asking any."""
    return any(meeting_place().glob(f"*{_SUFFIX}"))


class Place:
    """The folder, as the current one of this process: so the paths of sockets, which must be short, are only names.

    Raises:
        ConnectError: it cannot be had, or others could enter it.
    """

    def __init__(self) -> None:
        self.path = meeting_place()
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                self._check(os.fstat(folder))
                os.fchdir(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise ConnectError(f"There is no folder for relays at {self.path}: {error.strerror or error}.") from error

    def _check(self, found: os.stat_result) -> None:
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise ConnectError(
                f"The folder of relays, {self.path}, is not yours alone. Make it so (chown, chmod 700), or delete it."
            )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else looks for a socket here, makes or removes one. For a moment only; never while waiting."""
        lock = os.open("lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # closing would not do, while a forked copy has it open
            os.close(lock)

    def ids(self) -> list[str]:
        """Who has a socket here, though some may be dead."""
        return sorted(name.removesuffix(_SUFFIX) for name in os.listdir() if name.endswith(_SUFFIX))

    def connect(self, id: str, seconds: float) -> socket.socket | None:
        """A connection to the keeper of this relay, on which each wait is bounded by `seconds`; None: it does not run.

        Raises:
            ConnectError: something else listens there, or nothing can be heard of it.
        """
        keeper = socket.socket(socket.AF_UNIX)
        keeper.settimeout(seconds)
        try:
            keeper.connect(id + _SUFFIX)
            if not is_own(keeper):
                raise ConnectError(f"The relay at {self.path / (id + _SUFFIX)} belongs to another user. Delete it.")
        except (FileNotFoundError, ConnectionRefusedError):
            keeper.close()
            return None
        except OSError as error:
            keeper.close()
            raise ConnectError(
                f"The relay {id} does not answer: {error.strerror or error}. End its process, or use another --name."
            ) from error
        except BaseException:
            keeper.close()
            raise
        return keeper

    def listen(self, id: str) -> socket.socket:
        """The socket of a new keeper, in place of what a dead one has left. Only while `locked`, by one thread.

        Raises:
            ConnectError: it cannot be made.
        """
        name = id + _SUFFIX
        listener = socket.socket(socket.AF_UNIX)
        umask = os.umask(0o177)
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
            listener.bind(name)
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            raise ConnectError(f"A relay cannot listen in {self.path}: {error.strerror or error}.") from error
        finally:
            os.umask(umask)
        return listener

    def remove(self, id: str) -> None:
        """The keeper of this relay ends: nobody shall find its socket. Only while `locked`."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(id + _SUFFIX)


def is_own(peer: socket.socket) -> bool:
    """Whether the process at the other end runs as this user, where the system tells; else the folder has to do."""
    if sys.platform == "linux":
        _, uid, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
        return uid == os.geteuid()
    peer_credentials = getattr(socket, "LOCAL_PEERCRED", None)
    if peer_credentials is None:
        return True
    _, uid = struct.unpack_from("=II", peer.getsockopt(0, peer_credentials, 128))
    return uid == os.geteuid()
