"""What a client asks for, as it stands on the wire, and what it makes of the answers."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_notebook import InvalidResult, LimitExceeded, Limits, ProtocolError, UnsupportedFeature, connect
from mcp_notebook.jsonrpc import Request
from mcp_notebook.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    PromptReference,
    ResourceLink,
    TextContent,
    UnknownContent,
)

from ..scripted import Scripted, until

pytestmark = pytest.mark.anyio

REVISION = "2025-11-25"


async def asked(method: str, answer: Any, verb: str, *args: Any, **options: Any) -> tuple[dict[str, Any], Any]:
    """What a verb sends (without `_meta`), and what it gives for this answer."""
    server = Scripted({method: answer})
    async with connect(server, revision=REVISION) as client:
        given = await getattr(client, verb)(*args, **options)
    (request,) = server.requests(method)
    params = dict(request.params or {})
    assert params.pop("_meta") == {"progressToken": request.id}  # always asked for: it extends the time limit
    return params, given


async def test_call_tool() -> None:
    params, result = await asked(
        "tools/call", {"content": [{"type": "text", "text": "3"}]}, "call_tool", "add", {"a": 1}
    )
    assert params == {"name": "add", "arguments": {"a": 1}}
    assert result.text == "3"
    assert result.is_error is False


async def test_call_tool_without_arguments_sends_an_empty_object() -> None:
    assert (await asked("tools/call", {}, "call_tool", "now"))[0] == {"name": "now", "arguments": {}}


async def test_read_resource() -> None:
    contents = [{"uri": "a:b", "mimeType": "text/plain", "text": "x"}, {"uri": "a:c", "blob": "AAE="}]
    params, result = await asked("resources/read", {"contents": contents}, "read_resource", "a:b")
    assert params == {"uri": "a:b"}
    assert result.data == ["x", b"\x00\x01"]


async def test_subscribe_and_unsubscribe_resource() -> None:
    assert (await asked("resources/subscribe", {}, "subscribe_resource", "a:b"))[0] == {"uri": "a:b"}
    assert (await asked("resources/unsubscribe", {}, "unsubscribe_resource", "a:b"))[0] == {"uri": "a:b"}


async def test_get_prompt_sends_arguments_as_text() -> None:
    answer = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}]}
    params, result = await asked("prompts/get", answer, "get_prompt", "greet", {"name": "Ada", "times": 3})
    assert params == {"name": "greet", "arguments": {"name": "Ada", "times": "3"}}
    assert result.text == "Hi"
    assert (await asked("prompts/get", answer, "get_prompt", "greet"))[0] == {"name": "greet"}


@pytest.mark.parametrize(
    ("of", "ref"),
    [
        ("greet", {"type": "ref/prompt", "name": "greet"}),
        ("notes://{id}", {"type": "ref/resource", "uri": "notes://{id}"}),
        ("notes://all", {"type": "ref/resource", "uri": "notes://all"}),
        (PromptReference(name="a://b"), {"type": "ref/prompt", "name": "a://b"}),
    ],
)
async def test_complete(of: Any, ref: dict[str, Any]) -> None:
    answer = {"completion": {"values": ["Ada"], "total": 1, "hasMore": False}}
    params, found = await asked("completion/complete", answer, "complete", of, "name", "A")
    assert params == {"ref": ref, "argument": {"name": "name", "value": "A"}}
    assert (found.values, found.total, found.has_more) == (["Ada"], 1, False)


async def test_complete_tells_the_other_arguments() -> None:
    answer = {"completion": {"values": []}}
    params, _ = await asked("completion/complete", answer, "complete", "p", "b", others={"a": "1"})
    assert params["context"] == {"arguments": {"a": "1"}}


async def test_set_logging_level() -> None:
    assert (await asked("logging/setLevel", {}, "set_logging_level", "warning"))[0] == {"level": "warning"}


async def test_ping_gives_seconds() -> None:
    assert 0 <= (await asked("ping", {}, "ping"))[1] < 10


async def test_notify_roots_changed() -> None:
    server = Scripted()
    async with connect(server, revision=REVISION, roots=[]) as client:
        await client.notify_roots_changed()
        await until(lambda: server.notifications("notifications/roots/list_changed"))


# What the server, or the revision, does not have


LACKING = {
    "read_resource": (("a:b",), "resources"),
    "subscribe_resource": (("a:b",), "resources.subscribe"),
    "get_prompt": (("p",), "prompts"),
    "complete": (("p", "a"), "completions"),
    "set_logging_level": (("info",), "logging"),
}


@pytest.mark.parametrize("verb", LACKING)
async def test_what_the_server_did_not_declare_is_not_asked_for(verb: str) -> None:
    args, capability = LACKING[verb]
    server = Scripted(capabilities={})
    async with connect(server, revision=REVISION) as client:
        with pytest.raises(UnsupportedFeature, match=f"capability '{capability}'"):
            await getattr(client, verb)(*args)
    assert [one.method for one in server.messages if isinstance(one, Request)] == ["initialize"]


async def test_completion_needs_no_capability_where_the_revision_has_none_for_it() -> None:
    server = Scripted({"completion/complete": {"completion": {"values": []}}}, revision="2024-11-05", capabilities={})
    async with connect(server, revision="2024-11-05") as client:
        assert (await client.complete("p", "a")).values == []


# Answers


@pytest.mark.parametrize(
    ("verb", "args", "method", "answer"),
    [
        ("call_tool", ("x",), "tools/call", None),
        ("call_tool", ("x",), "tools/call", []),
        ("call_tool", ("x",), "tools/call", {"content": "text"}),
        ("call_tool", ("x",), "tools/call", {"content": [], "isError": "perhaps"}),
        ("read_resource", ("a:b",), "resources/read", {}),
        ("read_resource", ("a:b",), "resources/read", {"contents": [{"uri": "a:b"}]}),
        (
            "get_prompt",
            ("p",),
            "prompts/get",
            {"messages": [{"role": "king", "content": {"type": "text", "text": ""}}]},
        ),
        ("complete", ("p", "a"), "completion/complete", {"values": []}),
    ],
)
async def test_an_answer_of_another_form_is_an_invalid_result(verb: str, args: Any, method: str, answer: Any) -> None:
    with pytest.raises(InvalidResult, match=r"The server's answer to .* is broken"):
        await asked(method, answer, verb, *args)


async def test_an_error_of_the_server_comes_with_code_and_data() -> None:
    error = ProtocolError(-32002, "Resource not found", {"uri": "a:b"})
    with pytest.raises(ProtocolError, match="Resource not found") as caught:
        await asked("resources/read", error, "read_resource", "a:b")
    assert (caught.value.code, caught.value.data) == (-32002, {"uri": "a:b"})


CONTENT = [
    (
        {"type": "text", "text": "t", "annotations": {"audience": ["user"], "priority": 1}, "_meta": {"a": 1}},
        TextContent,
    ),
    ({"type": "image", "data": "AA==", "mimeType": "image/png"}, ImageContent),
    ({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}, AudioContent),
    (
        {"type": "resource_link", "uri": "a:b", "name": "n", "size": 3, "icons": [{"src": "x", "sizes": ["any"]}]},
        ResourceLink,
    ),
    ({"type": "resource", "resource": {"uri": "a:b", "text": "t"}}, EmbeddedResource),
    ({"type": "resource", "resource": {"uri": "a:b", "blob": "AA=="}}, EmbeddedResource),
    ({"type": "video", "data": "AA==", "frames": [1, 2]}, UnknownContent),
    ({"type": "text"}, UnknownContent),
    ({"type": "image", "data": 5}, UnknownContent),
    ({"type": "resource", "resource": {"uri": "a:b"}}, UnknownContent),
    ({"text": "no type"}, UnknownContent),
]


@pytest.mark.parametrize(
    ("block", "form"), CONTENT, ids=lambda value: value.get("type") if isinstance(value, dict) else ""
)
async def test_every_content_block_is_kept_whole_and_a_strange_one_does_not_spoil_the_rest(
    block: Any, form: type
) -> None:
    content = [{"type": "text", "text": "before"}, block]
    _, result = await asked("tools/call", {"content": content}, "call_tool", "x")
    assert result.text.startswith("before")
    assert type(result.content[1]) is form
    assert {"type": "unknown", **block} == {"type": "unknown", **result.content[1].wire()}


async def test_a_block_with_a_broken_hint_is_still_what_it_is() -> None:
    block = {"type": "text", "text": "t", "annotations": {"priority": "high"}}
    _, result = await asked("tools/call", {"content": [block]}, "call_tool", "x")
    assert result.content == [TextContent(text="t")]


async def test_meta_of_a_result_can_be_read() -> None:
    _, result = await asked("tools/call", {"content": [], "_meta": {"a": None}}, "call_tool", "x")
    assert result.meta == {"a": None}


# Structured content


def tool(**fields: Any) -> dict[str, Any]:
    return {"tools": [{"name": "x", "inputSchema": {"type": "object"}, **fields}]}


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def called(answer: dict[str, Any], *, listed: bool = True, schema: Any = SCHEMA) -> Any:
    server = Scripted({"tools/list": tool(outputSchema=schema), "tools/call": answer})
    async with connect(server, revision=REVISION) as client:
        if listed:
            await client.list_tools()
        return await client.call_tool("x")


async def test_structured_content_that_fits_is_given_as_data() -> None:
    result = await called({"content": [], "structuredContent": {"n": 1}})
    assert result.structured == result.data == {"n": 1}


@pytest.mark.parametrize(("data", "where"), [({"n": "one"}, "n"), ({}, "n"), ([], "")])
async def test_structured_content_that_does_not_fit_is_an_invalid_result_that_says_where(data: Any, where: str) -> None:
    with pytest.raises(InvalidResult, match=f"'x' does not fit its output schema: .*{where}"):
        await called({"content": [], "structuredContent": data})


async def test_an_output_schema_without_structured_content_is_an_invalid_result() -> None:
    with pytest.raises(InvalidResult, match="no structured content"):
        await called({"content": [{"type": "text", "text": "1"}]})


async def test_what_a_tool_says_of_its_failure_is_not_masked_by_its_output_schema() -> None:
    result = await called({"content": [{"type": "text", "text": "disk full"}], "isError": True})
    assert result.is_error
    assert result.text == "disk full"


async def test_without_a_list_the_schema_is_not_known_and_nothing_is_checked() -> None:
    assert (await called({"content": [], "structuredContent": {"n": "one"}}, listed=False)).data == {"n": "one"}


async def test_data_that_no_object_holds_is_taken_too() -> None:
    result = await called({"content": [], "structuredContent": [1, 2]}, schema={"type": "array"})
    assert result.data == [1, 2]


async def test_when_the_tools_change_the_old_schema_no_longer_counts() -> None:
    server = Scripted({"tools/list": tool(outputSchema=SCHEMA)})
    server.answers["tools/call"] = {"content": [], "structuredContent": {"new": True}}
    async with connect(server, revision=REVISION) as client:
        await client.list_tools()
        with pytest.raises(InvalidResult):
            await client.call_tool("x")
        server.answers["tools/list"] = tool(outputSchema={"type": "object"})
        await client.list_tools()
        assert (await client.call_tool("x")).data == {"new": True}


async def test_after_list_changed_nothing_is_checked_by_what_was_listed_before() -> None:
    server = Scripted({"tools/list": tool(outputSchema=SCHEMA)})
    server.answers["tools/call"] = {"content": [], "structuredContent": {"new": True}}
    async with connect(server, revision=REVISION) as client:
        await client.list_tools()
        await server.tell("notifications/tools/list_changed")
        await client.ping()
        assert (await client.call_tool("x")).data == {"new": True}


# Size


async def test_a_message_beyond_the_limit_is_not_sent_and_the_connection_goes_on() -> None:
    server = Scripted({"tools/call": {"content": []}})
    async with connect(server, revision=REVISION, limits=Limits(message=10_000)) as client:
        with pytest.raises(LimitExceeded, match=r"10,000 bytes.*Limits\(message="):
            await client.call_tool("x", {"text": "x" * 10_000})
        assert server.requests("tools/call") == []
        await client.call_tool("x", {"text": "x"})
