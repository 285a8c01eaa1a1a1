"""The client at Streamable HTTP servers, as they are and as they should not be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import pytest

from mcp_notebook import (
    ConnectError,
    ConnectionLost,
    Context,
    HTTPError,
    InvalidResult,
    LimitExceeded,
    Limits,
    NegotiationError,
    ProtocolError,
    RequestTimeout,
    Server,
    connect,
)
from mcp_notebook.transports.http import client as http_client

from ...scripted import until
from .loopback import INITIALIZED, TEXT, Asked, Puppet, event, handshake, listening, modern, reply, result, stream

pytestmark = pytest.mark.anyio


def failing(*answers: Any) -> Any:
    """Answers one after another; the last one again and again."""
    left = list(answers)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


def to(asked: Asked, **more: Any) -> dict[str, Any]:
    """A message to the request."""
    return {"id": asked.json["id"], **more}


# Sessions


async def test_a_session_is_named_in_every_request_and_ended_at_the_end() -> None:
    async with Puppet(handshake()) as puppet:
        async with connect(puppet.url) as client:
            await client.call_tool("x")
        for asked in puppet.asked[2:]:
            assert asked.headers["mcp-session-id"] == "s-1"
            assert asked.headers["mcp-protocol-version"] == "2025-11-25"
        assert "mcp-session-id" not in puppet.requests("initialize")[0].headers
        assert [asked.says for asked in puppet.asked] == [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "GET",
            "tools/call",
            "DELETE",
        ]


async def test_a_server_without_sessions_is_served_too() -> None:
    async with Puppet(handshake(session=None)) as puppet:
        async with connect(puppet.url) as client:
            assert (await client.call_tool("x")).text == "done"
        assert puppet.requests("DELETE") == []
        assert all("mcp-session-id" not in asked.headers for asked in puppet.asked)


@pytest.mark.parametrize("answer", [reply(405), reply(500), reply(404)])
async def test_a_session_that_may_not_be_ended_is_left(answer: bytes) -> None:
    async with Puppet(handshake({"DELETE": answer})) as puppet:
        async with connect(puppet.url) as client:
            pass
        assert client.state == "closed"


async def test_a_server_silent_at_the_end_does_not_keep_the_client() -> None:
    async def never(asked: Asked) -> bytes:
        await asyncio.sleep(60)
        return b""

    async with Puppet(handshake({"DELETE": never})) as puppet:
        client = await connect(puppet.url, limits=Limits(shutdown=0.1))
        async with asyncio.timeout(2):
            await client.close()


async def test_a_forgotten_session_is_opened_anew_and_the_request_made_again_once() -> None:  # PS#1676, TS#1708
    sessions = iter(["one", "two", "three"])
    alive = {"two"}

    def initialize(asked: Asked) -> bytes:
        return reply(200, result(asked, INITIALIZED), mcp_session_id=next(sessions))

    def call(asked: Asked) -> bytes:
        return reply(200, result(asked, TEXT)) if asked.headers["mcp-session-id"] in alive else reply(404)

    async with (
        Puppet(handshake({"initialize": initialize, "tools/call": call})) as puppet,
        connect(puppet.url) as client,
    ):
        assert (await client.call_tool("x", {"a": 1})).text == "done"
        assert [fault for fault in client.session.faults if "forgotten the session" in fault]
        first, second = puppet.requests("tools/call")
        assert first.json["params"]["arguments"] == second.json["params"]["arguments"] == {"a": 1}
        assert first.json["id"] != second.json["id"]
        assert len(puppet.requests("notifications/initialized")) == 2
        alive.clear()  # and now nothing helps
        with pytest.raises(ConnectionLost, match="forgotten the session"):
            await client.call_tool("x")
        assert len(puppet.requests("initialize")) == 3
        assert client.state == "connected"


async def test_many_requests_that_meet_a_forgotten_session_open_one_new_one() -> None:
    sessions = iter(["one", "two", "three"])

    def initialize(asked: Asked) -> bytes:
        return reply(200, result(asked, INITIALIZED), mcp_session_id=next(sessions))

    async def call(asked: Asked) -> bytes:
        number = asked.json["params"]["arguments"]["n"]
        if asked.headers["mcp-session-id"] == "one":
            await asyncio.sleep(0.01 * number)  # some are told only when the new session is open
            return reply(404)
        return reply(200, result(asked, TEXT))

    async with (
        Puppet(handshake({"initialize": initialize, "tools/call": call})) as puppet,
        connect(puppet.url) as client,
    ):
        results = await asyncio.gather(*(client.call_tool("x", {"n": number}) for number in range(10)))
        assert [one.text for one in results] == ["done"] * 10
        assert len(puppet.requests("initialize")) == 2


async def test_a_404_where_there_is_no_session_is_what_it_is() -> None:
    def found(asked: Asked) -> bytes:
        return reply(404, b"no such page", "text/plain")

    async with (
        Puppet(handshake({"tools/call": found}, session=None)) as puppet,
        connect(puppet.url) as client,
    ):
        with pytest.raises(HTTPError, match="404 Status: no such page") as caught:
            await client.call_tool("x")
        assert caught.value.status == 404


# The GET stream


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(http_client, "SHORTEST_PAUSE", 0.01)
    monkeypatch.setattr(http_client, "LONGEST_PAUSE", 0.05)


@pytest.mark.usefixtures("hasty")
async def test_a_get_stream_that_is_closed_again_and_again_is_given_up_and_that_is_said() -> None:  # PS#3257
    async with Puppet(handshake({"GET": stream()})) as puppet, connect(puppet.url) as client:
        await until(lambda: any("no longer heard of" in fault for fault in client.session.faults))
        count = len(puppet.requests("GET"))
        assert count == 1 + http_client.STREAMS_REOPENED
        assert (await client.call_tool("x")).text == "done"
        await asyncio.sleep(0.1)
        assert len(puppet.requests("GET")) == count


async def test_the_pauses_between_get_streams_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real(0)

    async with Puppet(handshake({"GET": stream()})) as puppet, connect(puppet.url) as client:
        await until(lambda: puppet.requests("GET"))
        monkeypatch.setattr(http_client.asyncio, "sleep", sleep)
        await client.session.connection.channel._listen(client.session.connection.channel._requests)  # type: ignore
        await until(lambda: len([pause for pause in pauses if pause >= 1]) >= 5)
    assert [pause for pause in pauses if pause >= 1] == [1, 2, 4, 8, 16]


@pytest.mark.usefixtures("hasty")
async def test_a_get_stream_on_which_something_came_is_opened_anew_after_the_pause_it_wants() -> None:
    news = {"method": "notifications/tools/list_changed"}

    def get(asked: Asked) -> bytes:
        return stream(b"retry: 1\n\n", event(news)) if len(puppet.requests("GET")) < 12 else reply(405)

    told: list[str] = []
    async with (
        Puppet(handshake({"GET": get})) as puppet,
        connect(puppet.url, on_notification=lambda one: told.append(one.method)) as client,
    ):
        await until(lambda: len(puppet.requests("GET")) == 12)
        assert not client.session.faults
    assert told == ["notifications/tools/list_changed"] * 11


@pytest.mark.parametrize(
    "answer", [reply(405), reply(404), reply(400), reply(204), reply(200, b"<html>", "text/html"), reply(401)]
)
async def test_a_server_without_a_get_stream_is_asked_for_it_once(answer: bytes) -> None:
    async with Puppet(handshake({"GET": answer})) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("x")).text == "done"
        await asyncio.sleep(0.05)
        assert len(puppet.requests("GET")) == 1
        assert not client.session.faults


@pytest.mark.usefixtures("hasty")
async def test_a_get_stream_that_fails_for_now_is_tried_again() -> None:
    async def endless(asked: Asked) -> AsyncIterator[bytes]:
        yield stream(event({"method": "notifications/tools/list_changed"}))
        await asyncio.sleep(60)

    answers: list[Any] = [reply(503), b"", stream(b": cut")]

    def get(asked: Asked) -> Any:
        return answers.pop(0) if answers else endless(asked)

    told: list[str] = []
    async with (
        Puppet(handshake({"GET": get})) as puppet,
        connect(puppet.url, on_notification=lambda one: told.append(one.method)),
    ):
        await until(lambda: told)
        assert len(puppet.requests("GET")) == 4


async def test_a_get_stream_that_hangs_holds_nothing_up() -> None:
    async def never(asked: Asked) -> bytes:
        await asyncio.sleep(60)
        return b""

    async with Puppet(handshake({"GET": never})) as puppet:
        async with asyncio.timeout(3):
            async with connect(puppet.url) as client:
                assert (await client.call_tool("x")).text == "done"


# Forms of answers


@pytest.mark.parametrize("separator", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])  # php-sdk PR401, sh1pt#705
async def test_streams_of_any_line_ends_with_several_data_lines(separator: bytes) -> None:
    def call(asked: Asked) -> bytes:
        id = asked.json["id"].encode()
        lines = [b": hello", b"event: message", b"id: 1", b'data: {"jsonrpc": "2.0",', b'data: "id": "' + id + b'",',
                 b'data: "result": {"content": [], "isError": false}}', b"", b""]  # fmt: skip
        return stream(b"\xef\xbb\xbf" + separator.join(lines))

    async with Puppet(handshake({"tools/call": call})) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("x")).content == []


async def test_events_of_other_types_and_without_data_are_skipped() -> None:
    def call(asked: Asked) -> bytes:
        answer = event(to(asked, result=TEXT))
        return stream(b"id: 0\ndata:\n\n", b"event: ping\ndata: now\n\n", b"event: endpoint\n" + answer, answer)

    async with Puppet(handshake({"tools/call": call})) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("x")).text == "done"
        assert not client.session.faults


async def test_garbage_between_events_is_reported_and_skipped() -> None:
    def call(asked: Asked) -> bytes:
        return stream(b"data: {garbage\n\n", b"data: [1]\n\n", event(to(asked, result=TEXT)))

    async with Puppet(handshake({"tools/call": call})) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("x")).text == "done"
        assert len(client.session.faults) == 2


async def test_progress_and_log_lines_come_before_the_answer() -> None:
    def call(asked: Asked) -> bytes:
        token = asked.json["params"]["_meta"]["progressToken"]
        progress = {"method": "notifications/progress", "params": {"progressToken": token, "progress": 1}}
        line = {"method": "notifications/message", "params": {"level": "info", "data": "hi"}}
        return stream(event(progress), event(line), event(to(asked, result=TEXT)))

    async with Puppet(handshake({"tools/call": call})) as puppet, connect(puppet.url) as client:
        handle = client.begin_call("x")
        await handle
        assert [one.kind async for one in handle.events()] == ["progress", "log", "outcome"]


async def test_a_batch_of_answers_is_understood() -> None:
    def call(asked: Asked) -> bytes:
        line = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hi"}}
        return reply(200, [line, result(asked, TEXT)])

    async with Puppet(handshake({"tools/call": call})) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("x")).text == "done"
        assert [line.data for line in client.session.log] == ["hi"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (reply(200, b"<html>Log in!</html>", "text/html"), "'text/html'"),
        (reply(200, b"{}", None), "no content"),
        (reply(202, kind=None), "answered 202"),
        (reply(204, kind=None), "answered 204"),
        (reply(200, b"nothing"), "JSON that is no message"),
        (reply(200, {"result": {}}), "JSON that is no message"),
        (reply(200, b"data: {}\n\n", "text/plain"), "'text/plain'"),
    ],
)
async def test_an_answer_of_another_form_is_an_error_that_says_what_came(answer: bytes, told: str) -> None:
    async with Puppet(handshake({"tools/call": answer})) as puppet, connect(puppet.url) as client:
        with pytest.raises(InvalidResult, match=told):
            await client.call_tool("x")
        assert client.state == "connected"


async def test_an_answer_that_is_no_response_fails_that_request_alone() -> None:
    def call(asked: Asked) -> bytes:
        return reply(200, {"jsonrpc": "2.0", "id": asked.json["id"]})

    async with Puppet(handshake({"tools/call": call})) as puppet, connect(puppet.url) as client:
        with pytest.raises(InvalidResult, match="neither a request"):
            await client.call_tool("x")


@pytest.mark.parametrize("form", ["json", "stream", "http error"])
@pytest.mark.parametrize("id", ["null", "absent"])
async def test_an_error_without_an_id_is_the_answer_to_the_only_request_there_is(form: str, id: str) -> None:
    error: dict[str, Any] = {"jsonrpc": "2.0", "error": {"code": -32603, "message": "Oh", "data": 7}}
    if id == "null":
        error["id"] = None
    answer = {"json": reply(200, error), "stream": stream(event(error)), "http error": reply(500, error)}[form]
    async with Puppet(handshake({"tools/call": answer})) as puppet, connect(puppet.url) as client:
        with pytest.raises(ProtocolError, match="Oh") as caught:
            await client.call_tool("x")
        assert (caught.value.code, caught.value.data) == (-32603, 7)


async def test_an_answer_over_the_limit_is_an_error() -> None:
    for answer in (reply(200, b"x" * 20_000), stream(b"data: " + b"x" * 20_000)):
        async with (
            Puppet(handshake({"tools/call": answer})) as puppet,
            connect(puppet.url, limits=Limits(message=10_000)) as client,
        ):
            with pytest.raises(LimitExceeded, match="10,000"):
                await client.call_tool("x")
            assert client.state == "connected"


async def test_a_request_over_the_limit_is_not_sent() -> None:
    async with Puppet(handshake()) as puppet, connect(puppet.url, limits=Limits(message=10_000)) as client:
        with pytest.raises(LimitExceeded, match="10,000"):
            await client.call_tool("x", {"a": "x" * 20_000})
        assert puppet.requests("tools/call") == []


async def test_a_compressed_answer_is_read() -> None:
    import gzip

    def call(asked: Asked) -> bytes:
        packed = reply(200, result(asked, TEXT)).partition(b"\r\n\r\n")[2]
        return reply(200, gzip.compress(packed), content_encoding="gzip")

    async with Puppet(handshake({"tools/call": call})) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("x")).text == "done"


@pytest.mark.parametrize("status", [200, 204])
async def test_what_is_due_to_be_202_is_taken_and_noticed_once(status: int) -> None:  # TS#1303
    answer = reply(status, kind=None)
    async with (
        Puppet(handshake({"notifications/initialized": answer, "notifications/roots/list_changed": answer})) as (
            puppet
        ),
        connect(puppet.url, roots=["/tmp"]) as client,
    ):
        await client.notify_roots_changed()
        assert [str(status) in fault and "202" in fault for fault in client.session.faults] == [True]


# Streams that are cut, and answers that do not come


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(
    "cut",
    [stream(), stream(b": alive\n\n"), stream(b'data: {"jsonrpc": "2.0", "id"'), b"", b"HTTP/1.1 200 OK\r\nconten",
     reply(200, b"{" * 100)[:-50]],
    ids=["at once", "comment", "in the answer", "no head", "in the head", "in the body"],
)  # fmt: skip
async def test_a_way_back_that_breaks_leaves_it_unknown_whether_it_was_done(cut: bytes, era: str) -> None:
    answer = handshake({"tools/call": cut}) if era == "handshake" else modern({"tools/call": cut})
    async with Puppet(answer) as puppet, connect(puppet.url) as client:
        with pytest.raises(ConnectionLost, match="unknown"):
            await client.call_tool("x")
        assert len(puppet.requests("tools/call")) == 1
        assert client.state == "connected"


async def test_a_stream_left_open_after_the_answer_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "LINGER", 0.05)

    async def call(asked: Asked) -> AsyncIterator[bytes]:
        yield stream(event(to(asked, result=TEXT)))
        await asyncio.sleep(60)

    async with Puppet(handshake({"tools/call": lambda asked: call(asked)})) as puppet, connect(puppet.url) as client:
        assert (await client.call_tool("x")).text == "done"
        await until(lambda: puppet.gone)


async def test_a_server_that_is_gone_is_a_connect_error() -> None:
    async with Puppet(handshake()) as puppet:
        url = puppet.url
    with pytest.raises(ConnectError, match="There is no way to http"):
        await connect(url)


async def test_a_server_that_goes_and_comes_back_is_reached_again() -> None:
    server = Server("demo")
    server.tool(name="x")(lambda: "done")
    async with listening(server) as url:
        client = await connect(url, revision="2025-11-25")
        assert (await client.call_tool("x")).text == "done"
    with pytest.raises((ConnectError, ConnectionLost)):
        await client.call_tool("x")
    assert client.state == "connected"
    await client.close()


# Time


async def test_a_time_limit_in_the_handshake_era_says_so_and_closes_the_stream() -> None:  # PS#2507
    async def never(asked: Asked) -> AsyncIterator[bytes]:
        yield stream(b": \n\n")
        await asyncio.sleep(60)

    async with Puppet(handshake({"tools/call": lambda asked: never(asked)})) as puppet, connect(puppet.url) as client:
        with pytest.raises(RequestTimeout, match=r"0\.1 s"):
            await client.call_tool("x", timeout=0.1)
        await until(lambda: puppet.requests("notifications/cancelled"))
        (cancelled,) = puppet.requests("notifications/cancelled")
        assert cancelled.json["params"]["requestId"] == puppet.requests("tools/call")[0].json["id"]
        assert cancelled.headers["mcp-session-id"] == "s-1"
        await until(lambda: [asked.says for asked in puppet.gone] == ["tools/call"])


async def test_a_time_limit_in_the_modern_era_closes_the_stream_and_the_server_stops() -> None:
    stopped = asyncio.Event()
    server = Server("demo")

    @server.tool
    async def work(ctx: Context) -> None:
        try:
            await ctx.info("begun")
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.set()
            raise

    async with listening(server) as url, connect(url) as client:
        assert client.profile.revision.name == "2026-07-28"
        with pytest.raises(RequestTimeout):
            await client.call_tool("work", timeout=0.2)
        async with asyncio.timeout(5):
            await stopped.wait()


async def test_cancelling_a_modern_call_sends_nothing_but_the_end_of_its_stream() -> None:
    async def never(asked: Asked) -> bytes:
        await asyncio.sleep(60)
        return b""

    async with Puppet(modern({"tools/call": never})) as puppet, connect(puppet.url) as client:
        handle = client.begin_call("x")
        await until(lambda: puppet.requests("tools/call"))
        handle.cancel()
        await until(lambda: puppet.gone)
        assert puppet.requests("notifications/cancelled") == []


async def test_a_server_that_takes_no_notification_does_not_hold_the_client_up() -> None:
    async def never(asked: Asked) -> bytes:
        await asyncio.sleep(60)
        return b""

    async with (
        Puppet(handshake({"notifications/roots/list_changed": never})) as puppet,
        connect(puppet.url, limits=Limits(request=0.1), roots=["/tmp"]) as client,
    ):
        with pytest.raises(RequestTimeout, match="did not take a message"):
            await client.notify_roots_changed()


async def test_a_stream_of_comments_keeps_nothing_alive() -> None:
    async def silent(asked: Asked) -> AsyncIterator[bytes]:
        yield stream()
        while True:
            yield b": \n\n"
            await asyncio.sleep(0.01)

    async with Puppet(handshake({"tools/call": lambda asked: silent(asked)})) as puppet, connect(puppet.url) as client:
        with pytest.raises(RequestTimeout):
            await client.call_tool("x", timeout=0.2)


async def test_an_own_client_with_a_short_read_limit_does_not_cut_long_calls() -> None:
    async def slow(asked: Asked) -> bytes:
        await asyncio.sleep(0.3)
        return reply(200, result(asked, TEXT))

    async with httpx2.AsyncClient(timeout=0.1, headers={"x-own": "yes"}) as own:
        async with Puppet(handshake({"tools/call": slow})) as puppet:
            async with connect(puppet.url, http_client=own) as client:
                assert (await client.call_tool("x")).text == "done"
            assert all(asked.headers["x-own"] == "yes" for asked in puppet.asked)
        assert not own.is_closed


# What the caller says of the way


async def test_headers_are_sent_with_every_request() -> None:
    async with Puppet(handshake({"GET": stream()})) as puppet:
        async with connect(puppet.url, headers={"Authorization": "Bearer x", "X-Team": "a b"}) as client:
            await client.call_tool("x")
        assert {(asked.headers["authorization"], asked.headers["x-team"]) for asked in puppet.asked} == {
            ("Bearer x", "a b")
        }


async def test_an_auth_of_httpx2_is_asked() -> None:
    async with Puppet(handshake()) as puppet:
        async with connect(puppet.url, auth=("user", "word")):
            pass
        assert puppet.asked[0].headers["authorization"] == "Basic dXNlcjp3b3Jk"


async def test_an_auth_that_fails_fails_the_request_and_nothing_hangs() -> None:
    class Broken(httpx2.Auth):
        def auth_flow(self, request: httpx2.Request) -> Any:
            raise KeyError("no token")

    async with Puppet(handshake()) as puppet:
        with pytest.raises(ConnectionLost, match="KeyError"):
            async with asyncio.timeout(5):
                await connect(puppet.url, auth=Broken())


async def test_a_proxy_is_used() -> None:
    seen: list[str] = []

    def proxy(asked: Asked) -> Any:
        seen.append(asked.path)
        return handshake()(asked)

    async with Puppet(proxy) as puppet, connect("http://mcp.example/mcp", proxy=puppet.url) as client:
        assert (await client.call_tool("x")).text == "done"
    assert set(seen) == {"http://mcp.example/mcp"}


async def test_the_environments_proxy_is_for_others_than_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Puppet(handshake()) as proxy, Puppet(handshake()) as puppet:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        async with connect(puppet.url):
            pass
        assert proxy.asked == []
        async with connect("http://mcp.example/mcp"):
            pass
        assert proxy.asked


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"verify": "/no/such/file.pem"}, "cannot be reached like this"),
        ({"proxy": "gopher://x"}, "cannot be reached like this"),
        ({"headers": {"x": "ä"}}, "cannot be reached like this"),
        ({"headers": {"x": "a\nb"}}, "no way to"),
        ({"headers": {"x y": "a"}}, "no way to"),
    ],
)
async def test_options_that_cannot_be_used_are_connect_errors(options: Mapping[str, Any], told: str) -> None:
    async with Puppet(handshake()) as puppet:
        with pytest.raises(ConnectError, match=told):
            await connect(puppet.url, **options)


async def test_64_calls_at_once_are_64_calls() -> None:
    server = Server("demo")
    together = asyncio.Semaphore(0)

    @server.tool
    async def echo(n: int) -> int:
        if n < 63:
            await together.acquire()
        else:  # the last one lets all others go: they were all under way at once
            for _ in range(63):
                together.release()
        return n

    for revision in ("2025-11-25", "2026-07-28"):
        async with listening(server) as url, connect(url, revision=revision) as client:
            results = await asyncio.gather(*(client.call_tool("echo", {"n": number}) for number in range(64)))
            assert [one.data for one in results] == list(range(64))


# Errors of HTTP


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "headers={'Authorization': 'Bearer …'}"), (403, "token's rights"), (421, "allowed hosts"), (429, "429"),
     (503, "503")],
)  # fmt: skip
async def test_an_error_says_what_to_do_and_nothing_else_is_tried(status: int, advice: str) -> None:
    async with Puppet(lambda asked: reply(status, b"the reason\nwhy", "text/plain")) as puppet:
        with pytest.raises(HTTPError) as caught:
            await connect(puppet.url)
        assert caught.value.status == status
        assert advice in str(caught.value)
        assert "the reason" in str(caught.value)
        assert [asked.says for asked in puppet.asked] == ["server/discover"]


@pytest.mark.parametrize("status", [401, 403, 421, 429, 503])
async def test_such_an_error_says_the_same_beside_a_json_rpc_error(status: int) -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "the reason"}}
    async with Puppet(lambda asked: reply(status, error)) as puppet:
        with pytest.raises(HTTPError, match=f"{status} Status: the reason\\.") as caught:
            await connect(puppet.url)
        assert caught.value.status == status
        assert len(puppet.asked) == 1


async def test_an_error_page_of_any_size_is_quoted_in_a_few_words() -> None:
    async with (
        Puppet(handshake({"tools/call": reply(413, b"\xff<p>" * 100_000, "text/html")})) as puppet,
        connect(puppet.url) as client,
    ):
        with pytest.raises(HTTPError) as caught:
            await client.call_tool("x")
        assert len(str(caught.value)) < 1000


async def test_no_error_names_what_is_secret_in_the_url() -> None:
    async with Puppet(lambda asked: reply(401)) as puppet:
        secret = puppet.url.replace("http://", "http://user:password@") + "?key=hunter2"
        with pytest.raises(HTTPError) as caught:
            await connect(secret)
        assert "password" not in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert puppet.asked[0].path == "/mcp?key=hunter2"
    with pytest.raises(ConnectError) as gone:
        await connect(secret)
    assert "password" not in str(gone.value)
    assert "hunter2" not in str(gone.value)


async def test_the_error_for_a_header_that_cannot_be_sent_does_not_name_its_value() -> None:
    async with Puppet(lambda asked: reply(200)) as puppet:
        with pytest.raises(ConnectError, match="line break") as caught:
            await connect(puppet.url, headers={"Authorization": "Bearer hunter2\n"})
        assert "hunter2" not in str(caught.value)
        assert puppet.asked == []


# Which era


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415, 422, 500, 501])
@pytest.mark.parametrize("body", [b"", b"nonsense", b'{"error": "no session"}', b'{"jsonrpc": "2.0", "id": null, '
                                  b'"error": {"code": -32000, "message": "No session"}}'])  # fmt: skip
async def test_a_server_that_does_not_know_what_is_modern_gets_the_handshake(status: int, body: bytes) -> None:
    async with Puppet(handshake({"server/discover": reply(status, body)})) as puppet, connect(puppet.url) as client:
        assert client.profile.revision.name == "2025-11-25"


@pytest.mark.parametrize("code", [-32020, -32021, -32022])
async def test_an_error_that_only_modern_servers_give_leads_to_no_handshake(code: int) -> None:
    error = {"code": code, "message": "Modern", "data": {"supported": ["2099-01-01"], "requested": "2026-07-28"}}
    answer = reply(400, {"jsonrpc": "2.0", "id": 1, "error": error})
    async with Puppet(handshake({"server/discover": answer})) as puppet:
        with pytest.raises((ProtocolError, NegotiationError)):
            await connect(puppet.url)
        assert puppet.requests("initialize") == []


async def test_a_server_silent_on_the_probe_gets_the_handshake() -> None:  # snow-app PR56
    async def never(asked: Asked) -> bytes:
        await asyncio.sleep(60)
        return b""

    async with Puppet(handshake({"server/discover": never})) as puppet:
        async with connect(puppet.url, limits=Limits(probe=0.1)) as client:
            assert client.profile.revision.name == "2025-11-25"
            assert (await client.call_tool("x")).text == "done"
        await until(lambda: puppet.gone)


async def test_a_modern_server_that_answers_late_stays_modern() -> None:
    discover = modern()

    async def late(asked: Asked) -> bytes:
        await asyncio.sleep(0.3)
        return discover(asked)

    async with (
        Puppet(modern({"server/discover": late})) as puppet,
        connect(puppet.url, limits=Limits(probe=0.05)) as client,
    ):
        assert client.profile.revision.name == "2026-07-28"


async def test_what_a_url_speaks_is_found_out_once() -> None:
    async with Puppet(handshake()) as puppet:
        client = await connect(puppet.url)
        await client.reconnect()
        await client.close()
        assert [asked.says for asked in puppet.asked].count("server/discover") == 1
        assert [asked.says for asked in puppet.asked].count("initialize") == 2


async def test_a_url_that_speaks_otherwise_than_before_is_found_out_anew() -> None:
    async with Puppet(handshake()) as puppet:
        client = await connect(puppet.url)
        await client.close()
        puppet.answer = modern()
        await client.open()
        assert client.profile.revision.name == "2026-07-28"
        await client.close()
        puppet.answer = handshake()
        await client.open()
        assert client.profile.revision.name == "2025-11-25"
        await client.close()


async def test_connecting_leaves_no_task_behind() -> None:
    before = asyncio.all_tasks()
    async with Puppet(handshake({"GET": stream()})) as puppet:
        for answer in (handshake({"GET": stream()}), modern(), lambda asked: reply(401), lambda asked: b""):
            puppet.answer = answer
            try:
                await (await connect(puppet.url)).close()
            except (HTTPError, ConnectionLost, ConnectError):
                pass
        await until(lambda: len(asyncio.all_tasks()) <= len(before))
