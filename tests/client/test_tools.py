"""`client.tools`: a server's tools as Python functions."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import CallHandle, Client, connect
from mcp_notebook.client.tools import documentation, python_name, signature
from mcp_notebook.types import Tool

from ..scripted import Scripted

pytestmark = pytest.mark.anyio

ADD = {
    "name": "add",
    "description": "Add two numbers.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "the first"},
            "b": {"type": "integer", "default": 0},
            "mode": {"enum": ["exact", "fast"], "title": "How"},
        },
        "required": ["a"],
    },
}
SUM = {"name": "get-sum", "inputSchema": {"type": "object", "properties": {"first-number": {"type": "number"}}}}
NOW = {"name": "now", "inputSchema": {"type": "object", "additionalProperties": False}}


@contextlib.asynccontextmanager
async def served(*tools: Any, listed: bool = True) -> AsyncIterator[tuple[Client, Scripted]]:
    server = Scripted({"tools/list": {"tools": list(tools or (ADD, SUM, NOW))}, "tools/call": {"content": []}})
    async with connect(server, revision="2025-11-25") as client:
        if listed:
            await client.list_tools()
        yield client, server


def sent(server: Scripted) -> tuple[str, dict[str, Any]]:
    """The name and the arguments of the last call."""
    params = server.requests("tools/call")[-1].params or {}
    return params["name"], params["arguments"]


async def test_a_tool_is_called_like_a_function_and_gives_a_handle() -> None:
    async with served() as (client, server):
        handle = client.tools.add(1, b=2)
        assert isinstance(handle, CallHandle)
        await handle
        assert sent(server) == ("add", {"a": 1, "b": 2})


async def test_what_is_not_given_is_not_sent() -> None:
    async with served() as (client, server):
        await client.tools.add(1)
        assert sent(server) == ("add", {"a": 1})
        await client.tools.now()
        assert sent(server) == ("now", {})


async def test_dashed_names_are_reached_as_python_names_and_by_themselves() -> None:
    async with served() as (client, server):
        await client.tools.get_sum(first_number=1)
        assert sent(server) == ("get-sum", {"first-number": 1})
        await client.tools["get-sum"](2)
        assert sent(server) == ("get-sum", {"first-number": 2})


async def test_a_call_that_does_not_fit_the_signature_is_a_type_error_and_nothing_is_sent() -> None:
    async with served() as (client, server):
        for args, kwargs in (((), {}), ((1, 2, 3, 4), {}), ((1,), {"c": 1})):
            with pytest.raises(TypeError):
                client.tools.add(*args, **kwargs)
        assert server.requests("tools/call") == []


async def test_signature_and_help_are_real() -> None:
    async with served() as (client, _):
        assert str(inspect.signature(client.tools.add)) == "(a: int, b: int = 0, mode=None)"
        assert client.tools.add.__name__ == "add"
        assert client.tools.get_sum.__name__ == "get_sum"
        doc = inspect.getdoc(client.tools.add)
        assert doc is not None
        assert doc.startswith("Add two numbers.")
        assert "a: the first" in doc
        assert "mode: How (one of 'exact', 'fast')" in doc
        assert "CallHandle" in doc
        assert repr(client.tools.add) == "<tool add(a: int, b: int = 0, mode=None) of scripted>"


async def test_nothing_hides_in_what_reprs_and_help_quote() -> None:
    hostile = {
        "name": "wipe\x1b[2J\u202e",
        "description": "Adds.\x1b]0;title\x07",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "description": "\u202ethe first"}}},
    }
    async with served(hostile) as (client, _):
        tool = client.tools[hostile["name"]]
        handle = tool()
        quoted = [repr(client), repr(client.tools), repr(tool), repr(handle), str(inspect.getdoc(tool))]
        quoted.append(repr(client.map(hostile["name"], [{"a": "x"}])))
        assert not any(hidden in text for hidden in "\x1b\x07\u202e" for text in quoted)
        assert "wipe<U+202E>" in repr(handle)
        await handle


async def test_names_can_be_listed_and_completed() -> None:
    async with served() as (client, _):
        assert dir(client.tools) == ["add", "get_sum", "now"]
        assert client.tools._ipython_key_completions_() == ["add", "get-sum", "now"]
        assert [tool.__name__ for tool in client.tools] == ["add", "get_sum", "now"]
        assert len(client.tools) == 3
        assert "get-sum" in client.tools
        assert "get_sum" not in client.tools
        assert repr(client.tools) == "<tools of scripted: add, get-sum, now>"


async def test_an_unknown_name_is_an_attribute_or_key_error_with_a_hint() -> None:
    async with served() as (client, _):
        with pytest.raises(AttributeError, match=r"scripted has no tool 'get_sun'\. Did you mean 'get_sum'\?"):
            _ = client.tools.get_sun
        with pytest.raises(KeyError, match="Did you mean 'add'"):
            client.tools["ad"]
        with pytest.raises(AttributeError, match=r"no tool 'zzz'\.$"):
            _ = client.tools.zzz
        assert not hasattr(client.tools, "_repr_html_")
        assert not hasattr(client.tools, "__wrapped__")


async def test_before_the_tools_are_listed_any_name_can_be_called_on_the_clients_own_loop() -> None:
    async with served(listed=False) as (client, server):
        await client.tools.whatever(x=1)
        assert sent(server) == ("whatever", {"x": 1})
        assert "ad" not in client.tools


async def test_elsewhere_the_tools_are_listed_when_they_are_first_needed() -> None:
    async with served(listed=False) as (client, server):
        assert await asyncio.to_thread(dir, client.tools) == ["add", "get_sum", "now"]
        assert await asyncio.to_thread(dir, client.tools) == ["add", "get_sum", "now"]
        assert len(server.requests("tools/list")) == 1


async def test_when_the_list_changes_it_is_listed_anew() -> None:
    async with served() as (client, server):
        server.answers["tools/list"] = {"tools": [NOW]}
        await server.tell("notifications/tools/list_changed")
        await client.ping()
        assert await asyncio.to_thread(dir, client.tools) == ["now"]


# Strange schemas


def signature_of(schema: Any) -> str:
    return str(signature(Tool(name="t", input_schema=schema)))


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (None, "(**kwargs)"),
        (True, "(**kwargs)"),
        ({}, "(**kwargs)"),
        ({"type": "object"}, "(**kwargs)"),
        ({"type": "object", "properties": {}}, "()"),
        ({"type": "object", "additionalProperties": False}, "()"),
        (
            {"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
            "(a: str = None, **kwargs)",
        ),
        ({"properties": {"a": True, "b": True}, "required": ["b"]}, "(b, a=None)"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, "(a=None)"),
        ({"properties": {"a": "broken"}, "required": "a"}, "(a=None)"),
        ({"properties": "broken"}, "()"),
        ({"properties": {"class": {}, "1st": {}, "a b": {}}}, "(class_=None, _1st=None, a_b=None)"),
        ({"properties": {"a-b": {}, "a_b": {}}}, "(**kwargs)"),
        ({"properties": {"kwargs": {}}, "additionalProperties": True}, "(kwargs=None, **more_kwargs)"),
    ],
)
def test_every_schema_gives_a_signature(schema: Any, text: str) -> None:
    assert signature_of(schema) == text
    assert documentation(Tool(name="t", input_schema=schema))


@pytest.mark.parametrize(
    ("properties", "more", "given", "expected"),
    [
        ({"kwargs": {}}, False, {"kwargs": 5}, {"kwargs": 5}),
        ({"kwargs": {}}, True, {"kwargs": 5, "x": 6}, {"kwargs": 5, "x": 6}),
        ({"self": {}, "args": {}}, False, {"self": 1, "args": 2}, {"self": 1, "args": 2}),
        ({"a_b": {}, "a-b": {}}, False, {"a_b": 1, "a-b": 2}, {"a_b": 1, "a-b": 2}),
        ({"class": {}}, False, {"class_": 1}, {"class": 1}),
        ({"a-b": {}}, True, {"a_b": 1, "c-d": 2}, {"a-b": 1, "c-d": 2}),
    ],
)
async def test_arguments_arrive_under_the_names_of_the_schema(
    properties: Any, more: bool, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    schema = {"type": "object", "properties": properties, "additionalProperties": more}
    async with served({"name": "t", "inputSchema": schema}) as (client, server):
        await client.tools.t(**given)
        assert sent(server) == ("t", expected)


@pytest.mark.parametrize(
    ("name", "python"),
    [("get-sum", "get_sum"), ("a.b/c", "a_b_c"), ("1st", "_1st"), ("class", "class_"), ("", "_"), ("größe", "größe")],
)
def test_every_name_has_a_python_name(name: str, python: str) -> None:
    assert python_name(name) == python
    assert python.isidentifier()
