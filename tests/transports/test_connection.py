"""A connection: futures, time limits, handlers at work. The other end is the test; the clock jumps."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from mcp_notebook.errors import (
    ConnectionLost,
    InvalidResult,
    LimitExceeded,
    MCPError,
    ProtocolError,
    RequestTimeout,
    ServerExited,
)
from mcp_notebook.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    InvalidMessage,
    Message,
    Notification,
    Request,
    RequestId,
    Unserializable,
)
from mcp_notebook.limits import Limits
from mcp_notebook.transports.connection import Connection

from ..virtual_time import virtual_time as anyio_backend  # noqa: F401
from ..wires import Wire

pytestmark = pytest.mark.anyio

OnRequest = Callable[[Request], Awaitable[Any]]


class Answering:
    """A handler that remembers what it is told, and answers as it is told to."""

    def __init__(self, on_request: OnRequest | None = None) -> None:
        self.answer = on_request
        self.told: list[Notification] = []
        self.faults: list[str] = []
        self.ends: list[MCPError | None] = []

    async def on_request(self, request: Request) -> Any:
        assert self.answer is not None
        return await self.answer(request)

    def on_notification(self, notification: Notification) -> None:
        self.told.append(notification)

    def on_fault(self, reason: str) -> None:
        self.faults.append(reason)

    def on_disconnected(self, error: MCPError | None) -> None:
        self.ends.append(error)


class Talk:
    """A connection, its wire and its handler."""

    def __init__(self, on_request: OnRequest | None = None, **options: Any) -> None:
        self.wire = Wire(bound=1e6)
        self.handler = Answering(on_request)
        self.connection = Connection(self.wire, self.handler, **options)

    def ask(self, method: str = "tools/call", **options: Any) -> asyncio.Task[Any]:
        return asyncio.create_task(self.connection.request(method, {}, **options))


@contextlib.asynccontextmanager
async def talk(on_request: OnRequest | None = None, **options: Any) -> AsyncIterator[Talk]:
    it = Talk(on_request, **options)
    await it.connection.open()
    try:
        yield it
    finally:
        await it.connection.close()


def now() -> float:
    return asyncio.get_running_loop().time()


async def settle() -> None:
    """Let everything happen that is ready to."""
    for _ in range(20):
        await asyncio.sleep(0)


# Asking


async def test_an_answer_comes_back_to_whoever_asked() -> None:
    async with talk() as it:
        one, two = it.ask("one"), it.ask("two")
        first, second = await it.wire.message(), await it.wire.message()
        it.wire.says({"id": second["id"], "result": 2}, {"id": first["id"], "result": 1})
        assert (await one, await two) == (1, 2)


async def test_an_error_comes_back_as_an_exception() -> None:
    async with talk() as it:
        asking = it.ask()
        asked = await it.wire.message()
        it.wire.says({"id": asked["id"], "error": {"code": -5, "message": "no", "data": [1]}})
        with pytest.raises(ProtocolError) as caught:
            await asking
        assert (caught.value.code, caught.value.message, caught.value.data) == (-5, "no", [1])


async def test_who_asks_can_learn_the_id_once_it_is_sent() -> None:
    ids: list[RequestId] = []
    async with talk() as it:
        asking = it.ask(on_sent=ids.append)
        asked = await it.wire.message()
        assert ids == [asked["id"]]
        it.wire.says({"id": asked["id"], "result": None})
        assert await asking is None


async def test_a_request_that_json_cannot_say_is_not_sent_and_leaves_nothing_behind() -> None:
    async with talk() as it:
        with pytest.raises(Unserializable):
            await it.connection.request("tools/call", {"x": object()}, timeout=1)
        await asyncio.sleep(5)
        assert it.wire.sent == []


async def test_whoever_stops_waiting_tells_the_other_side() -> None:
    async with talk() as it:
        asking = it.ask()
        asked = await it.wire.message()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        told = await it.wire.message()
        assert told["method"] == "notifications/cancelled"
        assert told["params"] == {"requestId": asked["id"], "reason": "no longer wanted"}
        it.wire.says({"id": asked["id"], "result": 1})  # too late: passed over
        assert it.handler.faults == []


async def test_what_is_cancelled_while_its_answer_comes_is_not_reported_as_cancelled() -> None:
    async with talk() as it:
        asking = it.ask()
        asked = await it.wire.message()
        it.wire.says({"id": asked["id"], "result": 1})
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
        await settle()
        assert it.wire.rest() == []


# Time


async def test_silence_ends_a_request_and_the_other_side_is_told() -> None:
    async with talk() as it:
        began = now()
        asking = it.ask(timeout=60)
        asked = await it.wire.message()
        with pytest.raises(RequestTimeout, match=r"'tools/call' within 60 s.*timeout=") as caught:
            await asking
        assert now() - began == pytest.approx(60, abs=0.1)
        assert caught.value.seconds == 60
        assert isinstance(caught.value, TimeoutError)
        assert (await it.wire.message())["params"] == {"requestId": asked["id"], "reason": "no answer within 60 s"}


async def test_an_answer_just_within_the_limit_counts() -> None:
    async with talk() as it:
        asking = it.ask(timeout=60)
        asked = await it.wire.message()
        await asyncio.sleep(59.9)
        it.wire.says({"id": asked["id"], "result": 1})
        assert await asking == 1


async def test_without_a_limit_it_waits_as_long_as_it_takes() -> None:
    async with talk() as it:
        asking = it.ask()
        asked = await it.wire.message()
        await asyncio.sleep(1e6)
        it.wire.says({"id": asked["id"], "result": 1})
        assert await asking == 1


async def test_progress_starts_the_silence_anew() -> None:
    heard: list[dict[str, Any]] = []
    async with talk() as it:
        asking = it.ask(timeout=60, total=3600, on_progress=heard.append)
        asked = await it.wire.message()
        token = asked["params"]["_meta"]["progressToken"]
        for step in range(10):
            await asyncio.sleep(50)
            it.wire.says(progress(token, step))
        it.wire.says({"id": asked["id"], "result": "done"})
        assert await asking == "done"
        assert [one["progress"] for one in heard] == list(range(10))


async def test_progress_extends_only_up_to_the_limit_in_all() -> None:
    async with talk() as it:
        began = now()
        asking = it.ask(timeout=60, total=300, on_progress=lambda params: None)
        token = (await it.wire.message())["params"]["_meta"]["progressToken"]

        async def go_on() -> None:
            for step in range(1000):
                await asyncio.sleep(10)
                it.wire.says(progress(token, step))

        going_on = asyncio.create_task(go_on())
        with pytest.raises(RequestTimeout, match="300 s in all") as caught:
            await asking
        going_on.cancel()
        assert now() - began == pytest.approx(300, abs=0.1)
        assert caught.value.seconds == 300
        assert (await it.wire.message())["params"]["reason"] == "no answer within 300 s in all"


async def test_after_the_last_progress_silence_ends_it_again() -> None:
    async with talk() as it:
        began = now()
        asking = it.ask(timeout=60, on_progress=lambda params: None)
        token = (await it.wire.message())["params"]["_meta"]["progressToken"]
        await asyncio.sleep(50)
        it.wire.says(progress(token, 1))
        with pytest.raises(RequestTimeout):
            await asking
        assert now() - began == pytest.approx(110, abs=0.1)


async def test_without_anybody_to_tell_no_progress_is_asked_for() -> None:
    async with talk() as it:
        asking = it.ask()
        asked = await it.wire.message()
        assert asked["params"] == {}
        asking.cancel()


async def answered_after(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "answered"


async def test_while_a_question_is_answered_the_clock_stands_still() -> None:
    async with talk(lambda request: answered_after(600), questions_stop_the_clock=True) as it:
        began = now()
        asking = it.ask(timeout=60, total=100)
        await it.wire.message()
        await asyncio.sleep(30)
        it.wire.says({"id": 1, "method": "elicitation/create"})
        assert (await it.wire.message())["result"] == "answered"
        assert not asking.done()
        with pytest.raises(RequestTimeout):
            await asking
        assert now() - began == pytest.approx(660, abs=0.1)


async def test_what_is_asked_while_a_question_is_answered_has_its_whole_time_after_it_and_no_more() -> None:
    async with talk(lambda request: answered_after(600), questions_stop_the_clock=True) as it:
        it.wire.says({"id": 1, "method": "elicitation/create"})
        await asyncio.sleep(590)
        asking = it.ask(timeout=60)
        with pytest.raises(RequestTimeout):
            await asking
        assert now() - 1000 == pytest.approx(660, abs=0.1)


async def test_two_questions_at_once_stop_the_clock_until_both_are_answered() -> None:
    async def answer(request: Request) -> str:
        return await answered_after(100 if request.id == 1 else 300)

    async with talk(answer, questions_stop_the_clock=True) as it:
        asking = it.ask(timeout=60)
        it.wire.says({"id": 1, "method": "a"}, {"id": 2, "method": "b"})
        with pytest.raises(RequestTimeout):
            await asking
        assert now() - 1000 == pytest.approx(360, abs=0.1)


async def test_a_server_at_work_for_a_client_does_not_wait_for_it_without_end() -> None:
    # The work on the client's request must not stop the clock of the question that the work asks.
    async def work(request: Request) -> Any:
        return await it.connection.request("elicitation/create", {}, timeout=900)

    async with talk(work) as it:
        it.wire.says({"id": 1, "method": "tools/call"})
        assert (await it.wire.message())["method"] == "elicitation/create"
        assert (await it.wire.message())["method"] == "notifications/cancelled"
        assert "error" in await it.wire.message()
        assert now() - 1000 == pytest.approx(900, abs=0.1)


# Requests of theirs


async def test_a_request_of_theirs_is_answered_as_a_message_about_it() -> None:
    async def echo(request: Request) -> Any:
        return {"method": request.method, "params": request.params}

    async with talk(echo) as it:
        it.wire.says({"id": 7, "method": "x", "params": {"a": 1}})
        assert await it.wire.message() == {"id": 7, "result": {"method": "x", "params": {"a": 1}}}
        assert it.wire.about == [7]


async def test_requests_are_worked_on_at_the_same_time() -> None:
    gate = asyncio.Event()

    async def wait(request: Request) -> Any:
        if request.id == 1:
            await gate.wait()
        else:
            gate.set()

    async with talk(wait) as it:
        it.wire.says({"id": 1, "method": "x"}, {"id": 2, "method": "x"})
        assert {(await it.wire.message())["id"], (await it.wire.message())["id"]} == {1, 2}


async def test_a_handler_refuses_with_a_protocol_error() -> None:
    async def refuse(request: Request) -> Any:
        raise ProtocolError(-32000, "no", {"a": 1})

    async with talk(refuse) as it:
        it.wire.says({"id": 7, "method": "x"})
        assert await it.wire.message() == {"id": 7, "error": {"code": -32000, "message": "no", "data": {"a": 1}}}


async def test_the_text_of_an_error_of_ours_is_told() -> None:
    async def fail(request: Request) -> Any:
        raise LimitExceeded("More than 3 of them. Try again later.", limit="x", allowed=3)

    async with talk(fail) as it:
        it.wire.says({"id": 7, "method": "x"})
        told = (await it.wire.message())["error"]
        assert told == {"code": INTERNAL_ERROR, "message": "More than 3 of them. Try again later."}


@pytest.mark.parametrize("error", [RuntimeError("secret"), SystemExit(1), KeyboardInterrupt()], ids=repr)
async def test_whatever_a_handler_raises_the_other_side_gets_an_answer_without_its_text(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(request: Request) -> Any:
        raise error

    async with talk(fail) as it:
        it.wire.says({"id": 7, "method": "x"})
        assert await it.wire.message() == {"id": 7, "error": {"code": INTERNAL_ERROR, "message": "Internal error"}}
    assert "the handler of 'x' failed" in caplog.text


async def test_a_handler_in_which_something_was_cancelled_still_answers() -> None:
    async def wait_for_what_is_cancelled(request: Request) -> Any:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    async with talk(wait_for_what_is_cancelled) as it:
        it.wire.says({"id": 7, "method": "x"})
        assert (await it.wire.message())["error"]["code"] == INTERNAL_ERROR


async def test_a_withdrawn_request_cancels_its_handler_and_gets_no_answer() -> None:
    seen: list[str] = []

    async def work(request: Request) -> Any:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async with talk(work) as it:
        it.wire.says({"id": 7, "method": "x"})
        await settle()
        it.wire.says({"method": "notifications/cancelled", "params": {"requestId": 7}})
        await settle()
        assert seen == ["cancelled"]
        assert it.wire.sent == []


async def test_a_handler_that_answers_although_it_was_cancelled_is_not_heard() -> None:
    async def stubborn(request: Request) -> Any:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            return "anyway"

    async with talk(stubborn) as it:
        it.wire.says({"id": 7, "method": "x"})
        await settle()
        it.wire.says({"method": "notifications/cancelled", "params": {"requestId": 7}})
        await settle()
        assert it.wire.sent == []


async def test_a_request_that_was_withdrawn_in_the_same_moment_goes_no_further_than_its_first_wait() -> None:
    done: list[Any] = []

    async def work(request: Request) -> Any:
        await asyncio.sleep(0)
        done.append(request.id)

    async with talk(work) as it:
        it.wire.says({"id": 7, "method": "x"}, {"method": "notifications/cancelled", "params": {"requestId": 7}})
        await settle()
        assert done == []
        assert it.wire.sent == []


async def test_a_request_that_waits_for_nothing_is_answered_at_once() -> None:
    async def work(request: Request) -> Any:
        return {"text": "done"}

    async with talk(work) as it:
        it.wire.says({"id": 7, "method": "x"})
        (answer,) = it.wire.rest()
        assert answer["result"] == {"text": "done"}


async def test_work_whose_beginning_ends_the_connection_is_cancelled() -> None:
    seen: list[str] = []

    async def work(request: Request) -> Any:
        it.wire.breaks(ConnectionLost("gone"))
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async with talk(work) as it:
        it.wire.says({"id": 7, "method": "x"})
        await settle()
        assert seen == ["cancelled"]


async def test_more_requests_at_once_than_the_limit_are_refused_and_the_rest_go_on() -> None:
    gate = asyncio.Event()

    async def wait(request: Request) -> Any:
        await gate.wait()
        return "done"

    async with talk(wait, limits=Limits(incoming_requests=3)) as it:
        it.wire.says(*({"id": id, "method": "x"} for id in range(5)))
        refusals = [await it.wire.message() for _ in range(2)]
        assert [one["id"] for one in refusals] == [3, 4]
        assert all("More than 3 requests at once" in one["error"]["message"] for one in refusals)
        gate.set()
        assert {(await it.wire.message())["id"] for _ in range(3)} == {0, 1, 2}
        it.wire.says({"id": 9, "method": "x"})
        assert (await it.wire.message())["result"] == "done"


async def test_a_repeated_id_is_a_fault_that_both_sides_hear_of() -> None:
    gate = asyncio.Event()

    async def wait(request: Request) -> Any:
        await gate.wait()

    async with talk(wait) as it:
        it.wire.says({"id": 1, "method": "x"}, {"id": 1, "method": "y"})
        refused = await it.wire.message()
        assert (refused["id"], refused["error"]["code"]) == (1, INVALID_REQUEST)
        assert it.handler.faults == ["request id 1 is in use"]
        gate.set()
        assert (await it.wire.message())["id"] == 1


class Narrow(Wire):
    """A wire that carries short messages only."""

    async def send(self, message: Message, *, about: RequestId | None = None) -> None:
        await super().send(message, about=about)
        if len(self.sent[-1]) > 200:
            self.sent.pop()
            raise LimitExceeded("too large", limit="message", allowed=200)


@pytest.mark.parametrize(("answer", "why"), [("x" * 1000, "too large"), (object(), "cannot be sent as JSON")])
async def test_whoever_asked_hears_that_the_answer_cannot_be_sent(answer: Any, why: str) -> None:
    async def give(request: Request) -> Any:
        return answer

    wire = Narrow()
    connection = Connection(wire, Answering(give))
    await connection.open()
    wire.says({"id": 7, "method": "x"})
    told = await wire.message()
    assert (told["id"], told["error"]["code"]) == (7, INTERNAL_ERROR)
    assert why in told["error"]["message"]
    await connection.close()


# What is no message


async def test_what_is_no_message_is_a_fault_and_answered_where_it_has_an_id() -> None:
    async with talk() as it:
        it.wire.says(b"rubbish", b'{"jsonrpc":"2.0","id":3,"method":5}')
        told = await it.wire.message()
        assert (told["id"], told["error"]["code"]) == (3, INVALID_REQUEST)
        assert len(it.handler.faults) == 2
        assert it.wire.rest() == []


async def test_an_answer_that_cannot_be_read_ends_the_wait_for_it_and_is_not_answered() -> None:
    async with talk() as it:
        asking = it.ask()
        asked = await it.wire.message()
        it.connection.received_invalid(InvalidMessage("a broken line", code=PARSE_ERROR, id=asked["id"]))
        with pytest.raises(InvalidResult, match="a broken line"):
            await asking
        assert it.wire.rest() == []


async def test_an_answer_beyond_a_limit_ends_the_wait_with_the_limit() -> None:
    async with talk() as it:
        asking = it.ask()
        error = InvalidMessage("too long", code=INVALID_REQUEST, id=(await it.wire.message())["id"])
        error.__cause__ = LimitExceeded("too long", limit="message", allowed=10)
        it.connection.received_invalid(error)
        with pytest.raises(LimitExceeded, match="too long"):
            await asking


async def test_a_listener_that_fails_harms_nothing_but_itself(caplog: pytest.LogCaptureFixture) -> None:
    def fail(notification: Any) -> None:
        raise RuntimeError("of the listener")

    async with talk() as it:
        it.handler.on_notification = fail
        asking = it.ask(on_progress=fail)
        asked = await it.wire.message()
        it.wire.says(
            {"method": "notifications/x"},
            progress(asked["params"]["_meta"]["progressToken"], 1),
            {"id": asked["id"], "result": 1},
        )
        assert await asking == 1
    assert caplog.text.count("RuntimeError: of the listener") == 2


# The end


async def test_when_the_connection_ends_whoever_waits_hears_why() -> None:
    async with talk() as it:
        asking = it.ask()
        await it.wire.message()
        it.wire.breaks(ServerExited("it ended", exit_status=3))
        with pytest.raises(ServerExited, match="it ended"):
            await asking
        assert it.connection.ended
        assert [str(end) for end in it.handler.ends] == ["it ended"]


async def test_after_the_end_every_verb_says_why_and_nothing_is_sent() -> None:
    async with talk() as it:
        it.wire.breaks(ConnectionLost("it ended"))
        with pytest.raises(ConnectionLost, match="it ended"):
            await it.connection.request("x")
        with pytest.raises(ConnectionLost, match="it ended"):
            await it.connection.notify("x")
        it.connection.notify_soon("x")
        await settle()
        assert it.wire.sent == []


async def test_the_reason_does_not_grow_with_each_time_it_is_told() -> None:
    async with talk() as it:
        it.wire.breaks(ConnectionLost("it ended"))
        lengths = []
        for _ in range(3):
            try:
                await it.connection.request("x")
            except ConnectionLost as error:
                lengths.append(len(traceback.extract_tb(error.__traceback__)))
        assert lengths[0] == lengths[2]


async def test_when_the_connection_ends_the_handlers_at_work_are_cancelled() -> None:
    ended = asyncio.Event()

    async def work(request: Request) -> Any:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()

    async with talk(work) as it:
        it.wire.says({"id": 1, "method": "x"})
        await settle()
        it.wire.breaks(ConnectionLost("it ended"))
        await asyncio.wait_for(ended.wait(), 5)
        assert it.wire.sent == []


async def test_closing_gives_connection_lost_to_whoever_waits_and_tells_none_as_the_reason() -> None:
    async with talk() as it:
        asking = it.ask()
        await it.wire.message()
        await it.connection.close()
        with pytest.raises(ConnectionLost, match="closed"):
            await asking
        assert it.handler.ends == [None]
        await it.connection.close()
        assert it.handler.ends == [None]


async def test_closing_first_sends_what_is_on_its_way_but_does_not_wait_for_ever() -> None:
    async with talk() as it:
        it.connection.notify_soon("one")
        await it.connection.close()
        assert [one["method"] for one in it.wire.rest()] == ["one"]
    async with talk() as it:
        it.wire.blocked = asyncio.Event()
        began = now()
        it.connection.notify_soon("two")
        await it.connection.close()
        assert now() - began <= 1.1


async def test_a_time_limit_also_strikes_while_the_other_side_does_not_read() -> None:
    async with talk() as it:
        it.wire.blocked = asyncio.Event()
        began = now()
        with pytest.raises(RequestTimeout, match=r"No answer to 'one' within 5 s"):
            await it.connection.request("one", timeout=5)
        assert now() - began == pytest.approx(5)
        asking = asyncio.create_task(it.connection.request("two", timeout=5))
        await settle()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        it.wire.blocked.set()
        it.wire.blocked = None


async def test_closing_does_not_wait_for_a_question_that_nobody_answers() -> None:
    async with talk(lambda request: answered_after(900)) as it:
        it.wire.says({"id": 1, "method": "elicitation/create"})
        await settle()
        began = now()
        await it.connection.close()
        assert now() - began < 0.1


async def test_notifications_are_told_in_order_and_sent_as_messages_about_a_request() -> None:
    async with talk() as it:
        it.wire.says(*({"method": "n", "params": {"x": number}} for number in range(3)))
        assert [one.params for one in it.handler.told] == [{"x": 0}, {"x": 1}, {"x": 2}]
        await it.connection.notify("m", {"a": 1}, about=5)
        assert await it.wire.message() == {"method": "m", "params": {"a": 1}}
        assert it.wire.about == [5]


async def test_nothing_is_logged_where_all_goes_well(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "mcp_notebook")
    async with talk(lambda request: answered_after(1)) as it:
        it.wire.says({"id": 1, "method": "x"})
        await it.wire.message()
    assert caplog.records == []


def progress(token: Any, step: int) -> dict[str, Any]:
    return {"method": "notifications/progress", "params": {"progressToken": token, "progress": step}}
