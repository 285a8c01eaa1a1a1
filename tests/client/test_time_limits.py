"""Time limits of a client: for a server, for a call, for a question. The clock jumps."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import Limits, NegotiationError, ProtocolError, RequestTimeout, connect
from mcp_notebook.jsonrpc import INTERNAL_ERROR, Request
from mcp_notebook.types import ElicitParams

from ..scripted import NEVER, Scripted
from ..virtual_time import virtual_time as anyio_backend  # noqa: F401

pytestmark = pytest.mark.anyio

SILENT = {"tools/call": NEVER, "resources/read": NEVER, "prompts/get": NEVER, "ping": NEVER}
QUESTION = {"message": "Your name?", "requestedSchema": {"type": "object", "properties": {}}}
REVISION = "2025-11-25"


def now() -> float:
    return asyncio.get_running_loop().time()


async def waited(wait: Any, error: type[BaseException] = RequestTimeout) -> float:
    """How long it took until the error came."""
    began = now()
    with pytest.raises(error):
        await wait
    return now() - began


@pytest.mark.parametrize(
    ("server", "call", "seconds"),
    [({}, {}, 60), ({"timeout": 5}, {}, 5), ({}, {"timeout": 7}, 7), ({"timeout": 5}, {"timeout": 300}, 300)],
)
async def test_silence_is_borne_for_60_seconds_or_as_said_for_the_server_or_the_call(
    server: Any, call: Any, seconds: float
) -> None:
    async with connect(Scripted(SILENT), revision=REVISION, **server) as client:
        assert await waited(client.call_tool("x", **call)) == pytest.approx(seconds, abs=0.1)
        assert await waited(client.read_resource("a:b", **call)) == pytest.approx(seconds, abs=0.1)
        assert await waited(client.get_prompt("x", **call)) == pytest.approx(seconds, abs=0.1)


async def test_the_default_is_a_limit_with_a_name() -> None:
    async with connect(Scripted(SILENT), revision=REVISION, limits=Limits(request=3)) as client:
        assert await waited(client.ping()) == pytest.approx(3, abs=0.1)


async def test_the_server_is_told_of_what_is_given_up_and_may_answer_late() -> None:
    server = Scripted({"tools/call": lambda request: asyncio.sleep(90, {"content": []})})
    async with connect(server, revision=REVISION) as client:
        await waited(client.call_tool("x"))
        (request,) = server.requests("tools/call")
        await asyncio.sleep(60)
        (told,) = server.notifications("notifications/cancelled")
        assert told == {"requestId": request.id, "reason": "no answer within 60 s"}
        assert list(client.session.faults) == []
        assert client.state == "connected"


async def test_progress_extends_a_call_whoever_watches_it_or_not_up_to_the_limit_in_all() -> None:
    server = Scripted()

    async def go_on(request: Request) -> Any:
        for step in range(1000):
            await asyncio.sleep(30)
            await server.progress(request, step)

    server.answers.update({"tools/call": go_on, "resources/read": go_on})
    async with connect(server, revision=REVISION) as client:
        assert await waited(client.call_tool("x")) == pytest.approx(3600, abs=0.1)
        assert await waited(client.read_resource("a:b")) == pytest.approx(3600, abs=0.1)
        # A call that may be silent for longer than that may last as long.
        assert await waited(client.call_tool("x", timeout=5000)) == pytest.approx(5000, abs=0.1)


async def test_while_a_person_answers_the_clock_stands_still() -> None:
    server = Scripted()

    async def ask(request: Request) -> Any:
        await asyncio.sleep(50)
        await server.ask("elicitation/create", QUESTION)
        await asyncio.sleep(5)
        return {"content": []}

    async def slow(params: ElicitParams) -> Any:
        await asyncio.sleep(800)
        return {}

    server.answers["tools/call"] = ask
    async with connect(server, revision=REVISION, elicitation=slow) as client:
        began = now()
        await client.call_tool("x")
        assert now() - began == pytest.approx(855, abs=0.1)


async def test_a_question_that_nobody_answers_ends_with_an_error_to_the_server() -> None:
    async def never(params: ElicitParams) -> Any:
        await asyncio.get_running_loop().create_future()

    server = Scripted(SILENT)
    async with connect(server, revision=REVISION, elicitation=never, limits=Limits(question=100)) as client:
        calling = asyncio.ensure_future(client.call_tool("x"))
        began = now()
        with pytest.raises(ProtocolError, match="No answer within 100 s") as caught:
            await server.ask("elicitation/create", QUESTION)
        assert caught.value.code == INTERNAL_ERROR
        assert now() - began == pytest.approx(100, abs=0.1)
        await waited(calling)
        assert now() - began == pytest.approx(160, abs=0.1)


async def test_the_handshake_has_a_limit_of_its_own() -> None:
    server = Scripted({"initialize": NEVER})

    async def refused_after(**options: Any) -> float:
        return await waited(connect(server, revision=REVISION, **options), NegotiationError)

    assert await refused_after() == pytest.approx(60, abs=0.1)
    assert await refused_after(limits=Limits(connect=5)) == pytest.approx(5, abs=0.1)
    # Whoever bears a longer silence of a server bears it at its start, too.
    assert await refused_after(timeout=200) == pytest.approx(200, abs=0.1)
    assert server.notifications("notifications/cancelled") == []  # "initialize" must not be cancelled


async def test_a_server_that_hangs_does_not_keep_a_client_from_closing() -> None:
    async with connect(Scripted(SILENT), revision=REVISION) as client:
        client.begin_call("x")
        await asyncio.sleep(1)
        began = now()
        await client.close()
        assert now() - began < 2
