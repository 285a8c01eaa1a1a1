"""What is remembered of calls under way, so that another process can go on with them: the contract, and the data.

Whoever keeps a journal is told of each call that outlives its connection: before its request is sent, when the server
says by what it can be taken up again, and whenever more of it was shown. There are secrets in an entry: whoever has
the token of a call can take it over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from .jsonrpc import RequestId
from .protocol.resuming import ResumePolicy


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A session of a transport that has such things, and what was agreed on in it.

    Args:
        id: its id, which is a secret.
        agreed: what the server answered to `initialize`, as JSON data.
    """

    id: str = field(repr=False)
    agreed: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One call under way."""

    id: str
    """Its short name."""
    address: str
    """Where its server is: a URL, or the name of a relay."""
    server: str
    """What the server is called here."""
    tool: str
    began: float
    """In seconds since the epoch."""
    request_id: RequestId | None
    last_number: int
    """The number of the last message that was shown, where the server numbers them."""
    process: str | None = None
    """Behind a relay, the server's process that works on it."""
    asking: bool = False
    """Whether a question of the server's was open."""
    dialect: str | None = None
    """The method by which it is resumed, where it can be."""
    policy: ResumePolicy | None = None
    form: str | None = None
    """The name of its form, where it is a task (`protocol.extensions.TASKS`)."""
    task: dict[str, Any] | None = None
    """What is known of the task; None: not even that there is one."""
    task_id: str | None = None
    """Its id, where we made it."""
    progress: dict[str, Any] | None = None
    """The latest progress that was told."""
    arguments: dict[str, Any] | None = field(default=None, repr=False)
    """What the tool was called with; None where that was not to be remembered."""
    revision: str | None = None
    """The protocol revision that was spoken."""
    session: SavedSession | None = None


class Journal(Protocol):
    """Remembers calls. It may be slow for once, but never fails: a call goes on without it."""

    def note(self, entry: Entry) -> None:
        """Remember this of a call, in place of what was remembered before. It is safe when this returns."""

    def forget(self, address: str, id: str) -> None:
        """A call is over, and whoever wanted to know has been told."""
