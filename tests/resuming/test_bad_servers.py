"""Servers that go on with a call badly: whatever they do, it is bounded, explained, and each question answered once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from mcp_notebook import Client, Limits, connect
from mcp_notebook.errors import OutcomeUnknown, RequestTimeout
from mcp_notebook.jsonrpc import Notification, Request, Response
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.protocol.resuming import mark
from mcp_notebook.transports.base import Channel
from mcp_notebook.transports.relay import ATTACHED
from mcp_notebook.types import ElicitParams

from ..scripted import NEVER, Scripted, until
from ..transports.http.loopback import Asked, Puppet, reply
from .test_sse_polling import INITIALIZED, Polled, answer_to, result, sse

pytestmark = pytest.mark.anyio
LIMITS = Limits(resumes=2)
TEXT = {"content": [{"type": "text", "text": "worked"}]}
QUESTION = {"message": "Name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
ANSWER = {"action": "accept", "content": {"name": "Ada"}}


class Person:
    """Whoever answers questions, and counts them; slowly, where the test says so."""

    def __init__(self) -> None:
        self.asked = 0
        self.free = asyncio.Event()
        self.free.set()

    async def __call__(self, params: ElicitParams) -> dict[str, Any]:
        self.asked += 1
        await self.free.wait()
        return {"name": "Ada"}


def lines_of(told: list[Notification]) -> list[Any]:
    """The log lines among what a client was told."""
    return [(one.params or {})["data"] for one in told if one.method == "notifications/message"]


# SSE, by Last-Event-ID


def line(number: int, event_id: str) -> str:
    message = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": number}}
    return f"id: {event_id}\ndata: {json.dumps(message)}\n\n"


def question(event_id: str, id: Any = 7) -> str:
    message = {"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": QUESTION}
    return f"id: {event_id}\ndata: {json.dumps(message)}\n\n"


def sse_head() -> bytes:
    """The head of an event stream that goes on."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class Polling:
    """A server that says on each stream of its one call what the test says."""

    def __init__(self, *steps: Callable[[str], Any]) -> None:
        self.polled = Polled(*steps)
        self.answers: list[Any] = []

    def __call__(self, asked: Asked) -> Any:
        if asked.says == "response":
            self.answers.append(asked.json)
            return reply(202)
        return self.polled(asked)


async def test_a_server_that_always_closes_its_stream_is_left_and_that_is_said() -> None:  # SSE-3
    server = Polling(lambda _: sse("id: a\ndata: \n\n"), lambda _: sse())
    async with Puppet(server) as puppet, connect(puppet.url, revision="2025-11-25", limits=LIMITS) as client:
        with pytest.raises(OutcomeUnknown, match=r"2 times without a word in between \(Limits\.resumes\)"):
            await client.call_tool("x")
        assert len(puppet.requests("tools/call")) == 1
    assert len(server.polled.last_ids) == 1 + LIMITS.resumes


async def test_a_server_that_never_answers_the_get_is_waited_for_within_the_time_limit() -> None:  # SSE-3
    async def never() -> bytes:
        await asyncio.sleep(60)
        return b""

    server = Polling(lambda _: sse("id: a\ndata: \n\n"), lambda _: never())
    async with Puppet(server) as puppet, connect(puppet.url, revision="2025-11-25", limits=LIMITS) as client:
        with pytest.raises(RequestTimeout, match="No answer to 'tools/call' within 1 s"):
            await client.call_tool("x", timeout=1)
        await until(lambda: len(puppet.gone) == 1)
        assert len(puppet.requests("tools/call")) == 1


async def test_a_server_that_sends_all_again_is_heard_once_and_its_question_answered_once() -> None:  # SSE-2, RR-5
    told: list[Notification] = []
    person = Person()
    server = Polling(
        lambda _: sse(line(1, "a"), question("b"), line(2, "c")),
        lambda _: sse(line(1, "a"), question("b"), line(2, "c"), line(3, "d")),
        lambda id: sse(line(1, "a"), question("b"), line(2, "c"), line(3, "d"), result(id, "e")),
    )
    async with (
        Puppet(server) as puppet,
        connect(puppet.url, revision="2025-11-25", elicitation=person, on_notification=told.append) as client,
    ):
        assert (await client.call_tool("x")).text == "late"
        await until(lambda: server.answers)
    assert lines_of(told) == [1, 2, 3]
    assert person.asked == 1
    assert [one["result"] for one in server.answers] == [ANSWER]


async def test_a_server_that_repeats_its_question_under_new_event_ids_gets_the_same_answer() -> None:  # RR-5
    person = Person()
    server = Polling(
        lambda _: sse(question("a")),
        lambda _: sse(question("b")),
        lambda id: sse(question("c"), result(id, "d")),
    )
    async with (
        Puppet(server) as puppet,
        connect(puppet.url, revision="2025-11-25", elicitation=person) as client,
    ):
        assert (await client.call_tool("x")).text == "late"
        assert person.asked == 1
        await until(lambda: len(server.answers) == 3)
    assert all(one == server.answers[0] for one in server.answers)


async def test_an_answer_that_is_cut_off_is_sent_again() -> None:  # SSE-2, RR-5
    person = Person()
    tries: list[Any] = []

    def answer(asked: Asked) -> Any:
        if asked.says != "response":
            return polled(asked)
        tries.append(asked.json)
        return b"" if len(tries) < 3 else reply(202)

    async def stream(id: str) -> Any:
        return going_on(id)

    async def going_on(id: str) -> AsyncIterator[bytes]:
        yield sse_head() + question("a").encode()
        await until(lambda: len(tries) == 3)
        yield result(id, "b").encode()

    polled = Polled(stream)
    async with (
        Puppet(answer) as puppet,
        connect(puppet.url, revision="2025-11-25", elicitation=person) as client,
    ):
        assert (await client.call_tool("x")).text == "late"
    assert person.asked == 1
    assert all(one == tries[0] for one in tries)


async def test_an_event_id_is_not_shown_to_a_session_that_did_not_give_it() -> None:  # SSE-2
    gets: list[tuple[str | None, str | None]] = []
    sessions: list[str] = []

    def answer(asked: Asked) -> Any:
        session = asked.headers.get("mcp-session-id")
        match asked.says:
            case "initialize":
                sessions.append(f"s-{len(sessions) + 1}")
                return reply(200, answer_to(asked, INITIALIZED), mcp_session_id=sessions[-1])
            case "tools/call":
                return sse("id: 1_1\nretry: 400\ndata: \n\n")
            case "ping":
                return reply(404) if session == "s-1" else reply(200, answer_to(asked, {}))
            case "GET" if "last-event-id" in asked.headers:
                gets.append((session, asked.headers["last-event-id"]))
                return reply(400)
            case "GET":
                return reply(405)
            case _:
                return reply(202)

    async with Puppet(answer) as puppet, connect(puppet.url, revision="2025-11-25") as client:
        handle = client.begin_call("x")
        await until(lambda: handle.status is CallState.DROPPED)
        await client.ping()  # and the server has forgotten the session
        with pytest.raises(OutcomeUnknown, match="has forgotten the session of 'tools/call'"):
            await handle
    assert sessions == ["s-1", "s-2"]
    assert gets == []


async def test_the_same_id_in_a_later_call_is_another_question() -> None:  # RR-5
    person = Person()
    server = Polling(lambda id: sse(question("a"), result(id, "b")))
    async with (
        Puppet(server) as puppet,
        connect(puppet.url, revision="2025-11-25", elicitation=person) as client,
    ):
        for count in (1, 2):
            assert (await client.call_tool("x")).text == "late"
            await until(lambda: len(server.answers) == count)  # noqa: B023
    assert person.asked == 2


# requests/resume and stream/resume


@dataclass(frozen=True, slots=True)
class Draft:
    """One of the two, as a server speaks it."""

    resume: str

    def announce(self, id: Any) -> Notification:
        if self.resume == "requests/resume":
            return Notification("notifications/requests/resumePolicy", {"requestId": id, "resumeToken": "token"})
        stream = {"streamId": "s", "resumeToken": "token", "requestId": id, "resumeInterval": {"min": 0, "max": 60}}
        return Notification("notifications/stream/create", {"stream": stream})


Say = Callable[["Resuming"], Any]
DRAFTS = [Draft("requests/resume"), Draft("stream/resume")]
each_draft = pytest.mark.parametrize("draft", DRAFTS, ids=lambda draft: draft.resume)


class Resuming(Scripted):
    """A server in this process that announces its one call, says what the test says, and hangs up; and on each resume
    does what the test says.

    Args:
        draft: how one resumes.
        first: what it says before it hangs up.
        steps: what it does on each resume; the last one again and again.
    """

    def __init__(
        self, draft: Draft, first: Callable[[Resuming], Any] | None, *steps: Callable[[Resuming], Any]
    ) -> None:
        super().__init__({"tools/call": self.begin_call, draft.resume: self.resume})
        self.draft = draft
        self.id: Any = None
        self.resumes = 0
        self.replies: list[Any] = []
        self._first = first
        self._steps = list(steps)

    async def begin_call(self, request: Request) -> Any:
        self.id = request.id
        await self.send(self.draft.announce(request.id))
        if self._first is not None:
            await self._first(self)
        await self.hang_up()
        return NEVER

    async def resume(self, request: Request) -> Any:
        self.resumes += 1
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        await step(self)
        return NEVER

    async def log(self, number: int, after: int | None = None) -> None:
        """Say a log line; with the number of the one before it, as servers of ours do."""
        meta = {} if after is None else {"_meta": mark(None, self.id, number, after)}
        await self.tell("notifications/message", {"level": "info", "data": number, **meta})

    async def question(self, **meta: Any) -> None:
        """Ask, under the same id each time."""
        await self.send(Request("q", "elicitation/create", {**QUESTION, **meta}))

    async def answer(self, after: int | None = None) -> None:
        """Give the result."""
        meta = {} if after is None else {"_meta": mark(None, self.id, after=after)}
        await self.send(Response(self.id, {**TEXT, **meta}))

    def received(self, message: Any) -> None:
        if isinstance(message, Response) and message.id == "q":
            self.replies.append(message.result)
        else:
            super().received(message)


async def hang_up(server: Resuming) -> None:
    await server.hang_up()


async def nothing(server: Resuming) -> None:
    pass


def client_of(server: Resuming, **options: Any) -> Any:
    return connect(server, revision="2025-11-25", **{"limits": LIMITS, **options})


@each_draft
async def test_a_server_that_hangs_up_at_each_resume_is_left_and_that_is_said(draft: Draft) -> None:  # RR-5, ST-2
    server = Resuming(draft, None, hang_up)
    async with client_of(server) as client:
        handle = client.begin_call("x")
        with pytest.raises(OutcomeUnknown, match=r"2 times without hearing anything \(Limits\.resumes\).*again"):
            await handle
        assert handle.status is CallState.UNKNOWN
    assert server.resumes == LIMITS.resumes
    assert len(server.requests("tools/call")) == 1


@each_draft
async def test_a_server_that_never_answers_a_resume_is_left_and_that_is_said(draft: Draft) -> None:  # RR-5, ST-2
    server = Resuming(draft, None, nothing)
    async with client_of(server) as client:
        with pytest.raises(OutcomeUnknown, match=r"resumed 2 times without hearing anything \(Limits\.resumes\)"):
            await client.call_tool("x", timeout=0.2)
        assert client.state == "connected"
    assert server.resumes == LIMITS.resumes
    assert len(server.requests("tools/call")) == 1


@each_draft
async def test_what_a_server_numbers_is_heard_once_though_it_sends_all_again(draft: Draft) -> None:  # RR-10, ST-2
    told: list[Notification] = []

    async def all(server: Resuming) -> None:
        await server.log(1, 0)
        await server.log(2, 1)

    async def all_again(server: Resuming) -> None:
        await all(server)
        await server.log(3, 2)
        await server.answer(3)

    server = Resuming(draft, all, all_again)
    async with client_of(server, on_notification=told.append) as client:
        assert (await client.call_tool("x")).text == "worked"
    assert lines_of(told) == [1, 2, 3]


@each_draft
async def test_what_an_older_way_brings_early_does_not_hide_what_was_missed(draft: Draft) -> None:  # RR-10, RR-12
    told: list[Notification] = []

    async def first(server: Resuming) -> None:
        await server.log(1, 0)

    async def resumed(server: Resuming) -> None:
        await server.log(3, 2)  # still from the older way, which has said 2 to nobody
        for number in (2, 3, 4):
            await server.log(number, number - 1)
        await server.answer(4)

    server = Resuming(draft, first, resumed)
    async with client_of(server, on_notification=told.append) as client:
        assert (await client.call_tool("x")).text == "worked"
    assert lines_of(told) == [1, 2, 3, 4]


@each_draft
async def test_a_result_before_which_something_is_missing_is_fetched_again(draft: Draft) -> None:  # RR-10, ST-2
    told: list[Notification] = []

    async def early(server: Resuming) -> None:
        await server.answer(2)

    async def whole(server: Resuming) -> None:
        await server.log(1, 0)
        await server.log(2, 1)
        await server.answer(2)

    server = Resuming(draft, None, early, whole)
    async with client_of(server, on_notification=told.append) as client:
        result = await client.call_tool("x")
    assert result.text == "worked"
    assert result.meta is None
    assert lines_of(told) == [1, 2]
    assert server.resumes == 2


@each_draft
async def test_a_server_that_never_says_what_is_missing_is_left_and_that_is_said(draft: Draft) -> None:  # RR-10
    async def early(server: Resuming) -> None:
        await server.answer(2)

    server = Resuming(draft, None, early)
    async with client_of(server) as client:
        with pytest.raises(OutcomeUnknown, match=r"resumed 2 times without hearing anything \(Limits\.resumes\)"):
            await client.call_tool("x")


@each_draft
async def test_a_question_that_is_repeated_is_answered_once_and_its_answer_sent_again(draft: Draft) -> None:  # RR-5
    person = Person()

    async def ask(server: Resuming) -> None:
        await server.question()
        await until(lambda: server.replies)

    async def ask_again(server: Resuming) -> None:
        before = len(server.replies)
        await server.question()
        await until(lambda: len(server.replies) > before)
        await server.question()
        await until(lambda: len(server.replies) > before + 1)
        await server.answer()

    server = Resuming(draft, ask, ask_again)
    async with client_of(server, elicitation=person) as client:
        assert (await client.call_tool("x")).text == "worked"
    assert person.asked == 1
    assert server.replies == [ANSWER] * 3


@each_draft
async def test_a_question_that_comes_again_while_somebody_thinks_is_asked_once(draft: Draft) -> None:  # RR-5
    person = Person()
    person.free.clear()

    async def ask(server: Resuming) -> None:
        await server.question()
        await until(lambda: person.asked)

    async def ask_again(server: Resuming) -> None:
        await server.question()
        await server.question(_meta={"said": "again"})
        await until(lambda: handle.status is CallState.INPUT_REQUIRED)
        person.free.set()
        await until(lambda: server.replies)
        await server.answer()

    server = Resuming(draft, ask, ask_again)
    async with client_of(server, elicitation=person) as client:
        assert isinstance(client, Client)
        handle = client.begin_call("x")
        assert (await handle).text == "worked"
        assert client.session.faults == type(client.session.faults)()
    assert person.asked == 1
    assert server.replies == [ANSWER]


# Behind a relay


class Relayed(Resuming):
    """A server that seems to be behind a relay, always in the same process.

    Args:
        draft, first, steps: as `Resuming` has them; `first` alone happens when it is called.
        back: what it says first on each later connection.
    """

    def __init__(self, draft: Draft, first: Say, back: Say, *steps: Say) -> None:
        super().__init__(draft, first, *steps)
        self.connections = 0
        self._back = back

    async def begin_call(self, request: Request) -> Any:
        self.id = request.id
        if self._first is not None:
            await self._first(self)
        return NEVER

    async def serve(self, channel: Channel) -> None:
        self.connections += 1
        self._channel = channel
        serving = asyncio.create_task(super().serve(channel))
        await asyncio.sleep(0)
        await self.tell(ATTACHED, {"server": "p", "attachment": self.connections, "since": 0.0, "keep": 60.0})
        if self.connections > 1:
            await self._back(self)
        await serving


async def announce(server: Resuming) -> None:
    await server.send(server.draft.announce(server.id))


@each_draft
async def test_an_announcement_that_comes_only_on_the_next_connection_is_not_lost(draft: Draft) -> None:  # RR-3, ST-7
    async def whole(server: Resuming) -> None:
        await server.log(1, 0)
        await server.answer(1)

    told: list[Notification] = []
    server = Relayed(draft, hang_up, announce, whole)
    async with client_of(server, on_notification=told.append) as client:
        assert (await client.call_tool("x")).text == "worked"
    assert lines_of(told) == [1]
    assert server.resumes == 1
    assert len(server.requests("tools/call")) == 1


async def test_a_call_that_can_no_longer_be_gone_on_with_is_not_sent_again() -> None:  # RR-5
    person = Person()
    person.free.clear()

    async def ask_and_hang_up(server: Resuming) -> None:
        await until(lambda: client.state == "connected" and handle in client.session.calls)  # it waits there
        await server.question()
        await until(lambda: person.asked)
        await server.hang_up()

    async def back(server: Resuming) -> None:
        if server.connections == 2:  # pyright: ignore[reportAttributeAccessIssue]
            asking.append(asyncio.create_task(ask_and_hang_up(server)))

    asking: list[asyncio.Task[None]] = []
    server = Relayed(DRAFTS[0], hang_up, back, nothing)
    async with client_of(server, elicitation=person) as client:
        handle = client.begin_call("x")
        with pytest.raises(OutcomeUnknown, match="cannot resume it"):
            await handle
    assert len(server.requests("tools/call")) == 1
