"""Running handlers: synchronous and asynchronous, failing and cancelled."""

from __future__ import annotations

import asyncio
import functools
import sys
import threading
import time
from typing import Any

import pytest

from mcp_notebook import CallCancelled, Context, Limits, ProtocolError, Server, ToolError
from mcp_notebook.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from mcp_notebook.types import CallToolResult, TextContent

from ..scripted import until
from .visiting import visiting

pytestmark = pytest.mark.anyio


@pytest.fixture
def server() -> Server:
    server = Server("demo")

    @server.tool
    def add(a: int, b: int = 0) -> int:
        "Add two numbers."
        return a + b

    return server


# VAL-1: what the caller can mend is a result that says how


@pytest.mark.parametrize(
    ("arguments", "says"),
    [({}, "a"), ({"a": "one"}, "a"), ({"a": 1, "c": 2}, "c"), ({"a": 1.5}, "a"), ({"a": None}, "a")],
)
async def test_arguments_that_do_not_fit_are_a_result_that_says_where(
    server: Server, arguments: Any, says: str
) -> None:  # VAL-1
    async with visiting(server) as visitor:
        result = await visitor.call("add", arguments)
        assert result["isError"] is True
        assert f"{says}:" in result["content"][0]["text"] or f"'{says}'" in result["content"][0]["text"]
        assert "structuredContent" not in result


@pytest.mark.parametrize("sort", ["sync", "async"])
@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolError("There is no such city."), "There is no such city."),
        (ValueError("bad value"), "ValueError: bad value"),
        (RuntimeError(), "RuntimeError"),
        (KeyError("x"), "KeyError: 'x'"),
        (StopIteration(), "StopIteration"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (TimeoutError("of an API"), "TimeoutError: of an API"),
    ],
    ids=repr,
)
async def test_whatever_a_tool_raises_is_a_result_and_the_server_goes_on(
    sort: str, error: BaseException, text: str
) -> None:  # VAL-1
    server = Server("demo")

    def fail() -> int:
        raise error

    async def fail_later() -> int:
        raise error

    server.tool(name="fail")(fail if sort == "sync" else fail_later)
    async with visiting(server) as visitor:
        for _ in range(2):
            result = await visitor.call("fail")
            assert result["isError"] is True
            assert text in result["content"][0]["text"]


async def test_sys_exit_in_a_tool_ends_neither_the_loop_nor_the_server(server: Server) -> None:
    @server.tool
    def leave() -> None:
        sys.exit("bye")

    async with visiting(server) as visitor:
        assert (await visitor.call("leave"))["isError"] is True
        assert await visitor.text("add", {"a": 1}) == "1"


# VAL-2: what it cannot is a protocol error


async def test_an_unknown_tool_is_a_protocol_error_with_a_hint(server: Server) -> None:  # VAL-2
    async with visiting(server) as visitor:
        error = await visitor.refused("tools/call", name="ad")
        assert error.code == INVALID_PARAMS
        assert error.message == "Unknown tool: ad. Did you mean add?"


@pytest.mark.parametrize(
    "params", [{}, {"name": 5}, {"name": "add", "arguments": [1]}, {"name": "add", "arguments": "a=1"}]
)
async def test_a_malformed_request_is_a_protocol_error(server: Server, params: Any) -> None:  # VAL-2
    async with visiting(server) as visitor:
        error = await visitor.refused("tools/call", **params)
        assert error.code == INVALID_PARAMS
        assert "tools/call" in error.message


async def test_an_unknown_method_is_a_protocol_error(server: Server) -> None:  # VAL-2
    async with visiting(server) as visitor:
        assert (await visitor.refused("made/up")).code == METHOD_NOT_FOUND


async def test_a_tool_may_answer_with_a_protocol_error_of_its_own(server: Server) -> None:
    @server.tool
    def refuse() -> int:
        raise ProtocolError(-32050, "no", {"a": 1})

    async with visiting(server) as visitor:
        error = await visitor.refused("tools/call", name="refuse")
        assert (error.code, error.message, error.data) == (-32050, "no", {"a": 1})


async def test_a_value_that_does_not_fit_the_annotation_is_a_fault_of_the_server(server: Server) -> None:  # VAL-2
    @server.tool
    def lie() -> int:
        return "text"  # pyright: ignore[reportReturnType]

    async with visiting(server) as visitor:
        assert (await visitor.refused("tools/call", name="lie")).code == INTERNAL_ERROR


async def test_before_the_handshake_only_ping_is_answered(server: Server) -> None:
    async with visiting(server, shake_hands=False) as visitor:
        assert await visitor.ask("ping") == {}
        error = await visitor.refused("tools/list")
        assert error.code == INVALID_REQUEST
        assert "initialize" in error.message


@pytest.mark.parametrize("what", ["resource", "prompt"])
async def test_a_resource_or_prompt_that_fails_is_a_protocol_error_that_says_why(what: str) -> None:  # VAL-2
    server = Server("demo")

    @server.resource("a:b")
    @server.prompt
    def broken() -> str:
        raise OSError("disk full")

    async with visiting(server) as visitor:
        asking = {"resource": ("resources/read", {"uri": "a:b"}), "prompt": ("prompts/get", {"name": "broken"})}
        method, params = asking[what]
        error = await visitor.refused(method, **params)
        assert error.code == INTERNAL_ERROR
        assert "disk full" in error.message


# Results that cannot be sent


async def test_a_result_that_json_cannot_say_is_an_answer_all_the_same(server: Server) -> None:
    @server.tool(structured=False)
    def odd() -> Any:
        return {"thing": object(), "set": {1}, "bytes": b"\xff", 5: complex(1, 2)}

    @server.tool
    def torn() -> CallToolResult:
        return CallToolResult(content=[TextContent(text="half \ud83d a pair")])

    @server.tool
    def circle() -> CallToolResult:
        data: list[Any] = []
        data.append(data)
        return CallToolResult(structured_content={"data": data})

    async with visiting(server) as visitor:
        assert "<object object" in await visitor.text("odd")
        for name in ("torn", "circle"):
            error = await visitor.refused("tools/call", name=name)
            assert error.code == INTERNAL_ERROR
            assert "JSON" in error.message
        assert await visitor.text("add", {"a": 1}) == "1"


async def test_a_number_that_json_lacks_arrives_as_null(server: Server) -> None:
    @server.tool(structured=False)
    def ratios() -> list[float]:
        return [1.0, float("nan"), float("inf")]

    async with visiting(server) as visitor:
        assert "".join((await visitor.text("ratios")).split()) == "[1.0,null,null]"


async def test_a_result_beyond_the_limit_is_an_error_that_names_it() -> None:
    server = Server("demo")
    server.tool(name="big")(lambda: "x" * 40_000_000)
    async with visiting(server) as visitor:
        error = await visitor.refused("tools/call", name="big")
        assert error.code == INTERNAL_ERROR
        assert "Limits(message=" in error.message


# Threads


async def test_synchronous_handlers_run_side_by_side_and_leave_the_loop_free() -> None:
    server = Server("demo")
    together = threading.Barrier(3)

    @server.tool
    def wait(seconds: float) -> str:
        together.wait(10)  # passed only if three are here at once
        time.sleep(seconds)
        return str(threading.get_ident())

    async with visiting(server) as visitor:
        calls = [asyncio.ensure_future(visitor.text("wait", {"seconds": 0.01})) for _ in range(3)]
        names = await asyncio.gather(*calls)
        assert len(set(names)) == 3
        assert str(threading.get_ident()) not in names


async def test_no_more_synchronous_handlers_run_at_once_than_the_limit() -> None:
    server = Server("demo", limits=Limits(handler_threads=2))
    lock, running, most = threading.Lock(), 0, 0

    @server.tool
    def count() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    async with visiting(server) as visitor:
        await asyncio.gather(*(visitor.call("count") for _ in range(8)))
    assert most == 2


async def test_asynchronous_handlers_run_on_the_loop(server: Server) -> None:
    @server.tool
    async def where() -> str:
        return str(threading.get_ident())

    async with visiting(server) as visitor:
        assert await visitor.text("where") == str(threading.get_ident())


async def test_whatever_can_be_called_can_be_a_tool(server: Server) -> None:
    class Adder:
        "Adds."

        def __call__(self, a: int) -> int:
            return a + 1

        async def later(self, a: int) -> int:
            return a + 2

        @classmethod
        def of_class(cls, a: int) -> int:
            return a + 3

    adder = Adder()
    server.tool(name="object")(adder)
    server.tool(name="method")(adder.later)
    server.tool(name="of class")(Adder.of_class)
    server.tool(name="partial")(functools.partial(adder.later, 5))
    server.tool(name="coroutine")(lambda: adder.later(6))
    async with visiting(server) as visitor:
        assert await visitor.text("object", {"a": 1}) == "2"
        assert await visitor.text("method", {"a": 1}) == "3"
        assert await visitor.text("of class", {"a": 1}) == "4"
        assert await visitor.text("partial") == "7"
        assert await visitor.text("coroutine") == "8"


# Cancellation


async def cancel_when_called(visitor: Any, name: str, begun: Any) -> None:
    """Call a tool, and cancel the call once it has begun."""
    ids: list[Any] = []
    calling = asyncio.ensure_future(visitor.ask("tools/call", on_sent=ids.append, name=name, arguments={}))
    await until(begun)
    await visitor.connection.notify("notifications/cancelled", {"requestId": ids[0], "reason": "enough"})
    await visitor.settle()
    assert not calling.done()  # it is not answered
    calling.cancel()


async def test_a_cancelled_call_is_seen_by_its_handler_and_not_answered(server: Server) -> None:
    seen: list[str] = []

    @server.tool
    async def long() -> str:
        seen.append("begun")
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "done"

    async with visiting(server) as visitor:
        await cancel_when_called(visitor, "long", lambda: seen)
        assert seen == ["begun", "cancelled"]


async def test_a_cancelled_synchronous_handler_gives_its_place_back_and_can_say_nothing_more() -> None:
    server = Server("demo", limits=Limits(handler_threads=1))
    begun, go_on = threading.Event(), threading.Event()
    raised: list[Exception] = []

    @server.tool
    def long(ctx: Context) -> None:
        begun.set()
        assert go_on.wait(10)
        for say in (lambda: ctx.info("still here"), lambda: ctx.progress(1), ctx.list_roots):
            try:
                say()
            except CallCancelled as error:
                raised.append(error)

    @server.tool
    def short() -> str:
        return "short"

    async with visiting(server, capabilities={"roots": {}}) as visitor:
        await cancel_when_called(visitor, "long", begun.is_set)
        assert await visitor.text("short") == "short"
        go_on.set()
        await until(lambda: len(raised) == 3)
        await visitor.ask("ping")
        assert visitor.told == []
        assert visitor.asked == []


async def test_a_question_of_a_cancelled_call_is_withdrawn_and_its_thread_released() -> None:
    server = Server("demo")
    ended: list[BaseException] = []

    @server.tool
    def ask(ctx: Context) -> None:
        try:
            ctx.list_roots()  # pyright: ignore[reportUnusedCoroutine]
        except BaseException as error:
            ended.append(error)
            raise

    never = asyncio.Event()
    async with visiting(server, capabilities={"roots": {}}, roots__list=lambda params: never.wait()) as visitor:
        await cancel_when_called(visitor, "ask", lambda: visitor.asked)
        await until(lambda: ended)
        await until(lambda: not visitor.connection._peer.incoming)  # the client was told, too


async def test_when_the_client_goes_its_handlers_are_cancelled(server: Server) -> None:
    seen: list[str] = []

    @server.tool
    async def long() -> None:
        seen.append("begun")
        try:
            await asyncio.sleep(1000)
        finally:
            seen.append("ended")

    async with visiting(server) as visitor:
        calling = asyncio.ensure_future(visitor.call("long"))
        await until(lambda: seen)
        calling.cancel()
    assert seen == ["begun", "ended"]


async def test_more_requests_at_once_than_the_limit_are_refused() -> None:
    server = Server("demo", limits=Limits(incoming_requests=3))
    gate = asyncio.Event()

    @server.tool
    async def wait() -> str:
        await gate.wait()
        return "done"

    async with visiting(server) as visitor:
        calls = [asyncio.ensure_future(visitor.text("wait")) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert "More than 3 requests at once" in (await visitor.refused("ping")).message
        gate.set()
        assert await asyncio.gather(*calls) == ["done"] * 3
        await visitor.ask("ping")


async def test_several_clients_at_once_have_each_their_own_conversation(server: Server) -> None:
    @server.tool
    async def echo(text: str, ctx: Context) -> str:
        await ctx.info(text)
        return text

    async with visiting(server) as one, visiting(server, "2024-11-05") as two:
        assert await asyncio.gather(one.text("echo", {"text": "1"}), two.text("echo", {"text": "2"})) == ["1", "2"]
        assert [line["data"] for line in one.heard("notifications/message")] == ["1"]
        assert [line["data"] for line in two.heard("notifications/message")] == ["2"]
