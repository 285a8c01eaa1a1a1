"""What a server offers: lists, pages, changes of lists."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from mcp_notebook import MCPError, SchemaError, Server
from mcp_notebook.jsonrpc import INVALID_PARAMS
from mcp_notebook.types import Annotations, Icon, ToolAnnotations

from ..scripted import until
from .visiting import Visitor, visiting

pytestmark = pytest.mark.anyio

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
ICONS = [Icon(src="https://example.test/i.png", sizes=["any"])]


async def all_pages(visitor: Visitor, method: str, key: str) -> list[list[str]]:
    """The names on each page of a list."""
    pages, params = [], {}
    while True:
        page = await visitor.ask(method, **params)
        pages.append([item["name"] for item in page[key]])
        if "nextCursor" not in page:
            return pages
        params = {"cursor": page["nextCursor"]}


# Tools


async def test_a_tool_is_listed_with_all_that_is_said_of_it() -> None:
    server = Server("demo")

    @server.tool(
        title="Adder",
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        icons=ICONS,
        meta={"a": 1},
    )
    def add(a: int, b: int = 0) -> int:
        """Add two numbers.

        Args:
            a: the first
        """
        return a + b

    async with visiting(server) as visitor:
        (tool,) = (await visitor.ask("tools/list"))["tools"]
    schema = tool.pop("inputSchema")
    assert schema["required"] == ["a"]
    assert schema["properties"]["a"]["description"] == "the first"
    assert tool.pop("outputSchema")["properties"]["result"]["type"] == "integer"
    assert tool == {
        "name": "add",
        "title": "Adder",
        "description": "Add two numbers.",
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
        "icons": [{"src": "https://example.test/i.png", "sizes": ["any"]}],
        "_meta": {"a": 1},
    }


async def test_name_and_description_can_be_given() -> None:
    server = Server("demo")

    @server.tool(name="get-sum", description="Sums.")
    def add(a: int) -> int:
        "Adds."
        return a

    async with visiting(server) as visitor:
        (tool,) = (await visitor.ask("tools/list"))["tools"]
        assert (tool["name"], tool["description"]) == ("get-sum", "Sums.")
        assert await visitor.text("get-sum", {"a": 1}) == "1"


async def test_a_tool_without_parameters_says_so() -> None:  # JSC-2
    server = Server("demo")
    server.tool(name="now")(lambda: "x")
    async with visiting(server) as visitor:
        (tool,) = (await visitor.ask("tools/list"))["tools"]
        assert tool["inputSchema"] == {"type": "object", "additionalProperties": False}


async def test_a_schema_of_ones_own_judges_the_arguments_and_they_come_as_they_are() -> None:
    server = Server("demo")
    schema = {"type": "object", "properties": {"when": {"type": "string"}, "n": {}}, "required": ["when"]}

    @server.tool(input_schema=schema)
    def plan(when: Any, n: Any = None) -> str:
        return f"{when!r} {n!r}"

    async with visiting(server) as visitor:
        (tool,) = (await visitor.ask("tools/list"))["tools"]
        assert tool["inputSchema"] == schema
        assert await visitor.text("plan", {"when": "2025-01-01", "n": [1]}) == "'2025-01-01' [1]"
        assert (await visitor.call("plan", {"n": 1}))["isError"] is True


def test_a_schema_that_is_none_is_an_error_of_the_author() -> None:  # JSC-3
    with pytest.raises(SchemaError):
        Server("demo").tool(input_schema={"type": "nonsense"})(lambda: None)


def test_nothing_is_offered_under_an_empty_name() -> None:
    with pytest.raises(SchemaError, match="empty name"):
        Server("demo").resource("")(lambda: "x")


async def test_structured_false_tells_neither_a_schema_nor_data() -> None:
    server = Server("demo")

    @server.tool(structured=False)
    def add(a: int) -> int:
        return a + 1

    async with visiting(server) as visitor:
        (tool,) = (await visitor.ask("tools/list"))["tools"]
        assert "outputSchema" not in tool
        assert await visitor.call("add", {"a": 1}) == {"content": [{"type": "text", "text": "2"}]}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_data_and_its_schema_are_told_from_the_revision_on_that_has_them(revision: str) -> None:
    server = Server("demo")

    @server.tool
    def add(a: int) -> int:
        return a + 1

    async with visiting(server, revision) as visitor:
        (tool,) = (await visitor.ask("tools/list"))["tools"]
        result = await visitor.call("add", {"a": 1})
        assert result["content"] == [{"type": "text", "text": "2"}]
        assert ("outputSchema" in tool) == ("structuredContent" in result) == (revision >= "2025-06-18")


# Pages


async def test_lists_come_in_pages_and_nothing_is_lost_or_doubled() -> None:
    server = Server("demo", page_size=3)
    for number in range(7):
        server.tool(name=f"t{number}")(lambda: None)
        server.prompt(name=f"p{number}")(lambda: "x")
        server.resource(f"a:{number}", name=f"r{number}")(lambda: "x")
        server.resource(f"a:{number}/{{x}}", name=f"f{number}")(lambda x: x)
    async with visiting(server) as visitor:
        for method, key, letter in (
            ("tools/list", "tools", "t"),
            ("prompts/list", "prompts", "p"),
            ("resources/list", "resources", "r"),
            ("resources/templates/list", "resourceTemplates", "f"),
        ):
            names = [f"{letter}{number}" for number in range(7)]
            assert await all_pages(visitor, method, key) == [names[:3], names[3:6], names[6:]]


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_a_list_of_no_more_than_a_page_is_one_page(count: int) -> None:
    server = Server("demo", page_size=3)
    for number in range(count):
        server.tool(name=f"t{number}")(lambda: None)
    async with visiting(server) as visitor:
        assert len(await all_pages(visitor, "tools/list", "tools")) == 1


@pytest.mark.parametrize("cursor", ["", "1", "rubbish", "ünïcode", "ZnJvbSAtMQ==", "ZnJvbSA5OTk=", "YXQgMQ=="])
async def test_a_cursor_that_was_not_given_is_refused(cursor: str) -> None:
    server = Server("demo")
    async with visiting(server) as visitor:
        error = await visitor.refused("tools/list", cursor=cursor)
        assert error.code == INVALID_PARAMS
        assert "cursor" in error.message


async def test_a_cursor_of_another_type_is_refused() -> None:
    async with visiting(Server("demo")) as visitor:
        assert (await visitor.refused("tools/list", cursor=5)).code == INVALID_PARAMS


async def test_ten_thousand_tools_are_listed() -> None:
    server = Server("demo")

    def work(a: int) -> int:
        return a

    server.tool(name="t0")(work)
    first = server.registry.tools["t0"]
    for number in range(1, 10_000):
        server.registry.add_tool(first.item.model_copy(update={"name": f"t{number}"}), first.run)
    async with visiting(server) as visitor:
        pages = await all_pages(visitor, "tools/list", "tools")
        assert [name for page in pages for name in page] == [f"t{number}" for number in range(10_000)]
        assert await visitor.text("t9999", {"a": 5}) == "5"


# Changes


async def test_many_changes_of_a_moment_are_told_once_for_each_list() -> None:
    server = Server("demo")
    async with visiting(server) as visitor:
        await visitor.ask("ping")
        for number in range(50):
            server.tool(name=f"t{number}")(lambda: None)
        server.resource("a:b")(lambda: "x")
        server.prompt(name="p")(lambda: "x")
        await until(lambda: len(visitor.told) >= 3)
        assert sorted(one.method for one in visitor.told) == [
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/tools/list_changed",
        ]
        assert len((await visitor.ask("tools/list"))["tools"]) == 50
        server.remove_tool("t0")
        server.remove_resource("a:b")
        server.remove_prompt("p")
        await until(lambda: len(visitor.told) >= 6)
        assert len(visitor.told) == 6


async def test_changes_made_in_another_thread_are_told_to_every_client() -> None:
    server = Server("demo")
    async with visiting(server) as one, visiting(server, "2024-11-05") as two:
        await asyncio.gather(one.ask("ping"), two.ask("ping"))
        thread = threading.Thread(target=lambda: server.tool(name="t")(lambda: "x"))
        thread.start()
        thread.join()
        for visitor in (one, two):
            await until(lambda visitor=visitor: visitor.heard("notifications/tools/list_changed"))
            assert await visitor.text("t") == "x"


async def test_a_client_that_has_not_shaken_hands_is_not_told_of_changes() -> None:
    server = Server("demo")
    async with visiting(server, shake_hands=False) as one, visiting(server) as two:
        await two.ask("ping")
        server.tool(name="t")(lambda: "x")
        await until(lambda: two.told)
        await one.ask("ping")
        assert one.told == []


async def test_a_tool_of_the_same_name_takes_the_place_of_the_old_one() -> None:
    server = Server("demo")
    server.tool(name="a")(lambda: "old")
    server.tool(name="b")(lambda: "b")
    server.tool(name="a")(lambda: "new")
    async with visiting(server) as visitor:
        assert await all_pages(visitor, "tools/list", "tools") == [["a", "b"]]
        assert await visitor.text("a") == "new"


async def test_what_was_removed_is_gone() -> None:
    server = Server("demo")
    server.tool(name="t")(lambda: "x")
    server.resource("a:{x}")(lambda x: x)
    server.prompt(name="p")(lambda: "x")
    server.remove_tool("t")
    server.remove_resource("a:{x}")
    server.remove_prompt("p")
    async with visiting(server) as visitor:
        assert (await visitor.refused("tools/call", name="t")).code == INVALID_PARAMS
        assert (await visitor.refused("resources/read", uri="a:1")).code == -32002
        assert (await visitor.refused("prompts/get", name="p")).code == INVALID_PARAMS
    for remove in (server.remove_tool, server.remove_resource, server.remove_prompt):
        with pytest.raises(KeyError):
            remove("x")


def test_changing_a_server_whose_clients_have_gone_with_their_loop_does_nothing() -> None:
    server = Server("demo")

    async def visit() -> None:
        async with visiting(server):
            pass

    asyncio.run(visit())
    server.tool(name="t")(lambda: "x")


# The server itself


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_server_introduces_itself_and_declares_what_the_revision_has(revision: str) -> None:
    server = Server("demo", version="2", title="Demo", instructions="Be kind.", description="d", icons=ICONS)
    async with visiting(server, shake_hands=False) as visitor:
        told = await visitor.ask(
            "initialize", protocolVersion=revision, capabilities={}, clientInfo={"name": "x", "version": "1"}
        )
    assert told["protocolVersion"] == revision
    assert told["instructions"] == "Be kind."
    assert told["serverInfo"]["name"] == "demo"
    assert ("title" in told["serverInfo"]) == (revision >= "2025-06-18")
    assert ("icons" in told["serverInfo"]) == (revision >= "2025-11-25")
    assert set(told["capabilities"]) == {"tools", "resources", "prompts", "logging"} | (
        {"completions"} if revision >= "2025-03-26" else set()
    ) | ({"tasks"} if revision >= "2025-11-25" else set())
    assert told["capabilities"]["resources"] == {"listChanged": True, "subscribe": True}


def test_a_server_says_what_it_has() -> None:
    server = Server("demo")
    server.tool(name="t")(lambda: "x")
    server.resource("a:{x}")(lambda x: x)
    assert repr(server) == "<Server 'demo': 1 tools, 1 resources, 0 prompts>"


async def test_serving_stdio_where_a_loop_runs_says_what_to_do_instead() -> None:
    with pytest.raises(MCPError, match=r"connect\(server\)"):
        Server("demo").serve_stdio()


async def test_decorators_give_the_function_back() -> None:
    server = Server("demo")

    def work() -> str:
        return "x"

    assert server.tool(work) is work
    assert server.tool(name="t")(work) is work
    assert server.prompt(work) is work
    assert server.resource("a:b", annotations=Annotations(priority=1))(work) is work
    assert server.completion("work", "x")(work) is work
