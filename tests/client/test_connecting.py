"""Connecting, being connected, losing the connection, and connecting again."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_notebook import (
    CallCancelled,
    Client,
    ConnectError,
    ConnectionLost,
    Limits,
    NegotiationError,
    OutcomeUnknown,
    ProtocolError,
    Server,
    connect,
)
from mcp_notebook.home import Home
from mcp_notebook.jsonrpc import Notification
from mcp_notebook.types import Implementation

from ..scripted import NEVER, Scripted, until

pytestmark = pytest.mark.anyio

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
NEWEST = REVISIONS[-1]


def a_server() -> Server:
    server = Server("demo", instructions="Be kind.", title="Demo")

    @server.tool
    async def add(a: int, b: int = 0) -> int:
        return a + b

    return server


async def test_awaiting_gives_a_client_that_is_connected_until_it_is_closed() -> None:
    client = await connect(a_server())
    assert isinstance(client, Client)
    assert client.state == "connected"
    assert client.name == "demo"
    assert (await client.call_tool("add", {"a": 1, "b": 2})).data == 3
    await client.close()
    assert client.state == "closed"
    await client.close()
    assert client.state == "closed"


async def test_the_context_closes_the_client_also_after_an_error() -> None:
    clients: list[Client] = []
    with contextlib.suppress(RuntimeError):
        async with connect(a_server()) as client:
            clients.append(client)
            raise RuntimeError("of the block")
    assert clients[0].state == "closed"


async def test_a_client_is_itself_a_context_that_closes_it() -> None:
    async with await connect(a_server()) as client:
        assert client.state == "connected"
    assert client.state == "closed"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_revision_that_is_asked_for_is_the_one_that_is_proposed(revision: str) -> None:
    server = Scripted(revision=revision)
    async with connect(server, revision=revision) as client:
        assert client.profile.revision.name == revision
        (opening,) = server.requests("initialize")
        assert opening.params is not None
        assert opening.params["protocolVersion"] == revision
        await until(lambda: server.notifications("notifications/initialized"))


async def test_a_server_may_answer_with_another_revision_and_the_client_keeps_to_it() -> None:
    async with connect(Scripted(revision="2025-03-26"), revision=NEWEST) as client:
        assert client.profile.revision.name == "2025-03-26"


async def test_without_a_revision_a_server_that_only_shakes_hands_is_found_out() -> None:
    server = Scripted(revision="2025-06-18")
    async with connect(server) as client:
        assert client.profile.revision.name == "2025-06-18"


async def test_a_revision_that_nobody_knows_is_refused_at_once() -> None:
    with pytest.raises(NegotiationError, match="no protocol revision '2020'"):
        connect(a_server(), revision="2020")


async def test_no_common_revision_ends_with_an_error_and_closes_the_connection() -> None:
    server = Scripted(revision="2020-01-01")
    with pytest.raises(NegotiationError, match=r"2020-01-01.*Update"):
        await connect(server, revision=NEWEST)
    await asyncio.wait_for(server._over.wait(), 5)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (ProtocolError(-32602, "Unsupported protocol version"), "refused to connect: Unsupported protocol version"),
        ({}, "'initialize' is broken: protocolVersion"),
        (NEVER, r"did not answer within 0\.1 s"),
    ],
)
async def test_a_server_that_does_not_shake_hands_gives_an_error_that_says_why(answer: Any, says: str) -> None:
    with pytest.raises(NegotiationError, match=says):
        await connect(Scripted({"initialize": answer}), revision=NEWEST, limits=Limits(connect=0.1))


async def test_a_server_that_hangs_up_during_the_handshake_is_a_lost_connection() -> None:
    server = Scripted()
    server.answers["initialize"] = lambda request: server.hang_up()
    with pytest.raises(ConnectionLost):
        await connect(server, revision=NEWEST)


async def test_what_was_agreed_on_can_be_read() -> None:
    info = Implementation(name="me", version="3")
    async with connect(a_server(), revision=NEWEST, client_info=info) as client:
        profile = client.profile
        assert profile.server_info.label == "Demo"
        assert profile.instructions == "Be kind."
        assert profile.client_info.name == "me"
        assert profile.server.tools == {"listChanged": True}


async def test_the_client_declares_what_it_can_answer_and_no_more() -> None:
    server = Scripted()
    async with connect(server, revision=NEWEST):
        pass
    async with connect(server, revision=NEWEST, roots=[], elicitation=lambda params: None, sampling=lambda params: ""):
        pass
    none, all = (request.params or {} for request in server.requests("initialize"))
    drafts = {"resumableRequests": {}, "streams": {}}  # RR-1: servers that do not know them ignore them
    declared = {"roots": {"listChanged": True}, "elicitation": {"form": {}}, "sampling": {}}
    assert none["capabilities"] == drafts
    requests = {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}
    tasks = {"tasks": {"list": {}, "cancel": {}, "requests": requests}}  # TCR-1
    assert all["capabilities"] == drafts | declared | tasks


async def test_a_client_says_what_it_is() -> None:
    client = await connect(a_server(), name="mine", revision=NEWEST)
    assert repr(client) == "<Client 'mine', Demo, 2025-11-25>"
    await client.close()
    assert repr(client) == "<Client 'mine', closed>"
    assert "await connect" in repr(connect(a_server()))


# The end, and a new beginning


async def test_after_closing_every_verb_says_what_to_do() -> None:
    client = await connect(a_server())
    await client.close()
    for verb in (client.ping, client.list_tools, lambda: client.call_tool("add"), lambda: client.read_resource("a:b")):
        with pytest.raises(ConnectionLost, match=r"demo is not connected.*reconnect\(\)"):
            await verb()
    with pytest.raises(ConnectionLost):
        client.begin_call("add")


async def test_when_the_server_goes_the_client_is_lost_and_says_why() -> None:
    server = Scripted()
    async with connect(server, revision=NEWEST) as client:
        await server.hang_up()
        await until(lambda: client.state == "lost")
        assert isinstance(client.error, ConnectionLost)
        lengths = []
        for _ in range(3):
            with pytest.raises(ConnectionLost, match="closed") as caught:
                await client.ping()
            lengths.append(len(traceback.extract_tb(caught.value.__traceback__)))
        assert lengths[0] == lengths[2]  # the error does not grow
    assert client.state == "closed"


async def test_calls_under_way_end_with_the_connection() -> None:
    server = Scripted({"tools/call": NEVER})
    async with connect(server, revision=NEWEST) as client:
        handle = client.begin_call("x")
        await until(lambda: server.requests("tools/call"))
        await server.hang_up()
        with pytest.raises(OutcomeUnknown):  # it was under way, and nobody can know how far it came
            await handle
        assert handle.status == "unknown"


async def test_closing_ends_the_calls_under_way() -> None:
    server = Scripted({"tools/call": NEVER})
    client = await connect(server, revision=NEWEST)
    handle = client.begin_call("x")
    await until(lambda: server.requests("tools/call"))
    await client.close()
    with pytest.raises(ConnectionLost):
        await handle


async def test_reconnecting_makes_the_connection_anew_whatever_state_it_is_in() -> None:
    server = Scripted()
    client = await connect(server, revision=NEWEST)
    await client.reconnect()
    assert client.state == "connected"
    await server.hang_up()
    await until(lambda: client.state == "lost")
    await client.reconnect()
    assert client.error is None
    await client.close()
    await client.reconnect()
    await client.ping()
    assert len(server.requests("initialize")) == 4
    await client.close()


async def test_opening_an_open_client_does_nothing() -> None:
    server = Scripted()
    client = await connect(server, revision=NEWEST)
    assert await client.open() is client
    assert len(server.requests("initialize")) == 1
    await client.close()


async def test_a_failed_reconnection_leaves_a_closed_client_that_can_try_again() -> None:
    server = Scripted()
    client = await connect(server, revision=NEWEST)
    good = server.answers["initialize"]
    server.answers["initialize"] = ProtocolError(-1, "not now")
    with pytest.raises(NegotiationError, match="not now"):
        await client.reconnect()
    assert client.state == "closed"
    server.answers["initialize"] = good
    await client.reconnect()
    assert client.state == "connected"
    await client.close()


async def test_what_was_known_of_the_tools_is_forgotten_with_the_connection() -> None:
    server = Scripted({"tools/list": {"tools": [{"name": "old"}]}})
    client = await connect(server, revision=NEWEST)
    await client.list_tools()
    server.answers["tools/list"] = {"tools": [{"name": "new"}]}
    await client.reconnect()
    await client.list_tools()
    assert "new" in client.tools
    assert "old" not in client.tools
    await client.close()


async def test_whoever_gives_up_connecting_leaves_nothing_behind() -> None:
    server = Scripted({"initialize": NEVER})
    connecting = asyncio.ensure_future(connect(server, revision=NEWEST).__aenter__())
    await until(lambda: server.requests("initialize"))
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    await asyncio.wait_for(server._over.wait(), 5)


# Notifications


async def test_notifications_reach_whoever_wants_to_hear_of_them() -> None:
    told: list[Notification] = []
    also: list[Notification] = []
    server = Scripted()
    async with connect(server, revision=NEWEST, on_notification=told.append) as client:
        client.add_listener(also.append)
        await server.tell("notifications/made/up", {"a": 1})
        await client.ping()
        assert told == also == [Notification("notifications/made/up", {"a": 1})]


async def test_a_listener_that_fails_stops_neither_the_others_nor_the_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(notification: Notification) -> None:
        raise RuntimeError("of the listener")

    also: list[Notification] = []
    server = Scripted()
    async with connect(server, revision=NEWEST, on_notification=fail) as client:
        client.add_listener(also.append)
        await server.tell("notifications/made/up")
        await client.ping()
        assert len(also) == 1
    assert "of the listener" in caplog.text


async def test_faults_of_the_server_are_remembered_and_harm_nothing() -> None:
    server = Scripted()
    async with connect(server, revision=NEWEST) as client:
        await server.tell("notifications/message", {"level": "loud", "data": "x"})
        await server.tell("notifications/message")
        await client.ping()
        assert len(client.session.faults) == 2


# Other loops and threads


class Elsewhere(threading.Thread):
    """A thread whose loop is the permanent home, as in a kernel."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.loop = asyncio.new_event_loop()
        self.mcp_home = Home(self.loop)

    def run(self) -> None:
        self.loop.run_forever()
        self.loop.close()


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    thread = Elsewhere()
    thread.start()
    yield thread
    thread.loop.call_soon_threadsafe(thread.loop.stop)
    thread.join(5)


async def test_a_client_on_another_loop_is_used_like_one_on_this(elsewhere: Elsewhere) -> None:
    threads: set[str] = set()
    server = a_server()

    @server.tool
    async def where() -> str:
        threads.add(threading.current_thread().name)
        return "here"

    async with connect(server) as client:
        assert client.home is elsewhere.mcp_home
        assert (await client.call_tool("add", {"a": 1, "b": 2})).data == 3
        assert [tool.name for tool in await client.list_tools()] == ["add", "where"]
        await client.call_tool("where")
        handle = client.begin_call("add", {"a": 4})
        assert (await handle).data == 4
        assert [event.kind async for event in handle.events()] == ["outcome"]
    assert threads == {elsewhere.name}
    assert client.state == "closed"


async def test_cancelling_a_wait_on_another_loop_tells_the_server(elsewhere: Elsewhere) -> None:
    server = Scripted({"tools/call": NEVER})
    async with connect(server, revision=NEWEST) as client:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.call_tool("x"), 0.05)
        await until(lambda: server.notifications("notifications/cancelled"))


def test_a_thread_without_a_loop_waits_for_results_and_knows_the_tools(elsewhere: Elsewhere) -> None:
    async def connected() -> Client:
        return await connect(a_server())

    client = asyncio.run(connected())
    assert client.begin_call("add", {"a": 1, "b": 1}).result(10).data == 2
    assert client.tools.add(2, b=3).result(10).data == 5
    assert dir(client.tools) == ["add"]
    asyncio.run(client.close())
    assert client.state == "closed"


def test_two_loops_in_two_threads_share_a_client(elsewhere: Elsewhere) -> None:
    async def connected() -> Client:
        return await connect(a_server())

    client = asyncio.run(connected())
    results: list[Any] = []

    async def use(number: int) -> None:
        results.append((await client.call_tool("add", {"a": number})).data)

    threads = [threading.Thread(target=lambda number=number: asyncio.run(use(number))) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(results) == [0, 1, 2, 3]
    asyncio.run(client.close())


def test_on_a_loop_that_has_ended_the_error_says_to_connect_again() -> None:
    async def connected() -> Client:
        return await connect(a_server())

    client = asyncio.run(connected())
    with pytest.raises(ConnectionLost, match="Connect again"):
        asyncio.run(client.call_tool("add", {"a": 1}))
    with pytest.raises(ConnectionLost, match="Connect again"):
        client.begin_call("add", {"a": 1})


def test_without_any_loop_connecting_says_what_to_do() -> None:
    with pytest.raises(ConnectError, match="async def"):
        connect(a_server()).__await__().send(None)


async def test_cancelling_a_call_through_its_handle_does_not_cancel_the_task_that_waits_for_it() -> None:
    server = Scripted({"tools/call": NEVER})
    async with connect(server, revision=NEWEST) as client:

        async def call() -> int:
            task = asyncio.current_task()
            assert task is not None
            with pytest.raises(CallCancelled, match="not wanted"):
                await client.call_tool("x")
            await asyncio.sleep(0)
            return task.cancelling()

        calling = asyncio.ensure_future(call())
        await until(lambda: client.session.calls)
        handle: Any = next(iter(client.session.calls))
        handle.cancel("not wanted")
        assert await calling == 0


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_what_was_subscribed_to_is_heard_of_on_the_next_connection_too(revision: str) -> None:
    server, heard = Server("notes"), list[str]()
    for day in ("today", "tomorrow"):
        server.resource(f"notes://{day}", name=day)(lambda: "water the plants")
    async with connect(server, revision=revision) as client:
        client.add_listener(lambda told: heard.append((told.params or {}).get("uri", "")))
        for day in ("today", "tomorrow"):
            await client.subscribe_resource(f"notes://{day}")
        await client.unsubscribe_resource("notes://tomorrow")
        await client.reconnect()

        def told() -> bool:
            for day in ("tomorrow", "today"):
                server.notify_resource_updated(f"notes://{day}")
            return "notes://today" in heard

        await until(told)
    assert "notes://tomorrow" not in heard


async def test_where_the_next_connection_has_no_such_resource_that_is_known_and_nothing_else_fails() -> None:
    server = Scripted({"resources/subscribe": {}, "ping": {}}, capabilities={"resources": {"subscribe": True}})
    async with connect(server, revision=NEWEST) as client:
        await client.subscribe_resource("a:b")
        server.answers["resources/subscribe"] = ProtocolError(-32002, "gone")
        await client.reconnect()
        await until(lambda: any("'a:b'" in fault and "gone" in fault for fault in client.session.faults))
        await client.ping()
