"""What clients and servers do together, in every row of the matrix."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import CallCancelled, ProtocolError
from mcp_notebook.jsonrpc import INVALID_PARAMS
from mcp_notebook.types import (
    LOGGING_LEVELS,
    AudioContent,
    EmbeddedResource,
    ImageContent,
    LoggingLevel,
    Progress,
    ResourceLink,
    TextContent,
    UnknownContent,
)

from . import matrix
from .matrix import Link
from .scripted import until

anyio_backend, row, link = matrix.anyio_backend, matrix.row, matrix.link
pytestmark = pytest.mark.anyio


async def test_they_agree_on_the_revision_and_know_each_other(link: Link) -> None:
    profile = link.client.profile
    assert profile.revision.name == link.revision
    assert profile.server_info.name == "features"
    assert profile.instructions == "Be kind."
    assert (
        link.client.destination.transport
        == {
            "memory": "this process",
            "stdio": "stdio",
            "HTTP": "HTTP",
            "HTTP streams": "HTTP",
        }[link.row.transport]
    )


async def test_ping(link: Link) -> None:
    assert await link.client.ping() < 10


# Tools


async def test_all_pages_of_tools_with_the_fields_that_the_revision_has(link: Link) -> None:
    tools = {tool.name: tool for tool in await link.client.list_tools()}
    assert len(tools) > 10
    add = tools["add"]
    assert add.description == "Add two numbers."
    assert isinstance(add.input_schema, dict)
    assert add.input_schema["required"] == ["a"]
    assert add.input_schema["properties"]["a"]["description"] == "the first"
    assert (add.title is not None) == (link.revision >= "2025-06-18")
    assert (add.output_schema is not None) == (link.revision >= "2025-06-18")
    assert (add.annotations is not None) == (link.revision >= "2025-03-26")
    assert (add.icons is not None) == (link.revision >= "2025-11-25")
    assert add.meta == {"a": 1}


async def test_a_call_gives_text_and_where_the_revision_has_it_data(link: Link) -> None:
    result = await link.client.call_tool("add", {"a": 1, "b": 2})
    assert result.text == "3"
    assert result.structured == ({"result": 3} if link.revision >= "2025-06-18" else None)


async def test_failures_are_results_and_unknown_tools_are_errors(link: Link) -> None:  # VAL-1, VAL-2
    failed = await link.client.call_tool("fail")
    assert failed.is_error
    assert failed.text == "There is no such city."
    wrong = await link.client.call_tool("add", {"a": "one"})
    assert wrong.is_error
    assert "a" in wrong.text
    with pytest.raises(ProtocolError, match="Unknown tool: ad") as caught:
        await link.client.call_tool("ad")
    assert caught.value.code == INVALID_PARAMS


@pytest.mark.parametrize(
    "value",
    ["", 'ä 😀 \u2028\u2029\x85\x00\r\n\t"\\/', [None, True, 1.5, {"a": {}}], 2**53, "x" * 1_000_000],
    ids=lambda value: repr(value)[:20],
)
async def test_whatever_json_can_say_arrives_as_it_was(link: Link, value: Any) -> None:
    assert (await link.client.call_tool("echo", {"value": value})).data == {"value": value}


async def test_every_content_block_arrives_as_the_revision_knows_it(link: Link) -> None:
    result = await link.client.call_tool("content")
    text, image, audio, resource_link, embedded, blob, video = result.content
    assert isinstance(text, TextContent)
    assert text.annotations is not None
    assert (text.annotations.audience, text.annotations.priority, text.meta) == (["user"], 0.5, {"a": None})
    assert isinstance(image, ImageContent)
    assert image.to_bytes() == b"\x00\x01"
    assert isinstance(audio, AudioContent if link.revision >= "2025-03-26" else TextContent)
    assert isinstance(resource_link, ResourceLink if link.revision >= "2025-06-18" else TextContent)
    assert isinstance(embedded, EmbeddedResource)
    assert embedded.resource.text == "note"
    assert isinstance(blob, EmbeddedResource)
    assert blob.resource.blob == "AAE="
    assert isinstance(video, (UnknownContent, TextContent))
    assert result.meta is not None
    assert result.meta["of"] == "the result"


async def test_calls_at_once_are_kept_apart(link: Link) -> None:
    results = await asyncio.gather(*(link.client.call_tool("add", {"a": number}) for number in range(50)))
    assert [result.text for result in results] == [str(number) for number in range(50)]


async def test_the_tools_are_functions(link: Link) -> None:
    await link.client.list_tools()
    assert (await link.client.tools.add(2, b=3)).text == "5"


# Progress, log, cancellation


async def test_progress_is_heard_in_order(link: Link) -> None:
    handle = link.client.begin_call("count", {"n": 5})
    heard: list[Progress] = []
    handle.add_listener(lambda _, event: heard.append(event.data) if isinstance(event.data, Progress) else None)
    assert (await handle).text == "counted"
    assert [(one.progress, one.total, one.message) for one in heard] == [
        (step, 5, f"step {step}") for step in range(1, 6)
    ]


async def test_log_lines_of_the_level_that_was_set_and_above_are_heard(link: Link) -> None:
    levels: list[tuple[LoggingLevel, int]] = [("warning", 5), ("emergency", 1), ("debug", 8)]
    for level, count in levels:
        await link.client.set_logging_level(level)
        link.told.clear()
        handle = link.client.begin_call("log")
        await handle
        lines = link.heard("notifications/message")
        assert [line["level"] for line in lines] == list(LOGGING_LEVELS[-count:])
        assert all(line["logger"] == "features" and line["data"] == {"level": line["level"]} for line in lines)
        assert len([event async for event in handle.events() if event.kind == "log"]) == count


async def test_a_cancelled_call_is_cancelled_in_the_handler(link: Link) -> None:
    before = (await link.client.call_tool("seen")).data
    handle = link.client.begin_call("wait")
    async for event in handle.events():
        if event.kind == "progress":
            handle.cancel()
    with pytest.raises(CallCancelled):
        await handle

    await seen(link, len(before), "cancelled")


async def test_a_call_that_takes_too_long_is_cancelled_in_the_handler(link: Link) -> None:
    before = len((await link.client.call_tool("seen")).data)
    with pytest.raises(TimeoutError):
        await link.client.call_tool("wait", timeout=0.2)
    await seen(link, before, "cancelled")


async def seen(link: Link, before: int, what: str) -> None:
    """Wait until a handler has seen this, beyond what was seen before."""
    async with asyncio.timeout(10):
        while what not in (await link.client.call_tool("seen")).data[before:]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


# Resources


async def test_resources_and_templates_are_listed(link: Link) -> None:
    readme, some_bytes = await link.client.list_resources()
    assert (readme.uri, readme.name, readme.description) == ("notes://readme", "readme", "Read me.")
    assert (readme.mime_type, readme.size) == ("text/markdown", 3)
    assert readme.annotations is not None
    assert readme.annotations.priority == 1
    assert some_bytes.uri == "notes://bytes"
    (template,) = await link.client.list_resource_templates()
    assert (template.uri_template, template.name) == ("notes://of/{name}", "note")


async def test_resources_are_read(link: Link) -> None:
    assert (await link.client.read_resource("notes://readme")).text == "# x"
    assert (await link.client.read_resource("notes://bytes")).data == b"\x00\x01"
    assert (await link.client.read_resource("notes://of/ada")).data == {"name": "ada"}


async def test_an_unknown_resource_is_an_error_of_its_own(link: Link) -> None:
    with pytest.raises(ProtocolError, match="notes://none") as caught:
        await link.client.read_resource("notes://none")
    assert caught.value.code == link.client.profile.revision.resource_not_found


async def test_a_subscriber_hears_of_changes_until_it_unsubscribes(link: Link) -> None:
    await link.client.subscribe_resource("notes://readme")
    link.told.clear()
    await link.client.call_tool("touch", {"uri": "notes://readme"})
    await link.client.call_tool("touch", {"uri": "notes://bytes"})
    await until(lambda: link.heard("notifications/resources/updated"))
    await link.client.unsubscribe_resource("notes://readme")
    await link.client.call_tool("touch", {"uri": "notes://readme"})
    await link.client.ping()
    assert [one["uri"] for one in link.heard("notifications/resources/updated")] == ["notes://readme"]


# Prompts, completion


async def test_prompts_are_listed_and_given(link: Link) -> None:
    greet, talk = await link.client.list_prompts()
    assert (greet.name, greet.description) == ("greet", "Greet somebody.")
    assert [(one.name, one.required) for one in greet.arguments or []] == [("name", True), ("times", False)]
    assert talk.name == "talk"
    assert (await link.client.get_prompt("greet", {"name": "Ada", "times": "2"})).text == "Hello Ada Hello Ada"
    messages = (await link.client.get_prompt("talk")).messages
    assert [(one.role, one.content.type) for one in messages] == [
        ("user", "text"),
        ("assistant", "text"),
        ("user", "image"),
    ]
    with pytest.raises(ProtocolError) as caught:
        await link.client.get_prompt("greet")
    assert caught.value.code == INVALID_PARAMS


async def test_arguments_are_completed(link: Link) -> None:
    assert (await link.client.complete("greet", "name", "A")).values == ["Ada", "Alan"]
    assert (await link.client.complete("notes://of/{name}", "name", "al")).values == ["alan"]


# Changes


async def test_changes_from_another_thread_are_told_once_and_make_the_list_old(link: Link) -> None:
    await link.client.list_tools()
    link.told.clear()
    await link.client.call_tool("change")
    await until(lambda: link.heard("notifications/tools/list_changed"))
    assert len(link.heard("notifications/tools/list_changed")) < 10
    assert await asyncio.to_thread(lambda: "add" in link.client.tools)


# Questions


async def test_roots_are_listed(link: Link) -> None:
    assert (await link.client.call_tool("roots")).text.split() == ["[", '"file:///a",', '"file:///b"', "]"]


async def test_a_model_is_asked(link: Link) -> None:
    assert await link.text("think") == "a model's answer in 5 tokens"


async def test_a_person_is_asked_where_the_revision_has_that(link: Link) -> None:
    link.elicitation = {"first": "Ada", "times": 2}
    result = await link.client.call_tool("ask")
    if link.revision < "2025-06-18":
        assert result.is_error
        assert f"revision {link.revision} has no 'elicitation/create'" in result.text
        return
    assert result.text == "accept Name(first='Ada', times=2)"
    link.elicitation = None
    assert await link.text("ask") == "cancel None"


async def test_the_events_of_a_call_hold_question_and_answer(link: Link) -> None:
    link.elicitation = {"first": "Ada"}
    handle = link.client.begin_call("ask")
    await handle
    kinds = [event.kind async for event in handle.events()]
    assert kinds == (["outcome"] if link.revision < "2025-06-18" else ["question", "answer", "outcome"])


async def test_a_call_that_is_cancelled_while_a_person_is_asked_takes_the_question_back(link: Link) -> None:
    if link.revision < "2025-06-18":
        return
    ended: list[str] = []

    async def wait(params: Any) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append("the question")

    link.elicitation = wait
    handle = link.client.begin_call("ask")
    await until(lambda: handle.status == "input_required")
    handle.cancel()
    with pytest.raises(CallCancelled):
        await handle
    await until(lambda: ended)


async def test_a_server_that_gives_up_its_question_takes_it_back(link: Link) -> None:
    if link.client.profile.revision.questions == "returned" or link.revision < "2025-06-18":
        return  # a question inside a result cannot be taken back
    ended: list[str] = []

    async def wait(params: Any) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append("the question")

    link.elicitation = wait
    assert await link.text("ask_and_give_up") == "gave up"
    await until(lambda: ended)


# The end


async def test_nothing_was_wrong_so_far(link: Link) -> None:
    assert list(link.client.session.faults) == []
    assert link.client.state == "connected"


async def test_connecting_anew_gives_a_connection_that_works(link: Link) -> None:
    await link.client.reconnect()
    assert await link.text("add", a=1) == "1"
    assert link.client.profile.revision.name == link.revision
