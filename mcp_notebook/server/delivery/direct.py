"""The direct delivery: notifications and questions are pushed at once; the response ends it."""

from __future__ import annotations

import asyncio
from typing import Any

from ...calls.call import over
from ...jsonrpc import RequestId
from ...transports.connection import Connection


class Direct:
    """The way out of a call that is heard as it goes, on the connection its request came by."""

    def __init__(self, connection: Connection, request_id: RequestId) -> None:
        self._connection = connection
        self._request_id = request_id
        self._over = False
        self._asking: set[asyncio.Task[Any] | None] = set()

    async def tell(self, method: str, params: dict[str, Any]) -> None:
        if self._over:
            raise over()
        await self._connection.notify(method, params, about=self._request_id)

    async def ask(self, method: str, params: dict[str, Any], key: str | None = None) -> Any:
        if self._over:
            raise over()
        task = asyncio.current_task()
        self._asking.add(task)
        try:
            limit = self._connection.limits.question
            return await self._connection.request(method, params, timeout=limit, about=self._request_id)
        finally:
            self._asking.discard(task)

    async def become_task(self) -> None:
        pass

    def end(self) -> None:
        """The call is over: questions that are still open are withdrawn."""
        self._over = True
        for task in self._asking:
            if task is not None:
                task.cancel()
