"""Resumable streams: an earlier draft of resumable requests, with ids of its own and a word at the end."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import pytest

from mcp_notebook import Context, Limits, Server, connect
from mcp_notebook.protocol.extensions import resumable_requests, resumable_streams
from mcp_notebook.protocol.resuming import MESSAGE

from ..scripted import until
from .keeping import Keeping, behind_a_proxy, call, heard_in_a_new_session, number, said
from .lines import LINES, HttpLine, Line, MemoryLine

pytestmark = pytest.mark.anyio
CAN = {"streams": {}, "elicitation": {}}
END = "notifications/stream/end"
each_line = pytest.mark.parametrize("line", LINES)


async def begun(kind: type[Line], server: Server, **arguments: Any) -> tuple[Line, dict[str, Any]]:
    """A client whose call has begun, and what it needs to go on with its stream."""
    line = await kind.open(server, CAN)
    await line.say(call(**arguments))
    return line, key(await line.next())


def key(create: dict[str, Any]) -> dict[str, Any]:
    assert create["method"] == "notifications/stream/create"
    stream = create["params"]["stream"]
    assert stream["requestId"] == 7
    return {"streamId": stream["streamId"], "resumeToken": stream["resumeToken"]}


def resume(stream: dict[str, Any], id: Any = 8, after: int | None = None) -> dict[str, Any]:
    params = dict(stream)
    if after is not None:
        params["_meta"] = {MESSAGE: {"requestId": 7, "number": after}}
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": "stream/resume", "params": params}
    return message if id is None else {**message, "id": id}


async def until_end(line: Line) -> list[dict[str, Any]]:
    """All messages up to the word that the stream has ended."""
    found = [await line.next()]
    while found[-1].get("method") != END:
        found.append(await line.next())
    return found


@each_line
async def test_the_stream_is_announced_first_and_its_end_follows_the_result(line: type[Line]) -> None:  # ST-1, ST-6
    server = Keeping(min_wait=2, max_wait=60)
    server.free.set()
    client = await line.open(server, CAN)
    await client.say(call())
    create = await client.next()
    stream = key(create)
    assert create["params"]["stream"]["resumeInterval"] == {"min": 2, "max": 60}
    found = await until_end(client)
    assert said(found) == ["one", "two", "three", "run 1", END]
    assert found[-2]["id"] == 7
    assert found[-1]["params"] == {"streamId": stream["streamId"]}
    assert await client.ended()


@each_line
async def test_where_a_client_offers_both_drafts_it_gets_the_later(line: type[Line]) -> None:  # ST-1
    client = await line.open(Keeping(), {**CAN, "resumableRequests": {}})
    await client.say(call())
    assert (await client.next())["method"] == "notifications/requests/resumePolicy"


@each_line
async def test_a_resume_brings_what_was_missed_then_the_result_the_end_and_its_own_answer(line: type[Line]) -> None:
    server = Keeping()  # ST-2, ST-7, ST-9
    client, stream = await begun(line, server)
    first = await client.next()
    client = await client.again()
    await client.say(resume(stream, 8, after=number(first)))
    assert said([await client.next()]) == ["two"]
    server.free.set()
    found = await client.until_answered(8)
    assert said(found[:-1]) == ["three", "run 1", END]
    assert found[-3]["id"] == 7
    assert found[-1]["result"] == {}
    assert await client.ended()
    assert server.runs == 1


@each_line
async def test_an_ended_stream_gives_all_that_was_not_delivered_and_says_that_it_ended(line: type[Line]) -> None:
    server = Keeping()  # ST-2
    client, stream = await begun(line, server)
    client = await client.again()
    server.free.set()
    await until(lambda: server.ended == ["done"])
    await client.say(resume(stream, "r"))
    assert said((await client.until_answered("r"))[:-1]) == ["one", "two", "three", "run 1", END]


@each_line
async def test_a_resume_without_an_id_has_no_answer(line: type[Line]) -> None:  # ST-9
    server = Keeping()
    client, stream = await begun(line, server)
    client = await client.again()
    server.free.set()
    await client.say(resume(stream, None))
    assert said(await until_end(client)) == ["one", "two", "three", "run 1", END]
    assert await client.ended()


@each_line
@pytest.mark.parametrize("wrong", ["streamId", "resumeToken"])
async def test_a_wrong_id_or_token_is_an_error(line: type[Line], wrong: str) -> None:  # ST-3, ST-8
    client, stream = await begun(line, Keeping())
    client = await client.again()
    wrongly = {**stream, wrong: stream[wrong][::-1]}
    await client.say(resume(wrongly, 8))
    assert (await client.next())["error"]["code"] == -32602
    assert (await client.ask(9, "stream/poll", **wrongly))["error"]["code"] == -32602


async def test_a_wrong_resume_without_an_id_is_an_http_error() -> None:  # ST-3, ST-9
    client, stream = await begun(HttpLine, Keeping())
    assert isinstance(client, HttpLine)
    await client.say(resume({**stream, "resumeToken": "x"}, None))
    answer = await client.next()
    assert client.asking is not None
    assert client.asking.status == 400
    assert answer["id"] is None
    assert answer["error"]["code"] == -32602


async def test_elsewhere_it_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:  # ST-3, ST-9
    client, stream = await begun(MemoryLine, Keeping())
    await client.say(resume({**stream, "resumeToken": "x"}, None))
    await until(lambda: "without an id failed" in caplog.text)
    assert stream["resumeToken"] not in caplog.text


async def test_somebody_elses_stream_is_not_found() -> None:  # ST-8
    server = Keeping()
    ada, bob = await MemoryLine.open(server, CAN, "ada"), await MemoryLine.open(server, CAN, "bob")
    await ada.say(call())
    stream = key(await ada.next())
    await bob.say(resume(stream))
    assert (await bob.next())["error"]["code"] == -32602


@each_line
async def test_a_poll_tells_how_it_stands_and_fetches_nothing(line: type[Line]) -> None:  # ST-4
    server = Keeping()
    client, stream = await begun(line, server, ask=True)
    await client.next()
    await client.next()
    question = await client.next()
    client = await client.again()

    async def poll(id: int) -> dict[str, Any]:
        result = (await client.ask(id, "stream/poll", **stream))["result"]
        assert result.pop("streamId") == stream["streamId"]
        return result

    quiet = {"pendingMessages": False, "hasRequest": False, "hasError": False}
    assert await poll(20) == {"status": "live", **quiet}  # the question was delivered, and is no pending message
    await client.say(resume(stream, 8, after=2))
    assert (await client.next())["id"] == question["id"]
    await client.say({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    assert said([await client.next()]) == ["hello None"]
    client = await client.again()
    server.free.set()
    await until(lambda: server.ended == ["done"])
    found, id = await poll(21), 22
    while found["status"] == "live":
        found, id = await poll(id), id + 1
    assert found == {**quiet, "status": "completed", "pendingMessages": True}
    await client.say(resume(stream, 9, after=4))
    assert said((await client.until_answered(9))[:-1]) == ["three", "run 1", END]


async def test_a_question_that_is_pending_shows_in_a_poll() -> None:  # ST-4
    server = Keeping()
    asked = asyncio.Event()

    @server.tool(resumable=True)
    async def late(ctx: Context) -> str:
        await ctx.info("one")
        await server.free.wait()
        asked.set()
        return str((await ctx.elicit("Name?", str)).data)

    client = await HttpLine.open(server, CAN)
    message = call()
    message["params"]["name"] = "late"
    await client.say(message)
    stream = key(await client.next())
    await client.next()
    await client.again()
    server.free.set()
    await asked.wait()
    result = (await client.ask(20, "stream/poll", **stream))["result"]
    assert (result["status"], result["pendingMessages"], result["hasRequest"]) == ("live", True, True)


@each_line
async def test_an_abandoned_stream_is_freed(line: type[Line]) -> None:  # ST-5
    server = Keeping(max_wait=1)
    client, stream = await begun(line, server)
    client = await client.again()
    began = time.monotonic()
    await until(lambda: server.ended == ["cancelled"])
    assert 0.8 < time.monotonic() - began < 2
    assert len(server.kept) == 0
    for id, method in enumerate(("stream/resume", "stream/poll")):
        assert (await client.ask(id, method, **stream))["error"]["code"] == -32602


@each_line
async def test_who_polls_has_more_time(line: type[Line]) -> None:  # ST-5
    server = Keeping(max_wait=1)
    client, stream = await begun(line, server)
    client = await client.again()
    for id in range(10, 13):
        await asyncio.sleep(0.5)
        assert (await client.ask(id, "stream/poll", **stream))["result"]["status"] == "live"
    assert server.ended == []


async def test_a_last_event_id_says_what_arrived() -> None:  # ST-7
    server = Keeping()
    client, stream = await begun(HttpLine, server)
    assert isinstance(client, HttpLine)
    await client.next()
    last_id = client.last_id
    await client.next()
    await client.again()
    await client.say(resume(stream), last_event_id=last_id)
    server.free.set()
    assert said((await client.until_answered(8))[:-1]) == ["two", "three", "run 1", END]


def test_what_is_sent_is_kept_two_minutes() -> None:  # ST-7
    assert Limits().replay == 120


@each_line
async def test_the_newest_resume_takes_over(line: type[Line]) -> None:  # ST-2
    server = Keeping()
    older, stream = await begun(line, server)
    await older.next()
    await older.next()
    newer = await older.beside()
    await newer.say(resume(stream, 8, after=2))
    assert await older.ended()
    server.free.set()
    assert said((await newer.until_answered(8))[:-1]) == ["three", "run 1", END]


@pytest.fixture
def streams_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that know the earlier draft only."""
    monkeypatch.setattr("mcp_notebook.server.session.DIALECTS", (resumable_streams.DIALECT,))
    assert resumable_requests.DIALECT is not resumable_streams.DIALECT


async def test_our_client_goes_on_with_a_stream(streams_alone: None) -> None:  # ST-2, ST-7
    server = Keeping()
    async with behind_a_proxy(server) as (client, _, url):
        handle = client.begin_call("work")
        await until(lambda: handle.last_number == 2)
        assert handle.dialect is resumable_streams.DIALECT
        assert await heard_in_a_new_session(server, client, handle, url) == ["one", "two", "three"]
        assert (await handle).text == "run 1"
        assert (await client.call_tool("plain")).text == "plain"
    assert server.runs == 1


async def test_its_token_stands_in_no_log(streams_alone: None, caplog: pytest.LogCaptureFixture) -> None:  # ST-8
    caplog.set_level(logging.DEBUG)
    server = Keeping()
    async with connect(server, revision="2025-11-25") as client:
        handle = client.begin_call("work")
        await until(lambda: handle.policy is not None)
        assert handle.policy is not None
        assert handle.policy.token not in repr(handle) + repr(handle.policy)
        server.free.set()
        await handle
        assert handle.policy.token not in caplog.text
