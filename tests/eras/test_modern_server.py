"""Revision 2026-07-28, serving side: what every request says, and every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mcp_notebook import Answer, Context, Server
from mcp_notebook.types import Tool

from ..scripted import until
from ..transports.http.asgi import modern
from .far import call

pytestmark = pytest.mark.anyio

PREFIX = "io.modelcontextprotocol/"
SERVER = {f"{PREFIX}serverInfo": {"name": "demo", "version": "3"}}
CACHEABLE = ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
REMOVED = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]

To = Callable[[Server], Any]


def a_server() -> Server:
    server = Server("demo", version="3", instructions="Be kind.", page_size=1)

    @server.tool
    async def add(a: int, b: int = 0) -> int:
        return a + b

    @server.tool
    async def log(ctx: Context) -> str:
        for level in ("debug", "info", "warning"):
            await ctx.log(level, level)  # type: ignore[arg-type]
        return "logged"

    @server.tool
    async def ask(ctx: Context) -> str:
        answer: Answer[str] = await ctx.elicit("Name?", str)
        return str(answer.data)

    @server.tool
    async def sample(ctx: Context) -> str:
        return (await ctx.sample("Hi")).content.text  # type: ignore[union-attr]

    @server.tool
    async def roots(ctx: Context) -> str:
        return str(len(await ctx.list_roots()))

    @server.tool
    async def meta(ctx: Context) -> dict[str, Any]:
        return {key: value for key, value in ctx.meta.items() if not key.startswith(PREFIX)}

    @server.tool
    async def who(ctx: Context) -> list[str]:
        return [ctx.profile.client_info.name, ctx.profile.revision.name]

    @server.resource("a://1")
    def one() -> str:
        return "1"

    @server.prompt
    def greet(name: str) -> str:
        return f"hi {name}"

    return server


@pytest.fixture
async def far(to: To) -> Any:
    return to(a_server())


# What a request must say


@pytest.mark.parametrize("key", ["protocolVersion", "clientCapabilities"])
@pytest.mark.parametrize("method", ["tools/list", "server/discover"])
async def test_a_request_without_a_required_field_is_malformed(far: Any, key: str, method: str) -> None:
    message = modern(1, method, meta={PREFIX + key: None})
    exchange = await far.ask(message, mcp_protocol_version="2026-07-28")
    error = await exchange.error()
    assert error["code"] == -32602
    assert PREFIX + key in error["message"]
    assert exchange.status in (None, 400)


@pytest.mark.parametrize(
    ("meta", "told"),
    [
        ({f"{PREFIX}clientCapabilities": []}, "clientCapabilities"),
        ({f"{PREFIX}clientCapabilities": {"roots": 7}}, "roots"),
        ({f"{PREFIX}clientInfo": "me"}, "_meta"),
        ({f"{PREFIX}logLevel": "loud"}, "no log level 'loud'"),
        ({f"{PREFIX}logLevel": 7}, "no log level 7"),
    ],
)
async def test_a_request_with_a_broken_field_is_malformed(far: Any, meta: dict[str, Any], told: str) -> None:
    exchange = await far.ask(modern(1, "tools/list", meta=meta))
    error = await exchange.error()
    assert error["code"] == -32602
    assert told in error["message"]
    assert exchange.status in (None, 400)


async def test_a_client_need_not_introduce_itself(far: Any) -> None:
    exchange = await far.ask(call(1, "who", meta={f"{PREFIX}clientInfo": None}))
    assert (await exchange.result())["structuredContent"]["result"] == ["", "2026-07-28"]


async def test_each_request_stands_for_itself(far: Any) -> None:
    for name in ("one", "two"):
        message = call(name, "who", meta={f"{PREFIX}clientInfo": {"name": name, "version": "1"}})
        assert (await (await far.ask(message)).result())["structuredContent"]["result"][0] == name


@pytest.mark.parametrize("version", ["1900-01-01", "2025-11-25", "2099-01-01", "", "x" * 500])
async def test_an_unsupported_version_is_refused_with_those_there_are(far: Any, version: str) -> None:
    exchange = await far.ask(modern(1, "tools/list", meta={f"{PREFIX}protocolVersion": version}))
    error = await exchange.error()
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": version}
    assert len(error["message"]) < 200
    assert exchange.status in (None, 400)


# What an answer says


async def test_discovery_tells_versions_capabilities_identity_and_instructions(far: Any) -> None:
    result = await (await far.ask(modern("d", "server/discover"))).result()
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["capabilities"]["tools"] == {"listChanged": True}
    assert "tasks" not in result["capabilities"]
    assert result["instructions"] == "Be kind."
    assert result["_meta"] == SERVER


@pytest.mark.parametrize(
    "message",
    [
        modern(1, "server/discover"),
        modern(1, "tools/list"),
        modern(1, "resources/list"),
        modern(1, "resources/templates/list"),
        modern(1, "prompts/list"),
        modern(1, "resources/read", uri="a://1"),
        modern(1, "prompts/get", name="greet", arguments={"name": "Ada"}),
        modern(1, "completion/complete", ref={"type": "ref/prompt", "name": "greet"},
               argument={"name": "name", "value": ""}),
        call(1, "add", {"a": 1}),
    ],
    ids=lambda message: message["method"],
)  # fmt: skip
async def test_every_result_says_its_type_and_its_server(far: Any, message: dict[str, Any]) -> None:
    result = await (await far.ask(message)).result()
    assert result["resultType"] == "complete"
    assert result["_meta"] == SERVER
    cacheable = message["method"] in [*CACHEABLE, "resources/read"]
    assert ("ttlMs" in result, "cacheScope" in result) == (cacheable, cacheable)
    if cacheable:
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] in ("public", "private")


async def test_every_page_of_a_list_says_how_long_it_may_be_kept(far: Any) -> None:
    cursor, scopes = None, set()
    for number in range(3):
        params = {} if cursor is None else {"cursor": cursor}
        result = await (await far.ask(modern(number, "tools/list", **params))).result()
        scopes.add(result["cacheScope"])
        assert result["ttlMs"] >= 0
        cursor = result["nextCursor"]
    assert len(scopes) == 1


async def test_tools_say_nothing_of_the_tasks_of_before(far: Any) -> None:
    result = await (await far.ask(modern(1, "tools/list"))).result()
    assert "execution" not in result["tools"][0]
    assert Tool.model_validate(result["tools"][0]).name == "add"


@pytest.mark.parametrize(
    "method", [*REMOVED, "tasks/result", "tasks/list", "roots/list", "sampling/createMessage", "made/up"]
)
async def test_methods_that_are_gone_or_never_were_are_not_found(far: Any, method: str) -> None:
    exchange = await far.ask(modern(1, method, uri="a://1", level="info"))
    assert (await exchange.error())["code"] == -32601
    assert exchange.status in (None, 404)


async def test_what_is_wrong_with_the_parameters_of_a_method_is_no_http_error(far: Any) -> None:
    for message in (modern(1, "resources/read", uri="a://none"), modern(2, "prompts/get", name="none"),
                    modern(3, "tools/list", cursor="none"), call(4, "none")):  # fmt: skip
        exchange = await far.ask(message)
        assert (await exchange.error())["code"] == -32602
        assert exchange.status in (None, 200)


# Capabilities of the client


@pytest.mark.parametrize(("tool", "capability"), [("ask", "elicitation"), ("sample", "sampling"), ("roots", "roots")])
async def test_what_needs_a_capability_that_the_client_lacks_says_so(far: Any, tool: str, capability: str) -> None:
    exchange = await far.ask(call(1, tool))
    error = await exchange.error()
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {capability: {}}}
    assert exchange.status in (None, 400)


async def test_a_mode_of_elicitation_that_the_client_lacks_says_so(far: Any) -> None:
    exchange = await far.ask(call(1, "ask", meta={f"{PREFIX}clientCapabilities": {"elicitation": {"url": {}}}}))
    error = await exchange.error()
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


async def test_a_capability_holds_for_its_request_alone(far: Any) -> None:
    able = call(1, "ask", meta={f"{PREFIX}clientCapabilities": {"elicitation": {}}})
    assert (await (await far.ask(able)).result())["resultType"] == "input_required"
    assert (await (await far.ask(call(2, "ask"))).error())["code"] == -32021


# Log lines and progress


@pytest.mark.parametrize(
    ("level", "heard"),
    [(None, []), ("debug", ["debug", "info", "warning"]), ("warning", ["warning"]), ("emergency", [])],
)
async def test_log_lines_are_those_that_the_request_asked_for(far: Any, level: str | None, heard: list[str]) -> None:
    *said, answer = await (await far.ask(call(1, "log", meta={f"{PREFIX}logLevel": level}))).all()
    assert [one["params"]["data"] for one in said] == heard
    assert all(one["method"] == "notifications/message" for one in said)
    assert answer["result"]["content"][0]["text"] == "logged"


async def test_nobody_hears_the_log_lines_of_anothers_request(to: To) -> None:
    server = a_server()
    free = asyncio.Event()

    @server.tool
    async def slow(ctx: Context) -> None:
        await ctx.info("slow")
        await free.wait()

    far = to(server)
    loud = await far.ask(call("loud", "slow", meta={f"{PREFIX}logLevel": "debug"}))
    assert (await loud.next())["params"]["data"] == "slow"
    quiet = await far.ask(call("quiet", "log"))
    assert len(await quiet.all()) == 1
    free.set()
    assert len(await loud.all()) == 1


# Trace context


async def test_trace_context_and_other_metadata_reach_the_handler(far: Any) -> None:
    trace = {
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        "tracestate": "vendor=1",
        "baggage": "user=ada",
        "example.org/x": {"y": 1},
    }
    result = await (await far.ask(call(1, "meta", meta=trace))).result()
    assert result["structuredContent"] == {"progressToken": 1, **trace}


# Cancellation


async def test_a_cancelled_request_stops_and_says_nothing_more(to: To) -> None:
    server = Server("demo")
    said: list[str] = []

    @server.tool
    async def work(ctx: Context) -> None:
        try:
            await ctx.progress(1)
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            said.append("cancelled")
            raise

    far = to(server)
    message = call(1, "work")
    exchange = await far.ask(message)
    await exchange.next()
    await far.cancel(message, exchange)
    await until(lambda: said == ["cancelled"])
    other = await far.ask(call(2, "none"))
    assert (await other.error())["code"] == -32602
    assert exchange._said.empty()
