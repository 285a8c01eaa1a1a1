"""`CallHandle`: one call, as the calling side sees it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mcp_notebook import (
    CallCancelled,
    CallHandle,
    Client,
    InvalidResult,
    Limits,
    ProtocolError,
    RequestTimeout,
    ToolResult,
    UnsupportedFeature,
    connect,
)
from mcp_notebook.home import Home
from mcp_notebook.jsonrpc import Request, Unserializable
from mcp_notebook.limits import DEFAULT_LIMITS
from mcp_notebook.protocol.calls import CallEvent, CallState
from mcp_notebook.types import ElicitParams, ElicitResult, LogMessage, Progress

from ..scripted import Scripted, until

pytestmark = pytest.mark.anyio

DONE = {"content": [{"type": "text", "text": "done"}]}
QUESTION = {"message": "Your name?", "requestedSchema": {"type": "object", "properties": {}}}


class Tool(Scripted):
    """A server whose tool says what the test says, until the test lets it answer."""

    def __init__(self, **options: Any) -> None:
        super().__init__({"tools/call": self._call}, **options)
        self.request: Request | None = None
        self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def _call(self, request: Request) -> Any:
        self.request = request
        return await self.answer

    async def called(self) -> Request:
        return await until(lambda: self.request)

    async def log(self, data: Any, level: str = "info") -> None:
        await self.tell("notifications/message", {"level": level, "data": data})


@contextlib.asynccontextmanager
async def calling(**options: Any) -> AsyncIterator[tuple[Client, CallHandle, Tool]]:
    """A call that has begun, and the tool at the other end."""
    server = Tool()
    async with connect(server, revision="2025-11-25", **options) as client:
        handle = client.begin_call("x", {"a": 1})
        await server.called()
        yield client, handle, server


def kinds(events: list[CallEvent]) -> list[str]:
    return [event.kind for event in events]


async def all_events(handle: CallHandle, after: int = 0) -> list[CallEvent]:
    async with asyncio.timeout(10):
        return [event async for event in handle.events(after)]


# Its outcome


async def test_a_handle_is_there_at_once_and_gives_the_result_when_awaited() -> None:
    async with calling() as (_, handle, server):
        assert handle.status is CallState.RUNNING
        assert not handle.done()
        server.answer.set_result(DONE)
        result = await handle
        assert isinstance(result, ToolResult)
        assert result.text == "done"
        assert handle.done()
        assert handle.status == "completed"
        assert (handle.tool, handle.arguments, handle.server) == ("x", {"a": 1}, "scripted")
        assert handle.elapsed >= 0
        assert handle.ended is not None


async def test_it_can_be_awaited_again_and_by_several() -> None:
    async with calling() as (_, handle, server):
        waits = [asyncio.ensure_future(wait_for(handle)) for _ in range(3)]
        await asyncio.sleep(0)
        server.answer.set_result(DONE)
        results = await asyncio.gather(*waits)
        assert results == [await handle] * 3


async def wait_for(handle: CallHandle) -> ToolResult:
    return await handle


async def test_a_tool_that_says_it_failed_has_completed() -> None:
    async with calling() as (_, handle, server):
        server.answer.set_result({"content": [], "isError": True})
        assert (await handle).is_error
        assert handle.status == "completed"


async def test_an_error_is_raised_and_the_call_has_failed() -> None:
    async with calling() as (_, handle, server):
        server.answer.set_result(ProtocolError(-5, "no"))
        with pytest.raises(ProtocolError, match="no"):
            await handle
        assert handle.status == "failed"
        (outcome,) = await all_events(handle)
        assert outcome.kind == "outcome"
        assert isinstance(outcome.data, ProtocolError)


async def test_an_answer_that_is_no_result_is_an_invalid_result() -> None:
    async with calling() as (_, handle, server):
        server.answer.set_result({"content": "text"})
        with pytest.raises(InvalidResult, match="the tool 'x' is broken: content"):
            await handle
        assert handle.status == "failed"


async def test_arguments_that_json_cannot_say_fail_the_call_and_nothing_is_sent() -> None:
    server = Tool()
    async with connect(server, revision="2025-11-25") as client:
        handle = client.begin_call("x", {"a": object()})
        with pytest.raises(Unserializable):
            await handle
        assert handle.status == "failed"
        await client.ping()
        assert server.request is None


async def test_a_time_limit_fails_the_call_and_tells_the_server() -> None:
    server = Tool()
    async with connect(server, revision="2025-11-25") as client:
        handle = client.begin_call("x", timeout=0.05)
        with pytest.raises(RequestTimeout):
            await handle
        assert handle.status == "failed"
        await until(lambda: server.notifications("notifications/cancelled"))


async def test_the_result_can_be_waited_for_in_another_thread() -> None:
    async with calling() as (_, handle, server):
        with pytest.raises(TimeoutError):
            await asyncio.to_thread(handle.result, 0.01)
        assert handle.status == "running"  # the call goes on
        server.answer.set_result(DONE)
        assert (await asyncio.to_thread(handle.result, 10)).text == "done"


async def test_waiting_for_the_result_on_its_own_loop_is_an_error_and_no_hang() -> None:
    async with calling() as (_, handle, server):
        with pytest.raises(RuntimeError, match="await"):
            handle.result()
        server.answer.set_result(DONE)
        await handle
        assert handle.result().text == "done"


async def test_its_repr_says_where_it_stands() -> None:
    async with calling() as (_, handle, server):
        assert repr(handle).startswith(f"<CallHandle {handle.id}: x on scripted, running, ")
        server.answer.set_result(DONE)
        await handle
        assert "completed" in repr(handle)


# Cancelling


async def test_of_many_calls_each_has_a_short_name_of_its_own() -> None:
    home = Home(asyncio.get_running_loop())
    calls = [CallHandle(home, server="s", tool="t", arguments={}, limits=DEFAULT_LIMITS) for _ in range(2000)]
    names = {call.id for call in calls}
    assert len(names) == len(calls)
    assert {len(name) for name in names} == {4}


async def test_cancelling_tells_the_server_and_raises_for_whoever_waits() -> None:
    async with calling() as (_, handle, server):
        handle.cancel("not needed any more")
        with pytest.raises(CallCancelled, match="not needed any more") as caught:
            await handle
        assert caught.value.reason == "not needed any more"
        assert handle.status == "cancelled"
        request = await server.called()
        (told,) = await until(lambda: server.notifications("notifications/cancelled"))
        assert told["requestId"] == request.id


async def test_a_call_that_is_cancelled_at_once_never_begins() -> None:
    server = Tool()
    async with connect(server, revision="2025-11-25") as client:
        handle = client.begin_call("x")
        handle.cancel()
        with pytest.raises(CallCancelled):
            await handle
        assert handle.status == "cancelled"
        await client.ping()
        assert server.requests("tools/call") == []


async def test_it_can_be_cancelled_from_another_thread() -> None:
    async with calling() as (_, handle, _):
        threading.Thread(target=handle.cancel).start()
        with pytest.raises(CallCancelled, match="cancelled by the user"):
            await handle


async def test_cancelling_a_call_that_has_ended_changes_nothing() -> None:
    async with calling() as (client, handle, server):
        server.answer.set_result(DONE)
        await handle
        handle.cancel()
        await client.ping()
        assert handle.status == "completed"
        assert (await handle).text == "done"
        assert server.notifications("notifications/cancelled") == []


async def test_the_first_reason_counts() -> None:
    async with calling() as (_, handle, _):
        handle.cancel("first")
        handle.cancel("second")
        with pytest.raises(CallCancelled, match="first"):
            await handle


async def test_an_answer_after_the_cancellation_is_ignored() -> None:
    async with calling() as (client, handle, server):
        handle.cancel()
        with pytest.raises(CallCancelled):
            await handle
        server.answer.set_result(DONE)
        await client.ping()
        assert handle.status == "cancelled"
        assert list(client.session.faults) == []


async def test_giving_up_the_wait_cancels_the_call() -> None:
    async with calling() as (_, handle, server):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wait_for(handle), 0.02)
        await until(lambda: server.notifications("notifications/cancelled"))
        assert handle.status == "cancelled"


async def test_whoever_waited_too_hears_that_it_was_cancelled() -> None:
    async with calling() as (_, handle, _):
        other = asyncio.ensure_future(wait_for(handle))
        await asyncio.sleep(0)
        handle.cancel()
        with pytest.raises(CallCancelled):
            await other


# Events


async def test_events_come_in_order_from_the_beginning_up_to_the_outcome() -> None:
    async with calling(elicitation=lambda params: {"name": "Ada"}) as (_, handle, server):
        request = await server.called()
        await server.progress(request, 1, total=3, message="one")
        await server.log("a line")
        await server.ask("elicitation/create", QUESTION)
        server.answer.set_result(DONE)
        await handle
        events = await all_events(handle)
    assert kinds(events) == ["progress", "log", "question", "answer", "outcome"]
    assert [event.number for event in events] == [1, 2, 3, 4, 5]
    progress, line, question, answer, outcome = (event.data for event in events)
    assert isinstance(progress, Progress)
    assert (progress.progress, progress.total, progress.message) == (1, 3, "one")
    assert isinstance(line, LogMessage)
    assert (line.level, line.data) == ("info", "a line")
    assert isinstance(question, dict)
    assert question["message"] == "Your name?"
    assert isinstance(answer, ElicitResult)
    assert answer.content == {"name": "Ada"}
    assert isinstance(outcome, ToolResult)


async def test_events_are_heard_while_the_call_goes_on() -> None:
    async with calling() as (_, handle, server):
        request = await server.called()
        events = handle.events()
        await server.log("one")
        assert (await anext(events)).data.data == "one"  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess]
        assert handle.status == "running"
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await server.progress(request, 5)
        assert (await waiting).kind == "progress"
        assert handle.progress is not None
        assert handle.progress.progress == 5
        server.answer.set_result(DONE)
        assert kinds([event async for event in events]) == ["outcome"]


async def test_two_readers_hear_the_same_and_a_third_goes_on_after_what_it_has_seen() -> None:
    async with calling() as (_, handle, server):
        one, two = asyncio.ensure_future(all_events(handle)), asyncio.ensure_future(all_events(handle))
        for number in range(20):
            await server.log(number)
            await asyncio.sleep(0)
        server.answer.set_result(DONE)
        first, second = await asyncio.gather(one, two)
        assert first == second
        assert len(first) == 21
        assert await all_events(handle, after=15) == first[15:]
        assert await all_events(handle, after=21) == []


async def test_events_can_be_read_long_after_the_end_from_another_loop() -> None:
    async with calling() as (_, handle, server):
        await server.log("one")
        server.answer.set_result(DONE)
        await handle
        events = await asyncio.to_thread(lambda: asyncio.run(all_events(handle)))
        assert kinds(events) == ["log", "outcome"]


async def test_a_flood_of_log_lines_is_bounded_and_says_how_many_are_missing() -> None:
    async with calling(limits=Limits(call_events=10)) as (_, handle, server):
        for number in range(100):
            await server.log(number)
        server.answer.set_result(DONE)
        await handle
        events = await all_events(handle)
    assert kinds(events) == ["dropped"] + ["log"] * 10 + ["outcome"]
    assert events[0].data == 90


async def test_listeners_are_told_of_each_event_and_one_that_fails_harms_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(handle: CallHandle, event: CallEvent) -> None:
        raise RuntimeError("of the listener")

    heard: list[str] = []
    async with calling() as (_, handle, server):
        handle.add_listener(fail)
        handle.add_listener(lambda handle, event: heard.append(event.kind))
        await server.log("one")
        server.answer.set_result(DONE)
        assert (await handle).text == "done"
    assert heard == ["log", "outcome"]
    assert "of the listener" in caplog.text


async def test_broken_progress_is_passed_over() -> None:
    async with calling() as (_, handle, server):
        request = await server.called()
        await server.progress(request, "much")  # pyright: ignore[reportArgumentType]
        server.answer.set_result(DONE)
        assert (await handle).text == "done"
        assert handle.progress is None


async def test_what_two_calls_at_once_say_is_not_mixed_up() -> None:
    # Log lines and questions bear no address: where several calls are under way they belong to none.
    async with calling() as (client, handle, server):
        other = client.begin_call("x")
        await until(lambda: len(server.requests("tools/call")) == 2)
        first, second = server.requests("tools/call")
        await server.log("whose?")
        await server.progress(first, 1)
        await server.progress(second, 2)
        server.answer.set_result(DONE)
        await asyncio.gather(wait_for(handle), wait_for(other))
        assert [event.data.progress for event in await all_events(handle) if isinstance(event.data, Progress)] == [1]
        assert [event.data.progress for event in await all_events(other) if isinstance(event.data, Progress)] == [2]
        assert kinds(await all_events(handle)) == ["progress", "outcome"]
        assert [line.data for line in client.session.log] == ["whose?"]


# Questions


async def test_while_a_question_waits_for_its_answer_the_call_requires_input() -> None:
    gate: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    async def answer(params: ElicitParams) -> Any:
        return await gate

    async with calling(elicitation=answer) as (_, handle, server):
        asking = asyncio.ensure_future(server.ask("elicitation/create", QUESTION))
        await until(lambda: handle.status == "input_required")
        gate.set_result({})
        assert (await asking)["action"] == "accept"
        assert handle.status == "running"
        server.answer.set_result(DONE)
        await handle


async def test_a_question_that_the_server_withdraws_lets_the_call_go_on() -> None:
    async def never(params: ElicitParams) -> Any:
        await asyncio.sleep(1000)

    async with calling(elicitation=never) as (_, handle, server):
        await server.begin("elicitation/create", QUESTION)
        await until(lambda: handle.status == "input_required")
        await server.tell("notifications/cancelled", {"requestId": 1})
        await until(lambda: handle.status == "running")
        server.answer.set_result(DONE)
        await handle
        assert kinds(await all_events(handle)) == ["question", "answer", "outcome"]


async def test_a_question_of_a_call_that_was_cancelled_is_taken_back_and_adds_nothing_to_its_log() -> None:
    gate: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    async def answer(params: ElicitParams) -> Any:
        return await gate

    async with calling(elicitation=answer) as (_, handle, server):
        asking = asyncio.ensure_future(server.ask("elicitation/create", QUESTION))
        await until(lambda: handle.status == "input_required")
        handle.cancel()
        with pytest.raises(CallCancelled):
            await handle
        with pytest.raises(ProtocolError, match="was cancelled"):
            await asking
        assert gate.cancelled()
        assert kinds(await all_events(handle)) == ["question", "outcome"]
        assert handle.status == "cancelled"


async def test_two_questions_at_once_are_waited_for_both() -> None:
    gates: list[asyncio.Future[Any]] = [asyncio.get_running_loop().create_future() for _ in range(2)]
    waiting = iter(gates)

    async def answer(params: ElicitParams) -> Any:
        return await next(waiting)

    async with calling(elicitation=answer) as (client, handle, server):
        first = await server.begin("elicitation/create", QUESTION)
        await server.begin("elicitation/create", QUESTION)
        await client.ping()
        gates[0].set_result({})
        await first
        assert handle.status == "input_required"
        gates[1].set_result({})
        await until(lambda: handle.status == "running")
        server.answer.set_result(DONE)
        await handle


# What a call may not be


async def test_a_server_without_tools_is_not_asked() -> None:
    server = Tool(capabilities={})
    async with connect(server, revision="2025-11-25") as client:
        with pytest.raises(UnsupportedFeature, match="'tools'"):
            await client.call_tool("x")
        with pytest.raises(UnsupportedFeature):
            client.begin_call("x")


async def test_meta_goes_along_beside_the_progress_token() -> None:
    server = Scripted({"tools/call": DONE})
    async with connect(server, revision="2025-11-25") as client:
        await client.call_tool("x", meta={"traceparent": "00-1"})
    (request,) = server.requests("tools/call")
    assert request.params is not None
    assert request.params["_meta"] == {"traceparent": "00-1", "progressToken": request.id}
