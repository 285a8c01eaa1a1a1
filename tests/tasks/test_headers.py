"""What HTTP headers say of requests about tasks (TEX-3)."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_notebook import Server, connect
from mcp_notebook.types import ElicitParams

from ..scripted import until
from ..transports.http.loopback import listening
from .players import Working

pytestmark = pytest.mark.anyio


class Seeing:
    """The server over HTTP, seeing the headers of each request."""

    def __init__(self, server: Server) -> None:
        self.seen: list[dict[str, str]] = []
        self._app = server.asgi_app()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.seen.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await self._app(scope, receive, send)

    async def close(self) -> None:
        await self._app.close()


async def test_our_client_names_the_task_in_every_request_about_it() -> None:  # TEX-3
    server = Working()
    app = Seeing(server)

    async def answer(params: ElicitParams) -> dict[str, str]:
        return {"value": "Ada"}

    async with listening(app) as url, connect(url, revision="2026-07-28", elicitation=answer) as client:
        asked = client.begin_call("work", {"ask": 1, "wait": False}, task=True)
        assert (await asked).text == "done and Ada"
        assert asked.task is not None
        handle = client.begin_call("work", task=True)
        await until(lambda: handle.task)
        handle.cancel()
        await until(lambda: server.runs["cancelled"])
        assert handle.task is not None
    seen = [(headers.get("mcp-method", ""), headers.get("mcp-name")) for headers in app.seen]
    about = [(method, name) for method, name in seen if method.startswith("tasks/")]
    assert {method for method, _ in about} == {"tasks/get", "tasks/update", "tasks/cancel"}
    assert {name for _, name in about} == {asked.task.id, handle.task.id}
