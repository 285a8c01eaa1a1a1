"""Results as each handshake revision knows them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_notebook.jsonrpc import Response, dump
from mcp_notebook.protocol.revision import Revision
from mcp_notebook.protocol.revisions import ALL
from mcp_notebook.protocol.shaping import shape
from mcp_notebook.types import (
    Annotations,
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    GetPromptResult,
    Icon,
    ImageContent,
    Implementation,
    InitializeResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceContents,
    ResourceLink,
    ResourceTemplate,
    Result,
    ServerCapabilities,
    TextContent,
    Tool,
    ToolAnnotations,
    ToolExecution,
    UnknownContent,
)

HANDSHAKE = [revision for revision in ALL.values() if revision.era == "handshake"]
each_revision = pytest.mark.parametrize("revision", HANDSHAKE, ids=lambda revision: revision.name)
ICONS = [Icon(src="data:image/png;base64,")]
FIRST = {"title": "2025-06-18", "icons": "2025-11-25"}
"""Field -> the revision that brought it."""


def sent(revision: Revision, method: str, result: Result) -> Any:
    """What stands on the wire."""
    return json.loads(dump(Response(1, shape(revision, method, result, {}))))["result"]


def since(revision: Revision, **fields: str) -> set[str]:
    return {name for name, first in fields.items() if revision.name >= first}


@each_revision
def test_tools_are_told_with_the_fields_that_the_revision_has(revision: Revision) -> None:
    tool = Tool(
        name="t",
        title="T",
        description="d",
        icons=ICONS,
        input_schema={"type": "object", "default": None},
        output_schema={"type": "object"},
        annotations=ToolAnnotations(read_only_hint=True),
        execution=ToolExecution(task_support="optional"),
        meta={"a": 1},
    )
    result = sent(revision, "tools/list", ListToolsResult(tools=[tool], next_cursor="c"))
    assert result["nextCursor"] == "c"
    assert set(result["tools"][0]) == {"name", "description", "inputSchema", "_meta"} | since(
        revision, **FIRST, annotations="2025-03-26", outputSchema="2025-06-18", execution="2025-11-25"
    )
    assert result["tools"][0]["inputSchema"] == {"type": "object", "default": None}


@each_revision
def test_resources_templates_and_prompts_are_told_with_the_fields_that_the_revision_has(revision: Revision) -> None:
    named: dict[str, Any] = {"name": "n", "title": "T", "icons": ICONS}
    resources = ListResourcesResult(resources=[Resource(uri="a:b", size=5, **named)])
    templates = ListResourceTemplatesResult(resource_templates=[ResourceTemplate(uri_template="a:{b}", **named)])
    prompts = ListPromptsResult(prompts=[Prompt(arguments=[PromptArgument(name="a", title="A")], **named)])
    more = since(revision, **FIRST)
    assert set(sent(revision, "resources/list", resources)["resources"][0]) == {"name", "uri", "size"} | more
    assert set(sent(revision, "resources/templates/list", templates)["resourceTemplates"][0]) == {
        "name",
        "uriTemplate",
        *more,
    }
    prompt = sent(revision, "prompts/list", prompts)["prompts"][0]
    assert set(prompt) == {"name", "arguments"} | more
    assert set(prompt["arguments"][0]) == {"name"} | since(revision, title="2025-06-18")


@each_revision
def test_a_server_introduces_itself_with_the_fields_that_the_revision_has(revision: Revision) -> None:
    info = Implementation(name="n", version="1", title="T", icons=ICONS, description="d", website_url="https://x.test")
    result = InitializeResult(
        protocol_version=revision.name, capabilities=ServerCapabilities(tools={}), server_info=info, instructions="i"
    )
    told = sent(revision, "initialize", result)
    assert set(told) == {"protocolVersion", "capabilities", "serverInfo", "instructions"}
    assert told["capabilities"] == {"tools": {}}
    assert set(told["serverInfo"]) == {"name", "version"} | since(
        revision, **FIRST, description="2025-11-25", websiteUrl="2025-11-25"
    )


BLOCKS = {
    "text": (TextContent(text="t"), "2024-11-05"),
    "image": (ImageContent(data="", mime_type="image/png"), "2024-11-05"),
    "resource": (EmbeddedResource(resource=ResourceContents(uri="a:b", text="t")), "2024-11-05"),
    "audio": (AudioContent(data="", mime_type="audio/wav"), "2025-03-26"),
    "resource_link": (ResourceLink(uri="a:b", name="n", title="N"), "2025-06-18"),
    "video": (UnknownContent(type="video"), "9999"),
}


@each_revision
@pytest.mark.parametrize("type", BLOCKS)
def test_a_content_block_that_the_revision_lacks_is_told_as_text(revision: Revision, type: str) -> None:
    block, first = BLOCKS[type]
    tool = sent(revision, "tools/call", CallToolResult(content=[TextContent(text="before"), block]))["content"]
    messages = [PromptMessage(role="user", content=block)]
    prompt = sent(revision, "prompts/get", GetPromptResult(messages=messages))["messages"][0]["content"]
    assert tool[0] == {"type": "text", "text": "before"}
    assert tool[1] == prompt
    if revision.name >= first:
        assert prompt == block.wire()
    else:
        assert prompt["type"] == "text"
        assert {"audio": "audio/wav", "resource_link": "N: a:b", "video": "'video'"}[type] in prompt["text"]


@each_revision
def test_structured_content_is_told_where_the_revision_has_it(revision: Revision) -> None:
    result = CallToolResult(content=[TextContent(text="1")], structured_content={"result": None})
    told = sent(revision, "tools/call", result)
    assert ("structuredContent" in told) == (revision.name >= "2025-06-18")
    assert told["content"] == [{"type": "text", "text": "1"}]
    if "structuredContent" in told:
        assert told["structuredContent"] == {"result": None}


@each_revision
def test_meta_annotations_and_errors_are_kept_at_every_revision(revision: Revision) -> None:
    block = TextContent(text="t", annotations=Annotations(audience=["user"], priority=0.5), meta={"b": None})
    told = sent(revision, "tools/call", CallToolResult(content=[block], is_error=True, meta={"a": {"c": None}}))
    assert told["isError"] is True
    assert told["_meta"] == {"a": {"c": None}}
    assert told["content"][0]["annotations"] == {"audience": ["user"], "priority": 0.5}
    assert told["content"][0]["_meta"] == {"b": None}


def test_shaping_leaves_the_result_itself_as_it_was() -> None:
    result = CallToolResult(content=[AudioContent(data="", mime_type="audio/wav")], structured_content={"a": 1})
    sent(ALL["2024-11-05"], "tools/call", result)
    assert isinstance(result.content[0], AudioContent)
    assert result.structured_content == {"a": 1}


def test_the_newest_handshake_revision_copies_nothing() -> None:
    result = CallToolResult(content=[TextContent(text="t")])
    assert shape(ALL["2025-11-25"], "tools/call", result, {}) is result


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_where_nothing_is_lacking_the_result_itself_is_sent(revision: str) -> None:
    for method, result in (
        ("tools/list", ListToolsResult(tools=[Tool(name="t", description="d")] * 2)),
        ("prompts/list", ListPromptsResult(prompts=[Prompt(name="p", arguments=[PromptArgument(name="a")])])),
        ("tools/call", CallToolResult(content=[TextContent(text="t")])),
    ):
        assert shape(ALL[revision], method, result, {}) is result


def test_the_modern_revision_says_more_of_every_result_and_keeps_all_that_it_holds() -> None:
    result = CallToolResult(content=[TextContent(text="t")], structured_content={"a": None}, meta={"b": 1}, more="c")  # pyright: ignore[reportCallIssue]
    shaped = shape(ALL["2026-07-28"], "tools/call", result, {"server": "us"})
    assert json.loads(dump(Response(1, shaped)))["result"] == {
        "content": [{"type": "text", "text": "t"}],
        "structuredContent": {"a": None},
        "more": "c",
        "resultType": "complete",
        "_meta": {"server": "us", "b": 1},
    }
    assert (result.meta, result.result_type) == ({"b": 1}, None)


def test_the_modern_revision_says_how_long_lists_may_be_kept() -> None:
    result = ListToolsResult(tools=[Tool(name="t", execution=ToolExecution(task_support="optional"))], ttl_ms=5)
    shaped = shape(ALL["2026-07-28"], "tools/list", result, {})
    assert shaped == {
        "tools": [{"name": "t"}],
        "resultType": "complete",
        "_meta": {},
        "ttlMs": 5,
        "cacheScope": "private",
    }


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.text("ab_ä", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab_ä", max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(HANDSHAKE), st.dictionaries(st.text("abc", max_size=3), json_values, max_size=3))
def test_a_schema_stands_on_the_wire_as_its_author_wrote_it(revision: Revision, schema: dict[str, Any]) -> None:
    result = ListToolsResult(tools=[Tool(name="t", input_schema=schema)])
    assert sent(revision, "tools/list", result)["tools"][0]["inputSchema"] == schema
