"""With the official SDKs over HTTP: our client with their servers, their clients with our server.

What `test_official_sdk` asks over stdio is asked here again, at each handshake revision.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import subprocess
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import mcp
import pytest
from mcp import types
from mcp.client.streamable_http import streamable_http_client

from mcp_notebook import CallCancelled, Client, Server, connect

from .. import programs
from ..cache import Unavailable
from ..feature_server import make_server
from ..kernels import kernel_names, running_kernel
from ..scripted import until
from ..transports.http.loopback import listening
from . import official_server
from .peers import kill_group, running
from .test_official_sdk import (  # the same tests, over HTTP
    Ours,
    Theirs,
    in_one_task,
    revision,
    test_its_client_agrees_with_our_server,
    test_its_client_calls_our_tools,
    test_its_client_cancels_and_our_handler_sees_it,
    test_its_client_hears_progress_log_lines_and_changes,
    test_its_client_reads_every_content_block_of_ours,
    test_nothing_was_wrong_with_its_server,
    test_our_client_agrees_with_its_server,
    test_our_client_answers_its_questions,
    test_our_client_calls_its_tools,
    test_our_client_hears_progress_and_log_lines,
    test_our_client_reads_its_resources_and_prompts,
    test_our_server_asks_its_client,
)

__all__ = [
    "revision",
    "test_its_client_agrees_with_our_server",
    "test_its_client_calls_our_tools",
    "test_its_client_cancels_and_our_handler_sees_it",
    "test_its_client_hears_progress_log_lines_and_changes",
    "test_its_client_reads_every_content_block_of_ours",
    "test_nothing_was_wrong_with_its_server",
    "test_our_client_agrees_with_its_server",
    "test_our_client_answers_its_questions",
    "test_our_client_calls_its_tools",
    "test_our_client_hears_progress_and_log_lines",
    "test_our_client_reads_its_resources_and_prompts",
    "test_our_server_asks_its_client",
]
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]
MODERN = "2026-07-28"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def answering() -> dict[str, Any]:
    """How our client answers what the official server asks."""
    return {
        "roots": ["file:///a"],
        "elicitation": lambda params: {"first": "Ada"},
        "sampling": lambda params: f"{len(params.messages)} message",
    }


# The same tests, over HTTP


@pytest.fixture(scope="module")
async def ours(revision: str, anyio_backend: str) -> AsyncIterator[Ours]:
    told: list[Any] = []
    app = official_server.server.streamable_http_app()
    async with (
        running(app) as url,
        connect(f"{url}/mcp", revision=revision, on_notification=told.append, **answering()) as client,
    ):
        yield Ours(client, told)


@pytest.fixture(scope="module")
async def theirs(revision: str, anyio_backend: str) -> AsyncIterator[Theirs]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async with (
            listening(make_server()) as url,
            in_one_task(revision, streamable_http_client(url)) as theirs,
        ):
            yield theirs


async def test_our_client_cancels_over_http_and_its_handler_sees_it(
    ours: Ours, capsys: pytest.CaptureFixture[str]
) -> None:
    handle = ours.client.begin_call("wait")
    await ours.client.ping()
    handle.cancel()
    with pytest.raises(CallCancelled):
        await handle
    heard: list[str] = []
    await until(lambda: heard.append(capsys.readouterr().err) or "the handler was cancelled" in "".join(heard))
    assert await ours.text("add", a=1) == "1"


# Our client, their servers


@pytest.mark.parametrize("wanted", [MODERN, None, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
@pytest.mark.parametrize("form", ["JSON", "SSE"])
async def test_our_client_speaks_each_revision_with_its_server_in_both_forms(wanted: str | None, form: str) -> None:
    app = official_server.server.streamable_http_app(json_response=form == "JSON")
    async with running(app) as url, connect(f"{url}/mcp", revision=wanted, **answering()) as client:
        assert client.profile.revision.name == (wanted or MODERN)
        assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
        assert (await client.call_tool("fail")).is_error
        assert (await client.read_resource("notes://of/ada")).text == "note of ada"
        assert (await client.get_prompt("greet", {"name": "Ada"})).text == "Hello Ada"
        results = await asyncio.gather(*(client.call_tool("add", {"a": number}) for number in range(20)))
        assert [one.text for one in results] == [str(number) for number in range(20)]
        assert await client.ping() < 10
        assert not client.session.faults


async def test_our_client_hears_progress_of_its_modern_server() -> None:
    app = official_server.server.streamable_http_app()
    async with running(app) as url, connect(f"{url}/mcp", revision=MODERN) as client:
        handle = client.begin_call("count", {"n": 3})
        await handle
        assert handle.progress is not None
        assert (handle.progress.progress, handle.progress.message) == (3, "step 3")


async def test_our_client_falls_back_to_its_server_of_http_and_sse() -> None:
    async with running(official_server.server.sse_app()) as url, connect(f"{url}/sse", **answering()) as client:
        assert client.profile.revision.era == "handshake"
        assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
        assert (await client.call_tool("ask")).text == "accept Name(first='Ada', times=1)"
        assert (await client.call_tool("roots")).text == "file:///a"
        handle = client.begin_call("count", {"n": 3})
        await handle
        assert handle.progress is not None
        assert handle.progress.progress == 3
        assert not client.session.faults


@contextlib.contextmanager
def everything(mode: str) -> Iterator[str]:
    """The npm package server-everything over HTTP: the URL of its root."""
    command = [*programs.everything_command()[:-1], mode]
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(command, env={"PORT": str(port)}, stdout=nowhere, stderr=nowhere, start_new_session=True)
    try:
        end = time.monotonic() + 20
        while time.monotonic() < end and process.poll() is None:
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        kill_group(process.pid)
        process.wait()


async def _try_everything(client: Client) -> None:
    assert "everything" in client.profile.server_info.name
    assert (await client.call_tool("echo", {"message": "hä?"})).text == "Echo: hä?"
    assert (await client.call_tool("echo", {})).is_error
    handle = client.begin_call("trigger-long-running-operation", {"duration": 0.3, "steps": 3})
    await handle
    assert handle.progress is not None
    assert handle.progress.progress == 3
    assert "1 message" in (await client.call_tool("trigger-sampling-request", {"prompt": "Hi", "maxTokens": 5})).text
    assert "file:///a" in (await client.call_tool("get-roots-list")).text
    resource = (await client.list_resources())[0]
    assert (await client.read_resource(resource.uri)).contents
    handle = client.begin_call("trigger-long-running-operation", {"duration": 60, "steps": 600})
    await until(lambda: handle.progress)
    handle.cancel()
    with pytest.raises(CallCancelled):
        await handle
    assert (await client.call_tool("echo", {"message": "on"})).text == "Echo: on"
    assert not client.session.faults


@pytest.mark.node
@pytest.mark.parametrize("wanted", [None, "2025-11-25", "2025-06-18", "2025-03-26"])
async def test_our_client_with_server_everything_over_http(wanted: str | None) -> None:
    with everything("streamableHttp") as url:
        async with connect(f"{url}/mcp", revision=wanted, **answering()) as client:
            assert client.profile.revision.name == (wanted or "2025-11-25")
            await _try_everything(client)


@pytest.mark.node
async def test_our_client_with_server_everything_over_http_and_sse() -> None:
    with everything("sse") as url:
        async with connect(f"{url}/sse", **answering()) as client:
            await _try_everything(client)


# Their clients, our server


@pytest.mark.parametrize("mode", ["auto", MODERN, "legacy"])
@pytest.mark.parametrize("stream", [False, True], ids=["JSON", "SSE"])
async def test_the_official_client_with_our_server(mode: str, stream: bool) -> None:
    lines: list[Any] = []
    told: list[Any] = []
    reached: list[float] = []

    async def answer(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="accept", content={"first": "Ada"})

    async def think(context: Any, params: Any) -> Any:
        content = types.TextContent(type="text", text="Hello")
        return types.CreateMessageResult(role="assistant", content=content, model="m", stop_reason="endTurn")

    async def roots(context: Any) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri="file:///a")])  # pyright: ignore[reportArgumentType]

    async def logged(params: Any) -> None:
        lines.append(params.level)

    async def heard(message: Any) -> None:
        told.append(type(message).__name__)

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        reached.append(progress)

    async with (
        listening(make_server(), stream=stream) as url,
        mcp.Client(
            url,
            mode=mode,
            elicitation_callback=answer,
            sampling_callback=think,
            list_roots_callback=roots,
            logging_callback=logged,
            log_level="critical",
            message_handler=heard,
        ) as client,
    ):

        async def text(tool: str, **arguments: Any) -> str:
            result = await client.call_tool(tool, arguments, progress_callback=progressed)
            return "".join(getattr(block, "text", "") for block in result.content)

        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else MODERN)
        if mode != MODERN:  # there, it asks nobody who the server is
            assert client.server_info is not None
            assert client.server_info.name == "features"
        page = await client.list_tools()
        assert len(page.tools) == 4
        assert page.next_cursor is not None
        assert await text("add", a=1, b=2) == "3"
        assert (await client.call_tool("add", {"a": "one"})).is_error
        with pytest.raises(mcp.MCPError, match="Unknown tool"):
            await client.call_tool("zzz", {})
        assert await text("count", n=3) == "counted"
        assert reached == [1, 2, 3]
        assert await text("ask") == "accept Name(first='Ada', times=1)"
        assert await text("think") == "Hello"
        assert "file:///a" in await text("roots")
        if mode == "legacy":
            await client.set_logging_level("critical")
        await text("log")
        await until(lambda: lines[-3:] == ["critical", "alert", "emergency"])
        assert (await client.read_resource("notes://readme")).contents
        assert (await client.get_prompt("greet", {"name": "Ada"})).messages
        answers = await asyncio.gather(*(text("add", a=number) for number in range(20)))
        assert answers == [str(number) for number in range(20)]


async def test_the_official_client_listens_to_our_server() -> None:
    server = Server("demo")
    server.resource("a://1")(lambda: "1")

    async with (
        listening(server) as url,
        mcp.Client(url, mode=MODERN) as client,
        client.listen(tools_list_changed=True, resource_subscriptions=["a://1"]) as subscription,
    ):
        server.tool(name="t")(lambda: None)
        server.notify_resource_updated("a://1")
        heard = []
        async with asyncio.timeout(10):
            async for event in subscription:
                heard.append(type(event).__name__)
                if len(heard) == 2:
                    break
    assert len(set(heard)) == 2


@pytest.mark.node
async def test_the_typescript_client_with_our_server() -> None:
    script = str(official_server.__file__).replace("official_server.py", "ts_client.mjs")
    async with listening(make_server(), token="hunter2") as url:
        command = [programs.find("node"), script, str(programs.node_modules()), url, "Bearer hunter2"]
        answer = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    seen = json.loads(answer.stdout)
    assert {"add", "fail", "count", "ask"} <= set(seen.pop("tools"))
    assert "enough" in seen.pop("stopped")
    assert "cancelled" in seen.pop("seen")
    assert seen == {
        "server": "features",
        "instructions": "Be kind.",
        "session": True,
        "revision": "2025-11-25",
        "sum": {"result": 3},
        "wrong": True,
        "unknown": -32602,
        "progress": [1, 2, 3],
        "asked": "accept Name(first='Ada', times=1)",
        "thought": "Hello",
        "roots": seen["roots"],
        "resource": seen["resource"],
        "prompt": seen["prompt"],
        "told": ["notes://readme", "tools"],
        "lines": ["critical", "alert", "emergency"],
        "after": seen["after"],
    }
    assert "file:///a" in seen["roots"]
    assert seen["after"] is not None


# From a notebook


async def test_the_official_client_is_served_from_a_notebook_while_a_cell_computes() -> None:
    try:
        with running_kernel(kernel_names()[0]) as kernel:
            kernel.run("""
                %load_ext mcp_notebook
                import time
                from mcp_notebook import Server
                server = Server("cell")
                @server.tool
                async def add(a: int, b: int = 0) -> int:
                    return a + b
                serving = server.serve_http()
            """)
            url, headers = kernel.value("(serving.url, serving.headers)")
            assert "served at" in kernel.value("repr(serving)")
            assert headers["Authorization"].partition(" ")[2] not in kernel.value("repr(serving)")
            computing = kernel.send("end = time.monotonic() + 4\nwhile time.monotonic() < end: pass\nprint('computed')")
            began = time.monotonic()
            for mode in (MODERN, "legacy"):
                http = httpx2.AsyncClient(headers=headers)
                async with http, mcp.Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                    for number in range(5):
                        result = await client.call_tool("add", {"a": number, "b": 1})
                        assert result.structured_content == {"result": number + 1}
            assert time.monotonic() - began < 3.9
            assert kernel.outcome(computing).text == "computed\n"
            kernel.run("serving.close()")
            assert "no longer served" in kernel.value("repr(serving)")
    except Unavailable as why:
        pytest.skip(str(why))
