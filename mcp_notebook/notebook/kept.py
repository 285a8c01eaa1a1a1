"""Servers that outlive the kernel: what they are called, and which of them run.

Each is a relay whose name is made of the one that the person gave it and the notebook it was given in, so that two
notebooks do not meet at one server by accident, and a notebook finds its own again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from ..errors import ConnectError
from ..transports.relay import Attached

if TYPE_CHECKING:
    from .workspace import Member

ASKING = 15.0
"""Seconds that relays may take to tell, or to end, in all."""
BETWEEN = " of "


def place_of(shell: Any) -> str:
    """The notebook, where the front end tells which it is; else the folder."""
    return os.environ.get("JPY_SESSION_NAME") or shell.user_ns.get("__vsc_ipynb_file__") or os.getcwd()


def full_name(name: str, place: str) -> str:
    """What the relay of a server is called."""
    return f"{name}{BETWEEN}{place}"


def names(place: str, seconds: float = ASKING) -> list[str]:
    """The servers of this place that run, whether somebody is connected to them or not."""
    if sys.platform == "win32":
        return []
    from ..transports.relay.place import in_use  # it cannot be imported on Windows

    if not in_use():
        return []
    try:
        listed = _relay(["--list", "--json"], seconds)
    except ConnectError:
        return []
    accounts = [json.loads(line) for line in listed.splitlines()]
    found = [str(account["name"]) for account in accounts if not account["ended"]]
    return [name.removesuffix(BETWEEN + place) for name in found if name.endswith(BETWEEN + place)]


def stop(relay: str) -> None:
    """End a relay and its server. Raises ConnectError."""
    _relay(["--stop", relay], ASKING)


def told(member: Member, before: str | None = None) -> str:
    """What a person should know of a server that is kept; "" of any other.

    Args:
        member: the connection to it.
        before: the process that was connected under this name before.
    """
    attached = member.client.session.attached
    if attached is None or member.relay is None:
        return ""
    if before not in (None, attached.server):
        since = "It was started anew: what the one before had in memory is gone."
    elif attached.attachment > 1:
        since = "It has been running since before, and has what it had in memory."
    else:
        since = "It runs on when this kernel ends."
    return f"{since} {_how(member.name, attached)}"


def left(member: Member) -> str:
    """The same, where the person leaves it."""
    attached = member.client.session.attached if member.connected else None
    if attached is None or member.relay is None:
        return ""
    return f"The server runs on. {_how(member.name, attached)}"


def _how(name: str, attached: Attached) -> str:
    return (
        f"%mcp connect {name} comes back to it, also after a restart of the kernel. %mcp disconnect {name} --stop ends "
        f"it; with nobody connected it ends by itself after {span(attached.keep)}."
    )


def span(seconds: float) -> str:
    """A length of time in words."""
    for unit, size in (("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}{'' if seconds == size else 's'}"
    return f"{seconds:.3g} seconds"


def _relay(words: list[str], seconds: float) -> str:
    """What the command says: it needs a process of its own, since it changes its folder."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mcp_notebook", "relay", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise ConnectError(f"The servers that are kept did not answer within {seconds:g} s.") from None
    if done.returncode:
        raise ConnectError(done.stderr.strip())
    return done.stdout
