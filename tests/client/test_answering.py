"""What servers ask of a client: roots, elicitation, sampling."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import CallCancelled, Client, Context, OutcomeUnknown, ProtocolError, Server, connect
from mcp_notebook.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.types import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    Root,
    TextContent,
)

from ..scripted import NEVER, Scripted, until

pytestmark = pytest.mark.anyio

REVISION = "2025-11-25"
NAME = {
    "message": "Your name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
MESSAGE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}], "maxTokens": 5}


@contextlib.asynccontextmanager
async def served(revision: str = REVISION, **options: Any) -> AsyncIterator[tuple[Scripted, Client]]:
    server = Scripted(revision=revision)
    async with connect(server, revision=revision, **options) as client:
        await until(lambda: server.notifications("notifications/initialized"))
        yield server, client


async def refused(asking: Any) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        await asking
    return caught.value


async def test_ping_is_always_answered() -> None:
    async with served() as (server, _):
        assert await server.ask("ping") == {}


@pytest.mark.parametrize("method", ["roots/list", "elicitation/create", "sampling/createMessage", "made/up"])
async def test_what_the_client_did_not_declare_is_refused(method: str) -> None:
    async with served() as (server, _):
        assert (await refused(server.ask(method, {}))).code == METHOD_NOT_FOUND


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
async def test_elicitation_is_refused_under_a_revision_that_has_none(revision: str) -> None:
    async with served(revision, elicitation=lambda params: {}) as (server, _):
        assert (await refused(server.ask("elicitation/create", NAME))).code == METHOD_NOT_FOUND


# Roots


async def test_roots_may_be_paths_uris_or_roots(tmp_path: Path) -> None:
    given = [str(tmp_path), tmp_path / "a b", "file:///c", Root(uri="file:///d", name="D")]
    async with served(roots=given) as (server, _):
        assert await server.ask("roots/list") == {
            "roots": [
                {"uri": tmp_path.as_uri(), "name": tmp_path.name},
                {"uri": (tmp_path / "a b").as_uri(), "name": "a b"},
                {"uri": "file:///c"},
                {"uri": "file:///d", "name": "D"},
            ]
        }


async def test_no_roots_are_an_empty_list() -> None:
    async with served(roots=[]) as (server, _):
        assert await server.ask("roots/list", {}) == {"roots": []}


async def test_roots_may_come_from_a_function_which_is_asked_each_time() -> None:
    roots = ["file:///a"]
    async with served(roots=lambda: roots) as (server, client):
        assert await server.ask("roots/list") == {"roots": [{"uri": "file:///a"}]}
        roots.append("file:///b")
        await client.notify_roots_changed()
        await until(lambda: server.notifications("notifications/roots/list_changed"))
        assert len((await server.ask("roots/list"))["roots"]) == 2


# Elicitation


ANSWERS = [
    ({"name": "Ada"}, {"action": "accept", "content": {"name": "Ada"}}),
    (ElicitResult(action="accept", content={"name": "Ada"}), {"action": "accept", "content": {"name": "Ada"}}),
    (ElicitResult(action="decline"), {"action": "decline"}),
    (None, {"action": "cancel"}),
]


@pytest.mark.parametrize(("given", "sent"), ANSWERS)
@pytest.mark.parametrize("form", ["function", "coroutine", "lambda of a coroutine"])
async def test_a_question_is_answered_by_whatever_function_there_is(given: Any, sent: Any, form: str) -> None:
    asked: list[ElicitParams] = []

    def answer(params: ElicitParams) -> Any:
        asked.append(params)
        return given

    async def answer_later(params: ElicitParams) -> Any:
        return answer(params)

    functions = {
        "function": answer,
        "coroutine": answer_later,
        "lambda of a coroutine": lambda params: answer_later(params),
    }
    async with served(elicitation=functions[form]) as (server, _):
        assert await server.ask("elicitation/create", NAME) == sent
    (params,) = asked
    assert (params.message, params.mode) == ("Your name?", "form")
    assert params.requested_schema == NAME["requestedSchema"]


async def test_a_form_of_optional_fields_only_is_accepted_empty() -> None:
    question = {"message": "?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
    async with served(elicitation=lambda params: {}) as (server, _):
        assert await server.ask("elicitation/create", question) == {"action": "accept", "content": {}}


@pytest.mark.parametrize("content", [{}, {"name": 5}, {"name": None}])
async def test_an_answer_that_does_not_fit_is_not_sent(content: dict[str, Any]) -> None:
    async with served(elicitation=lambda params: content) as (server, _):
        error = await refused(server.ask("elicitation/create", NAME))
        assert error.code == INTERNAL_ERROR
        assert "does not fit what was asked" in error.message


async def test_what_is_declined_needs_no_content_that_fits() -> None:
    async with served(elicitation=lambda params: ElicitResult(action="decline", content={"name": 5})) as (server, _):
        assert (await server.ask("elicitation/create", NAME))["action"] == "decline"


@pytest.mark.parametrize("mode", ["url", "dance"])
async def test_a_mode_that_was_not_declared_is_refused(mode: str) -> None:  # URL-1
    async with served(elicitation=lambda params: {}) as (server, _):
        question = {"mode": mode, "message": "?", "url": "https://example.test", "elicitationId": "1"}
        assert (await refused(server.ask("elicitation/create", question))).code == INVALID_PARAMS


async def test_a_mode_of_form_may_be_said_aloud() -> None:
    async with served(elicitation=lambda params: {"name": "Ada"}) as (server, _):
        assert (await server.ask("elicitation/create", {"mode": "form", **NAME}))["action"] == "accept"


@pytest.mark.parametrize("given", ["text", 5, [("name", "Ada")]])
async def test_a_function_that_gives_something_else_is_an_error(given: Any) -> None:
    async with served(elicitation=lambda params: given) as (server, _):
        assert (await refused(server.ask("elicitation/create", NAME))).code == INTERNAL_ERROR


@pytest.mark.parametrize("error", [RuntimeError("x"), SystemExit(), KeyboardInterrupt()], ids=repr)
async def test_a_function_that_fails_is_an_error_and_the_connection_goes_on(error: BaseException) -> None:
    def fail(params: ElicitParams) -> Any:
        raise error

    async def fail_later(params: ElicitParams) -> Any:
        raise error

    for function in (fail, fail_later):
        async with served(elicitation=function) as (server, client):
            assert (await refused(server.ask("elicitation/create", NAME))).code == INTERNAL_ERROR
            await client.ping()


@pytest.mark.parametrize("params", [None, {}, {"message": 5}, {"message": "?", "requestedSchema": "x"}])
async def test_a_broken_question_is_refused(params: Any) -> None:
    async with served(elicitation=lambda params: {}) as (server, _):
        error = await refused(server.ask("elicitation/create", params))
        assert error.code == INVALID_PARAMS
        assert "elicitation/create" in error.message


async def test_a_function_that_takes_its_time_does_not_keep_the_connection_from_working() -> None:
    gate = threading.Event()

    def wait(params: ElicitParams) -> Any:  # as `input()` does
        assert gate.wait(10)
        return {"name": "Ada"}

    async with served(elicitation=wait) as (server, client):
        asking = await server.begin("elicitation/create", NAME)
        await client.ping()
        assert not asking.done()
        gate.set()
        assert (await asking)["action"] == "accept"


# Sampling


async def test_text_is_taken_as_what_the_model_said() -> None:
    asked: list[CreateMessageParams] = []

    def model(params: CreateMessageParams) -> str:
        asked.append(params)
        return "Hello"

    params = {
        **MESSAGE,
        "systemPrompt": "Be kind.",
        "temperature": 0.5,
        "stopSequences": ["."],
        "includeContext": "none",
    }
    async with served(sampling=model) as (server, _):
        assert await server.ask("sampling/createMessage", params) == {
            "role": "assistant",
            "content": {"type": "text", "text": "Hello"},
            "model": "unknown",
            "stopReason": "endTurn",
        }
    (got,) = asked
    assert got.messages[0].content == TextContent(text="Hi")
    assert (got.max_tokens, got.system_prompt, got.temperature, got.stop_sequences) == (5, "Be kind.", 0.5, ["."])


async def test_a_result_is_sent_as_it_is_with_any_stop_reason() -> None:  # SMP-5
    async def model(params: CreateMessageParams) -> Any:
        return CreateMessageResult(content=TextContent(text="Hello"), model="m", stop_reason="because")

    async with served(sampling=model) as (server, _):
        answer = await server.ask("sampling/createMessage", MESSAGE)
        assert (answer["model"], answer["stopReason"]) == ("m", "because")


async def test_a_dict_of_the_form_of_a_result_will_do() -> None:
    given = {"content": {"type": "text", "text": "Hello"}, "model": "m"}
    async with served(sampling=lambda params: given) as (server, _):
        assert (await server.ask("sampling/createMessage", MESSAGE))["content"]["text"] == "Hello"


@pytest.mark.parametrize("more", [{"tools": []}, {"toolChoice": {"mode": "none"}}])
async def test_tools_in_sampling_are_refused_where_they_were_not_declared(more: dict[str, Any]) -> None:  # SMP-2
    async with served(sampling=lambda params: "x") as (server, _):
        error = await refused(server.ask("sampling/createMessage", {**MESSAGE, **more}))
        assert error.code == INVALID_PARAMS
        assert "sampling.tools" in error.message


@pytest.mark.parametrize("params", [{}, {"messages": []}, {**MESSAGE, "maxTokens": "many"}])
async def test_a_broken_request_of_the_model_is_refused(params: Any) -> None:
    async with served(sampling=lambda params: "x") as (server, _):
        assert (await refused(server.ask("sampling/createMessage", params))).code == INVALID_PARAMS


async def test_a_refusal_of_the_function_is_told_as_it_is() -> None:
    def refuse(params: CreateMessageParams) -> Any:
        raise ProtocolError(-1, "User rejected sampling request")

    async with served(sampling=refuse) as (server, _):
        assert (await refused(server.ask("sampling/createMessage", MESSAGE))).code == -1


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])
async def test_nobody_is_asked_any_longer_once_the_connection_has_ended(revision: str) -> None:
    server = Server("demo")
    asked, no_longer = asyncio.Event(), asyncio.Event()

    @server.tool
    async def ask(ctx: Context) -> str:
        return str((await ctx.elicit("Your name?", str)).data)

    async def think(params: ElicitParams) -> ElicitResult:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            no_longer.set()
        raise AssertionError("it was to be ended")

    client = await connect(server, revision=revision, elicitation=think)
    call = client.begin_call("ask")
    async with asyncio.timeout(5):
        await asked.wait()
        await client.close()
        await no_longer.wait()
        with pytest.raises(OutcomeUnknown):
            await call


@pytest.mark.parametrize("support", ["forbidden", "optional"], ids=["a task of the draft", "a task of the revision"])
async def test_a_question_after_a_cancelled_task_is_that_of_the_call_that_goes_on(support: Any) -> None:
    server = Server("demo")
    working = asyncio.Event()

    @server.tool(task=support)
    async def work() -> None:
        working.set()
        await asyncio.Event().wait()

    @server.tool
    async def ask(ctx: Context) -> str:
        return str((await ctx.elicit("Your name?", str)).data)

    async def think(params: ElicitParams) -> dict[str, str]:
        states.append(call.status)
        return {"value": "Ada"}

    states: list[CallState] = []
    async with asyncio.timeout(10), connect(server, revision="2025-11-25", elicitation=think) as client:
        task = client.begin_call("work", task=True)
        await working.wait()
        task.cancel()
        with pytest.raises(CallCancelled):
            await task
        call = client.begin_call("ask")
        assert (await call).data == "Ada"
    assert states == [CallState.INPUT_REQUIRED]


async def test_whoever_cancels_a_call_is_no_longer_asked_for_it_whether_its_server_takes_that_back_or_not() -> None:
    asked, taken_back = asyncio.Event(), asyncio.Event()

    async def think(params: ElicitParams) -> dict[str, Any]:
        asked.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            taken_back.set()
            raise
        return {}

    async with served(elicitation=think) as (server, client):
        server.answers["tools/call"] = NEVER
        call = client.begin_call("ask")
        await until(lambda: server.requests("tools/call"))
        answer = await server.begin("elicitation/create", NAME)
        await asyncio.wait_for(asked.wait(), 5)
        call.cancel()
        await asyncio.wait_for(taken_back.wait(), 5)
        assert "was cancelled" in (await refused(answer)).message
