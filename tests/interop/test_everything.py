"""Our client with the npm package `@modelcontextprotocol/server-everything`, over stdio, at each handshake revision."""

from __future__ import annotations

import os
import shlex
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import CallCancelled, Client, ProtocolError, connect
from mcp_notebook.types import CreateMessageParams, ElicitParams, ImageContent, Progress

from ..scripted import until

pytestmark = [pytest.mark.anyio, pytest.mark.node]

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def command(request: pytest.FixtureRequest) -> list[str]:
    """The command: of `MCP_NOTEBOOK_EVERYTHING`, or of the package that the tests install."""
    line = os.environ.get("MCP_NOTEBOOK_EVERYTHING")
    return shlex.split(line) if line else request.getfixturevalue("everything_command")


@pytest.fixture(scope="module", params=REVISIONS)
async def client(request: pytest.FixtureRequest, command: list[str], anyio_backend: str) -> AsyncIterator[Client]:
    def answer(params: ElicitParams) -> Any:
        properties = (params.requested_schema or {}).get("properties", {})
        return {"name": "Ada"} if "name" in properties else None

    def model(params: CreateMessageParams) -> str:
        return "a model's answer"

    async with connect(
        command, revision=request.param, roots=["file:///a"], elicitation=answer, sampling=model
    ) as client:
        yield client


async def test_they_agree(client: Client) -> None:
    assert client.profile.revision.name in REVISIONS
    assert "everything" in client.profile.server_info.name
    assert client.destination.transport == "stdio"
    assert await client.ping() < 10


async def test_its_tools_are_listed_and_called(client: Client) -> None:
    names = {tool.name for tool in await client.list_tools()}
    assert {"echo", "get-sum"} <= names
    assert (await client.call_tool("echo", {"message": "hä?"})).text == "Echo: hä?"
    assert "5" in (await client.tools.get_sum(a=2, b=3)).text


async def test_its_pictures_and_structured_content_arrive(client: Client) -> None:
    image = await client.call_tool("get-tiny-image")
    assert any(isinstance(block, ImageContent) and block.to_bytes().startswith(b"\x89PNG") for block in image.content)
    weather = await client.call_tool("get-structured-content", {"location": "New York"})
    assert weather.data["temperature"]


async def test_wrong_arguments_are_told_in_a_result(client: Client) -> None:
    result = await client.call_tool("echo", {})
    assert result.is_error
    assert "message" in result.text


async def test_progress_is_heard(client: Client) -> None:
    handle = client.begin_call("trigger-long-running-operation", {"duration": 0.3, "steps": 3})
    heard: list[Any] = []
    handle.add_listener(lambda _, event: heard.append(event.data))
    await handle
    assert [one.progress for one in heard if isinstance(one, Progress)] == [1, 2, 3]


async def test_a_call_is_cancelled(client: Client) -> None:
    handle = client.begin_call("trigger-long-running-operation", {"duration": 60, "steps": 600})
    await until(lambda: handle.progress)
    handle.cancel()
    with pytest.raises(CallCancelled):
        await handle
    assert (await client.call_tool("echo", {"message": "on"})).text == "Echo: on"


async def test_its_resources_and_prompts_are_read(client: Client) -> None:
    resources = await client.list_resources()
    assert resources
    read = await client.read_resource(resources[0].uri)
    assert read.contents
    templates = await client.list_resource_templates()
    assert templates
    prompts = {prompt.name: prompt for prompt in await client.list_prompts()}
    simple = next(prompt for prompt in prompts.values() if not prompt.arguments)
    assert (await client.get_prompt(simple.name)).messages
    with pytest.raises(ProtocolError):
        await client.get_prompt("no such prompt")


async def test_its_questions_are_answered(client: Client) -> None:
    names = {tool.name for tool in await client.list_tools()}
    sampled = await client.call_tool("trigger-sampling-request", {"prompt": "Hi", "maxTokens": 5})
    assert "a model's answer" in sampled.text
    assert "file:///a" in (await client.call_tool("get-roots-list")).text
    if "trigger-elicitation-request" in names and client.profile.elicitation_modes():
        assert not (await client.call_tool("trigger-elicitation-request")).is_error


async def test_nothing_was_wrong_with_it(client: Client) -> None:
    assert list(client.session.faults) == []
    assert client.state == "connected"
