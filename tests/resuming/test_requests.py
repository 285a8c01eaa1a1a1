"""Resumable requests: a client may drop, come back under the same id, and has lost nothing and hears nothing twice."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import pytest

from mcp_notebook import Context, Server, connect
from mcp_notebook.errors import RequestTimeout
from mcp_notebook.protocol.resuming import MESSAGE

from ..scripted import until
from ..transports.http.asgi import Session
from ..transports.http.loopback import listening
from .keeping import Keeping, behind_a_proxy, call, heard_in_a_new_session, number, said
from .lines import LINES, HttpLine, Line, MemoryLine, NewHttpLine

pytestmark = pytest.mark.anyio
CAN = {"resumableRequests": {}, "elicitation": {}}
each_line = pytest.mark.parametrize("line", LINES)


async def begun(kind: type[Line], server: Server, id: Any = 7, **arguments: Any) -> tuple[Line, str]:
    """A client whose call has begun, and its token."""
    line = await kind.open(server, CAN)
    await line.say(call(id, **arguments))
    policy = await line.next()
    assert policy["method"] == "notifications/requests/resumePolicy"
    assert policy["params"]["requestId"] == id
    return line, policy["params"]["resumeToken"]


def resume(token: str, id: Any = 7, after: int | None = None) -> dict[str, Any]:
    params: dict[str, Any] = {"resumeToken": token}
    if after is not None:
        params["_meta"] = {MESSAGE: {"requestId": id, "number": after}}
    return {"jsonrpc": "2.0", "id": id, "method": "requests/resume", "params": params}


@each_line
async def test_a_client_that_did_not_opt_in_gets_no_policy(line: type[Line]) -> None:  # RR-1
    server = Keeping()
    server.free.set()
    client = await line.open(server, {})
    await client.say(call())
    assert said(await client.until_answered(7)) == ["one", "two", "three", "run 1"]
    answer = await client.ask(8, "requests/resume", resumeToken="x")
    assert answer["error"]["code"] == -32601


async def test_our_client_opts_in() -> None:  # RR-1
    server = Server("looking")

    @server.tool
    async def look(ctx: Context) -> bool:
        return ctx.profile.client.resumable_requests is not None

    async with connect(server, revision="2025-11-25") as client:
        assert (await client.call_tool("look")).data is True


@each_line
async def test_the_policy_comes_first_in_whole_seconds(line: type[Line]) -> None:  # RR-2
    server = Keeping(min_wait=3, max_wait=60)
    client = await line.open(server, CAN)
    await client.say(call())
    params = (await client.next())["params"]
    assert (params["minWait"], params["maxWait"]) == (3, 60)
    assert len(params["resumeToken"]) >= 40
    assert said([await client.next()]) == ["one"]


@each_line
async def test_a_tool_that_promises_nothing_has_no_policy(line: type[Line]) -> None:  # RR-2
    client = await line.open(Keeping(), CAN)
    assert said([await client.ask(7, "tools/call", name="plain")]) == ["plain"]


@each_line
async def test_after_a_drop_the_handler_runs_on_and_its_messages_are_kept(line: type[Line]) -> None:
    server = Keeping()  # RR-3, RR-4, RR-5
    client, token = await begun(line, server)
    assert said([await client.next(), await client.next()]) == ["one", "two"]
    client = await client.again()
    server.free.set()
    await until(lambda: server.ended == ["done"])
    await client.say(resume(token, after=2))
    assert said(await client.until_answered(7)) == ["three", "run 1"]
    assert server.runs == 1


@each_line
async def test_what_did_not_arrive_comes_again_and_what_did_does_not(line: type[Line]) -> None:  # RR-5, RR-10
    server = Keeping()
    client, token = await begun(line, server)
    first = await client.next()
    client = await client.again()
    await client.say(resume(token, after=number(first)))
    assert said([await client.next()]) == ["two"]
    server.free.set()
    assert said(await client.until_answered(7)) == ["three", "run 1"]


async def test_a_last_event_id_says_what_arrived(caplog: pytest.LogCaptureFixture) -> None:  # RR-10
    server = Keeping()
    line, token = await begun(HttpLine, server)
    assert isinstance(line, HttpLine)
    await line.next()
    last_id = line.last_id
    await line.next()
    await line.again()
    await line.say(resume(token), last_event_id=last_id)
    server.free.set()
    assert said(await line.until_answered(7)) == ["two", "three", "run 1"]


@each_line
async def test_a_client_that_says_nothing_of_what_arrived_gets_all(line: type[Line]) -> None:  # RR-10
    server = Keeping()
    client, token = await begun(line, server)
    await client.next()
    client = await client.again()
    server.free.set()
    await client.say(resume(token))
    assert said(await client.until_answered(7)) == ["one", "two", "three", "run 1"]


@each_line
async def test_a_question_that_was_asked_and_not_answered_comes_again_under_its_id(line: type[Line]) -> None:  # RR-5
    server = Keeping()
    client, token = await begun(line, server, ask=True)
    question = [await client.next() for _ in range(3)][-1]
    assert question["method"] == "elicitation/create"
    client = await client.again()
    await client.say(resume(token, after=2))
    again = await client.next()
    assert again["id"] == question["id"]
    answer = {"action": "accept", "content": {"value": "Ada"}}
    await client.say({"jsonrpc": "2.0", "id": again["id"], "result": answer})
    assert said([await client.next()]) == ["hello Ada"]
    client = await client.again()
    server.free.set()
    await client.say(resume(token))  # what was answered is not asked again
    assert said(await client.until_answered(7)) == ["hello Ada", "three", "run 1"]


@each_line
@pytest.mark.parametrize("wrong", ["token", "id"])
async def test_a_wrong_token_or_id_is_an_error_that_tells_nothing(line: type[Line], wrong: str) -> None:  # RR-6
    client, token = await begun(line, Keeping())
    client = await client.again()
    id, token = (7, token[::-1]) if wrong == "token" else (8, token)
    await client.say(resume(token, id))
    answer = await client.next()
    assert answer["error"] == {
        "code": -32602,
        "message": "There is nothing to resume under this id and token (any more).",
    }
    status = await client.ask(9, "requests/getStatus", requestId=id, resumeToken=token)
    assert status["error"] == answer["error"]


async def test_somebody_elses_token_is_worth_nothing() -> None:  # RR-6
    server = Keeping()
    line = await MemoryLine.open(server, CAN, "ada")
    await line.say(call())
    token = (await line.next())["params"]["resumeToken"]
    other = await MemoryLine.open(server, CAN, "bob")
    await other.say(resume(token))
    assert (await other.next())["error"]["code"] == -32602


@each_line
async def test_a_cancelled_request_cannot_be_resumed(line: type[Line]) -> None:  # RR-7
    server = Keeping()
    client, token = await begun(line, server)
    await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    await until(lambda: server.ended == ["cancelled"])
    client = await client.again()
    await client.say(resume(token))
    assert (await client.next())["error"]["code"] == -32602


@each_line
async def test_a_dropped_request_is_cancelled_by_resuming_and_cancelling_it(line: type[Line]) -> None:  # RR-7
    server = Keeping()
    client, token = await begun(line, server)
    client = await client.again()
    await client.say(resume(token))
    await client.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
    await until(lambda: server.ended == ["cancelled"])


@each_line
async def test_who_stays_away_too_long_has_lost_it(line: type[Line]) -> None:  # RR-8
    server = Keeping(max_wait=1)
    client, token = await begun(line, server)
    client = await client.again()
    began = time.monotonic()
    await until(lambda: server.ended == ["cancelled"])
    assert 0.8 < time.monotonic() - began < 2
    assert len(server.kept) == 0
    await client.say(resume(token))
    assert (await client.next())["error"]["code"] == -32602


@each_line
async def test_who_asks_how_it_stands_has_more_time(line: type[Line]) -> None:  # RR-8, RR-9
    server = Keeping(max_wait=1)
    client, token = await begun(line, server)
    client = await client.again()
    for id in range(10, 13):
        await asyncio.sleep(0.5)
        status = await client.ask(id, "requests/getStatus", requestId=7, resumeToken=token)
        assert status["result"]["status"] == "processing"
    assert server.ended == []


@each_line
async def test_a_client_that_stays_keeps_it_however_long_it_takes(line: type[Line]) -> None:  # RR-8
    server = Keeping(max_wait=1)
    client, _ = await begun(line, server)
    await asyncio.sleep(1.5)
    server.free.set()
    assert said(await client.until_answered(7))[-1] == "run 1"


@each_line
async def test_the_status_tells_how_it_stands_and_fetches_nothing(line: type[Line]) -> None:  # RR-9
    server = Keeping()
    client, token = await begun(line, server, ask=True, fail=True)
    question = [await client.next() for _ in range(3)][-1]
    client = await client.again()

    async def status(id: int) -> dict[str, Any]:
        result = (await client.ask(id, "requests/getStatus", requestId=7, resumeToken=token))["result"]
        assert result.pop("requestId") == 7
        return result

    assert await status(20) == {"status": "processing", "hasPendingMessage": False, "hasInputRequest": True}
    await client.say(resume(token, after=2))
    assert (await client.next())["id"] == question["id"]
    await client.say({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
    assert said([await client.next()]) == ["hello None"]
    client = await client.again()
    server.free.set()
    found, id = await status(21), 22
    while found["status"] == "processing":
        found, id = await status(id), id + 1
    assert found == {"status": "completed", "hasPendingMessage": True, "hasInputRequest": False}
    await client.say(resume(token, after=4))
    assert [message["result"]["isError"] for message in await client.until_answered(7) if "id" in message] == [True]


@each_line
async def test_a_newer_resume_takes_over_and_the_older_one_ends_without_a_word(line: type[Line]) -> None:  # RR-12
    server = Keeping()
    older, token = await begun(line, server)
    await older.next()
    await older.next()
    newer = await older.beside()
    await newer.say(resume(token, after=2))
    assert await older.ended()
    server.free.set()
    assert said(await newer.until_answered(7)) == ["three", "run 1"]


async def test_the_token_stands_in_no_log_and_no_repr(caplog: pytest.LogCaptureFixture) -> None:  # RR-11
    caplog.set_level(logging.DEBUG)
    server = Keeping()
    async with listening(server) as url, connect(url, revision="2025-11-25") as client:
        handle = client.begin_call("work")
        await until(lambda: handle.policy is not None)
        assert handle.policy is not None
        token = handle.policy.token
        async with connect(server, revision="2025-11-25"):
            server.free.set()
            assert (await handle).text == "run 1"
        assert token not in repr(handle) + repr(handle.policy) + repr(
            server.kept.__dict__ if hasattr(server.kept, "__dict__") else server.kept
        )
    assert token not in caplog.text


@pytest.mark.parametrize("wait", [0, 1])
async def test_our_client_waits_at_least_as_long_as_the_policy_says(wait: int) -> None:  # RR-8
    server = Keeping(min_wait=wait)
    async with behind_a_proxy(server) as (client, proxy, _):
        handle = client.begin_call("work")
        await until(lambda: handle.policy is not None and handle.last_number == 2)
        server.free.set()
        began = time.monotonic()
        proxy.cut(reset=True)
        assert (await handle).text == "run 1"
        assert time.monotonic() - began >= wait
    assert server.runs == 1


async def test_our_client_goes_on_in_a_new_session_where_the_old_one_is_forgotten() -> None:  # RR-3, RR-5, RR-10
    server = Keeping()
    async with behind_a_proxy(server) as (client, _, url):
        handle = client.begin_call("work")
        await until(lambda: handle.last_number == 2)
        assert await heard_in_a_new_session(server, client, handle, url) == ["one", "two", "three"]
        assert (await handle).text == "run 1"
    assert server.runs == 1


@each_line
async def test_a_question_that_was_answered_in_vain_is_asked_again_under_its_id(line: type[Line]) -> None:  # RR-5
    server = Keeping()
    client, token = await begun(line, server, ask=True)
    question = [await client.next() for _ in range(3)][-1]
    client = await client.again()
    await client.say(resume(token, after=number(question)))
    again = await client.next()
    assert again["id"] == question["id"]
    await client.say({"jsonrpc": "2.0", "id": again["id"], "result": {"action": "decline"}})
    server.free.set()
    assert said(await client.until_answered(7)) == ["hello None", "three", "run 1"]


@each_line
async def test_each_message_says_which_one_comes_before_it(line: type[Line]) -> None:  # RR-10
    server = Keeping()
    client, token = await begun(line, server)
    await client.next()
    await client.next()
    client = await client.again()
    server.free.set()
    await client.say(resume(token, after=1))
    *told, outcome = [message.get("params") or message["result"] for message in await client.until_answered(7)]
    marks = [message["_meta"][MESSAGE] for message in told]
    assert [(one["number"], one["after"]) for one in marks] == [(2, 1), (3, 2)]
    assert outcome["_meta"][MESSAGE] == {"requestId": 7, "after": 3}


async def test_what_belongs_to_a_call_is_told_once_though_its_client_is_away_in_between() -> None:  # RR-10
    server = Keeping()
    told: list[Any] = []

    def listener(notification: Any) -> None:
        told.append((notification.params or {}).get("data"))

    async with connect(server, revision="2025-11-25", on_notification=listener) as client:
        handle = client.begin_call("work", timeout=0.2)
        with pytest.raises(RequestTimeout):
            await handle
        server.free.set()
        await until(lambda: server.ended == ["done"])  # its last line comes while nobody follows the call
        assert (await handle.resume()).text == "run 1"
    assert [one for one in told if one is not None] == ["one", "two", "three"]


async def test_a_last_event_id_of_another_session_says_nothing() -> None:  # RR-10
    server = Keeping()
    other, _ = await begun(NewHttpLine, server, 8)
    assert isinstance(other, NewHttpLine)
    await other.next()
    await other.next()
    line = await NewHttpLine(other.app, await Session.open(other.app, resumableRequests={}), CAN).again()
    await line.say(call())
    token = (await line.next())["params"]["resumeToken"]
    assert said([await line.next()]) == ["one"]
    await line.say(resume(token), last_event_id=other.last_id)  # the other one has heard more
    server.free.set()
    assert said(await line.until_answered(7)) == ["one", "two", "three", "run 2"]
