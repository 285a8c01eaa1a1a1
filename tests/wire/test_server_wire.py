"""The exact bytes of a server, at each handshake revision."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from mcp_notebook import Context, Server, ToolError
from mcp_notebook.types import AudioContent, Icon, ToolAnnotations

from ..wires import Wire

pytestmark = pytest.mark.anyio

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
each_revision = pytest.mark.parametrize("revision", REVISIONS)


def a_server() -> Server:
    server = Server("demo", version="1", title="Demo", icons=[Icon(src="data:,")], instructions="Be kind.")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True), input_schema={"type": "object"}, title="Adder")
    def add(a: int = 0) -> int:
        return a + 1

    @server.tool
    def fail() -> None:
        raise ToolError("no such city")

    @server.tool
    async def progress(ctx: Context) -> None:
        await ctx.progress(1, 2, "half")
        await ctx.progress(2)

    @server.tool
    async def log(ctx: Context) -> None:
        await ctx.info("a line")
        await ctx.log("error", {"a": None}, logger="mine")

    @server.tool
    async def ask(ctx: Context) -> str:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        answer = await ctx.elicit("Your name?", schema)
        return answer.action

    @server.tool
    async def wait() -> None:
        await asyncio.sleep(1000)

    @server.tool
    def sound() -> AudioContent:
        return AudioContent(data="AA==", mime_type="audio/wav")

    return server


@contextlib.asynccontextmanager
async def wired(revision: str, capabilities: bytes = b"{}") -> AsyncIterator[Wire]:
    """A server that has shaken hands, and the bytes of its answer."""
    wire = Wire()
    serving = asyncio.create_task(a_server().serve(wire))
    await asyncio.sleep(0)
    wire.says(
        b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"' + revision.encode() + b'",'
        b'"capabilities":' + capabilities + b',"clientInfo":{"name":"them","version":"1"}}}'
    )
    try:
        yield wire
    finally:
        wire.breaks(None)
        await asyncio.wait_for(serving, 10)


@contextlib.asynccontextmanager
async def at_work(revision: str, capabilities: bytes = b"{}") -> AsyncIterator[Wire]:
    async with wired(revision, capabilities) as wire:
        await wire.bytes()
        wire.says(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield wire


INFO = {
    "2024-11-05": b'{"name":"demo","version":"1"}',
    "2025-03-26": b'{"name":"demo","version":"1"}',
    "2025-06-18": b'{"name":"demo","title":"Demo","version":"1"}',
    "2025-11-25": b'{"name":"demo","title":"Demo","icons":[{"src":"data:,"}],"version":"1"}',
}


@each_revision
async def test_the_answer_to_the_handshake(revision: str) -> None:
    completions = b'"completions":{},' if revision >= "2025-03-26" else b""
    tasks = b'"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},' if revision >= "2025-11-25" else b""
    async with wired(revision) as wire:
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"' + revision.encode() + b'","capabilities":'
            b"{" + tasks + b'"logging":{},' + completions + b'"prompts":{"listChanged":true},'
            b'"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}},'
            b'"serverInfo":' + INFO[revision] + b',"instructions":"Be kind."}}'
        )


@each_revision
async def test_a_call_and_its_result(revision: str) -> None:
    structured = b',"structuredContent":{"result":3}' if revision >= "2025-06-18" else b""
    async with at_work(revision) as wire:
        wire.says(b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"add","arguments":{"a":2}}}')
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"3"}]' + structured + b"}}"
        )


@each_revision
async def test_a_failure_of_a_tool(revision: str) -> None:
    async with at_work(revision) as wire:
        wire.says(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}')
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no such city"}],"isError":true}}'
        )


@each_revision
async def test_content_that_the_revision_lacks(revision: str) -> None:
    sound = b'{"data":"AA==","mimeType":"audio/wav","type":"audio"}'
    text = b'{"type":"text","text":"[audio/wav, which this protocol revision cannot carry]"}'
    async with at_work(revision) as wire:
        wire.says(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sound"}}')
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","id":1,"result":{"content":[' + (sound if revision >= "2025-03-26" else text) + b"]}}"
        )


@each_revision
@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (b'"method":"made/up"', b'{"code":-32601,"message":"Method not found: made/up"}'),
        (
            b'"method":"tools/call","params":{"name":"ad"}',
            b'{"code":-32602,"message":"Unknown tool: ad. Did you mean add?"}',
        ),
        (
            b'"method":"resources/read","params":{"uri":"a:b"}',
            b'{"code":-32002,"message":"Resource not found: a:b","data":{"uri":"a:b"}}',
        ),
    ],
)
async def test_an_error(revision: str, request_: bytes, error: bytes) -> None:
    async with at_work(revision) as wire:
        wire.says(b'{"jsonrpc":"2.0","id":1,' + request_ + b"}")
        assert await wire.bytes() == b'{"jsonrpc":"2.0","id":1,"error":' + error + b"}"


async def test_a_request_that_is_none_is_answered_with_its_id() -> None:
    async with at_work("2025-11-25") as wire:
        wire.says(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}')
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request: \'params\' is not an object"}}'
        )


@each_revision
async def test_progress(revision: str) -> None:
    async with at_work(revision) as wire:
        wire.says(
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":7}}}'
        )
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","method":"notifications/progress",'
            b'"params":{"progressToken":7,"progress":1,"total":2,"message":"half"}}'
        )
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":2}}'
        )
        assert await wire.bytes() == b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
        assert wire.about == [0, 1, 1, 1]


@each_revision
async def test_log_lines(revision: str) -> None:
    async with at_work(revision) as wire:
        wire.says(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"log"}}')
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a line"}}'
        )
        assert await wire.bytes() == (
            b'{"jsonrpc":"2.0","method":"notifications/message",'
            b'"params":{"level":"error","data":{"a":null},"logger":"mine"}}'
        )


@pytest.mark.parametrize(("revision", "mode"), [("2025-06-18", b""), ("2025-11-25", b',"mode":"form"')])
async def test_elicitation(revision: str, mode: bytes) -> None:
    async with at_work(revision, b'{"elicitation":{}}') as wire:
        wire.says(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}')
        question = await wire.bytes()
        id = question.split(b'"')[7]
        assert question == (
            b'{"jsonrpc":"2.0","id":"' + id + b'","method":"elicitation/create","params":{"message":"Your name?",'
            b'"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}'
            + mode
            + b"}}"
        )
        wire.says(b'{"jsonrpc":"2.0","id":"' + id + b'","result":{"action":"decline"}}')
        answer = await wire.bytes()
        assert b'"text":"decline"' in answer


@each_revision
async def test_a_cancelled_call_is_not_answered_and_a_late_cancellation_is_ignored(revision: str) -> None:
    async with at_work(revision) as wire:
        wire.says(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}')
        await asyncio.sleep(0.01)
        wire.says(
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}',
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
            b'{"jsonrpc":"2.0","id":2,"method":"ping"}',
        )
        assert await wire.bytes() == b'{"jsonrpc":"2.0","id":2,"result":{}}'
        assert wire.rest() == []


@each_revision
async def test_a_list_and_its_change(revision: str) -> None:
    title = b',"title":"Adder"' if revision >= "2025-06-18" else b""
    hints = b',"annotations":{"readOnlyHint":true}' if revision >= "2025-03-26" else b""
    async with at_work(revision) as wire:
        wire.says(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
        listed = await wire.bytes()
        assert listed.startswith(
            b'{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"add"' + title + b',"inputSchema":{"type":"object"}'
        )
        assert hints in listed
        assert (b"outputSchema" in listed) == (revision >= "2025-06-18")
        assert (b"annotations" in listed) == (revision >= "2025-03-26")
        assert b"null" not in listed
