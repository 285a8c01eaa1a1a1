"""What looks at servers for an overview, without kernels and widgets."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from mcp_notebook.errors import ConnectError
from mcp_notebook.notebook.overview.looking import Looking

from ..scripted import until

pytestmark = pytest.mark.anyio


class Away:
    """A server that is connected again when the test says so."""

    def __init__(self) -> None:
        self.back = asyncio.Event()
        self.attempts = self.done = 0
        self.error: ConnectError | None = None
        self.client = self

    async def reconnect(self) -> None:
        self.attempts += 1
        await self.back.wait()
        if self.error is not None:
            raise self.error
        self.done += 1


def looking_at(server: Away) -> Looking:
    workspace: Any = SimpleNamespace(get=lambda name: server)
    return Looking(workspace)


async def test_a_server_is_connected_again_even_where_a_newer_overview_has_come_meanwhile() -> None:
    server = Away()
    clicked = asyncio.ensure_future(looking_at(server).reconnect("away"))
    await until(lambda: server.attempts)
    clicked.cancel()
    await asyncio.wait([clicked])
    server.back.set()
    await until(lambda: server.done)


async def test_two_clicks_connect_once() -> None:
    server = Away()
    looking = looking_at(server)
    first = asyncio.ensure_future(looking.reconnect("away"))
    await until(lambda: server.attempts)
    await looking.reconnect("away")
    server.back.set()
    await first
    assert (server.attempts, server.done) == (1, 1)


async def test_after_a_failure_it_can_be_tried_again() -> None:
    server = Away()
    server.error = ConnectError("still away")
    server.back.set()
    looking = looking_at(server)
    await looking.reconnect("away")
    server.error = None
    await looking.reconnect("away")
    assert (server.attempts, server.done) == (2, 1)
