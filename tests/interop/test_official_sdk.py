"""With the official Python SDK, over stdio: our client with its server, its client with our server."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp import types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

from mcp_notebook import CallCancelled, Client, ProtocolError, connect
from mcp_notebook.jsonrpc import Notification
from mcp_notebook.types import CreateMessageParams, Progress

from ..scripted import until

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")]

ROOT = Path(__file__).parents[2]
REVISIONS = [*HANDSHAKE_PROTOCOL_VERSIONS]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


# Our client, its server


class Ours:
    """Our client, connected to a server of the official SDK."""

    def __init__(self, client: Client, told: list[Notification]) -> None:
        self.client = client
        self.told = told

    async def text(self, tool: str, **arguments: Any) -> str:
        return (await self.client.call_tool(tool, arguments)).text


@pytest.fixture(scope="module")
async def ours(revision: str, anyio_backend: str) -> AsyncIterator[Ours]:
    told: list[Notification] = []

    def model(params: CreateMessageParams) -> str:
        return f"{len(params.messages)} message"

    async with connect(
        [sys.executable, "-m", "tests.interop.official_server"],
        cwd=ROOT,
        revision=revision,
        roots=["file:///a"],
        elicitation=lambda params: {"first": "Ada"},
        sampling=model,
        on_notification=told.append,
    ) as client:
        yield Ours(client, told)


async def test_our_client_agrees_with_its_server(ours: Ours, revision: str) -> None:
    assert ours.client.profile.revision.name == revision
    assert ours.client.profile.server_info.name == "official"
    assert ours.client.profile.instructions == "Be kind."
    assert await ours.client.ping() < 10


async def test_our_client_calls_its_tools(ours: Ours, revision: str) -> None:
    tools = {tool.name: tool for tool in await ours.client.list_tools()}
    assert {"add", "fail", "count", "ask"} <= set(tools)
    result = await ours.client.call_tool("add", {"a": 1, "b": 2})
    assert result.text == "3"
    if revision >= "2025-06-18":
        assert result.structured == {"result": 3}
    assert (await ours.client.tools.add(2, b=3)).text == "5"
    failed = await ours.client.call_tool("fail")
    assert failed.is_error
    assert "no such city" in failed.text
    assert (await ours.client.call_tool("add", {"a": "one"})).is_error


async def test_our_client_hears_progress_and_log_lines(ours: Ours) -> None:
    handle = ours.client.begin_call("count", {"n": 3})
    heard: list[Any] = []
    handle.add_listener(lambda _, event: heard.append(event.data))
    await handle
    assert [(one.progress, one.total, one.message) for one in heard if isinstance(one, Progress)] == [
        (1, 3, "step 1"),
        (2, 3, "step 2"),
        (3, 3, "step 3"),
    ]
    handle = ours.client.begin_call("log")
    await handle
    lines = [event.data async for event in handle.events() if event.kind == "log"]
    assert [(line.level, line.data, line.logger) for line in lines] == [
        ("info", "a line", None),
        ("error", {"b": 1}, "mine"),
    ]


async def test_our_client_cancels_and_its_handler_sees_it(ours: Ours) -> None:
    handle = ours.client.begin_call("wait")
    await ours.client.ping()
    handle.cancel()
    with pytest.raises(CallCancelled):
        await handle
    channel: Any = ours.client.session.connection.channel
    await until(lambda: "the handler was cancelled" in channel.stderr)
    assert await ours.text("add", a=1) == "1"


async def test_our_client_answers_its_questions(ours: Ours, revision: str) -> None:
    assert await ours.text("roots") == "file:///a"
    assert await ours.text("think") == "unknown: 1 message"
    if revision >= "2025-06-18":
        assert await ours.text("ask") == "accept Name(first='Ada', times=1)"


async def test_our_client_reads_its_resources_and_prompts(ours: Ours) -> None:
    assert [one.uri for one in await ours.client.list_resources()] == ["notes://readme"]
    assert [one.uri_template for one in await ours.client.list_resource_templates()] == ["notes://of/{name}"]
    assert (await ours.client.read_resource("notes://readme")).text == "# x"
    assert (await ours.client.read_resource("notes://of/ada")).text == "note of ada"
    with pytest.raises(ProtocolError):
        await ours.client.read_resource("notes://none/at/all")
    (prompt,) = await ours.client.list_prompts()
    assert [one.name for one in prompt.arguments or []] == ["name"]
    assert (await ours.client.get_prompt("greet", {"name": "Ada"})).text == "Hello Ada"
    if revision_has_completion(ours):
        assert (await ours.client.complete("greet", "name", "A")).values == ["Ada", "Alan"]


def revision_has_completion(ours: Ours) -> bool:
    return ours.client.profile.server_has("completion/complete")


async def test_nothing_was_wrong_with_its_server(ours: Ours) -> None:
    assert list(ours.client.session.faults) == []


# Its client, our server


class Theirs:
    """A client of the official SDK, connected to our feature server."""

    def __init__(self, session: mcp.ClientSession, progress: list[Any], lines: list[Any], told: list[Any]) -> None:
        self.session = session
        self.progress = progress
        self.lines = lines
        self.told = told

    async def call(self, tool: str, **arguments: Any) -> types.CallToolResult:
        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append((progress, total, message))

        result = await self.session.call_tool(tool, arguments, progress_callback=progressed)
        assert isinstance(result, types.CallToolResult)
        return result

    async def text(self, tool: str, **arguments: Any) -> str:
        return text_of((await self.call(tool, **arguments)).content[0])


def text_of(block: Any) -> str:
    """The text of a block, contents or message's content."""
    assert isinstance(block, (types.TextContent, types.TextResourceContents))
    return block.text


def their_streams() -> Any:
    """The way of its client to our server."""
    return stdio_client(StdioServerParameters(command=sys.executable, args=["-m", "tests.feature_server"], cwd=ROOT))


@contextlib.asynccontextmanager
async def their_session(revision: str, way: Any) -> AsyncIterator[Theirs]:
    lines: list[Any] = []
    told: list[Any] = []

    async def answer(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"first": "Ada"})

    async def think(context: Any, params: Any) -> Any:
        content = types.TextContent(type="text", text="Hello")
        return types.CreateMessageResult(role="assistant", content=content, model="m", stop_reason="endTurn")

    async def roots(context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri="file:///a")])  # pyright: ignore[reportArgumentType]

    async def logged(params: Any) -> None:
        lines.append(params)

    async def heard(message: Any) -> None:
        told.append(message)

    async with (
        way as streams,
        mcp.ClientSession(
            *streams,
            elicitation_callback=answer,
            sampling_callback=think,
            list_roots_callback=roots,
            logging_callback=logged,
            message_handler=heard,
        ) as session,
    ):
        # Its own `initialize` proposes the newest revision only.
        opening = types.InitializeRequestParams(
            protocol_version=revision,
            capabilities=session._build_capabilities(revision),
            client_info=types.Implementation(name="theirs", version="1"),
        )
        result = await session.send_request(types.InitializeRequest(params=opening), types.InitializeResult)
        session.adopt(result)
        await session.send_notification(types.InitializedNotification())
        yield Theirs(session, [], lines, told)


@pytest.fixture(scope="module")
async def theirs(revision: str, anyio_backend: str) -> AsyncIterator[Theirs]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async with in_one_task(revision, their_streams()) as theirs:
            yield theirs


@contextlib.asynccontextmanager
async def in_one_task(revision: str, way: Any) -> AsyncIterator[Theirs]:
    """The session, entered and left in one task: its task groups want that, and fixtures do not promise it."""
    ready: asyncio.Future[Theirs] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def keep() -> None:
        async with their_session(revision, way) as theirs:
            ready.set_result(theirs)
            await over.wait()

    keeping = asyncio.create_task(keep())
    await asyncio.wait([keeping, ready], return_when=asyncio.FIRST_COMPLETED, timeout=30)
    if keeping.done():
        await keeping
    try:
        yield ready.result()
    finally:
        over.set()
        await asyncio.wait_for(keeping, 30)


async def test_its_client_agrees_with_our_server(theirs: Theirs, revision: str) -> None:
    assert theirs.session.protocol_version == revision
    assert theirs.session.server_info is not None
    assert theirs.session.server_info.name == "features"
    await theirs.session.send_ping()


async def test_its_client_calls_our_tools(theirs: Theirs, revision: str) -> None:
    tools: list[types.Tool] = []
    cursor = None
    while True:
        page = await theirs.session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    assert {"add", "fail", "count", "ask"} <= {tool.name for tool in tools}
    result = await theirs.call("add", a=1, b=2)
    assert text_of(result.content[0]) == "3"
    assert result.structured_content == ({"result": 3} if revision >= "2025-06-18" else None)
    assert (await theirs.call("fail")).is_error
    assert (await theirs.call("add", a="one")).is_error
    with pytest.raises(mcp.MCPError, match="Unknown tool"):
        await theirs.call("zzz")


async def test_its_client_reads_every_content_block_of_ours(theirs: Theirs, revision: str) -> None:
    await theirs.session.list_tools()
    kinds = [block.type for block in (await theirs.call("content_known")).content]
    assert kinds == [
        "text",
        "image",
        "audio" if revision >= "2025-03-26" else "text",
        "resource_link" if revision >= "2025-06-18" else "text",
        "resource",
        "resource",
    ]


async def test_its_client_hears_progress_log_lines_and_changes(theirs: Theirs) -> None:
    theirs.progress.clear()
    await theirs.call("count", n=3)
    await until(lambda: len(theirs.progress) == 3)
    assert theirs.progress == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    await theirs.session.set_logging_level("critical")
    await theirs.call("log")
    await until(lambda: len(theirs.lines) == 3)
    assert [line.level for line in theirs.lines] == ["critical", "alert", "emergency"]
    theirs.told.clear()
    await theirs.session.subscribe_resource("notes://readme")
    await theirs.call("touch", uri="notes://readme")
    await theirs.call("change")
    names = {"ToolListChangedNotification", "ResourceUpdatedNotification"}
    await until(lambda: names <= {type(one).__name__ for one in theirs.told})


async def test_our_server_asks_its_client(theirs: Theirs, revision: str) -> None:
    assert "file:///a" in await theirs.text("roots")
    assert await theirs.text("think") == "Hello"
    if revision >= "2025-06-18":
        assert await theirs.text("ask") == "accept Name(first='Ada', times=1)"
        assert await theirs.text("ask_and_give_up") == "?"


async def test_its_client_cancels_and_our_handler_sees_it(theirs: Theirs) -> None:
    with pytest.raises(mcp.MCPError):
        await theirs.session.call_tool("wait", {}, read_timeout_seconds=0.2)
    async with asyncio.timeout(10):
        while "cancelled" not in str(await theirs.call("seen")):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_its_client_reads_our_resources_and_prompts(theirs: Theirs) -> None:
    session = theirs.session
    assert [str(one.uri) for one in (await session.list_resources()).resources] == ["notes://readme", "notes://bytes"]
    assert len((await session.list_resource_templates()).resource_templates) == 1
    read = await session.read_resource("notes://of/ada")
    assert '"ada"' in text_of(read.contents[0])
    with pytest.raises(mcp.MCPError, match="notes://none"):
        await session.read_resource("notes://none")
    assert [one.name for one in (await session.list_prompts()).prompts] == ["greet", "talk"]
    got = await session.get_prompt("greet", {"name": "Ada"})
    assert text_of(got.messages[0].content) == "Hello Ada"
    found = await session.complete(types.PromptReference(name="greet"), {"name": "name", "value": "A"})
    assert found.completion.values == ["Ada", "Alan"]
