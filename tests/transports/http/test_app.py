"""The MCP endpoint as an ASGI application: what each HTTP request comes to."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import Context, Limits, Server
from mcp_notebook.transports.http.app import HttpApp

from ...scripted import until
from .asgi import Asking, Session, headers_of, modern, opening, request

pytestmark = pytest.mark.anyio

HANDSHAKES = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def primes(piece: bytes | None, number: int = 0) -> bool:
    """Whether this is an event that holds nothing but an id, of the stream for what belongs to no request."""
    return piece is not None and re.fullmatch(rb"id: [0-9a-f]+\.0_%d\ndata: \n\n" % number, piece) is not None


ACCEPTED = {"text/event-stream", "application/json"}


class Watched(Server):
    """A server whose tools the test watches, and lets go on."""

    def __init__(self, **limits: Any) -> None:
        super().__init__("demo", limits=Limits(**limits))
        self.said: list[str] = []
        self.free = asyncio.Event()

        @self.tool
        async def add(a: int, b: int = 0) -> int:
            return a + b

        @self.tool
        async def work(ctx: Context) -> str:
            self.said.append("begun")
            try:
                await ctx.progress(1)
                await self.free.wait()
                await ctx.progress(2)
            except asyncio.CancelledError:
                self.said.append("cancelled")
                raise
            self.said.append("done")
            return "worked"

        @self.tool
        async def wait() -> None:
            await self.free.wait()

        @self.tool
        async def ask(ctx: Context) -> str:
            return str((await ctx.elicit("Name?", str)).data)


@pytest.fixture
async def server() -> Watched:
    return Watched()


@pytest.fixture
async def app(server: Watched) -> AsyncIterator[HttpApp]:
    app = server.asgi_app()
    yield app
    await app.close()


def call(id: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(id, "tools/call", name=tool, arguments=arguments, _meta={"progressToken": f"p{id}"})


def modern_call(id: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return modern(id, "tools/call", name=tool, arguments=arguments, meta={"progressToken": f"p{id}"})


async def refused(asking: Asking, status: int) -> dict[str, Any]:
    """The error of a request that is refused with this status."""
    assert await asking.head() == status
    (answer,) = await asking.messages()
    return {**answer["error"], "id": answer["id"]}


# Sessions


@pytest.mark.parametrize("revision", HANDSHAKES)
async def test_a_session_opens_and_answers(app: HttpApp, revision: str) -> None:
    session = await Session.open(app, revision)
    assert session.id.isascii()
    assert len(session.id) >= 32
    asking = session.post(call(1, "add", a=1, b=2), mcp_protocol_version=revision)
    assert await asking.head() == 200
    assert asking.headers["content-type"] == "application/json"
    (answer,) = await asking.messages()
    assert (answer["id"], answer["result"]["content"]) == (1, [{"type": "text", "text": "3"}])


async def test_notifications_and_responses_are_accepted_without_a_body(app: HttpApp) -> None:
    session = await Session.open(app)
    for message in (request(None, "notifications/roots/list_changed"), {"jsonrpc": "2.0", "id": "x", "result": {}}):
        asking = session.post(message)
        assert await asking.head() == 202
        assert await asking.whole() == b""


async def test_without_a_session_nothing_but_initialize_is_answered(app: HttpApp) -> None:
    asking = Asking(app, body=request(1, "ping"))
    assert "Mcp-Session-Id" in (await refused(asking, 400))["message"]
    assert (await refused(Asking(app, "GET"), 400))["code"] == -32600
    assert (await refused(Asking(app, "DELETE"), 400))["code"] == -32600


async def test_an_unknown_session_is_not_found(app: HttpApp) -> None:
    session = Session(app, "made-up", {})
    for asking in (session.post(request(1, "ping")), session.get(), session.delete()):
        assert "Initialize anew" in (await refused(asking, 404))["message"]


async def test_a_deleted_session_is_not_found_and_its_streams_end(app: HttpApp, server: Watched) -> None:
    session = await Session.open(app)
    stream = session.get()
    assert await stream.head() == 200
    working = session.post(call(1, "work"))
    await working.message()
    waiting = session.post(call(2, "wait"), accept="application/json")
    await asyncio.sleep(0)
    assert await session.delete().head() == 200
    assert primes(await stream.whole())
    assert await working.whole() == b""
    assert await waiting.head() == 503
    await until(lambda: server.said == ["begun", "cancelled"])
    for asking in (session.post(request(3, "ping")), session.get(), session.delete()):
        assert await asking.head() == 404


async def test_each_session_has_an_id_of_its_own_and_knows_only_its_own_requests(app: HttpApp) -> None:
    one, two = await Session.open(app), await Session.open(app)
    assert one.id != two.id
    answers = await asyncio.gather(*(session.post(call(1, "add", a=number)).messages() for number, session in
                                     enumerate((one, two))))  # fmt: skip
    assert [answer["result"]["structuredContent"] for (answer,) in answers] == [{"result": 0}, {"result": 1}]


async def test_a_session_of_another_token_is_not_found(server: Watched) -> None:
    app = server.asgi_app(token=["one", "two"])
    session = await Session.open(app, headers={"authorization": "Bearer one"})
    assert await session.post(request(1, "ping")).head() == 200
    other = Session(app, session.id, {"authorization": "Bearer two"})
    for asking in (other.post(request(1, "ping")), other.get(), other.delete()):
        assert await asking.head() == 404
    assert await session.post(request(2, "ping")).head() == 200
    await app.close()


async def test_closing_the_application_ends_sessions_and_requests(app: HttpApp, server: Watched) -> None:
    session = await Session.open(app)
    stream, old, new = session.get(), session.post(call(1, "work")), modern_call(2, "work")
    asking = Asking(app, body=new, headers=headers_of(new))
    await stream.head()
    await old.message()
    await asking.message()
    await app.close()
    assert server.said == ["begun", "begun", "cancelled", "cancelled"]
    assert primes(await stream.whole())
    assert await old.whole() == b""
    assert await asking.whole() == b""


async def test_the_session_idle_longest_gives_way_and_those_with_open_streams_stay() -> None:
    server = Watched(sessions=3)
    app = server.asgi_app()
    first, second, third = [await Session.open(app) for _ in range(3)]
    stream = first.get()
    assert await stream.head() == 200
    assert await second.post(request(1, "ping")).head() == 200
    fourth = await Session.open(app)
    statuses = [await one.post(request(2, "ping")).head() for one in (first, second, third, fourth)]
    assert statuses == [200, 200, 404, 200]
    await app.close()


async def test_a_session_left_idle_for_long_is_forgotten() -> None:
    app = Watched(session_idle=0.05).asgi_app()
    old = await Session.open(app)
    await asyncio.sleep(0.1)
    new = await Session.open(app)
    assert await old.post(request(1, "ping")).head() == 404
    assert await new.post(request(1, "ping")).head() == 200
    await app.close()


async def test_where_every_session_is_in_use_a_new_one_is_refused() -> None:
    app = Watched(sessions=1).asgi_app()
    session = await Session.open(app)
    assert await session.get().head() == 200
    assert "Too many sessions" in (await refused(Asking(app, body=opening()), 503))["message"]
    await app.close()


# How answers travel


async def test_an_answer_with_something_before_it_is_a_stream(app: HttpApp, server: Watched) -> None:
    session = await Session.open(app)
    server.free.set()
    asking = session.post(call(1, "work"))
    messages = await asking.messages()
    assert asking.headers["content-type"] == "text/event-stream"
    assert asking.headers["x-accel-buffering"] == "no"
    assert asking.headers["cache-control"] == "no-cache, no-transform"
    assert [one["params"]["progress"] for one in messages[:-1]] == [1, 2]
    assert messages[-1]["result"]["content"] == [{"type": "text", "text": "worked"}]


async def test_every_answer_is_a_stream_where_that_is_wanted_and_taken(server: Watched) -> None:
    app = server.asgi_app(stream=True)
    session = await Session.open(app)
    for accept, kind in ((None, "text/event-stream"), ("*/*", "text/event-stream"),
                         ("application/json", "application/json")):  # fmt: skip
        asking = session.post(call(1, "add", a=1), accept=accept)
        assert (await asking.messages())[-1]["result"]["structuredContent"] == {"result": 1}
        assert asking.headers["content-type"] == kind
    await app.close()


async def test_a_client_that_takes_json_alone_gets_the_response_alone(app: HttpApp, server: Watched) -> None:
    session = await Session.open(app)
    server.free.set()
    asking = session.post(call(1, "work"), accept="application/json")
    (answer,) = await asking.messages()
    assert asking.headers["content-type"] == "application/json"
    assert answer["result"]["content"] == [{"type": "text", "text": "worked"}]


async def test_a_client_that_takes_streams_alone_gets_streams(app: HttpApp) -> None:
    session = await Session.open(app)
    asking = session.post(call(1, "add", a=1), accept="text/event-stream")
    assert (await asking.messages())[-1]["id"] == 1
    assert asking.headers["content-type"] == "text/event-stream"


async def test_a_question_goes_out_on_the_stream_of_its_request(app: HttpApp) -> None:
    session = await Session.open(app, elicitation={})
    asking = session.post(call(1, "ask"))
    question = await asking.message()
    assert question["method"] == "elicitation/create"
    answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"value": "Ada"}}}
    assert await session.post(answer).head() == 202
    assert (await asking.message())["result"]["content"][0]["text"] == "Ada"


async def test_a_question_to_a_client_that_takes_json_alone_goes_out_on_its_get_stream(app: HttpApp) -> None:
    session = await Session.open(app, elicitation={})
    stream = session.get()
    asking = session.post(call(1, "ask"), accept="application/json")
    question = await stream.message()
    answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}
    assert await session.post(answer).head() == 202
    (told,) = await asking.messages()
    assert told["result"]["content"][0]["text"] == "None"


async def test_silent_streams_bear_comments() -> None:
    server = Watched(keep_alive=0.01)
    app = server.asgi_app()
    session = await Session.open(app)
    stream, working = session.get(), session.post(call(1, "work"))
    await working.message()
    assert [await working.chunk() for _ in range(3)] == [b": \n\n"] * 3
    assert primes(await stream.chunk())
    assert [await stream.chunk() for _ in range(2)] == [b": \n\n", b": \n\n"]
    await app.close()


async def test_a_slow_reader_slows_the_handler_down(server: Watched, app: HttpApp) -> None:
    said = 0

    @server.tool
    async def chatter(ctx: Context) -> None:
        nonlocal said
        for number in range(1000):
            await ctx.info(number)
            said = number + 1

    session = await Session.open(app)
    asking = session.post(call(1, "chatter"))
    asking.slow = asyncio.Event()
    await until(lambda: said > 10)
    for _ in range(20):
        await asyncio.sleep(0.005)
    assert said < 100
    asking.slow.set()
    messages = await asking.messages()
    assert [one["params"]["data"] for one in messages[:-1]] == list(range(1000))


async def test_the_newest_get_stream_gets_what_belongs_to_no_request(app: HttpApp, server: Watched) -> None:
    session = await Session.open(app)
    old = session.get()
    assert primes(await old.chunk())
    new = session.get()
    assert primes(await new.chunk())
    assert await old.whole() == b""
    server.remove_tool("add")
    assert (await new.message())["method"] == "notifications/tools/list_changed"


async def test_a_get_stream_that_reads_nothing_any_more_takes_no_messages_with_it(
    app: HttpApp, server: Watched
) -> None:
    session = await Session.open(app)
    old = session.get()
    assert primes(await old.chunk())
    old.slow = asyncio.Event()
    for name in ("a", "b"):
        await session.post(request(None, "notifications/initialized")).head()  # tells of changes one by one
        server.tool(name=name)(lambda: None)
        await asyncio.sleep(0.01)
    new = session.get()
    assert primes(await new.chunk(), 1)  # the first message is on its way on the old one
    assert (await new.message())["method"] == "notifications/tools/list_changed"


async def test_what_belongs_to_no_request_waits_for_a_get_stream_and_is_bounded() -> None:
    server = Watched(outbox=2)
    app = server.asgi_app()
    session = await Session.open(app)
    uris = ["a://1", "a://2", "a://3"]
    for number, uri in enumerate(uris):
        await session.post(request(number, "resources/subscribe", uri=uri)).messages()
        server.notify_resource_updated(uri)
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)
    stream = session.get()
    assert [(await stream.message())["params"]["uri"] for _ in range(2)] == uris[1:]
    await app.close()


# Clients that go, and requests that are cancelled


async def test_in_the_handshake_era_a_handler_goes_on_without_its_client(app: HttpApp, server: Watched) -> None:
    session = await Session.open(app)
    asking = session.post(call(1, "work"))
    await asking.message()
    asking.go()
    await asyncio.wait_for(asking.task, 5)
    server.free.set()
    await until(lambda: server.said == ["begun", "done"])


async def test_in_the_modern_era_a_handler_is_cancelled_with_its_client(app: HttpApp, server: Watched) -> None:
    message = modern_call(1, "work")
    asking = Asking(app, body=message, headers=headers_of(message))
    await asking.message()
    asking.go()
    await until(lambda: server.said == ["begun", "cancelled"])
    await asyncio.wait_for(asking.task, 5)


async def test_a_modern_client_that_goes_before_anything_was_said_cancels_too(app: HttpApp, server: Watched) -> None:
    message = modern(1, "tools/call", name="work", arguments={})  # no progress token: nothing is said
    asking = Asking(app, body=message, headers=headers_of(message))
    await until(lambda: server.said == ["begun"])
    asking.go()
    await until(lambda: server.said == ["begun", "cancelled"])
    await asyncio.wait_for(asking.task, 5)
    assert asking.status == 0


@pytest.mark.parametrize("begun", [True, False], ids=["begun stream", "nothing said"])
async def test_a_cancelled_request_ends_its_stream_without_an_answer(
    app: HttpApp, server: Watched, begun: bool
) -> None:
    session = await Session.open(app)
    message = call(1, "work") if begun else request(1, "tools/call", name="work", arguments={})
    asking = session.post(message)
    await until(lambda: server.said == ["begun"])
    if begun:
        await asking.message()
    assert await session.post(request(None, "notifications/cancelled", requestId=1)).head() == 202
    assert await asking.whole() == b""
    assert asking.status == 200
    assert server.said == ["begun", "cancelled"]
    assert await session.post(request(1, "ping")).head() == 200  # the id is free again


async def test_a_request_id_in_use_is_refused_and_the_first_goes_on(app: HttpApp, server: Watched) -> None:
    session = await Session.open(app)
    asking = session.post(call(1, "work"))
    await asking.message()
    assert "in use" in (await refused(session.post(request(1, "ping")), 400))["message"]
    server.free.set()
    assert [one.get("id") for one in await asking.messages()] == [None, 1]
    assert await session.post(request(1, "ping")).head() == 200


async def test_the_same_id_of_two_modern_requests_is_two_requests(app: HttpApp) -> None:
    calls = [modern_call(1, "add", a=number) for number in range(5)]
    answers = await asyncio.gather(*(Asking(app, body=one, headers=headers_of(one)).messages() for one in calls))
    assert [answer["result"]["structuredContent"]["result"] for (answer,) in answers] == list(range(5))


# Batches


async def test_a_batch_is_answered_where_the_revision_has_batches(app: HttpApp) -> None:
    session = await Session.open(app, "2025-03-26")
    asking = session.post([call(1, "add", a=1), request(None, "notifications/x"), call(2, "add", a=2)])
    answers = await asking.messages()
    assert asking.headers["content-type"] == "text/event-stream"
    assert sorted(answer["id"] for answer in answers) == [1, 2]


async def test_a_client_that_takes_json_alone_gets_a_batch_of_responses(app: HttpApp) -> None:
    session = await Session.open(app, "2025-03-26")
    asking = session.post([call(1, "add", a=1), call(2, "add", a=2)], accept="application/json")
    body = json.loads(await asking.whole())
    assert sorted(answer["id"] for answer in body) == [1, 2]


async def test_a_batch_of_notifications_and_responses_is_accepted(app: HttpApp) -> None:
    session = await Session.open(app, "2025-03-26")
    batch = [request(None, "notifications/x"), {"jsonrpc": "2.0", "id": 7, "result": {}}]
    assert await session.post(batch).head() == 202


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_a_batch_is_refused_where_the_revision_has_none(app: HttpApp, revision: str) -> None:
    session = await Session.open(app, revision)
    for batch in ([call(1, "add", a=1)], [call(1, "add", a=1), call(2, "add", a=1)]):
        error = await refused(session.post(batch), 400)
        assert error["code"] == -32600
        assert revision in error["message"]


async def test_initialize_in_a_batch_a_twice_used_id_and_an_empty_batch_are_refused(app: HttpApp) -> None:
    session = await Session.open(app, "2025-03-26")
    assert "alone" in (await refused(Asking(app, body=[opening()]), 400))["message"]
    assert "in use" in (await refused(session.post([call(1, "add", a=1), call(1, "add", a=1)]), 400))["message"]
    assert (await refused(session.post([]), 400))["code"] == -32600


async def test_modern_requests_cannot_be_batched(app: HttpApp) -> None:
    message = modern_call(1, "add", a=1)
    assert await Asking(app, body=[message], headers=headers_of(message)).head() == 400


# What is refused


@pytest.mark.parametrize(
    ("body", "code", "id"),
    [
        (b"", -32700, None),
        (b"garbage", -32700, None),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "pi', -32700, None),
        (b"\xff\xfe\x00", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"null", -32600, None),
        (b"7", -32600, None),
        (b'{"id": 5, "method": "ping"}', -32600, 5),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": 3}', -32600, 5),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}', -32600, 5),
    ],
)
async def test_what_is_no_message_is_refused_with_the_reason(app: HttpApp, body: bytes, code: int, id: Any) -> None:
    error = await refused(Asking(app, body=body), 400)
    assert (error["code"], error["id"]) == (code, id)
    assert error["message"].startswith("Parse error" if code == -32700 else "Invalid request")


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "text/json"])
async def test_a_body_that_is_not_called_json_is_refused(app: HttpApp, kind: str | None) -> None:
    assert await Asking(app, body=opening(), headers={"content-type": kind}).head() == 415


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON", " application/json ;x=y"])
async def test_parameters_and_case_of_the_content_type_do_not_matter(app: HttpApp, kind: str) -> None:
    assert await Asking(app, body=opening(), headers={"content-type": kind}).head() == 200


async def test_a_client_that_takes_neither_json_nor_streams_is_refused(app: HttpApp) -> None:
    assert await Asking(app, body=opening(), headers={"accept": "text/html"}).head() == 406
    session = await Session.open(app)
    assert await session.get(accept="application/json").head() == 406


@pytest.mark.parametrize("accept", [None, "*/*", "application/*;q=0.5", "text/html, application/json"])
async def test_wildcards_and_silence_take_what_there_is(app: HttpApp, accept: str | None) -> None:
    assert await Asking(app, body=opening(), headers={"accept": accept}).head() == 200


async def test_other_methods_and_paths_are_refused(app: HttpApp) -> None:
    for method in ("PUT", "PATCH", "HEAD", "OPTIONS"):
        asking = Asking(app, method)
        assert await asking.head() == 405
        assert asking.headers["allow"] == "POST, GET, DELETE"
    assert "/mcp" in (await refused(Asking(app, path="/elsewhere"), 404))["message"]


async def test_the_endpoint_is_where_it_was_put_with_or_without_a_last_slash(server: Watched) -> None:
    for path, asked in (("/mcp", "/mcp/"), ("/mcp/", "/mcp"), ("deep/er", "/deep/er"), ("/", "/")):
        assert await Asking(server.asgi_app(path=path), body=opening(), path=asked).head() == 200


async def test_an_unknown_protocol_version_is_refused(app: HttpApp) -> None:
    session = await Session.open(app)
    error = await refused(session.post(request(1, "ping"), mcp_protocol_version="1999-01-01"), 400)
    assert "2025-11-25" in error["message"]
    assert await session.post(request(1, "ping"), mcp_protocol_version="2025-03-26").head() == 200


async def test_a_body_over_the_limit_is_refused_whether_it_says_its_length_or_not() -> None:
    app = Watched(message=1000).asgi_app()
    large = json.dumps(opening(padding="x" * 1000)).encode()
    said = Asking(app, body=large, headers={"content-length": str(len(large))})
    pieces = [large[start : start + 100] for start in range(0, len(large), 100)]
    for asking in (said, Asking(app, body=pieces), Asking(app, body=pieces, ends=False)):
        assert "1,000 bytes" in (await refused(asking, 413))["message"]


async def test_a_body_that_does_not_come_is_given_up() -> None:
    app = Watched(body=0.05).asgi_app()
    assert await Asking(app, body=b'{"jsonrpc"', ends=False).head() == 408


async def test_a_body_that_is_cut_short_is_nothing(app: HttpApp, server: Watched) -> None:
    asking = Asking(app, body=b'{"jsonrpc": "2.0"', ends=False)
    await asyncio.sleep(0)
    asking.go()
    assert await asking.head() == 400


async def test_more_requests_at_once_than_allowed_are_refused() -> None:
    server = Watched(streams=2)
    app = server.asgi_app()
    session = await Session.open(app)
    streams = [session.post(call(number, "work")) for number in range(2)]
    for stream in streams:
        await stream.message()
    assert "Too many" in (await refused(session.post(request(9, "ping")), 503))["message"]
    server.free.set()
    for stream in streams:
        await stream.whole()
    assert await session.post(request(9, "ping")).head() == 200
    await app.close()


# Who may ask


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "localhost:8000", "LOCALHOST", "[::1]:8000", "[::1]"])
async def test_loopback_hosts_may_ask(app: HttpApp, host: str) -> None:
    assert await Asking(app, body=opening(), headers={"host": host}).head() == 200


@pytest.mark.parametrize(
    "host", [None, "", "evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "[::1",
             "evil.example@localhost.", "169.254.169.254"],
)  # fmt: skip
async def test_other_hosts_may_not(app: HttpApp, host: str | None) -> None:
    assert await Asking(app, body=opening(), headers={"host": host}).head() == 421


async def test_hosts_behind_a_proxy_can_be_allowed(server: Watched) -> None:
    app = server.asgi_app(allowed_hosts=["mcp.example"])
    assert await Asking(app, body=opening(), headers={"host": "mcp.example:443"}).head() == 200
    assert await Asking(app, body=opening(), headers={"host": "other.example"}).head() == 421
    anyone = server.asgi_app(allowed_hosts=["*"])
    assert await Asking(anyone, body=opening(), headers={"host": "other.example"}).head() == 200


@pytest.mark.parametrize("origin", ["http://localhost:8888", "http://127.0.0.1", "https://[::1]:8888"])
async def test_pages_from_loopback_may_ask(app: HttpApp, origin: str) -> None:
    assert await Asking(app, body=opening(), headers={"origin": origin}).head() == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://localhost.evil.example", "file://", "http://[", "localhost"]
)
async def test_pages_from_elsewhere_may_not(app: HttpApp, origin: str) -> None:
    session = await Session.open(app)
    for asking in (Asking(app, body=opening(), headers={"origin": origin}), session.get(origin=origin)):
        assert await asking.head() == 403


async def test_origins_can_be_allowed(server: Watched) -> None:
    app = server.asgi_app(allowed_origins=["https://app.example"])
    assert await Asking(app, body=opening(), headers={"origin": "https://app.example"}).head() == 200
    assert await Asking(app, body=opening(), headers={"origin": "http://app.example"}).head() == 403


@pytest.mark.parametrize("given", [None, "", "secret", "Bearer", "Bearer ", "Bearer wrong", "Basic secret",
                                   "Bearer secret, Bearer secret", "Bearer secrét"])  # fmt: skip
async def test_without_the_token_nothing_is_read(server: Watched, given: str | None) -> None:
    app = server.asgi_app(token="secret")
    asking = Asking(app, body=b"garbage", headers={"authorization": given})
    error = await refused(asking, 401)
    assert asking.headers["www-authenticate"] == "Bearer"
    assert "Authorization: Bearer" in error["message"]
    assert "secret" not in error["message"]


@pytest.mark.parametrize("given", ["Bearer secret", "bearer secret", "Bearer  secret "])
async def test_with_the_token_one_may_ask(server: Watched, given: str) -> None:
    assert await Asking(server.asgi_app(token="secret"), body=opening(), headers={"authorization": given}).head() == 200


async def test_the_token_stands_in_no_repr_and_an_empty_one_is_an_error(server: Watched) -> None:
    app = server.asgi_app(token="secret")
    assert "secret" not in repr(app) + repr(app._guard)
    for token in ("", ["", "x"]):
        with pytest.raises(ValueError, match="empty token"):
            server.asgi_app(token=token)


# Modern requests


async def test_a_modern_request_needs_no_session(app: HttpApp) -> None:
    message = modern_call("x", "add", a=1, b=2)
    asking = Asking(app, body=message, headers={**headers_of(message), "mcp-session-id": "ignored"})
    (answer,) = await asking.messages()
    assert (asking.status, answer["id"], answer["result"]["structuredContent"]) == (200, "x", {"result": 3})
    assert "mcp-session-id" not in asking.headers


async def test_both_eras_are_served_side_by_side(app: HttpApp) -> None:
    session = await Session.open(app)
    message = modern_call(1, "add", a=1)
    new = Asking(app, body=message, headers=headers_of(message))
    old = session.post(call(1, "add", a=2))
    assert [(await one.messages())[0]["result"]["structuredContent"] for one in (new, old)] == [
        {"result": 1},
        {"result": 2},
    ]


@pytest.mark.parametrize("left_out", ["io.modelcontextprotocol/protocolVersion",
                                      "io.modelcontextprotocol/clientCapabilities"])  # fmt: skip
async def test_a_modern_request_without_its_metadata_is_malformed(app: HttpApp, left_out: str) -> None:
    message = modern(1, "tools/list")
    headers = headers_of(message)
    del message["params"]["_meta"][left_out]
    for given in (headers, {}):
        error = await refused(Asking(app, body=message, headers=given), 400)
        assert (error["code"], error["id"]) == (-32602, 1)
        assert left_out in error["message"]


async def test_a_header_that_comes_twice_counts_as_all_that_was_said(app: HttpApp) -> None:
    message = modern_call(1, "add", a=1)
    for names in ("other\nadd", "add\nother", "add\nadd"):  # who reads the first, and who the last, must agree
        asking = Asking(app, body=message, headers=headers_of(message, mcp_name=names))
        assert (await refused(asking, 400))["code"] == -32020
    asking = Asking(app, body=opening(), headers={"accept": "text/html\napplication/json"})
    assert await asking.head() == 200


async def test_an_unknown_method_is_not_found_and_so_is_a_removed_one(app: HttpApp) -> None:
    for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "made/up", "elicitation/create"):
        message = modern(1, method)
        error = await refused(Asking(app, body=message, headers=headers_of(message)), 404)
        assert error["code"] == -32601


async def test_a_modern_notification_is_accepted(app: HttpApp) -> None:
    message = modern(None, "notifications/cancelled", requestId=1)
    asking = Asking(app, body=message, headers=headers_of(message))
    assert await asking.head() == 202
