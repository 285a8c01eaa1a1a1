"""Lists, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_notebook import InvalidResult, Limits, connect
from mcp_notebook.client.results import Listing
from mcp_notebook.jsonrpc import Request

from ..scripted import Scripted

pytestmark = pytest.mark.anyio

METHODS = {
    "list_tools": ("tools/list", "tools", {}),
    "list_resources": ("resources/list", "resources", {"uri": "a:b"}),
    "list_resource_templates": ("resources/templates/list", "resourceTemplates", {"uriTemplate": "a:{b}"}),
    "list_prompts": ("prompts/list", "prompts", {}),
}
each_list = pytest.mark.parametrize("verb", METHODS)


def paged(verb: str, pages: dict[str | None, tuple[list[str], str | None]]) -> Scripted:
    """A server whose list has these pages: cursor -> names, and the cursor of the next page."""
    method, key, more = METHODS[verb]

    def page(request: Request) -> dict[str, Any]:
        names, following = pages[(request.params or {}).get("cursor")]
        result: dict[str, Any] = {key: [{"name": name, **more} for name in names]}
        return result if following is None else {**result, "nextCursor": following}

    return Scripted({method: page})


async def names_of(server: Scripted, verb: str, **options: Any) -> list[str]:
    async with connect(server, revision="2025-11-25", **options) as client:
        return [one.name for one in await getattr(client, verb)()]


@each_list
async def test_all_pages_are_followed_in_order(verb: str) -> None:
    server = paged(verb, {None: (["a", "b"], "x"), "x": ([], "y"), "y": (["c"], None)})
    assert await names_of(server, verb) == ["a", "b", "c"]
    cursors = [(request.params or {}).get("cursor") for request in server.requests(METHODS[verb][0])]
    assert cursors == [None, "x", "y"]


@each_list
async def test_an_empty_cursor_leads_on_like_any_other(verb: str) -> None:
    assert await names_of(paged(verb, {None: (["a"], ""), "": (["b"], None)}), verb) == ["a", "b"]


@each_list
async def test_a_cursor_that_comes_again_ends_with_an_error_that_names_it(verb: str) -> None:
    server = paged(verb, {None: (["a"], "x"), "x": (["b"], "y"), "y": (["c"], "x")})
    with pytest.raises(InvalidResult, match="circle: the cursor 'x' came again"):
        await names_of(server, verb)
    assert len(server.requests(METHODS[verb][0])) == 3


async def test_an_empty_cursor_that_comes_again_is_a_circle_too() -> None:
    with pytest.raises(InvalidResult, match="circle"):
        await names_of(paged("list_tools", {None: ([], ""), "": ([], "")}), "list_tools")


async def test_more_pages_than_the_limit_are_an_error_that_names_it() -> None:
    pages: dict[str | None, tuple[list[str], str | None]] = {
        (str(number) if number else None): ([], str(number + 1)) for number in range(20)
    }
    server = paged("list_tools", pages)
    with pytest.raises(InvalidResult, match=r"more than 5 pages \(Limits\.pages\)"):
        await names_of(server, "list_tools", limits=Limits(pages=5))
    assert len(server.requests("tools/list")) == 5


@each_list
async def test_a_server_without_the_capability_is_not_asked_and_has_an_empty_list(verb: str) -> None:
    server = Scripted(capabilities={})
    async with connect(server, revision="2025-11-25") as client:
        found = await getattr(client, verb)()
    assert found == []
    assert isinstance(found, Listing)
    assert server.requests(METHODS[verb][0]) == []


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {},
        {"tools": None},
        {"tools": {}},
        {"tools": [{"description": "no name"}]},
        {"tools": [], "nextCursor": 5},
    ],
)
async def test_a_list_that_is_none_is_an_invalid_result_that_names_the_method(raw: Any) -> None:
    async with connect(Scripted({"tools/list": raw}), revision="2025-11-25") as client:
        with pytest.raises(InvalidResult, match="'tools/list' is broken"):
            await client.list_tools()


@pytest.mark.parametrize(
    "broken",
    [
        {"annotations": "none"},
        {"annotations": {"readOnlyHint": {}}},
        {"icons": "x.png"},
        {"title": 5},
        {"description": ["a"]},
        {"execution": []},
        {"outputSchema": "x"},
        {"_meta": 1},
        {"inputSchema": "x"},
    ],
    ids=str,
)
async def test_a_broken_field_costs_only_itself_and_never_hides_a_tool(broken: dict[str, Any]) -> None:
    tools = [{"name": "good", "title": "Good"}, {"name": "bad", "inputSchema": {"type": "object"}, **broken}]
    async with connect(Scripted({"tools/list": {"tools": tools}}), revision="2025-11-25") as client:
        good, bad = await client.list_tools()
    assert (good.name, good.title, bad.name) == ("good", "Good", "bad")
    field = {"_meta": "meta", "inputSchema": "input_schema", "outputSchema": "output_schema"}
    (name,) = broken
    assert getattr(bad, field.get(name, name)) is None
    if name != "inputSchema":
        assert bad.input_schema == {"type": "object"}


async def test_a_broken_field_of_a_resource_or_prompt_costs_only_itself() -> None:
    server = Scripted(
        {
            "resources/list": {
                "resources": [{"name": "r", "uri": "a:", "annotations": {"priority": "x"}, "size": "x"}]
            },
            "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": "?"}, {"name": "b"}]}]},
        }
    )
    async with connect(server, revision="2025-11-25") as client:
        (resource,) = await client.list_resources()
        (prompt,) = await client.list_prompts()
    assert (resource.uri, resource.annotations, resource.size) == ("a:", None, None)
    assert [one.name for one in prompt.arguments or []] == ["a", "b"]


@pytest.mark.parametrize("schema", [True, {}, {"type": "object"}, None, False, {"$ref": "#"}])
async def test_any_input_schema_is_taken_as_it_is(schema: Any) -> None:  # JSC-2
    tool = {"name": "t"} if schema is None else {"name": "t", "inputSchema": schema}
    async with connect(Scripted({"tools/list": {"tools": [tool]}}), revision="2025-11-25") as client:
        assert [one.input_schema for one in await client.list_tools()] == [schema]


async def test_unknown_fields_are_kept() -> None:
    server = Scripted({"tools/list": {"tools": [{"name": "t", "newField": 1}]}})
    async with connect(server, revision="2025-11-25") as client:
        (tool,) = await client.list_tools()
    assert tool.wire() == {"name": "t", "newField": 1}
