"""Clients of a server behind a relay: it runs on while they come and go, and so do its calls (RR-3, ST-7)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import CallHandle, Client, ConnectError, ConnectionLost, OutcomeUnknown, TakenOver, connect
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.relay import relayed, starting

from ..scripted import until
from ..transports.relay.conftest import relays as relays
from ..transports.relay.helpers import Relays

pytestmark = pytest.mark.anyio
BOUND = 30
SERVER = str(Path(__file__).with_name("kept_server.py"))


class Kept:
    """One server behind a relay, and what it has done."""

    def __init__(self, relays: Relays) -> None:
        self.relays = relays
        self.folder = relays.folder
        command = Command([sys.executable, SERVER, str(self.folder)], relays.environment, self.folder)
        self.command = relayed(command, name="kept", keep=30)

    @asynccontextmanager
    async def client(self, **options: Any) -> AsyncIterator[Client]:
        async with connect(self.command, **options) as client:
            yield client

    def open_the_gate(self) -> None:
        (self.folder / "gate").touch()

    @property
    def diary(self) -> list[str]:
        return (self.folder / "diary").read_text().split()


@pytest.fixture
def kept(relays: Relays) -> Kept:
    return Kept(relays)


def cut(client: Client) -> None:
    """Kill the process between client and server."""
    os.kill(client.session.connection.channel.pid, signal.SIGKILL)  # pyright: ignore[reportAttributeAccessIssue]


async def begun(client: Client, tool: str = "work", **arguments: Any) -> CallHandle:
    """A call that its server works on."""
    handle = client.begin_call(tool, arguments)
    await until(lambda: handle.progress is not None, BOUND)
    return handle


async def outcome(handle: CallHandle) -> Any:
    async with asyncio.timeout(BOUND):
        return (await handle).data


@pytest.mark.parametrize(("revision", "tool"), [("2025-11-25", "work"), ("2025-11-25", "keep"), ("2026-07-28", "work")])
async def test_a_call_whose_connection_is_cut_goes_on_and_its_answer_comes_on_the_next(
    kept: Kept, revision: str, tool: str
) -> None:
    async with kept.client(revision=revision) as client:
        handle = await begun(client, tool)
        server = kept.relays.the_only_one()["server"]
        cut(client)
        await until(lambda: handle.status is not CallState.RUNNING)
        kept.open_the_gate()  # often before anybody is connected again
        assert await outcome(handle) == f"done in {server}"
        assert kept.diary == ["begun", "done"]


async def test_a_call_waits_for_a_person_who_disconnected_and_comes_back(kept: Kept) -> None:
    async with kept.client() as client:
        handle = await begun(client)
        await client.close()
        await client.open()
        kept.open_the_gate()
        assert (await outcome(handle)).startswith("done")
        assert kept.diary == ["begun", "done"]


async def test_where_another_process_answers_what_ran_is_gone_and_only_what_is_safe_is_sent_again(kept: Kept) -> None:
    async with kept.client() as client:
        await client.list_tools()
        calls = [await begun(client, tool) for tool in ("work", "keep", "look")]
        await client.close()
        starting.stop("kept")
        await client.open()
        kept.open_the_gate()
        for handle in calls[:2]:
            with pytest.raises(OutcomeUnknown, match=r"The server ended while '\w+' ran. Whether it was carried out"):
                await outcome(handle)
        assert (await outcome(calls[2])).startswith("done")
        assert kept.diary.count("begun") == 4  # three, and one again


async def test_a_server_that_ends_in_a_call_is_told_at_once_and_not_started_again(kept: Kept) -> None:
    async with kept.client() as client:
        with pytest.raises(OutcomeUnknown, match=r"The server's process .* ended with status 3"):
            await outcome(client.begin_call("end", {"status": 3}))
        assert client.state == "lost"
        await until(lambda: not kept.relays.running(), BOUND)
        assert kept.diary == ["ending"]


async def test_whoever_is_ousted_stays_away_until_asked_to_come_back(kept: Kept) -> None:
    async with kept.client() as first:
        handle = await begun(first)
        async with kept.client() as second:
            with pytest.raises(OutcomeUnknown, match="Another client took the server over"):
                await outcome(handle)
            assert isinstance(first.error, TakenOver)
            with pytest.raises(TakenOver, match="Another client has connected to this server"):
                await first.call_tool("work")
            assert await second.ping() > 0
            await first.reconnect()
            await until(lambda: second.state == "lost")
            assert isinstance(second.error, TakenOver)
        handle.resume()
        kept.open_the_gate()
        assert (await outcome(handle)).startswith("done")
        assert kept.diary == ["begun", "done"]


async def test_cancelling_a_dropped_call_reaches_the_server(kept: Kept) -> None:  # RR-7
    async with kept.client() as client:
        handle = await begun(client)
        cut(client)
        await until(lambda: handle.status is CallState.DROPPED)
        handle.cancel()
        await until(lambda: "cancelled" in kept.diary, BOUND)


async def test_a_call_that_waits_for_an_answer_when_its_connection_is_cut_is_unknown(kept: Kept) -> None:
    asked = asyncio.Event()

    async def never(_: Any) -> Any:
        asked.set()
        await asyncio.sleep(BOUND)

    async with kept.client(elicitation=never, revision="2025-11-25") as client:
        handle = client.begin_call("work", {"ask": True})
        await asyncio.wait_for(asked.wait(), BOUND)
        cut(client)
        with pytest.raises(OutcomeUnknown):
            await outcome(handle)


async def test_a_relay_that_runs_another_command_is_no_server_to_connect_to(kept: Kept) -> None:
    async with kept.client():
        other = relayed(Command([sys.executable, "--version"], kept.relays.environment, kept.folder), name="kept")
        with pytest.raises(ConnectError, match="'kept' runs another command"):
            await connect(other)


async def test_a_way_that_was_cut_is_no_server_that_ended(kept: Kept) -> None:
    async with kept.client() as client:
        cut(client)
        await until(lambda: client.state == "lost", BOUND)
        assert type(client.error) is ConnectionLost
        assert "killed by signal 9" in str(client.error)
        assert "The server itself should still run" in str(client.error)
        await client.reconnect()
        assert await client.ping() > 0
