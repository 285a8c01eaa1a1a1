"""Two channels joined in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from mcp_notebook.errors import ConnectionLost, LimitExceeded, MCPError
from mcp_notebook.jsonrpc import Message, Notification, Request, Response, Unserializable
from mcp_notebook.limits import Limits
from mcp_notebook.transports.eager import begin
from mcp_notebook.transports.memory import MemoryChannel, memory_pair

from ..virtual_time import virtual_time as anyio_backend  # noqa: F401
from ..wires import NoFaults

pytestmark = pytest.mark.anyio


class Remembering(NoFaults):
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.ends: list[MCPError | None] = []

    def received(self, message: Message) -> None:
        self.messages.append(message)

    def disconnected(self, error: MCPError | None) -> None:
        self.ends.append(error)


class Reacting(Remembering):
    """Sends something while it takes in its first message."""

    def __init__(self, react: Callable[[], Coroutine[Any, Any, None]]) -> None:
        super().__init__()
        self._react = react

    def received(self, message: Message) -> None:
        super().received(message)
        if len(self.messages) == 1:
            begin(self._react(), asyncio.get_running_loop())
            assert len(self.messages) == 1  # nothing is told within the telling of something else


async def joined(limits: Limits | None = None) -> tuple[MemoryChannel, Remembering, MemoryChannel, Remembering]:
    one, two = memory_pair(limits or Limits())
    first, second = Remembering(), Remembering()
    await one.open(first)
    await two.open(second)
    return one, first, two, second


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_one_end_sends_the_other_receives_in_order() -> None:
    one, first, two, second = await joined()
    for number in range(200):
        await one.send(Notification("n", {"number": number}))
    await two.send(Request("a", "ping"))
    await settle()
    assert second.messages == [Notification("n", {"number": number}) for number in range(200)]
    assert first.messages == [Request("a", "ping")]


async def test_what_is_sent_has_arrived_at_once() -> None:
    one, _, _, second = await joined()
    await one.send(Notification("n"))
    assert second.messages == [Notification("n")]


async def test_what_is_sent_while_the_other_end_takes_in_a_message_comes_after_it_in_order() -> None:
    one, two = memory_pair()
    second = Reacting(lambda: one.send(Notification("meanwhile")))
    await one.open(Remembering())
    await two.open(second)
    await one.send(Notification("first"))
    await one.send(Notification("last"))
    await settle()
    assert second.messages == [Notification("first"), Notification("meanwhile"), Notification("last")]


async def test_messages_are_carried_as_bytes_so_that_nothing_is_shared() -> None:
    one, _, _, second = await joined()
    params: dict[str, Any] = {"list": [1], "tuple": (1,)}
    await one.send(Notification("n", params))
    params["list"].append(2)
    await settle()
    assert second.messages == [Notification("n", {"list": [1], "tuple": [1]})]


async def test_what_is_sent_before_the_other_end_opens_waits_for_it() -> None:
    one, two = memory_pair()
    await one.open(Remembering())
    await one.send(Notification("early"))
    await settle()
    second = Remembering()
    await two.open(second)
    await one.send(Notification("late"))
    await settle()
    assert second.messages == [Notification("early"), Notification("late")]


async def test_a_sender_who_never_pauses_lets_the_other_end_read() -> None:
    one, _, _, second = await joined()
    for number in range(1000):
        await one.send(Notification("n", {"number": number}))
    assert len(second.messages) > 900


async def test_a_message_beyond_the_limit_is_refused_by_name_with_what_to_do() -> None:
    one, _, _, second = await joined(Limits(message=100))
    with pytest.raises(LimitExceeded, match=r"limit of 100 bytes.*Limits\(message=") as caught:
        await one.send(Notification("n", {"text": "x" * 100}))
    assert (caught.value.limit, caught.value.allowed) == ("message", 100)
    await one.send(Notification("n"))
    await settle()
    assert second.messages == [Notification("n")]


async def test_what_json_cannot_say_is_refused_where_it_is_sent() -> None:
    one, _, _, _ = await joined()
    with pytest.raises(Unserializable):
        await one.send(Response(1, object()))


async def test_closing_tells_this_side_none_and_the_other_why_once_each() -> None:
    one, first, two, second = await joined()
    await one.close()
    assert first.ends == [None]
    await settle()
    assert [type(end) for end in second.ends] == [ConnectionLost]
    await one.close()
    await two.close()
    await settle()
    assert first.ends == [None]
    assert len(second.ends) == 1


async def test_what_was_sent_before_the_end_still_arrives() -> None:
    one, _, _, second = await joined()
    await one.send(Notification("last words"))
    await one.close()
    await settle()
    assert second.messages == [Notification("last words")]
    assert len(second.ends) == 1


async def test_nothing_can_be_sent_on_a_closed_channel_from_either_end() -> None:
    one, _, two, _ = await joined()
    await one.close()
    await settle()
    for end in (one, two):
        with pytest.raises(ConnectionLost):
            await end.send(Notification("n"))


async def test_what_arrives_after_this_side_closed_is_dropped() -> None:
    one, two = memory_pair()
    first = Reacting(lambda: two.send(Notification("on its way")))
    await one.open(first)
    await two.open(Remembering())
    await two.send(Notification("n"))
    await one.close()
    await settle()
    assert first.messages == [Notification("n")]


async def test_whoever_opens_after_the_other_end_has_closed_is_told() -> None:
    one, two = memory_pair()
    await one.open(Remembering())
    await one.send(Notification("last words"))
    await one.close()
    await settle()
    second = Remembering()
    await two.open(second)
    await settle()
    assert second.messages == [Notification("last words")]
    assert [type(end) for end in second.ends] == [ConnectionLost]
