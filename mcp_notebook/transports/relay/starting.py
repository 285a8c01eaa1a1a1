"""What the command `relay` does: attach to a relay, or start it; stop one; tell which there are."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import socket
import time
from collections.abc import Callable
from typing import Any

from ...errors import ConnectError
from ...jsonrpc import Notification, dump
from ...limits import DEFAULT_LIMITS, Limits
from ..command import Command
from . import ATTACHED, Attached
from .alone import run_alone
from .frames import VERSION, Frame, FrameReader, Kind, json_frame
from .front import Front
from .place import Place, id_of, id_of_name

__all__ = ["attach", "running", "stop"]

_AGAIN = 0.02
"""Seconds before a relay that is just ending is looked for again."""


def attach(
    command: Command | None,
    *,
    name: str | None,
    keep: float | None,
    announce: bool,
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Be the front of a relay on this process's stdin, stdout and stderr, until the end.

    Args:
        command: what starts the server, where no relay runs it yet. Its environment is used as it is. None: nothing is
            started, and the relay must have a name.
        name: who the relay is; None: the command says so.
        keep: how many seconds the server stays without a client; None: as it was said before, at first
            `Limits.relay_keep`.
        announce: whether to say `ATTACHED` first.
        limits: what to keep to.

    Returns:
        The exit status; see `Front.run`.

    Raises:
        ConnectError: there can be no relay here.
    """
    _open_missing_streams()
    if name is not None:
        id = id_of_name(name)
    else:
        assert command is not None
        id = id_of(command)
    if command is not None:
        command = Command(command.args, command.env, command.directory)  # this process is about to change its own
    place = Place()

    def start() -> None:
        if command is None:
            raise ConnectError(f"No server is kept as {name!r}, or no longer. Connect with its command to start it.")
        # Only here: whoever attaches to a running relay should start fast.
        import asyncio

        from .keeper import Identity, Keeper

        listener = place.listen(id)
        keeper = Keeper(Identity(id, name), command, place, listener, keep or limits.relay_keep, limits)
        run_alone(lambda: asyncio.run(keeper.run()), keep=listener.fileno())
        listener.close()

    args, cwd = (list(command.args), command.cwd) if command is not None else (None, None)
    hello = {"do": "attach", "version": VERSION, "args": args, "cwd": cwd, "keep": keep}
    deadline = time.monotonic() + limits.connect
    while time.monotonic() < deadline:
        keeper = _reach(place, id, limits.connect, start)
        frames = FrameReader()
        if heard := _greet(keeper, frames, hello):
            return _relay(keeper, frames, heard, announce, limits)
        keeper.close()
        time.sleep(_AGAIN)
    raise ConnectError(f"The relay {name or id} could not be reached within {limits.connect:g} s.")


def running(limits: Limits = DEFAULT_LIMITS) -> list[dict[str, Any]]:
    """The relays of this user that run: id, name, command, cwd, since (seconds since 1970), attached, waiting (bytes),
    ended, and the process ids of keeper and server.

    Raises:
        ConnectError: there can be none here.
    """
    place = Place()
    found = [_ask(place, id, {"do": "tell", "version": VERSION}, limits.shutdown) for id in place.ids()]
    return [account for account in found if account is not None]


def stop(name: str, limits: Limits = DEFAULT_LIMITS) -> bool:
    """End a relay and its server, and return when that is done; False where there is none of this name or id.

    Raises:
        ConnectError: it does not end in time.
    """
    place = Place()
    seconds = 5 * limits.shutdown
    for id in (id_of_name(name), name):
        keeper = place.connect(id, seconds) if id in place.ids() else None
        if keeper is not None:
            with keeper:
                keeper.sendall(json_frame(Kind.HELLO, {"do": "stop", "version": VERSION}))
                _until_closed(keeper, name, seconds)
            return True
    return False


def _reach(place: Place, id: str, seconds: float, start: Callable[[], None]) -> socket.socket:
    with place.locked():
        keeper = place.connect(id, seconds)
        if keeper is None:
            start()
            keeper = place.connect(id, seconds)
    if keeper is None:
        raise ConnectError(f"The process that should keep the server did not stay (relay {id}).")
    return keeper


def _greet(keeper: socket.socket, frames: FrameReader, hello: dict[str, Any]) -> list[Frame]:
    """Say what we want; the answer, and what came with it. Empty where the keeper has just ended.

    Raises:
        ConnectError: no answer comes in time.
    """
    try:
        keeper.sendall(json_frame(Kind.HELLO, hello))
        while data := keeper.recv(64 * 1024):
            if found := list(frames.feed(data)):
                return found
    except TimeoutError:
        raise ConnectError("The relay does not answer. End its process (see --list), or use another --name.") from None
    except ConnectionError:
        pass
    return []


def _relay(keeper: socket.socket, frames: FrameReader, heard: list[Frame], announce: bool, limits: Limits) -> int:
    kind, payload = heard[0]
    welcome = announce and kind is Kind.HELLO
    return Front(keeper, frames, heard, first=_announcement(payload) if welcome else b"", limits=limits).run()


def _announcement(hello: bytes) -> bytes:
    said = json.loads(hello)
    attached = {field.name: said[field.name] for field in dataclasses.fields(Attached)}
    return dump(Notification(ATTACHED, attached)) + b"\n"


def _ask(place: Place, id: str, hello: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    with contextlib.suppress(ConnectError):
        keeper = place.connect(id, seconds)
        if keeper is not None:
            with keeper:
                for kind, payload in _greet(keeper, FrameReader(), hello):
                    if kind is Kind.HELLO:
                        return json.loads(payload)
    return None


def _until_closed(keeper: socket.socket, name: str, seconds: float) -> None:
    try:
        while keeper.recv(64 * 1024):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        raise ConnectError(f"The relay {name} did not end within {seconds:g} s. See --list for its process.") from None


def _open_missing_streams() -> None:
    """A file that is opened later must not take the place of a stream that we were not given."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
