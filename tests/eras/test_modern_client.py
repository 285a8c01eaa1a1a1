"""Revision 2026-07-28, calling side: what every request says, and what is made of answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import pytest

from mcp_notebook import Client, InvalidResult, Limits, NegotiationError, ProtocolError, connect
from mcp_notebook.jsonrpc import Request
from mcp_notebook.types import CreateMessageParams, ElicitParams

from ..scripted import NEVER, Scripted, until
from ..transports.http.loopback import Asked, Puppet, reply, result
from ..transports.http.loopback import modern as modern_http

pytestmark = pytest.mark.anyio

PREFIX = "io.modelcontextprotocol/"
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {
        "tools": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
        "prompts": {},
        "completions": {},
        "logging": {},
    },
    "instructions": "Be kind.",
    "_meta": {f"{PREFIX}serverInfo": {"name": "far", "version": "2"}},
    "ttlMs": 0,
    "cacheScope": "private",
}
TEXT = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}
QUESTION = {"method": "elicitation/create", "params": {"message": "Name?", "mode": "form", "requestedSchema": {
    "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}  # fmt: skip
MODEL = {"method": "sampling/createMessage", "params": {"maxTokens": 9, "messages": [
    {"role": "user", "content": {"type": "text", "text": "Hi"}}]}}  # fmt: skip


def modern(answers: Mapping[str, Any] | None = None, **more: Any) -> Scripted:
    """A server whose answers the test writes, that speaks what is modern."""
    base = {"server/discover": {**DISCOVERED, **more}, "tools/call": TEXT, "subscriptions/listen": NEVER}
    return Scripted({**base, **(answers or {})}, name="far")


def script(*answers: Any) -> Callable[[Request], Any]:
    """Answers one after another; the last one again and again."""
    left = list(answers)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


def asking(*, state: str | None = None, **questions: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {"resultType": "input_required"}
    if questions:
        asked["inputRequests"] = questions
    if state is not None:
        asked["requestState"] = state
    return asked


@contextlib.asynccontextmanager
async def connected(server: Scripted, **options: Any) -> AsyncIterator[Client]:
    async with connect(server, revision="2026-07-28", **options) as client:
        yield client


# What a request says


async def test_every_request_says_version_identity_and_capabilities() -> None:
    server = modern({"tools/list": {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "public"}})
    async with connected(server, elicitation=lambda _: None, roots=["/tmp"]) as client:
        await client.list_tools()
        await client.call_tool("x")
        await client.ping()
    requests = [one for one in server.messages if isinstance(one, Request)]
    assert {one.method for one in requests} == {"server/discover", "subscriptions/listen", "tools/list", "tools/call"}
    for one in requests:
        assert one.params is not None
        meta = one.params["_meta"]
        assert meta[f"{PREFIX}protocolVersion"] == "2026-07-28"
        assert meta[f"{PREFIX}clientInfo"]["name"] == "mcp_notebook"
        assert set(meta[f"{PREFIX}clientCapabilities"]) == {"elicitation", "roots"}


async def test_what_is_modern_has_no_initialize_ping_or_level() -> None:
    server = modern()
    async with connected(server) as client:
        await client.ping()
        await client.set_logging_level("error")
        await client.call_tool("x")
        await client.notify_roots_changed()
    methods = {getattr(one, "method", None) for one in server.messages}
    assert not methods & {"initialize", "ping", "logging/setLevel", "notifications/initialized"}
    assert "notifications/roots/list_changed" not in methods


async def test_the_log_level_goes_with_each_request_where_the_server_logs() -> None:
    server = modern()
    async with connected(server) as client:
        await client.call_tool("x")
        await client.set_logging_level("error")
        await client.call_tool("x")
    levels = [(one.params or {})["_meta"][f"{PREFIX}logLevel"] for one in server.requests("tools/call")]
    assert levels == ["info", "error"]
    silent = modern(capabilities={"tools": {}})
    async with connected(silent) as client:
        await client.call_tool("x")
    assert f"{PREFIX}logLevel" not in (silent.requests("tools/call")[0].params or {})["_meta"]


async def test_trace_context_is_carried() -> None:
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01", "tracestate": "v=1",
             "baggage": "a=b"}  # fmt: skip
    server = modern({"tools/call": script(asking(state="s"), TEXT)})
    async with connected(server) as client:
        await client.call_tool("x", meta=trace)
    for one in server.requests("tools/call"):
        meta = (one.params or {})["_meta"]
        assert {key: meta[key] for key in trace} == trace
        assert meta[f"{PREFIX}protocolVersion"] == "2026-07-28"


async def test_what_the_server_said_of_itself_is_known() -> None:
    async with connected(modern()) as client:
        assert client.profile.server_info.name == "far"
        assert client.profile.instructions == "Be kind."
    async with connected(modern(_meta={})) as client:
        assert client.profile.server_info.name == ""


# Versions


async def test_a_version_that_the_server_lacks_is_exchanged_for_one_it_has() -> None:
    refused = ProtocolError(-32022, "no", {"supported": ["2025-11-25", "2026-07-28"], "requested": "2026-07-28"})
    server = modern({"server/discover": script(refused, DISCOVERED)})
    async with connect(server) as client:
        assert client.profile.revision.name == "2026-07-28"
    assert len(server.requests("server/discover")) == 2
    assert server.requests("initialize") == []


async def test_a_server_of_later_revisions_that_has_a_handshake_too_gets_that() -> None:
    refused = ProtocolError(-32022, "no", {"supported": ["2099-01-01", "2025-06-18"], "requested": "2026-07-28"})
    server = Scripted({"server/discover": refused}, revision="2025-06-18")
    async with connect(server) as client:
        assert client.profile.revision.name == "2025-06-18"


@pytest.mark.parametrize("data", [None, {}, {"supported": "2026-07-28"}, {"supported": []}, {"supported": [7]}, []])
async def test_a_refusal_that_offers_nothing_is_told(data: Any) -> None:
    server = modern({"server/discover": ProtocolError(-32022, "Not that one", data)})
    with pytest.raises((ProtocolError, NegotiationError)):
        await connect(server)
    assert server.requests("initialize") == []


@pytest.mark.parametrize("broken", [{"supportedVersions": "2026-07-28"}, {"supportedVersions": None},
                                    {"capabilities": 7}])  # fmt: skip
async def test_a_broken_discovery_is_told(broken: dict[str, Any]) -> None:
    with pytest.raises(NegotiationError, match="server/discover"):
        await connect(modern(**broken))


# Kinds of results


async def test_a_result_without_a_type_is_complete() -> None:
    async with connected(modern({"tools/call": {"content": []}})) as client:
        assert (await client.call_tool("x")).content == []


@pytest.mark.parametrize("kind", ["later", "task", "", 7, None, ["complete"], "x" * 500])
async def test_a_result_of_an_unknown_type_is_no_result(kind: Any) -> None:
    async with connected(modern({"tools/call": {**TEXT, "resultType": kind}})) as client:
        with pytest.raises(InvalidResult, match="result of type") as caught:
            await client.call_tool("x")
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("method", ["tools/list", "completion/complete"])
async def test_only_three_methods_may_ask_for_input(method: str) -> None:
    server = modern({method: asking(state="s", q=QUESTION)})
    async with connected(server, elicitation=lambda _: {"name": "Ada"}) as client:
        with pytest.raises(InvalidResult, match="input_required"):
            await (client.list_tools() if method == "tools/list" else client.complete("p", "a"))
        assert len(server.requests(method)) == 1


# Round trips


async def test_questions_are_answered_and_the_request_made_anew_under_a_new_id() -> None:
    server = modern({"tools/call": script(asking(state="one", q=QUESTION), asking(state="two", m=MODEL), TEXT)})
    asked: list[ElicitParams] = []

    def answer(params: ElicitParams) -> dict[str, Any]:
        asked.append(params)
        return {"name": "Ada"}

    def model(params: CreateMessageParams) -> str:
        return f"{params.max_tokens}"

    async with connected(server, elicitation=answer, sampling=model) as client:
        assert (await client.call_tool("x", {"a": 1})).text == "done"
    assert [one.message for one in asked] == ["Name?"]
    first, second, third = [one.params or {} for one in server.requests("tools/call")]
    assert len({one.id for one in server.requests("tools/call")}) == 3
    for one in (first, second, third):
        assert (one["name"], one["arguments"]) == ("x", {"a": 1})
    assert "requestState" not in first
    assert "inputResponses" not in first
    assert second["requestState"] == "one"
    assert second["inputResponses"] == {"q": {"action": "accept", "content": {"name": "Ada"}}}
    assert third["requestState"] == "two"
    assert third["inputResponses"]["m"]["content"] == {"type": "text", "text": "9"}
    assert set(third["inputResponses"]) == {"m"}


@pytest.mark.parametrize(
    "state", ["", " ", "a\nb\t\u0000", "=?base64?x?=", "🦆\ud7ff", '{"a": 1}', "\u202e\u00e9e\u0301", "x" * 100_000]
)
async def test_the_state_goes_back_as_it_came(state: str) -> None:
    server = modern({"tools/call": script(asking(state=state), TEXT)})
    async with connected(server) as client:
        await client.call_tool("x")
    assert (server.requests("tools/call")[1].params or {})["requestState"] == state


async def test_where_no_state_came_none_goes_back() -> None:
    server = modern({"tools/call": script(asking(state="s", q=QUESTION), asking(q=QUESTION), TEXT)})
    async with connected(server, elicitation=lambda _: {"name": "Ada"}) as client:
        await client.call_tool("x")
    assert "requestState" not in (server.requests("tools/call")[2].params or {})


async def test_state_and_answers_of_one_request_are_not_in_another() -> None:
    free = asyncio.Event()

    async def call(request: Request) -> Any:
        params = request.params or {}
        if params["name"] == "ask" and "requestState" not in params:
            return asking(state="s", q=QUESTION)
        if params["name"] == "ask":
            await free.wait()
        return TEXT

    server = modern({"tools/call": call})
    async with connected(server, elicitation=lambda _: {"name": "Ada"}) as client:
        handle = client.begin_call("ask")
        await until(lambda: len(server.requests("tools/call")) == 2)
        await client.call_tool("other")
        free.set()
        await handle
    other = server.requests("tools/call")[2].params or {}
    assert other["name"] == "other"
    assert not {"requestState", "inputResponses"} & set(other)


async def test_rounds_are_bounded() -> None:
    server = modern({"tools/call": asking(state="s", q=QUESTION)})
    limits = Limits(rounds=3)
    async with connected(server, elicitation=lambda _: {"name": "Ada"}, limits=limits) as client:
        with pytest.raises(InvalidResult, match=r"asked 3 times.*Limits\.rounds"):
            await client.call_tool("x")
    assert len(server.requests("tools/call")) == 3


async def test_a_server_that_is_not_ready_is_asked_again_after_a_growing_pause() -> None:
    server = modern({"tools/call": script(asking(state="a"), asking(state="b"), TEXT)})
    loop = asyncio.get_running_loop()
    async with connected(server) as client:
        began = loop.time()
        await client.call_tool("x")
        assert 0.29 < loop.time() - began < 5
    assert [(one.params or {}).get("requestState") for one in server.requests("tools/call")] == [None, "a", "b"]
    assert all("inputResponses" not in (one.params or {}) for one in server.requests("tools/call"))


async def test_prompts_and_resources_may_ask_too() -> None:
    prompt = {"resultType": "complete", "messages": []}
    contents = {"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private"}
    server = modern({
        "prompts/get": script(asking(state="p", q=QUESTION), prompt),
        "resources/read": script(asking(state="r", q=QUESTION), contents),
    })  # fmt: skip
    async with connected(server, elicitation=lambda _: {"name": "Ada"}) as client:
        await client.get_prompt("p")
        await client.read_resource("a://1")
    for method in ("prompts/get", "resources/read"):
        assert "inputResponses" in (server.requests(method)[1].params or {})


@pytest.mark.parametrize("asked", [QUESTION, MODEL, {"method": "roots/list"}, {"method": "tools/call"},
                                   {"method": "made/up"}])  # fmt: skip
async def test_what_the_client_did_not_declare_is_not_answered(asked: dict[str, Any]) -> None:
    server = modern({"tools/call": asking(state="s", q=asked)})
    async with connected(server) as client:
        with pytest.raises(InvalidResult, match="did not declare"):
            await client.call_tool("x")
    assert len(server.requests("tools/call")) == 1


@pytest.mark.parametrize(
    "broken",
    [{"inputRequests": 7}, {"inputRequests": {"q": 7}}, {"inputRequests": {"q": {}}}, {"requestState": 7}],
)
async def test_a_broken_question_is_told(broken: dict[str, Any]) -> None:
    server = modern({"tools/call": {"resultType": "input_required", **broken}})
    async with connected(server) as client:
        with pytest.raises(InvalidResult, match="question is broken"):
            await client.call_tool("x")


async def test_neither_questions_nor_state_is_no_endless_loop() -> None:
    server = modern({"tools/call": {"resultType": "input_required"}})
    async with connected(server, limits=Limits(rounds=2)) as client:
        with pytest.raises(InvalidResult):
            await client.call_tool("x")


async def test_a_person_who_cannot_be_asked_in_time_ends_the_call() -> None:
    async def never(params: ElicitParams) -> None:
        await asyncio.sleep(60)

    server = modern({"tools/call": asking(state="s", q=QUESTION)})
    async with connected(server, elicitation=never, limits=Limits(question=0.05)) as client:
        with pytest.raises(ProtocolError, match="No answer within"):
            await client.call_tool("x")


async def test_questions_pushed_by_a_modern_server_are_refused() -> None:
    server = modern()
    async with connected(server, elicitation=lambda _: {"name": "Ada"}) as client:
        await client.call_tool("x")
        with pytest.raises(ProtocolError) as caught:
            await server.ask("elicitation/create", QUESTION["params"])
        assert caught.value.code == -32601


async def test_progress_of_a_later_round_is_heard() -> None:
    async def call(request: Request) -> Any:
        if "requestState" not in (request.params or {}):
            await server.progress(request, 1)
            return asking(state="s", q=QUESTION)
        await server.progress(request, 2)
        return TEXT

    server = modern({"tools/call": call})
    async with connected(server, elicitation=lambda _: {"name": "Ada"}) as client:
        handle = client.begin_call("x")
        heard = [event.data.progress async for event in handle.events() if event.kind == "progress"]
        await handle
    assert heard[-1] == 2


# Over HTTP


async def test_the_headers_of_every_modern_request() -> None:
    contents = {"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private"}
    empty = {"resultType": "complete", "messages": []}
    answers = {
        "resources/read": lambda asked: reply(200, result(asked, contents)),
        "prompts/get": lambda asked: reply(200, result(asked, empty)),
    }
    async with Puppet(modern_http(answers)) as puppet:
        async with connect(puppet.url) as client:
            await client.call_tool("add")
            await client.read_resource("file:///projects/myapp/config.json")
            await client.get_prompt("grüße")
        heard = {asked.says: asked.headers for asked in puppet.asked}
    for says, headers in heard.items():
        assert headers["mcp-protocol-version"] == "2026-07-28"
        assert headers["mcp-method"] == says
        assert "mcp-session-id" not in headers
        assert headers["accept"] == "application/json, text/event-stream"
    assert {says: headers.get("mcp-name") for says, headers in heard.items()} == {
        "server/discover": None,
        "tools/call": "add",
        "resources/read": "file:///projects/myapp/config.json",
        "prompts/get": "=?base64?Z3LDvMOfZQ==?=",
    }


async def test_a_dropped_modern_request_is_not_taken_up_again() -> None:
    async with Puppet(modern_http({"tools/call": b""})) as puppet, connect(puppet.url) as client:
        with pytest.raises(Exception, match="unknown"):
            await client.call_tool("x")
        assert len(puppet.requests("tools/call")) == 1
        assert puppet.requests("GET") == []


async def test_a_modern_error_beside_a_status_is_an_answer() -> None:
    def call(asked: Asked) -> bytes:
        error = {"code": -32021, "message": "no", "data": {"requiredCapabilities": {"roots": {}}}}
        return reply(400, {"jsonrpc": "2.0", "id": asked.json["id"], "error": error})

    async with Puppet(modern_http({"tools/call": call})) as puppet, connect(puppet.url) as client:
        with pytest.raises(ProtocolError) as caught:
            await client.call_tool("x")
        assert caught.value.data == {"requiredCapabilities": {"roots": {}}}
