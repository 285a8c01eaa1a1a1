"""The channel does the faults that it is told to, at the message that they are for."""

from __future__ import annotations

import asyncio

import pytest

from mcp_notebook.errors import ConnectionLost, MCPError
from mcp_notebook.jsonrpc import InvalidMessage, Message, Notification, Request, RequestId, Response
from mcp_notebook.protocol.calls import Occurrence
from mcp_notebook.transports.base import Channel
from mcp_notebook.transports.memory import MemoryChannel, memory_pair

from ..virtual_time import virtual_time as anyio_backend  # noqa: F401
from .channel import FaultyChannel, FaultyServer
from .messages import Fault, Plan, Way, at, randomly, when

pytestmark = pytest.mark.anyio


class End:
    """Whoever is told, at one end."""

    def __init__(self) -> None:
        self.heard: list[str | int] = []
        self.ends: list[MCPError | None] = []
        self.others: list[str] = []

    def received(self, message: Message) -> None:
        self.heard.append(message.method if isinstance(message, Notification) else 0)

    def received_invalid(self, error: InvalidMessage) -> None:
        self.others.append(str(error))

    def faulty(self, reason: str) -> None:
        self.others.append(reason)

    def failed(self, id: RequestId, error: MCPError) -> None:
        self.others.append(f"{id}: {error}")

    def moved(self, id: RequestId, what: Occurrence) -> float:
        raise AssertionError(what)  # there is no way of its own for a request

    def disconnected(self, error: MCPError | None) -> None:
        self.ends.append(error)


async def joined(plan: Plan) -> tuple[FaultyChannel, End, MemoryChannel, End]:
    """A faulty end and what it hears, and the other end and what that hears."""
    one, two = memory_pair()
    mine, theirs = End(), End()
    faulty = FaultyChannel(one, plan)
    await faulty.open(mine)
    await two.open(theirs)
    return faulty, mine, two, theirs


async def say(channel: Channel, *words: str) -> None:
    for word in words:
        await channel.send(Notification(word))
    await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def fault(way: Way, number: int, kind: str, seconds: float = 0.0) -> Plan:
    return at({(way, number): Fault(kind, seconds)})  # pyright: ignore[reportArgumentType]


async def test_without_faults_all_passes() -> None:
    faulty, mine, other, theirs = await joined(at({}))
    await say(faulty, "a", "b")
    await say(other, "c", "d")
    assert (theirs.heard, mine.heard) == (["a", "b"], ["c", "d"])
    await faulty.close()
    await settle()
    assert mine.ends == [None]
    assert len(theirs.ends) == 1


@pytest.mark.parametrize(("kind", "heard"), [("cut before", ["a"]), ("cut after", ["a", "b"])])
async def test_a_cut_of_what_comes_in_is_before_or_after_the_message(kind: str, heard: list[str]) -> None:
    faulty, mine, other, theirs = await joined(fault("in", 2, kind))
    await say(other, "a", "b")
    assert mine.heard == heard
    assert [type(end) for end in mine.ends] == [ConnectionLost]
    assert len(theirs.ends) == 1
    with pytest.raises(ConnectionLost):
        await faulty.send(Notification("c"))
    with pytest.raises(ConnectionLost):
        await other.send(Notification("c"))
    assert faulty.record.lines == [f"channel, message 2 in (b): {kind}"]


async def test_a_cut_before_what_goes_out_is_an_error_and_it_does_not_arrive() -> None:
    faulty, mine, _, theirs = await joined(fault("out", 2, "cut before"))
    await say(faulty, "a")
    with pytest.raises(ConnectionLost):
        await say(faulty, "b")
    await settle()
    assert theirs.heard == ["a"]
    assert len(mine.ends) == len(theirs.ends) == 1


async def test_a_cut_after_what_goes_out_lets_it_arrive() -> None:
    faulty, mine, _, theirs = await joined(fault("out", 2, "cut after"))
    await say(faulty, "a", "b")
    assert theirs.heard == ["a", "b"]
    assert len(mine.ends) == len(theirs.ends) == 1


@pytest.mark.parametrize("way", ["in", "out"])
async def test_a_message_comes_twice(way: Way) -> None:
    faulty, mine, other, theirs = await joined(fault(way, 1, "duplicate"))
    await say(faulty, "a", "b")
    await say(other, "a", "b")
    assert (mine if way == "in" else theirs).heard == ["a", "a", "b"]
    assert (theirs if way == "in" else mine).heard == ["a", "b"]


async def test_what_comes_in_late_keeps_its_place_and_so_does_the_end() -> None:
    _, mine, other, _ = await joined(fault("in", 1, "delay", 5))
    await say(other, "a", "b")
    await other.close()
    await settle()
    assert mine.heard == []
    await asyncio.sleep(5.1)
    assert mine.heard == ["a", "b"]
    assert len(mine.ends) == 1


async def test_what_goes_out_late_keeps_its_place() -> None:
    faulty, _, _, theirs = await joined(fault("out", 1, "delay", 5))
    sending = [asyncio.create_task(faulty.send(Notification(word))) for word in "ab"]
    await settle()
    assert theirs.heard == []
    await asyncio.gather(*sending)
    await settle()
    assert theirs.heard == ["a", "b"]


async def test_what_is_late_when_the_channel_is_cut_never_comes() -> None:
    faulty, mine, other, _ = await joined(fault("in", 1, "delay", 5))
    await say(other, "a")
    faulty.cut()
    await asyncio.sleep(6)
    assert mine.heard == []
    assert len(mine.ends) == 1


async def test_what_is_no_message_passes_in_its_order() -> None:
    faulty, mine, other, _ = await joined(fault("in", 1, "delay", 5))
    await say(other, "a")
    faulty.faulty("a rule")
    faulty.failed(3, MCPError("an error"))
    faulty.received_invalid(InvalidMessage("no message", code=1))
    assert mine.others == []
    await asyncio.sleep(6)
    assert mine.heard == ["a"]
    assert mine.others == ["a rule", "3: an error", "no message"]


async def test_a_condition_chooses_messages_and_a_limit_how_many() -> None:
    plan = when(lambda way, message: way == "in" and message == Notification("b"), Fault("duplicate"), times=2)
    _, mine, other, _ = await joined(plan)
    await say(other, "a", "b", "b", "b")
    assert mine.heard == ["a", "b", "b", "b", "b", "b"]


def test_a_seed_does_the_same_again_at_the_same_places_whatever_the_messages_are() -> None:
    def drawn(seed: object, message: Message) -> list[Fault | None]:
        plan = randomly(seed, cut=0.05, delay=0.05, duplicate=0.05)
        return [plan(way, number, message) for number in range(1, 301) for way in ("in", "out")]

    one = drawn(1, Notification("a"))
    assert one == drawn(1, Request(1, "b"))
    assert one != drawn(2, Notification("a"))
    kinds = [found.kind for found in one if found is not None]
    assert {"cut before", "cut after", "delay", "duplicate"} == set(kinds)
    assert 40 < len(kinds) < 140


async def test_a_server_of_this_process_meets_faults_by_the_number_of_its_connection() -> None:
    class Greeting:
        name = "greeting"

        async def serve(self, channel: Channel) -> None:
            await channel.open(End())
            await channel.send(Response(1, {}))

    server = FaultyServer(Greeting(), lambda number: fault("out", 1, "duplicate") if number == 2 else at({}))
    heard: list[int] = []
    for _ in range(3):
        mine, theirs = memory_pair()
        end = End()
        await mine.open(end)
        await server.serve(theirs)
        await settle()
        heard.append(len(end.heard))
    assert heard == [1, 2, 1]
    assert server.name == "greeting"
    assert server.record.lines == ["connection 2, message 1 out (answer to 1): duplicate"]
