"""The direct delivery: notifications and questions are pushed at once; the response ends it."""

from __future__ import annotations

from typing import Any

from ...jsonrpc import RequestId
from ...transports.connection import Connection


class Direct:
    """The way out of a call that is heard as it goes, on the connection its request came by."""

    def __init__(self, connection: Connection, request_id: RequestId) -> None:
        self._connection = connection
        self._request_id = request_id

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        await self._connection.notify(method, params, about=self._request_id)

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        limit = self._connection.limits.question
        return await self._connection.request(method, params, timeout=limit, about=self._request_id)
