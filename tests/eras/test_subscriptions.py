"""`subscriptions/listen` of 2026-07-28, on both sides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mcp_notebook import Context, Limits, ProtocolError, RequestTimeout, Server, connect
from mcp_notebook.client import listening
from mcp_notebook.jsonrpc import Notification, Request

from ..scripted import NEVER, Scripted, until
from ..transports.http.asgi import modern
from ..transports.http.loopback import listening as served
from .far import Http, call
from .test_modern_client import DISCOVERED, TEXT

pytestmark = pytest.mark.anyio

To = Callable[[Server], Any]
ID = "io.modelcontextprotocol/subscriptionId"
LISTS = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}


def listen(id: Any, **wanted: Any) -> dict[str, Any]:
    return modern(id, "subscriptions/listen", notifications=wanted)


def nothing() -> None: ...


# Serving


@pytest.fixture
async def server() -> Server:
    return Server("demo")


@pytest.fixture
async def far(to: To, server: Server) -> Any:
    return to(server)


async def acknowledged(far: Any, id: Any, **wanted: Any) -> Any:
    """An open subscription."""
    exchange = await far.ask(listen(id, **wanted))
    first = await exchange.next()
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"] == {"notifications": wanted, "_meta": {ID: id}}
    return exchange


async def test_it_is_acknowledged_first_with_what_it_will_bring(far: Any, server: Server) -> None:
    exchange = await far.ask(listen(1, **LISTS))
    server.tool(name="a")(nothing)  # already before it is acknowledged
    first = await exchange.next()
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert first["params"]["notifications"] == LISTS


async def test_every_notification_bears_the_id_of_its_subscription(far: Any, server: Server) -> None:
    for id in (7, "seven"):
        exchange = await acknowledged(far, id, toolsListChanged=True)
        server.tool(name=f"t{id}")(nothing)
        told = await exchange.next()
        assert told["method"] == "notifications/tools/list_changed"
        assert told["params"]["_meta"][ID] == id


async def test_only_what_was_asked_for_is_told(far: Any, server: Server) -> None:
    tools = await acknowledged(far, 1, toolsListChanged=True)
    prompts = await acknowledged(far, 2, promptsListChanged=True, toolsListChanged=False)
    watched = await acknowledged(far, 3, resourceSubscriptions=["a://1"])
    server.notify_resource_updated("a://2")
    server.resource("a://2")(nothing)
    server.prompt(name="p")(nothing)
    server.notify_resource_updated("a://1")
    server.tool(name="t")(nothing)
    assert (await tools.next())["method"] == "notifications/tools/list_changed"
    assert (await prompts.next())["method"] == "notifications/prompts/list_changed"
    told = await watched.next()
    assert (told["method"], told["params"]["uri"]) == ("notifications/resources/updated", "a://1")
    await asyncio.sleep(0.02)
    assert all(one._said.empty() for one in (tools, prompts, watched))


async def test_several_at_once_are_each_told(far: Any, server: Server) -> None:
    exchanges = {id: await acknowledged(far, id, toolsListChanged=True) for id in range(5)}
    server.tool(name="t")(nothing)
    for id, exchange in exchanges.items():
        assert (await exchange.next())["params"]["_meta"][ID] == id


async def test_one_that_is_cancelled_is_told_nothing_more(far: Any, server: Server) -> None:
    message = listen(1, toolsListChanged=True)
    exchange = await far.ask(message)
    await exchange.next()
    other = await acknowledged(far, 2, toolsListChanged=True)
    await far.cancel(message, exchange)
    await asyncio.sleep(0.02)
    server.tool(name="t")(nothing)
    await other.next()
    assert exchange._said.empty()


async def test_progress_and_log_lines_of_calls_do_not_come_on_it(server: Server) -> None:
    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.progress(1)
        await ctx.info("line")

    far = Http(server)
    exchange = await acknowledged(far, 1, **LISTS)
    meta = {"io.modelcontextprotocol/logLevel": "debug"}
    assert len(await (await far.ask(call("c", "work", meta=meta))).all()) == 3
    server.remove_tool("work")
    assert (await exchange.next())["method"] == "notifications/tools/list_changed"
    await far.close()


async def test_a_server_that_ends_answers_its_subscriptions(far: Any) -> None:
    exchange = await acknowledged(far, "s", **LISTS)
    await far.shut_down()
    answer = await exchange.answer()
    assert answer["id"] == "s"
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["_meta"][ID] == "s"


@pytest.mark.parametrize("wanted", [None, 7, {"resourceSubscriptions": "a://1"}, {"toolsListChanged": "yes?"}])
async def test_a_broken_filter_is_refused(far: Any, wanted: Any) -> None:
    message = listen(1)
    message["params"]["notifications"] = wanted
    assert (await (await far.ask(message)).error())["code"] == -32602


async def test_more_subscriptions_than_allowed_are_refused(to: To) -> None:
    far = to(Server("demo", limits=Limits(subscriptions=3)))
    uris = [f"a://{number}" for number in range(4)]
    assert (await (await far.ask(listen(1, resourceSubscriptions=uris))).error())["code"] == -32602
    await acknowledged(far, 2, resourceSubscriptions=uris[:3])


async def test_an_open_subscription_over_http_shows_that_it_is_alive() -> None:
    far = Http(Server("demo", limits=Limits(keep_alive=0.01)))
    exchange = await acknowledged(far, 1, **LISTS)
    asking = far._askings[id(exchange)]
    await until(lambda: asking._sent.qsize() == 0)
    assert asking.headers["x-accel-buffering"] == "no"
    far._readers[0].cancel()
    assert await asking.chunk() == b": \n\n"
    await far.close()


# Calling


class Telling(Scripted):
    """A server that acknowledges subscriptions, and tells what the test says."""

    def __init__(self, answers: Any = None, **more: Any) -> None:
        base = {"server/discover": {**DISCOVERED, **more}, "tools/call": TEXT, "subscriptions/listen": self.listen}
        super().__init__({**base, **(answers or {})}, name="far")
        self.open: dict[Any, asyncio.Future[Any]] = {}

    async def listen(self, request: Request) -> Any:
        future = self.open[request.id] = asyncio.get_running_loop().create_future()
        wanted = (request.params or {})["notifications"]
        await self.tell(
            "notifications/subscriptions/acknowledged", {"notifications": wanted, "_meta": {ID: request.id}}
        )
        return await future

    @property
    def filters(self) -> list[Any]:
        return [(one.params or {})["notifications"] for one in self.requests("subscriptions/listen")]

    def end(self, id: Any = None) -> None:
        """End a subscription (the first one) in good order."""
        id = next(iter(self.open)) if id is None else id
        self.open.pop(id).set_result({"resultType": "complete", "_meta": {ID: id}})


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(listening, "LONGEST_PAUSE", 1000.0)


async def test_a_client_listens_to_the_lists_that_the_server_changes() -> None:
    server = Telling(capabilities={"tools": {"listChanged": True}, "prompts": {}, "resources": {"listChanged": False}})
    async with connect(server):
        await until(lambda: server.filters)
    assert server.filters == [{"toolsListChanged": True}]


async def test_a_client_of_a_server_without_changes_does_not_listen() -> None:
    server = Telling(capabilities={"tools": {}})
    async with connect(server) as client:
        await client.call_tool("x")
    assert server.filters == []


async def test_a_client_subscribes_to_resources_each_on_its_own() -> None:
    server = Telling(capabilities={"resources": {"subscribe": True}})
    told: list[Notification] = []
    async with connect(server, on_notification=told.append) as client:
        await client.subscribe_resource("a://1")
        await client.subscribe_resource("a://2")
        await client.subscribe_resource("a://1")
        assert server.filters == [{"resourceSubscriptions": ["a://1"]}, {"resourceSubscriptions": ["a://2"]}]
        await server.tell("notifications/resources/updated", {"uri": "a://1", "_meta": {ID: next(iter(server.open))}})
        await until(lambda: [one for one in told if one.method == "notifications/resources/updated"])
        first = server.requests("subscriptions/listen")[0].id
        await client.unsubscribe_resource("a://1")
        await until(lambda: server.notifications("notifications/cancelled"))
        assert server.notifications("notifications/cancelled")[0]["requestId"] == first
        await client.unsubscribe_resource("a://1")


async def test_a_subscription_that_is_refused_is_told_to_who_asked() -> None:
    server = Telling({"subscriptions/listen": ProtocolError(-32602, "Too many")},
                     capabilities={"resources": {"subscribe": True}})  # fmt: skip
    async with connect(server) as client:
        with pytest.raises(ProtocolError, match="Too many"):
            await client.subscribe_resource("a://1")
        server.answers["subscriptions/listen"] = server.listen
        await client.subscribe_resource("a://1")


async def test_a_subscription_that_nobody_acknowledges_is_given_up() -> None:
    server = Telling({"subscriptions/listen": NEVER}, capabilities={"resources": {"subscribe": True}})
    async with connect(server, limits=Limits(request=0.1)) as client:
        with pytest.raises(RequestTimeout, match="subscription"):
            await client.subscribe_resource("a://1")
        await until(lambda: server.notifications("notifications/cancelled"))


async def test_a_connection_that_ends_meanwhile_ends_the_wait() -> None:
    server = Telling({"subscriptions/listen": NEVER}, capabilities={"resources": {"subscribe": True}})
    async with connect(server) as client:
        waiting = asyncio.create_task(client.subscribe_resource("a://1"))
        await until(lambda: server.filters)
        await server.hang_up()
        with pytest.raises(Exception, match="connection"):
            async with asyncio.timeout(5):
                await waiting


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("how", ["good order", "error", "cancelled by the server"])
async def test_a_subscription_that_ends_is_opened_anew(how: str) -> None:
    server = Telling(capabilities={"resources": {"subscribe": True}})
    told: list[Notification] = []
    async with connect(server, on_notification=told.append) as client:
        await client.subscribe_resource("a://1")
        first = next(iter(server.open))
        if how == "good order":
            server.end()
        elif how == "error":
            server.open.pop(first).set_exception(ProtocolError(-32603, "I must go"))
        else:
            await server.tell("notifications/cancelled", {"requestId": first, "reason": "I must go"})
        await until(lambda: len(server.filters) == 2)
        assert server.filters[0] == server.filters[1]
        second = [id for id in server.open if id != first]
        await server.tell("notifications/resources/updated", {"uri": "a://1", "_meta": {ID: second[0]}})
        await until(lambda: [one for one in told if one.method == "notifications/resources/updated"])
        assert not client.session.faults


@pytest.mark.usefixtures("hasty")
async def test_a_subscription_that_ends_again_and_again_is_given_up_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listening, "REOPENED", 4)
    server = Telling(capabilities={"resources": {"subscribe": True}})
    async with connect(server) as client:
        await client.subscribe_resource("a://1")
        for number in range(4):
            await until(lambda number=number: len(server.filters) == number + 1 and server.open)
            server.end()
        await until(lambda: client.session.faults)
        assert "no longer told" in client.session.faults[0]
        assert len(server.filters) == 4
        await client.subscribe_resource("a://1")  # and can be had again
        assert len(server.filters) == 5


@pytest.mark.usefixtures("hasty")
async def test_a_subscription_whose_stream_is_cut_is_opened_anew_over_http() -> None:
    server = Server("demo")
    told: list[str] = []

    @server.resource("a://1")
    def one() -> str:
        return "1"

    async with served(server) as url, connect(url, on_notification=lambda one: told.append(one.method)) as client:
        await client.subscribe_resource("a://1")
        channel = client.session.connection.channel
        listens = [*channel._posts]  # type: ignore[attr-defined]
        for session in list(server._sessions):  # the server lets all of them go
            session.ending.set()
        await until(lambda: len(channel._posts) >= 2 and not set(channel._posts) & set(listens))  # type: ignore
        await asyncio.sleep(0.05)
        server.notify_resource_updated("a://1")
        server.tool(name="t")(nothing)
        await until(lambda: {"notifications/resources/updated", "notifications/tools/list_changed"} <= set(told))


async def test_what_changes_is_heard_over_every_transport() -> None:
    server = Server("demo")

    @server.resource("a://1")
    def one() -> str:
        return "1"

    async with served(server) as url:
        for target in (server, url):
            told: list[str] = []
            async with connect(target, on_notification=lambda one, told=told: told.append(one.method)) as client:
                await client.subscribe_resource("a://1")
                await until(lambda told=told: told.count("notifications/subscriptions/acknowledged") == 2)
                server.notify_resource_updated("a://1")
                await until(lambda told=told: "notifications/resources/updated" in told)
                server.tool(name=f"t{target!r}"[:20])(nothing)
                await until(lambda told=told: "notifications/tools/list_changed" in told)
                await client.unsubscribe_resource("a://1")
                server.notify_resource_updated("a://1")
                await asyncio.sleep(0.05)
                assert told.count("notifications/resources/updated") == 1
