"""Deliveries: the ways in which a call is heard on the wire, one file each.

A handler says things through its `Context`; the context hands them to the call's delivery. Handlers never know which.
"""

from typing import Any, Protocol


class Delivery(Protocol):
    """One call's way out."""

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification that belongs to the call."""

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        """Send a question that belongs to the call, and wait for its answer (JSON data).

        `key` names the question within the call, where the revision has such names.

        Raises:
            ProtocolError: the client answered with an error.
            RequestTimeout: no answer within `Limits.question`.
            ConnectionLost: the client has gone.
        """
        ...
