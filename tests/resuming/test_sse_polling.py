"""SSE streams that close before all is said, by accident or on purpose, and clients that come back for the rest."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from mcp_notebook import Context, Limits, Server, connect
from mcp_notebook.errors import MCPError, OutcomeUnknown, RequestTimeout
from mcp_notebook.jsonrpc import Message, Request, Response
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.transports.http import client as client_module
from mcp_notebook.transports.http.client import HttpChannel
from mcp_notebook.transports.http.options import HttpOptions

from ..faults import FaultyProxy
from ..scripted import until
from ..transports.http.asgi import Session, request
from ..transports.http.loopback import Asked, Puppet, listening, reply
from ..wires import NoFaults
from .heard import Heard, event, events

pytestmark = pytest.mark.anyio


class Steps(Server):
    """A server whose tools the test lets go on step by step."""

    def __init__(self, **limits: Any) -> None:
        super().__init__("steps", limits=Limits(**limits))
        self.free = asyncio.Event()
        self.thread_free = threading.Event()
        self.runs = 0
        self.outcome: str | None = None

        @self.tool
        async def work(ctx: Context) -> str:
            """Say three things before the test lets it go on, and three after."""
            self.runs += 1
            for number in (1, 2, 3):
                await ctx.progress(number)
            await self.free.wait()
            for number in (4, 5, 6):
                await ctx.progress(number)
            self.outcome = f"run {self.runs}"
            return self.outcome

        @self.tool
        async def poll(ctx: Context, retry: float = 0.2) -> str:
            """Let the client go in the middle."""
            await ctx.progress(1)
            await ctx.close_stream(retry)
            await self.free.wait()
            return "polled"

        @self.tool
        def poll_in_a_thread(ctx: Context) -> str:
            """The same, blocking."""
            ctx.close_stream(0.1)  # pyright: ignore[reportUnusedCoroutine]
            self.thread_free.wait(10)
            return "polled"

        @self.tool
        async def silent() -> str:
            """Say nothing for a while."""
            await self.free.wait()
            return "at last"

        @self.tool
        async def ask(ctx: Context) -> str:
            """Ask once let go."""
            await ctx.progress(1)
            await self.free.wait()
            return str((await ctx.elicit("Name?", str)).data)


@pytest.fixture
async def server() -> Steps:
    return Steps()


@pytest.fixture
async def session(server: Steps) -> AsyncIterator[Session]:
    app = server.asgi_app()
    yield await Session.open(app, elicitation={})
    await app.close()


def call(tool: str, id: Any = 1, **arguments: Any) -> dict[str, Any]:
    return request(id, "tools/call", name=tool, arguments=arguments, _meta={"progressToken": "t"})


def said(found: list[Heard]) -> list[Any]:
    return [one.says for one in found if one.message is not None]


# The serving side


async def test_every_stream_begins_with_an_id_and_no_data(session: Session) -> None:  # SSE-1
    first = await event(session.post(call("work")))
    assert first is not None
    assert first.id is not None
    assert first.id.endswith(".2_0")
    assert first.message is None
    outbox = await event(session.get())
    assert outbox is not None
    assert outbox.id == first.id.replace(".2_0", ".0_0")
    assert outbox.message is None


async def test_a_request_that_is_not_answered_at_once_can_be_gone_on_with(session: Session, server: Steps) -> None:
    asking = session.post(call("silent"))  # SSE-1
    primed = await event(asking)
    assert primed is not None
    asking.go()
    server.free.set()
    assert said(await events(session.get(last_event_id=primed.id))) == ["at last"]


async def test_a_client_of_an_older_revision_gets_no_event_without_data(server: Steps) -> None:  # SSE-1, SSE-5
    session = await Session.open(server.asgi_app(), "2025-06-18")
    server.free.set()
    found = await events(session.post(call("poll")))
    assert said(found) == [1, "polled"]
    assert len(found) == 2


async def test_ids_are_unique_in_the_session(session: Session, server: Steps) -> None:  # SSE-2
    server.free.set()
    one, two = await events(session.post(call("work", 1))), await events(session.post(call("work", 2)))
    ids = [event.id for event in (*one, *two)]
    assert len(set(ids)) == len(ids) == 16


async def test_a_dropped_client_gets_what_it_missed_in_order_and_then_goes_on(session: Session, server: Steps) -> None:
    asking = session.post(call("work"))  # SSE-2
    before = await events(asking, 2)  # the priming one, and the first step
    asking.go()
    back = session.get(last_event_id=before[-1].id)
    assert said(await events(back, 3)) == [2, 3]
    server.free.set()
    assert said(await events(back)) == [4, 5, 6, "run 1"]
    assert server.runs == 1


async def test_what_was_said_while_nobody_heard_it_waits_with_the_answer(session: Session, server: Steps) -> None:
    asking = session.post(call("work"))  # SSE-2
    before = await events(asking, 4)
    asking.go()
    server.free.set()
    await until(lambda: server.outcome is not None)
    assert said(await events(session.get(last_event_id=before[-1].id))) == [4, 5, 6, "run 1"]
    assert said(await events(session.get(last_event_id=before[2].id))) == [3, 4, 5, 6, "run 1"]


async def test_only_the_messages_of_that_stream_come_again(session: Session, server: Steps) -> None:  # SSE-2, SSE-5
    one, other = session.post(call("work", 1)), session.post(call("work", 2))
    before, _ = await events(one, 3), await events(other, 4)
    server.remove_tool("silent")  # belongs to no request
    one.go()
    back = session.get(last_event_id=before[-1].id)
    server.free.set()
    assert said(await events(back)) == [3, 4, 5, 6, "run 2"]
    assert said(await events(other)) == [4, 5, 6, "run 2"]


async def test_the_newest_resume_takes_over_and_the_older_stream_ends(session: Session, server: Steps) -> None:
    asking = session.post(call("work"))  # SSE-5
    before = await events(asking, 4)
    first = session.get(last_event_id=before[-1].id)
    await event(first)
    assert await event(asking) is None
    second = session.get(last_event_id=before[-1].id)
    await event(second)
    assert await event(first) is None
    first.go()  # too late to matter
    await asyncio.sleep(0)
    server.free.set()
    assert said(await events(second)) == [4, 5, 6, "run 1"]


async def test_a_client_that_never_comes_back_fails_no_handler(server: Steps) -> None:  # SSE-5
    session = await Session.open(server.asgi_app(), "2025-06-18")
    asking = session.post(call("work"))
    await events(asking, 3)
    asking.go()
    server.free.set()
    await until(lambda: server.outcome == "run 1")


async def test_a_question_to_a_client_that_is_away_waits_on_its_stream(session: Session, server: Steps) -> None:
    asking = session.post(call("ask"))  # SSE-2, SSE-5
    before = await events(asking, 2)
    asking.go()
    server.free.set()
    back = session.get(last_event_id=before[-1].id)
    question = (await events(back, 2))[-1].message
    assert question["method"] == "elicitation/create"
    answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"value": "Ada"}}}
    assert await session.post(answer).head() == 202
    assert said(await events(back)) == ["Ada"]


async def test_what_belongs_to_no_request_comes_again_after_a_cut(session: Session, server: Steps) -> None:  # SSE-5
    stream = session.get()
    primed = await event(stream)
    server.remove_tool("silent")
    told = await event(stream)
    assert told is not None
    assert primed is not None
    assert told.says == "notifications/tools/list_changed"
    again = session.get(last_event_id=primed.id)
    assert said(await events(again, 2)) == ["notifications/tools/list_changed"]
    anew = session.get()
    await event(anew)
    server.remove_tool("poll")
    (second,) = await events(anew, 1)
    assert told.id is not None
    assert second.id == told.id.replace("_1", "_2")  # and not what was sent before


async def test_the_server_closes_the_stream_with_a_time_to_come_back_and_goes_on(
    session: Session, server: Steps
) -> None:  # SSE-2
    found = await events(session.post(call("poll")))
    assert [(one.retry, one.says) for one in found] == [(None, None), (None, 1), (200, None)]
    assert len({one.id for one in found}) == 3
    back = session.get(last_event_id=found[-1].id)
    await event(back)
    server.free.set()
    assert said(await events(back)) == ["polled"]


async def test_a_handler_in_a_thread_closes_it_too(session: Session, server: Steps) -> None:  # SSE-2
    found = await events(session.post(call("poll_in_a_thread")))
    assert [one.retry for one in found] == [None, 100]
    server.thread_free.set()
    assert said(await events(session.get(last_event_id=found[-1].id))) == ["polled"]


async def test_where_there_is_no_such_stream_closing_it_does_nothing(server: Steps) -> None:  # SSE-2
    server.free.set()
    for revision in ("2025-11-25", "2026-07-28"):
        async with connect(server, revision=revision) as client:
            assert (await client.call_tool("poll")).text == "polled"


@pytest.mark.parametrize("id", ["", "x", "9_1", "2_", "2_-1", "2_x", "2_" + "9" * 40])
async def test_an_id_of_no_stream_is_refused(session: Session, id: str) -> None:  # SSE-2
    await event(session.post(call("work")))
    assert await session.get(last_event_id=id).head() == 400


async def test_a_client_that_heard_it_all_is_told_that_there_is_no_more(session: Session, server: Steps) -> None:
    server.free.set()  # SSE-2
    found = await events(session.post(call("work")))
    assert said(await events(session.get(last_event_id=found[-2].id))) == ["run 1"]
    assert await session.get(last_event_id=found[-1].id).head() == 405


async def test_another_session_does_not_get_the_stream(server: Steps) -> None:  # SSE-2
    app = server.asgi_app()
    one, two = await Session.open(app), await Session.open(app)
    asking = one.post(call("work"))
    (primed,) = await events(asking, 1)
    assert await two.get(last_event_id=primed.id).head() == 400


async def test_messages_that_were_sent_long_ago_are_no_longer_kept() -> None:  # ST-7
    server = Steps(replay=0.05)
    session = await Session.open(server.asgi_app())
    asking = session.post(call("work"))
    before = await events(asking, 4)
    await asyncio.sleep(0.1)
    server.free.set()
    await events(asking)
    back = session.get(last_event_id=before[0].id)
    assert await back.head() in (200, 400)
    if back.status == 200:
        assert 1 not in said(await events(back))


async def test_a_stream_is_bounded_and_keeps_what_must_not_be_lost() -> None:  # SSE-5
    server = Steps(replay_messages=10)
    finished = False

    @server.tool
    async def chatter(ctx: Context) -> str:
        nonlocal finished
        await ctx.info("first")
        await server.free.wait()
        asking = asyncio.create_task(ctx.elicit("Name?", str))
        await asyncio.sleep(0)
        for number in range(100):
            await ctx.info(str(number))
        finished = True
        return f"done, {(await asking).action}"

    session = await Session.open(server.asgi_app(), elicitation={})
    asking = session.post(call("chatter"))
    before = await events(asking, 2)
    asking.go()
    await until(lambda: asking.task.done())
    server.free.set()
    await until(lambda: finished)
    back = session.get(last_event_id=before[-1].id)
    found = await events(back, 11)
    assert said(found) == ["elicitation/create", *map(str, range(91, 100))]
    answer = {"jsonrpc": "2.0", "id": found[1].message["id"], "result": {"action": "decline"}}
    assert await session.post(answer).head() == 202
    assert said(await events(back)) == ["done, decline"]


# The asking side

SSE = {"kind": "text/event-stream"}
INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "puppet", "version": "1"},
}


def answer_to(asked: Asked, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked.json["id"], "result": result}


def sse(*parts: str) -> bytes:
    return reply(200, "".join(parts).encode(), "text/event-stream")


class Polled:
    """What a puppet does: handshake, and for the call and each GET that follows it what the test says."""

    def __init__(self, *steps: Callable[[str], Any]) -> None:
        self.steps = list(steps)
        self.times: list[float] = []
        self.last_ids: list[str | None] = []
        self.call_id = ""

    def __call__(self, asked: Asked) -> Any:
        if asked.says == "initialize":
            return reply(200, answer_to(asked, INITIALIZED))
        if asked.says.startswith("notifications/"):
            return reply(202)
        if asked.says == "GET" and "last-event-id" not in asked.headers:
            return reply(405)
        if asked.says == "tools/call":
            self.call_id = asked.json["id"]
        elif asked.says != "GET":
            return reply(200)
        self.times.append(time.monotonic())
        self.last_ids.append(asked.headers.get("last-event-id"))
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        return step(self.call_id)


def result(id: str, event_id: str = "") -> str:
    named = f"id: {event_id}\n" if event_id else ""
    answer = {"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "late"}]}}
    return f"{named}data: {json.dumps(answer)}\n\n"


def primed(id: str = "a") -> Callable[[str], bytes]:
    return lambda _: sse(f"id: {id}\ndata: \n\n")


async def test_the_client_waits_as_long_as_it_is_told_and_comes_back_with_the_last_id() -> None:  # SSE-2, SSE-3
    steps = Polled(
        lambda id: sse("id: a\ndata: \n\n", "id: b\nretry: 300\ndata: \n\n"), lambda id: sse(result(id, "c"))
    )
    async with Puppet(steps) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        assert (await client.call_tool("x")).text == "late"
    assert steps.last_ids == [None, "b"]
    assert 0.3 <= steps.times[1] - steps.times[0] < 0.6


async def test_the_client_shows_that_a_call_was_dropped_and_is_gone_on_with() -> None:  # SSE-2
    steps = Polled(primed(), lambda id: sse(result(id)))
    async with Puppet(steps) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        handle = client.begin_call("x")
        states = [event.data async for event in handle.events() if event.kind == "state"]
        assert states == [CallState.DROPPED, CallState.RESUMING, CallState.RUNNING]
        assert (await handle).text == "late"


async def test_a_cut_in_the_middle_of_an_event_leaves_the_id_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(id: str) -> bytes:  # SSE-3, SSE-4
        return sse("id: a\ndata: \n\n", 'id: b\ndata: {"jsonrpc":"2.0",\n')

    steps = Polled(cut, lambda id: sse(result(id, "b")))
    async with Puppet(steps) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        assert (await client.call_tool("x")).text == "late"
    assert steps.last_ids == [None, "a"]


async def test_whoever_resumes_by_hand_need_not_wait_for_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "FIRST_RETURN", 1000)
    steps = Polled(primed("a"), lambda id: sse(result(id)))
    async with Puppet(steps) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        handle = client.begin_call("x")
        await until(lambda: handle.status is CallState.DROPPED)
        handle.resume()
        async with asyncio.timeout(10):
            assert (await handle).text == "late"


async def test_drops_without_an_event_between_keep_the_last_id_and_are_bounded() -> None:  # SSE-3
    steps = Polled(primed("a"), lambda _: sse())
    async with (
        Puppet(steps) as puppet,
        connect(puppet.url, revision="2025-11-25", limits=Limits(resumes=3)) as client,
    ):
        with pytest.raises(OutcomeUnknown, match=r"let go of the stream of 'tools/call' 3 times .*Limits\.resumes"):
            await client.call_tool("x")
    assert steps.last_ids == [None, "a", "a", "a"]


async def test_events_between_drops_let_the_client_go_on_for_longer() -> None:  # SSE-3
    polls = [lambda _, n=n: sse(f"id: {n}\nretry: 1\ndata: \n\n") for n in range(6)]
    steps = Polled(*polls, lambda id: sse(result(id)))
    async with (
        Puppet(steps) as puppet,
        connect(puppet.url, revision="2025-11-25", limits=Limits(resumes=2)) as client,
    ):
        assert (await client.call_tool("x")).text == "late"
    assert steps.last_ids == [None, *map(str, range(6))]


@pytest.mark.parametrize("answer", [reply(400), reply(404), reply(405), reply(200, {})])
async def test_a_server_that_does_not_go_on_is_left_and_nothing_is_sent_twice(answer: bytes) -> None:  # SSE-3
    steps = Polled(primed(), lambda _: answer)
    async with Puppet(steps) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        with pytest.raises(OutcomeUnknown, match="does not go on with 'tools/call'"):
            await client.call_tool("x")
        assert len(puppet.requests("tools/call")) == 1


async def test_a_server_that_is_away_for_a_moment_is_tried_again() -> None:  # SSE-3
    steps = Polled(primed(), lambda _: reply(503), lambda _: b"", lambda id: sse(result(id)))
    async with Puppet(steps) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        assert (await client.call_tool("x")).text == "late"


async def test_without_an_id_nothing_can_be_gone_on_with() -> None:  # SSE-2
    steps = Polled(lambda _: sse("data: \n\n"))
    async with Puppet(steps) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        with pytest.raises(OutcomeUnknown):
            await client.call_tool("x")
    assert steps.last_ids == [None]


async def test_a_call_that_is_cancelled_between_two_streams_is_cancelled() -> None:  # SSE-2
    steps = Polled(lambda _: sse("id: a\nretry: 60000\ndata: \n\n"))
    async with Puppet(steps) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        handle = client.begin_call("x")
        await until(lambda: handle.status is CallState.DROPPED)
        handle.cancel()
        await until(lambda: len(puppet.requests("notifications/cancelled")) == 1)
        assert handle.status is CallState.CANCELLED
    assert steps.last_ids == [None]


async def test_the_get_stream_comes_back_with_its_last_id_too() -> None:  # SSE-2
    ids: list[str | None] = []

    def answer(asked: Asked) -> Any:
        if asked.says != "GET":
            return reply(202) if asked.says.startswith("notif") else reply(200, answer_to(asked, INITIALIZED))
        ids.append(asked.headers.get("last-event-id"))
        return sse(f"id: {len(ids)}\nretry: 10\ndata: \n\n") if len(ids) < 3 else reply(400 if len(ids) == 3 else 405)

    async with Puppet(answer) as puppet, connect(puppet.url, revision="2025-11-25"):
        await until(lambda: len(ids) == 4)
    assert ids == [None, "1", "2", None]  # what was missed is gone: what comes is still of interest


async def test_a_request_under_an_id_that_is_in_use_takes_the_place_of_the_older() -> None:  # RR-4, RR-12
    gone = asyncio.Event()

    async def answer(asked: Asked) -> Any:
        if asked.says == "tools/call":
            return endless()
        return sse(result("x"))

    async def endless() -> AsyncIterator[bytes]:
        try:
            yield b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nid: a\ndata: \n\n"
            await asyncio.sleep(30)
        finally:
            gone.set()

    class Listening(NoFaults):
        heard: asyncio.Queue[Message] = asyncio.Queue()

        def received(self, message: Message) -> None:
            self.heard.put_nowait(message)

        def disconnected(self, error: MCPError | None) -> None:
            pass

    async with Puppet(answer) as puppet:
        channel, listening = HttpChannel(puppet.url, HttpOptions(), Limits()), Listening()
        await channel.open(listening)
        await channel.send(Request("x", "tools/call"))
        await until(lambda: len(puppet.asked) == 1)
        await channel.send(Request("x", "requests/resume"))
        async with asyncio.timeout(10):
            assert isinstance(await listening.heard.get(), Response)
            await gone.wait()
        await channel.close()


async def test_a_time_limit_closes_the_stream_of_a_call_that_goes_on() -> None:  # RR-3
    server = Server("demo")
    free = asyncio.Event()

    @server.tool(resumable=True)
    async def work() -> str:
        await free.wait()
        return "worked"

    app = server.asgi_app()
    async with listening(app) as url, connect(url, revision="2025-11-25") as client:
        handle = client.begin_call("work", timeout=0.3)
        with pytest.raises(RequestTimeout):
            await handle
        channel: Any = client.session.connection.channel
        await until(lambda: not channel._posts)
        assert handle.status is CallState.DROPPED
        free.set()
        assert (await handle.resume()).text == "worked"


# Both


async def test_a_call_whose_connection_is_cut_again_and_again_is_run_once_and_heard_once() -> None:  # SSE-2, SSE-5
    server = Server("demo")
    runs = 0

    @server.tool
    async def count(ctx: Context) -> str:
        nonlocal runs
        runs += 1
        for number in range(1, 31):
            await ctx.progress(number)
            await ctx.info(f"line {number}")
            await asyncio.sleep(0.04)
        return "counted"

    async with (
        listening(server) as url,
        FaultyProxy.before(url) as proxy,
        connect(proxy.url(), revision="2025-11-25") as client,
    ):
        handle = client.begin_call("count")

        async def cut() -> None:
            for number in (5, 10, 15):
                await until(lambda: handle.progress is not None and handle.progress.progress >= number)  # noqa: B023
                proxy.cut(reset=True)

        cutting = asyncio.create_task(cut())
        lines = [event.data.data async for event in handle.events() if event.kind == "log"]
        await cutting
        assert (await handle).text == "counted"
    assert lines == [f"line {number}" for number in range(1, 31)]
    assert runs == 1


async def test_polling_is_nothing_that_the_caller_need_know_of() -> None:  # SSE-2
    server = Steps()
    async with listening(server) as url, connect(url, revision="2025-11-25") as client:
        handle = client.begin_call("poll", {"retry": 0.1})
        await until(lambda: handle.status is CallState.DROPPED)
        server.free.set()
        assert (await handle).text == "polled"
