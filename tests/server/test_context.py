"""What a handler can say and ask while it runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from mcp_notebook import Context, InvalidResult, Limits, ProtocolError, RequestTimeout, Server, UnsupportedFeature
from mcp_notebook.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS
from mcp_notebook.types import LOGGING_LEVELS, LoggingLevel, SamplingMessage, TextContent, ToolChoice

from .visiting import visiting

pytestmark = pytest.mark.anyio

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
each_revision = pytest.mark.parametrize("revision", REVISIONS)


@dataclass
class Name:
    first: str
    times: int = 1


# Progress


@pytest.mark.parametrize("sort", ["sync", "async"])
async def test_progress_is_told_under_the_token_of_the_request(sort: str) -> None:
    server = Server("demo")

    def work(ctx: Context) -> str:
        for step in (1, 2, 3):
            ctx.progress(step, 3, f"step {step}")  # pyright: ignore[reportUnusedCoroutine]
        return "done"

    async def work_later(ctx: Context) -> str:
        for step in (1, 2, 3):
            await ctx.progress(step, 3, f"step {step}")
        return "done"

    server.tool(name="work")(work if sort == "sync" else work_later)
    async with visiting(server) as visitor:
        assert await visitor.text("work") == "done"
        assert [(one["progress"], one["total"], one["message"]) for one in visitor.progressed] == [
            (1, 3, "step 1"),
            (2, 3, "step 2"),
            (3, 3, "step 3"),
        ]


async def test_progress_that_does_not_grow_is_not_told() -> None:
    server = Server("demo")

    @server.tool
    async def work(ctx: Context) -> None:
        for step in (0, 1, 1, 0.5, 2):
            await ctx.progress(step)

    async with visiting(server) as visitor:
        await visitor.call("work")
        assert [one["progress"] for one in visitor.progressed] == [0, 1, 2]
        assert all(set(one) == {"progressToken", "progress"} for one in visitor.progressed)


async def test_without_a_token_nothing_is_told() -> None:
    server = Server("demo")

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.progress(1)
        return str(ctx.meta)

    async with visiting(server) as visitor:
        result = await visitor.connection.request("tools/call", {"name": "work"})
        assert result["content"][0]["text"] == "{}"
        assert visitor.told == []


# The log


async def test_log_lines_have_levels_loggers_and_any_data() -> None:
    server = Server("demo")

    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.debug("a")
        await ctx.info({"b": [1, None]})
        await ctx.warning("c")
        await ctx.error("d")
        await ctx.log("emergency", "e", logger="mine")

    async with visiting(server) as visitor:
        await visitor.call("work")
        assert visitor.heard("notifications/message") == [
            {"level": "debug", "data": "a"},
            {"level": "info", "data": {"b": [1, None]}},
            {"level": "warning", "data": "c"},
            {"level": "error", "data": "d"},
            {"level": "emergency", "data": "e", "logger": "mine"},
        ]


@pytest.mark.parametrize("level", LOGGING_LEVELS)
async def test_only_lines_of_the_level_that_the_client_set_and_above_are_sent(level: LoggingLevel) -> None:
    server = Server("demo")

    @server.tool
    async def work(ctx: Context) -> None:
        for one in LOGGING_LEVELS:
            await ctx.log(one, one)

    async with visiting(server) as visitor:
        assert await visitor.ask("logging/setLevel", level=level) == {}
        await visitor.call("work")
        told = [line["level"] for line in visitor.heard("notifications/message")]
        assert told == list(LOGGING_LEVELS[LOGGING_LEVELS.index(level) :])


async def test_an_unknown_level_is_refused_from_either_side() -> None:
    server = Server("demo")

    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.log("loud", "x")  # pyright: ignore[reportArgumentType]

    async with visiting(server) as visitor:
        assert (await visitor.refused("logging/setLevel", level="loud")).code == INVALID_PARAMS
        assert "no log level 'loud'" in await visitor.text("work")


async def test_each_client_has_a_level_of_its_own() -> None:
    server = Server("demo")

    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.info("x")

    async with visiting(server) as one, visiting(server) as two:
        await one.ask("logging/setLevel", level="error")
        await one.call("work")
        await two.call("work")
        assert (len(one.told), len(two.told)) == (0, 1)


# Elicitation


def asking(schema: Any) -> Server:
    server = Server("demo")

    @server.tool
    async def ask(ctx: Context) -> str:
        answer = await ctx.elicit("Your name?", schema)
        return f"{answer.action} {answer.data!r} {bool(answer)}"

    return server


ACCEPTED = {"action": "accept", "content": {"first": "Ada"}}


async def test_an_accepted_answer_is_of_the_type_that_was_asked_for() -> None:
    async with visiting(asking(Name), capabilities={"elicitation": {}}, elicitation__create=ACCEPTED) as visitor:
        assert await visitor.text("ask") == "accept Name(first='Ada', times=1) True"
        (question,) = visitor.asked
        assert question.params is not None
        assert question.params["message"] == "Your name?"
        assert question.params["mode"] == "form"
        schema = question.params["requestedSchema"]
        assert schema["required"] == ["first"]
        assert schema["properties"]["times"]["default"] == 1


async def test_before_modes_there_were_none_on_the_wire() -> None:
    async with visiting(
        asking(Name), "2025-06-18", capabilities={"elicitation": {}}, elicitation__create=ACCEPTED
    ) as visitor:
        await visitor.text("ask")
        assert set(visitor.asked[0].params or {}) == {"message", "requestedSchema"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_an_answer_that_is_none_has_no_data_and_is_false(action: str) -> None:
    answer = {"action": action, "content": {"first": "ignored"}}
    async with visiting(asking(Name), capabilities={"elicitation": {}}, elicitation__create=answer) as visitor:
        assert await visitor.text("ask") == f"{action} None False"


@pytest.mark.parametrize(
    ("schema", "content", "data"),
    [
        (str, {"value": "x"}, "'x'"),
        (int, {"value": 3}, "3"),
        (bool, {"value": True}, "True"),
        (Literal["a", "b"], {"value": "b"}, "'b'"),
        ({"type": "object", "properties": {"x": {"type": "number"}}}, {"x": 1.5}, "{'x': 1.5}"),
    ],
)
async def test_a_plain_type_or_a_schema_will_do(schema: Any, content: Any, data: str) -> None:
    def answer(params: Any) -> Any:
        given = content if "x" in content else dict.fromkeys(params["requestedSchema"]["properties"], content["value"])
        return {"action": "accept", "content": given}

    async with visiting(asking(schema), capabilities={"elicitation": {}}, elicitation__create=answer) as visitor:
        assert await visitor.text("ask") == f"accept {data} True"


@pytest.mark.parametrize(
    "answer", [{"action": "accept", "content": {"first": 5}}, {"action": "accept"}, {"action": "perhaps"}, None, {}]
)
async def test_an_answer_that_does_not_fit_is_an_error_in_the_handler(answer: Any) -> None:
    caught: list[Exception] = []
    server = Server("demo")

    @server.tool
    async def ask(ctx: Context) -> None:
        try:
            await ctx.elicit("Your name?", Name)
        except InvalidResult as error:
            caught.append(error)

    async with visiting(server, capabilities={"elicitation": {}}, elicitation__create=answer) as visitor:
        await visitor.call("ask")
    assert len(caught) == 1


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}])
async def test_a_client_that_cannot_show_a_form_is_not_asked(capabilities: Any) -> None:
    caught: list[Exception] = []
    server = Server("demo")

    @server.tool
    async def ask(ctx: Context) -> None:
        with pytest.raises(UnsupportedFeature) as error:
            await ctx.elicit("Your name?", Name)
        caught.append(error.value)

    async with visiting(server, capabilities=capabilities, elicitation__create=ACCEPTED) as visitor:
        await visitor.call("ask")
        assert visitor.asked == []
    assert len(caught) == 1


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
async def test_what_the_revision_lacks_is_not_asked_even_if_the_client_declares_it(revision: str) -> None:
    async with visiting(
        asking(Name), revision, capabilities={"elicitation": {}}, elicitation__create=ACCEPTED
    ) as visitor:
        result = await visitor.call("ask")
        assert result["isError"] is True
        assert f"revision {revision} has no 'elicitation/create'" in result["content"][0]["text"]
        assert visitor.asked == []


async def test_a_client_that_never_answers_is_told_that_the_question_is_over() -> None:
    server = Server("demo", limits=Limits(question=0.05))
    caught: list[Exception] = []

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            await ctx.elicit("Your name?", Name)
        except RequestTimeout as error:
            caught.append(error)
        return "went on"

    async def never(params: Any = None) -> None:
        await asyncio.get_running_loop().create_future()

    async with visiting(server, capabilities={"elicitation": {}}, elicitation__create=never) as visitor:
        assert await visitor.text("ask") == "went on"
        await visitor.ask("ping")
        assert not visitor.connection._peer.incoming  # the question was withdrawn
    assert len(caught) == 1


async def test_a_synchronous_handler_asks_too() -> None:
    server = Server("demo")

    @server.tool
    def ask(ctx: Context) -> str:
        answer: Any = ctx.elicit("Your name?", Name)
        roots: Any = ctx.list_roots()
        said: Any = ctx.sample("Hi")
        return f"{answer.data.first} {roots[0].uri} {said.content.text}"

    async with visiting(
        server,
        capabilities={"elicitation": {}, "roots": {}, "sampling": {}},
        elicitation__create=ACCEPTED,
        roots__list={"roots": [{"uri": "file:///a"}]},
        sampling__createMessage={"role": "assistant", "content": {"type": "text", "text": "Hello"}, "model": "m"},
    ) as visitor:
        assert await visitor.text("ask") == "Ada file:///a Hello"


# Sampling


@each_revision
async def test_a_model_is_asked_with_what_was_given(revision: str) -> None:
    server = Server("demo")

    @server.tool
    async def think(ctx: Context) -> str:
        said = await ctx.sample(
            ["Hi", SamplingMessage(role="assistant", content=TextContent(text="Hello"))],
            max_tokens=7,
            system_prompt="Be kind.",
            temperature=0.5,
            stop_sequences=["."],
            include_context="none",
        )
        return f"{said.model} {said.stop_reason}"

    answer = {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m", "stopReason": "because"}
    async with visiting(server, revision, capabilities={"sampling": {}}, sampling__createMessage=answer) as visitor:
        assert await visitor.text("think") == "m because"
        assert visitor.asked[0].params == {
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "Hi"}},
                {"role": "assistant", "content": {"type": "text", "text": "Hello"}},
            ],
            "maxTokens": 7,
            "systemPrompt": "Be kind.",
            "temperature": 0.5,
            "stopSequences": ["."],
            "includeContext": "none",
        }


@pytest.mark.parametrize(
    ("revision", "sampling"), [("2025-11-25", {}), ("2025-11-25", None), ("2025-06-18", {"tools": {}})]
)
async def test_tools_in_sampling_are_not_sent_to_a_client_that_cannot_have_them(revision: str, sampling: Any) -> None:
    server = Server("demo")

    @server.tool
    async def think(ctx: Context) -> None:
        with pytest.raises(UnsupportedFeature):  # SMP-2
            await ctx.sample("Hi", tool_choice=ToolChoice(mode="none"))

    capabilities = {} if sampling is None else {"sampling": sampling}
    async with visiting(server, revision, capabilities=capabilities) as visitor:
        await visitor.call("think")
        assert visitor.asked == []


async def test_a_refusal_of_the_client_reaches_the_handler() -> None:
    server = Server("demo")

    @server.tool
    async def think(ctx: Context) -> str:
        try:
            await ctx.sample("Hi")
        except ProtocolError as error:
            return f"{error.code} {error.message}"
        return "?"

    async def refuse(params: Any = None) -> Any:
        raise ProtocolError(-1, "User rejected sampling request")

    async with visiting(server, capabilities={"sampling": {}}, sampling__createMessage=refuse) as visitor:
        assert await visitor.text("think") == "-1 User rejected sampling request"


async def test_a_refusal_that_the_handler_does_not_catch_is_the_failure_of_its_tool() -> None:  # VAL-1
    server = Server("demo")

    @server.tool
    async def think(ctx: Context) -> None:
        await ctx.sample("Hi")

    async def refuse(params: Any = None) -> Any:
        raise ProtocolError(-32601, "Method not found")

    async with visiting(server, capabilities={"sampling": {}}, sampling__createMessage=refuse) as visitor:
        result = await visitor.call("think")
        assert result["isError"] is True
        assert "Method not found" in result["content"][0]["text"]


async def test_in_a_prompt_it_is_a_failure_of_the_server() -> None:  # VAL-2
    server = Server("demo")

    @server.prompt
    async def think(ctx: Context) -> str:
        return str(await ctx.sample("Hi"))

    async def refuse(params: Any = None) -> Any:
        raise ProtocolError(-1, "User rejected sampling request")

    async with visiting(server, capabilities={"sampling": {}}, sampling__createMessage=refuse) as visitor:
        error = await visitor.refused("prompts/get", name="think")
        assert error.code == INTERNAL_ERROR
        assert "User rejected" in error.message


# Roots, resources, and the rest


async def test_roots_are_listed_where_the_client_has_some() -> None:
    server = Server("demo")

    @server.tool
    async def roots(ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.list_roots()]

    given = {"roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]}
    async with visiting(server, capabilities={"roots": {}}, roots__list=given) as visitor:
        assert (await visitor.call("roots"))["structuredContent"] == {"result": ["file:///a", "file:///b"]}
    async with visiting(server) as visitor:
        assert "'roots'" in await visitor.text("roots")
        assert visitor.asked == []


async def test_a_handler_reads_resources_of_its_server() -> None:
    server = Server("demo")

    @server.resource("notes://{name}")
    def note(name: str) -> str:
        return f"note {name}"

    @server.tool
    async def read(ctx: Context) -> str:
        (contents,) = (await ctx.read_resource("notes://a")).contents
        return contents.text or ""

    async with visiting(server) as visitor:
        assert await visitor.text("read") == "note a"


async def test_meta_and_profile_of_the_request_can_be_read() -> None:
    server = Server("demo")

    @server.tool
    async def who(ctx: Context) -> str:
        return f"{ctx.profile.client_info.name} {ctx.profile.revision.name} {ctx.meta['traceparent']} {ctx.request_id}"

    async with visiting(server, "2025-06-18") as visitor:
        ids: list[Any] = []
        result = await visitor.ask("tools/call", ids.append, name="who", _meta={"traceparent": "00-1"})
        assert result["content"][0]["text"] == f"visitor 2025-06-18 00-1 {ids[0]}"


async def test_resources_and_prompts_have_a_context_too() -> None:
    server = Server("demo")

    @server.resource("a:b")
    async def a(ctx: Context) -> str:
        await ctx.info("from a resource")
        return "x"

    @server.prompt
    def p(name: str, ctx: Context) -> str:
        ctx.info("from a prompt")  # pyright: ignore[reportUnusedCoroutine]
        return name

    async with visiting(server) as visitor:
        await visitor.ask("resources/read", uri="a:b")
        await visitor.ask("prompts/get", name="p", arguments={"name": "Ada"})
        assert [line["data"] for line in visitor.heard("notifications/message")] == ["from a resource", "from a prompt"]
        prompts = (await visitor.ask("prompts/list"))["prompts"]
        assert [one["name"] for one in prompts[0]["arguments"]] == ["name"]
