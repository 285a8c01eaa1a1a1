"""A pipe that can be attached anew: a relay keeps a stdio server running while its clients come and go.

    client <-> stdin, stdout <-> front <-> Unix socket <-> keeper <-> stdin, stdout <-> server

A client starts a *front* (`python -m mcp_notebook relay -- COMMAND …`) as if it were the server. The first front starts
a *keeper*, a process of its own that owns the server; later ones with the same identity attach to it. The front ends
with its client; the keeper and the server go on, and what the server says meanwhile waits for the next front.

Delivery is by whole lines and at least once: what a client has not read from its pipe when it goes is given to the next
one, whole. (Only Linux tells what that is; elsewhere all that was written counts as read.) Ids and numbers in the
messages make it exactly once. So this is for clients whose request ids do not come again with the next attachment, as
those of this package: an answer to a client that has gone reaches the one after it.

POSIX only. Source: rows 1 and 2 of the seeds (RR-3, ST-7), which let a client come and go on every transport.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from ..command import Command

__all__ = [
    "ATTACHED",
    "TAKEN_OVER",
    "Attached",
    "behind",
    "is_ours",
    "is_relay",
    "kept",
    "name_of",
    "relayed",
    "starts_nothing",
]

ATTACHED = "notifications/mcp-notebook/attached"
"""What a front started with `--announce` says first, with the fields of an `Attached`."""

TAKEN_OVER = 75
"""The exit status of a front whose place another has taken. Its client should not come back by itself."""

PREFIX = "relay: "
"""How the last line begins that a front writes to stderr: why it ends. One that ends without was cut off."""

OVERTAKEN = "another client has taken this one's place, and has the server now."
SERVER_ENDED = "the server's process"
KEEPER_ENDED = "the process that keeps the server has ended, and the server with it."
"""What such a line says, or begins with, so that a client can tell these apart: a server may end with any status."""

_RELAY = ("-m", "mcp_notebook", "relay")


@dataclass(frozen=True, slots=True)
class Attached:
    """What a client is told of the server that it meets.

    Attributes:
        server: a random name, another for each process, so that a client knows whether it has come back to the same.
        attachment: the how many-th client it is, from 1.
        since: when the server was started, in seconds since 1970.
        keep: how many seconds the server stays without a client.
    """

    server: str
    attachment: int
    since: float
    keep: float


def relayed(command: Command, *, name: str | None = None, keep: float | None = None) -> Command:
    """The same command behind a relay, in the same place and environment.

    Args:
        command: what starts the server.
        name: who the relay is; without it, whoever starts the same command in the same folder with the same
            environment meets the same server.
        keep: how many seconds the server stays without a client; by default `Limits.relay_keep`.
    """
    options = [] if name is None else ["--name", name]
    if keep is not None:
        options += ["--keep", f"{keep:g}"]
    # -P: files beside the server's must not be taken for ours.
    return Command(
        [sys.executable, "-P", *_RELAY, "--announce", *options, "--", *command.args], command.env, command.cwd
    )


def kept(name: str) -> Command:
    """What leads to the server that a relay of this name runs, and starts none."""
    return Command([sys.executable, "-P", *_RELAY, "--announce", "--name", name])


def starts_nothing(command: Command) -> bool:
    """Whether a command is one that `kept` gives."""
    return command == kept(command.args[-1]) and not command.env


def is_relay(command: Command) -> bool:
    """Whether a command starts a relay, so that the server may still run when it is started again."""
    return _begins(_behind_options(command.args[1:]), _RELAY)


def is_ours(command: Command) -> bool:
    """Whether a command is one that `relayed` gives, so that nobody else's program stands before the server's."""
    ours = relayed(behind(command)).args[:5]
    return is_relay(command) and command.args[:5] == ours and behind(command) != command


def behind(command: Command) -> Command:
    """The command that a relay runs; of one that is no relay, itself."""
    args = list(command.args)
    if not is_relay(command) or "--" not in args[:-1]:
        return command
    return Command(args[args.index("--") + 1 :], command.env, command.cwd)


def name_of(command: Command) -> str | None:
    """What a relay is called by its command; None where that is no relay, or has no name."""
    own = list(command.args[: len(command.args) - len(behind(command).args)] or command.args)
    return own[own.index("--name") + 1] if is_relay(command) and "--name" in own[:-1] else None


def _behind_options(words: Sequence[str]) -> Sequence[str]:
    """What follows the interpreter's own options, none of which is `-m`."""
    for index, word in enumerate(words):
        if word == "-m" or not word.startswith("-"):
            return words[index:]
    return ()


def _begins(words: Sequence[str], beginning: Sequence[str]) -> bool:
    return tuple(words[: len(beginning)]) == tuple(beginning)
