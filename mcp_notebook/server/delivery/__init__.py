"""Deliveries: the ways in which a call is heard on the wire, one file each.

A handler says things through its `Context`; the context hands them to the call's delivery. Handlers never know which.
"""

from dataclasses import dataclass
from typing import Any, Protocol

from ...jsonrpc import RequestId
from ...protocol.revision import Profile


@dataclass(slots=True)
class Current:
    """The request through which a call is heard at present: what it says holds. A round trip goes from one to the
    next."""

    profile: Profile
    request_id: RequestId
    meta: dict[str, Any]
    late_task: bool = False
    """Whether the call can still become a task, when its handler says so."""

    def become(self, other: "Current") -> None:
        """Another request goes on with the call."""
        self.profile, self.request_id, self.meta = other.profile, other.request_id, other.meta
        self.late_task = other.late_task


class Delivery(Protocol):
    """One call's way out."""

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that belongs to the call.

        Raises:
            CallCancelled: the call is over.
        """

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        """Send a question that belongs to the call, and wait for its answer (JSON data).

        `key` names the question within the call, where the revision has such names.

        Raises:
            ProtocolError: the client answered with an error.
            RequestTimeout: no answer within `Limits.question`.
            CallCancelled: the call is over.
            ConnectionLost: the client has gone.
        """
        ...

    async def become_task(self) -> None:
        """From here on the call is a task, where it can become one and is none yet."""
        ...
