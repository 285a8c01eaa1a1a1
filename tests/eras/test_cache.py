"""What a client of 2026-07-28 keeps of what servers let it keep."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import Client, connect
from mcp_notebook.client import cache
from mcp_notebook.jsonrpc import Request

from ..scripted import Scripted, until
from .test_modern_client import QUESTION, asking, connected, modern, script

pytestmark = pytest.mark.anyio

HOUR = 3_600_000


class Clock:
    """The clock of the cache, in the test's hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(cache, "time", clock)
    return clock


def tools(*names: str, ttl: Any = HOUR, cursor: str | None = None) -> dict[str, Any]:
    listed = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    page: dict[str, Any] = {"resultType": "complete", "tools": listed, "cacheScope": "private"}
    if ttl is not None:
        page["ttlMs"] = ttl
    return page if cursor is None else {**page, "nextCursor": cursor}


def contents(text: str, ttl: Any = HOUR) -> dict[str, Any]:
    said = [{"uri": "a://1", "text": text}]
    return {"resultType": "complete", "contents": said, "ttlMs": ttl, "cacheScope": "public"}


async def names(client: Client) -> list[str]:
    return [tool.name for tool in await client.list_tools()]


async def test_a_result_is_kept_as_long_as_it_says(clock: Clock) -> None:
    server = modern({"tools/list": script(tools("one", ttl=5000), tools("two", ttl=5000))})
    async with connected(server) as client:
        assert await names(client) == ["one"]
        clock.now += 4.9
        assert await names(client) == ["one"]
        assert len(server.requests("tools/list")) == 1
        clock.now += 0.1
        assert await names(client) == ["two"]
        assert len(server.requests("tools/list")) == 2


@pytest.mark.parametrize("ttl", [0, -1, None, "5000", True, -HOUR])
async def test_a_result_that_says_nothing_of_use_is_not_kept(ttl: Any) -> None:
    server = modern({"tools/list": tools("one", ttl=ttl)})
    async with connected(server) as client:
        await names(client)
        await names(client)
    assert len(server.requests("tools/list")) == 2


async def test_in_the_handshake_era_nothing_is_kept() -> None:
    server = Scripted({"tools/list": tools("one")})
    async with connect(server, revision="2025-11-25") as client:
        await names(client)
        await names(client)
    assert len(server.requests("tools/list")) == 2


async def test_results_are_kept_by_method_and_parameters(clock: Clock) -> None:
    def read(request: Request) -> Any:
        return contents((request.params or {})["uri"])

    server = modern({"resources/read": read})
    async with connected(server) as client:
        for _ in range(2):
            for uri in ("a://1", "a://2"):
                assert (await client.read_resource(uri)).contents[0].text == uri  # type: ignore[union-attr]
    assert len(server.requests("resources/read")) == 2


async def test_what_the_metadata_says_is_no_parameter() -> None:
    server = modern({"tools/list": tools("one")})
    async with connected(server) as client:
        await names(client)
        await client.set_logging_level("error")
        await names(client)
    assert len(server.requests("tools/list")) == 1


async def test_each_page_is_kept_for_itself(clock: Clock) -> None:
    def page(request: Request) -> Any:
        if "cursor" in (request.params or {}):
            return tools("two", ttl=1000)
        return tools("one", ttl=9000, cursor="next")

    server = modern({"tools/list": page})
    async with connected(server) as client:
        assert await names(client) == ["one", "two"]
        clock.now += 2
        assert await names(client) == ["one", "two"]
    assert [(one.params or {}).get("cursor") for one in server.requests("tools/list")] == [None, "next", "next"]


@pytest.mark.parametrize(
    ("notification", "method"),
    [
        ("notifications/tools/list_changed", "tools/list"),
        ("notifications/prompts/list_changed", "prompts/list"),
        ("notifications/resources/list_changed", "resources/list"),
        ("notifications/resources/list_changed", "resources/templates/list"),
    ],
)
async def test_a_notification_overtakes_what_it_speaks_of_and_nothing_else(notification: str, method: str) -> None:
    empty = {"resultType": "complete", "ttlMs": HOUR, "cacheScope": "public"}
    server = modern({
        "tools/list": tools("one"),
        "prompts/list": {**empty, "prompts": []},
        "resources/list": {**empty, "resources": []},
        "resources/templates/list": {**empty, "resourceTemplates": []},
        "resources/read": contents("x"),
    })  # fmt: skip

    async def ask(client: Client) -> None:
        await client.list_tools()
        await client.list_prompts()
        await client.list_resources()
        await client.list_resource_templates()
        await client.read_resource("a://1")

    async with connected(server) as client:
        await ask(client)
        await server.tell(notification)
        await client.ping()
        await ask(client)
    counts = {
        name: len(server.requests(name))
        for name in ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
    }
    assert counts.pop(method) == 2
    both = {"resources/list", "resources/templates/list"}
    assert all(count == (2 if method in both and name in both else 1) for name, count in counts.items())


async def test_an_updated_resource_is_read_anew_and_others_are_not() -> None:
    server = modern({"resources/read": contents("x")})
    async with connected(server) as client:
        for _ in range(2):
            await client.read_resource("a://1")
            await client.read_resource("a://2")
            await server.tell("notifications/resources/updated", {"uri": "a://1"})
            await client.ping()
    assert [(one.params or {})["uri"] for one in server.requests("resources/read")] == ["a://1", "a://2", "a://1"]


async def test_a_result_that_was_overtaken_on_its_way_is_not_kept() -> None:
    free = asyncio.Event()

    async def listed(request: Request) -> Any:
        if len(server.requests("tools/list")) == 1:
            await server.tell("notifications/tools/list_changed")
            await free.wait()
            return tools("old")
        return tools("new")

    server = modern({"tools/list": listed})
    async with connected(server) as client:
        asked = asyncio.create_task(names(client))
        await until(lambda: server.requests("tools/list"))
        await client.ping()
        free.set()
        assert await asked == ["old"]
        assert await names(client) == ["new"]


async def test_what_was_made_of_answers_is_not_kept() -> None:
    server = modern({"resources/read": script(asking(state="s", q=QUESTION), contents("for Ada"))})
    async with connected(server, elicitation=lambda _: {"name": "Ada"}) as client:
        await client.read_resource("a://1")
        await client.read_resource("a://1")
    assert len(server.requests("resources/read")) == 3


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "completion/complete"])
async def test_what_is_not_cacheable_is_not_kept_whatever_it_says(method: str) -> None:
    kept = {"resultType": "complete", "ttlMs": HOUR, "cacheScope": "public"}
    server = modern({
        "tools/call": {**kept, "content": []},
        "prompts/get": {**kept, "messages": []},
        "completion/complete": {**kept, "completion": {"values": []}},
    })  # fmt: skip
    async with connected(server) as client:
        for _ in range(2):
            await {
                "tools/call": lambda: client.call_tool("x"),
                "prompts/get": lambda: client.get_prompt("p"),
                "completion/complete": lambda: client.complete("p", "a"),
            }[method]()
    assert len(server.requests(method)) == 2


async def test_a_ping_is_never_answered_from_what_was_kept() -> None:
    server = modern(ttlMs=HOUR)
    async with connected(server) as client:
        await client.ping()
        await client.ping()
    assert len(server.requests("server/discover")) == 3


async def test_errors_are_not_kept() -> None:
    from mcp_notebook import ProtocolError

    server = modern({"tools/list": script(ProtocolError(-32603, "not now"), tools("one"))})
    async with connected(server) as client:
        with pytest.raises(ProtocolError):
            await names(client)
        assert await names(client) == ["one"]


async def test_a_new_connection_begins_with_nothing_kept() -> None:
    server = modern({"tools/list": tools("one")})
    async with connected(server) as client:
        await names(client)
        await client.reconnect()
        await names(client)
    assert len(server.requests("tools/list")) == 2


async def test_how_much_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "ENTRIES", 3)
    server = modern({"resources/read": contents("x")})
    async with connected(server) as client:
        for number in (1, 2, 3, 4, 4, 3, 1):
            await client.read_resource(f"a://{number}")
    assert [(one.params or {})["uri"] for one in server.requests("resources/read")] == [
        "a://1",
        "a://2",
        "a://3",
        "a://4",
        "a://1",
    ]
