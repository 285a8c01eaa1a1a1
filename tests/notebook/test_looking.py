"""What looks at servers for an overview, without kernels and widgets."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from mcp_notebook.errors import ConnectError
from mcp_notebook.notebook.overview import looking as looking_module
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


class Hesitant:
    """A server that does not tell its lists at first."""

    name = "hesitant"
    connected = True

    def __init__(self) -> None:
        self.client = SimpleNamespace(session=self, ping=self.ping)
        self.tells = False
        self.asked = 0
        self.lists: dict[str, list[Any]] = {}

    async def ping(self) -> float:
        return 0.001

    def known(self, kind: str) -> list[Any] | None:
        return self.lists.get(kind)

    async def offered(self, kind: str) -> list[Any]:
        self.asked += 1
        if not self.tells:
            raise ConnectError("not yet")
        return self.lists.setdefault(kind, [])


async def test_a_list_that_a_server_did_not_tell_is_asked_for_again_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = Hesitant()
    workspace: Any = SimpleNamespace(connected=lambda: [server], get=lambda name: server)
    looking = Looking(workspace)
    looking.begin()
    await looking.settled()
    asked = server.asked
    assert looking.unknown(["tools"]) == ["hesitant"]
    server.tells = True
    looking.begin()
    await looking.settled()
    assert server.asked == asked  # and not at once
    monkeypatch.setattr(looking_module, "LATER", 0.0)
    server.tells = False
    looking = Looking(workspace)
    looking.begin()
    await looking.settled()
    server.tells = True
    looking.begin()
    await looking.settled()
    assert server.lists["tools"] == []
    assert looking.unknown(["tools"]) == []
