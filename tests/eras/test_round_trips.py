"""Multi round-trip requests of 2026-07-28, serving side."""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from mcp_notebook import Context, Limits, Server
from mcp_notebook.server.delivery import round_trip

from ..scripted import until
from ..transports.http.asgi import Asking, headers_of, modern
from .far import call

pytestmark = pytest.mark.anyio

To = Callable[[Server], Any]
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ABLE = {CAPABILITIES: {"elicitation": {}, "sampling": {}, "roots": {}}}
ADA = {"action": "accept", "content": {"value": "Ada"}}
BO = {"action": "accept", "content": {"value": "Bo"}}


def able(id: Any, tool: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """A call of a client that can answer everything. `state` and `answers` make it a retry; `more` adds metadata."""
    params, meta = {}, {**ABLE, **more.pop("more", {})}
    if "state" in more:
        params["requestState"] = more.pop("state")
    if "answers" in more:
        params["inputResponses"] = more.pop("answers")
    return call(id, tool, arguments, meta=meta, **params)


class Curious(Server):
    """A server whose tools ask."""

    def __init__(self, **limits: Any) -> None:
        super().__init__("demo", limits=Limits(**limits))
        self.begun = self.cancelled = 0
        self.threads: list[str] = []

        @self.tool
        async def name(ctx: Context, greeting: str = "hi") -> str:
            self.begun += 1
            try:
                answer = await ctx.elicit("Name?", str, key="name")
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return f"{greeting} {answer.data}" if answer else answer.action

        @self.tool
        async def two(ctx: Context) -> str:
            first = await ctx.elicit("First?", str, key="first")
            await ctx.info("between")
            second = await ctx.elicit("Second?", str, key="second")
            return f"{first.data} {second.data}"

        @self.tool
        async def together(ctx: Context) -> str:
            name, roots, model = await asyncio.gather(
                ctx.elicit("Name?", str, key="name"), ctx.list_roots(key="roots"), ctx.sample("Hi", key="model")
            )
            return f"{name.data} {len(roots)} {model.content.text}"  # type: ignore[union-attr]

        @self.tool
        def waits(ctx: Context) -> str:
            self.threads.append(threading.current_thread().name)
            return str(ctx.elicit("Name?", str, key="name").data)  # type: ignore[attr-defined]

        @self.tool
        def quick() -> str:
            return "quick"

        @self.prompt
        async def greet(ctx: Context) -> str:
            return f"hi {(await ctx.elicit('Name?', str, key='name')).data}"

        @self.resource("a://{id}")
        async def read(id: str, ctx: Context) -> str:
            return f"{id} {(await ctx.elicit('Name?', str, key='name')).data}"


@pytest.fixture
async def server() -> Curious:
    return Curious()


@pytest.fixture
async def far(to: To, server: Curious) -> Any:
    return to(server)


async def asked(far: Any, message: Mapping[str, Any]) -> dict[str, Any]:
    """The questions and state that a request comes to."""
    result = await (await far.ask(message)).result()
    assert result["resultType"] == "input_required", result
    return result


async def text(far: Any, message: Mapping[str, Any]) -> str:
    """The text that a request comes to."""
    result = await (await far.ask(message)).result()
    assert result["resultType"] == "complete", result
    return result["content"][0]["text"]


async def refusal(far: Any, message: Mapping[str, Any]) -> str:
    """Why a request is refused."""
    error = await (await far.ask(message)).error()
    assert error["code"] == -32602
    return error["message"]


# The rounds


async def test_a_question_is_a_result_and_its_answer_comes_with_the_request_made_anew(far: Any) -> None:
    first = await asked(far, able(1, "name"))
    assert first["inputRequests"]["name"]["method"] == "elicitation/create"
    assert first["inputRequests"]["name"]["params"]["message"] == "Name?"
    assert isinstance(first["requestState"], str)
    assert "ttlMs" not in first
    assert await text(far, able(2, "name", state=first["requestState"], answers={"name": ADA})) == "hi Ada"


async def test_the_handler_runs_once_over_all_rounds(far: Any, server: Curious) -> None:
    first = await asked(far, able(1, "name"))
    await text(far, able(2, "name", state=first["requestState"], answers={"name": ADA}))
    assert server.begun == 1


async def test_rounds_follow_rounds(far: Any) -> None:
    first = await asked(far, able(1, "two"))
    assert [*first["inputRequests"]] == ["first"]
    second = await asked(far, able(2, "two", state=first["requestState"], answers={"first": ADA}))
    assert [*second["inputRequests"]] == ["second"]
    assert await text(far, able(3, "two", state=second["requestState"], answers={"second": BO})) == "Ada Bo"


async def test_what_the_handler_says_goes_by_the_request_that_brought_the_answer(to: To) -> None:
    server = Server("demo")

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.progress(1)
        await ctx.info("one")
        await ctx.elicit("Name?", str, key="name")
        await ctx.progress(2)
        await ctx.info("two")
        return f"{ctx.request_id} {ctx.meta['x']}"

    @server.tool
    def blocking(ctx: Context) -> str:
        ctx.elicit("Name?", str, key="name")  # type: ignore[unused-coroutine]
        ctx.progress(2)  # type: ignore[unused-coroutine]
        return f"{ctx.request_id} {ctx.meta['x']}"

    far = to(server)
    level = "io.modelcontextprotocol/logLevel"
    loud = able("a", "work", more={"x": 1, level: "debug"})
    *said, first = await (await far.ask(loud)).all()
    assert [one["params"].get("progressToken", one["params"].get("data")) for one in said] == ["a", "one"]
    quiet = able("b", "work", state=first["result"]["requestState"], answers={"name": ADA}, more={"x": 2})
    *said, second = await (await far.ask(quiet)).all()
    assert [one["params"] for one in said] == [{"progressToken": "b", "progress": 2}]
    assert second["result"]["content"][0]["text"] == "b 2"

    state = (await asked(far, able("c", "blocking", more={"x": 1})))["requestState"]
    *said, last = await (await far.ask(able("d", "blocking", state=state, answers={"name": ADA}, more={"x": 2}))).all()
    assert [one["params"]["progressToken"] for one in said] == ["d"]
    assert last["result"]["content"][0]["text"] == "d 2"


async def test_the_next_question_goes_by_what_the_client_can_do_now(far: Any) -> None:
    first = await asked(far, able(1, "two"))
    retry = able(2, "two", state=first["requestState"], answers={"first": ADA}, more={CAPABILITIES: {}})
    error = await (await far.ask(retry)).error()
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"elicitation": {}}})


async def test_questions_of_one_moment_are_asked_together(far: Any) -> None:
    first = await asked(far, able(1, "together"))
    assert {key: one["method"] for key, one in first["inputRequests"].items()} == {
        "name": "elicitation/create",
        "roots": "roots/list",
        "model": "sampling/createMessage",
    }
    answers = {
        "name": ADA,
        "roots": {"roots": [{"uri": "file:///a"}]},
        "model": {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"},
    }
    assert await text(far, able(2, "together", state=first["requestState"], answers=answers)) == "Ada 1 yes"


async def test_what_is_not_answered_is_asked_again(far: Any) -> None:
    first = await asked(far, able(1, "together"))
    partial = {"name": ADA, "roots": {"roots": []}}
    second = await asked(far, able(2, "together", state=first["requestState"], answers=partial))
    assert [*second["inputRequests"]] == ["model"]
    none = await asked(far, able(3, "together", state=second["requestState"]))
    assert [*none["inputRequests"]] == ["model"]
    model = {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"}
    assert await text(far, able(4, "together", state=none["requestState"], answers={"model": model})) == "Ada 0 yes"


async def test_an_answer_given_twice_counts_once_and_so_does_the_whole_retry(far: Any, server: Curious) -> None:
    first = await asked(far, able(1, "two"))
    retry = {"state": first["requestState"], "answers": {"first": ADA}}
    one = await asked(far, able(2, "two", **retry))
    again = await asked(far, able(3, "two", state=first["requestState"], answers={"first": BO}))
    assert [*one["inputRequests"]] == [*again["inputRequests"]] == ["second"]
    last = {"state": again["requestState"], "answers": {"second": BO}}
    assert await text(far, able(4, "two", **last)) == "Ada Bo"
    assert await text(far, able(5, "two", **last)) == "Ada Bo"  # the way back of the first was lost, say
    assert await text(far, able(6, "two", **retry)) == "Ada Bo"


async def test_two_retries_at_once_come_to_the_same(far: Any, server: Curious) -> None:
    first = await asked(far, able(1, "name"))
    retries = [able(number, "name", state=first["requestState"], answers={"name": ADA}) for number in (2, 3)]
    assert await asyncio.gather(*(text(far, one) for one in retries)) == ["hi Ada", "hi Ada"]
    assert server.begun == 1


async def test_answers_to_what_nobody_asked_are_ignored(far: Any) -> None:
    first = await asked(far, able(1, "name"))
    answers = {"name": ADA, "other": BO, "": {"x": 1}}
    assert await text(far, able(2, "name", state=first["requestState"], answers=answers)) == "hi Ada"


async def test_an_answer_to_a_later_question_is_not_taken_before_it_is_asked(far: Any) -> None:
    first = await asked(far, able(1, "two"))
    early = {"first": ADA, "second": BO}
    second = await asked(far, able(2, "two", state=first["requestState"], answers=early))
    assert [*second["inputRequests"]] == ["second"]


async def test_answers_may_come_with_the_first_request(far: Any) -> None:
    assert await text(far, able(1, "name", answers={"name": ADA})) == "hi Ada"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_may_refuse(far: Any, action: str) -> None:
    first = await asked(far, able(1, "name"))
    assert await text(far, able(2, "name", state=first["requestState"], answers={"name": {"action": action}})) == action


@pytest.mark.parametrize(
    "answer", [{}, {"action": "maybe"}, {"action": "accept", "content": {"value": 7}}, "Ada", None, 7]
)
async def test_a_broken_answer_is_refused(far: Any, answer: Any) -> None:
    first = await asked(far, able(1, "name"))
    exchange = await far.ask(able(2, "name", state=first["requestState"], answers={"name": answer}))
    assert (await exchange.error())["code"] == -32602


@pytest.mark.parametrize("answers", [[], "x", 7])
async def test_answers_that_are_no_object_are_refused(far: Any, answers: Any) -> None:
    assert "inputResponses" in await refusal(far, able(1, "name", answers=answers))


async def test_prompts_and_resources_ask_too(far: Any) -> None:
    for message in (
        modern(1, "prompts/get", name="greet", meta=ABLE),
        modern(2, "resources/read", uri="a://7", meta=ABLE),
    ):
        first = await asked(far, message)
        again = {**message["params"], "requestState": first["requestState"], "inputResponses": {"name": ADA}}
        result = await (await far.ask({**message, "id": 9, "params": again})).result()
        assert "Ada" in str(result)
        assert result["resultType"] == "complete"


async def test_keys_are_made_where_the_handler_gives_none_and_are_never_used_twice(to: To) -> None:
    server = Server("demo")

    @server.tool
    async def three(ctx: Context) -> str:
        answers = await asyncio.gather(
            ctx.elicit("1?", str), ctx.elicit("2?", str, key="same"), ctx.elicit("3?", str, key="same")
        )
        return str([answer.data for answer in answers])

    far = to(server)
    first = await asked(far, able(1, "three"))
    keys = [*first["inputRequests"]]
    assert len(set(keys)) == 3
    answers = {key: {"action": "accept", "content": {"value": key}} for key in keys}
    assert await text(far, able(2, "three", state=first["requestState"], answers=answers)) == str(keys)


# The state


def flipped(state: str, place: int) -> str:
    raw = bytearray(base64.urlsafe_b64decode(state))
    raw[place] ^= 1
    return base64.urlsafe_b64encode(bytes(raw)).decode()


async def test_the_state_tells_the_client_nothing(far: Any) -> None:
    message = able(1, "name", {"greeting": "a secret greeting"})
    state = (await asked(far, message))["requestState"]
    raw = base64.urlsafe_b64decode(state)
    assert b"greeting" not in raw
    assert b"call" not in raw
    assert (await asked(far, able(2, "name", {"greeting": "a secret greeting"})))["requestState"] != state


async def test_a_state_that_was_changed_is_refused(far: Any, server: Curious) -> None:
    state = (await asked(far, able(1, "name")))["requestState"]
    size = len(base64.urlsafe_b64decode(state))
    broken = [flipped(state, place) for place in (0, 1, 9, size // 2, size - 1)]
    broken += [state[:-4], state[4:], state + "AAAA", state.swapcase(), "", "x", "ä", "\0", state + "\n" + state]
    for number, one in enumerate(broken):
        told = await refusal(far, able(f"t{number}", "name", state=one, answers={"name": ADA}))
        assert told.startswith("Invalid requestState")
        assert "without it" in told
    assert server.begun == 1
    assert await text(far, able(2, "name", state=state, answers={"name": ADA})) == "hi Ada"


@pytest.mark.parametrize("state", [7, {}, [], None, True])
async def test_a_state_that_is_no_text_is_refused_or_none(far: Any, state: Any) -> None:
    message = able(1, "name", state=state)
    if state is None:
        await asked(far, message)
    else:
        assert "requestState" in await refusal(far, message)


async def test_a_state_of_another_server_is_refused(to: To, far: Any) -> None:
    state = (await asked(far, able(1, "name")))["requestState"]
    other = to(Curious())
    assert "before this server was started" in await refusal(other, able(1, "name", state=state))


@pytest.mark.parametrize(
    "message",
    [
        able(2, "two", answers={"name": ADA}),
        able(2, "name", {"greeting": "bye"}, answers={"name": ADA}),
        modern(2, "prompts/get", name="name", meta=ABLE, inputResponses={"name": ADA}),
        modern(2, "resources/read", uri="a://name", meta=ABLE, inputResponses={"name": ADA}),
    ],
    ids=["other tool", "other arguments", "prompt of that name", "resource"],
)
async def test_a_state_is_of_no_use_for_another_request(far: Any, message: dict[str, Any]) -> None:
    state = (await asked(far, able(1, "name")))["requestState"]
    message = {**message, "params": {**message["params"], "requestState": state}}
    assert "belongs to another request" in await refusal(far, message)
    assert await text(far, able(3, "name", state=state, answers={"name": ADA})) == "hi Ada"


async def test_a_state_is_of_no_use_for_another_principal(server: Curious) -> None:
    app = server.asgi_app(token=["one", "two"])

    async def ask(message: dict[str, Any], token: str) -> dict[str, Any]:
        asking = Asking(app, body=message, headers={**headers_of(message), "authorization": f"Bearer {token}"})
        return (await asking.messages())[-1]

    state = (await ask(able(1, "name"), "one"))["result"]["requestState"]
    retry = able(2, "name", state=state, answers={"name": ADA})
    assert "belongs to another request" in (await ask(retry, "two"))["error"]["message"]
    assert (await ask(retry, "one"))["result"]["content"][0]["text"] == "hi Ada"
    await app.close()


async def test_a_state_is_of_use_on_another_connection(to: To, server: Curious) -> None:
    state = (await asked(to(server), able(1, "name")))["requestState"]
    assert await text(to(server), able(1, "name", state=state, answers={"name": ADA})) == "hi Ada"


# Bounds


async def test_a_call_whose_client_does_not_come_back_is_given_up(to: To) -> None:
    server = Curious(question=1)
    far = to(server)
    state = (await asked(far, able(1, "name")))["requestState"]
    await until(lambda: server.cancelled == 1)
    assert "Invalid requestState" in await refusal(far, able(2, "name", state=state, answers={"name": ADA}))


async def test_a_state_expires_though_its_call_were_still_there(
    to: To, server: Curious, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = to(server)
    state = (await asked(far, able(1, "name")))["requestState"]
    later = time.time() + server.limits.question + 2
    monkeypatch.setattr(round_trip.time, "time", lambda: later)
    assert "expired" in await refusal(far, able(2, "name", state=state, answers={"name": ADA}))


async def test_more_parked_calls_than_allowed_are_refused_and_end(to: To) -> None:
    server = Curious(parked_calls=2)
    far = to(server)
    states = [(await asked(far, able(number, "name")))["requestState"] for number in range(2)]
    error = await (await far.ask(able(9, "name"))).error()
    assert "Try again later" in error["message"]
    await until(lambda: server.cancelled == 1)
    assert await text(far, able(3, "name", state=states[0], answers={"name": ADA})) == "hi Ada"
    # what has ended gives its place to what begins
    assert (await asked(far, able(4, "name")))["requestState"]


async def test_a_client_that_goes_while_it_is_not_asked_cancels_the_handler(to: To) -> None:
    server = Server("demo")
    working, cancelled = asyncio.Event(), asyncio.Event()

    @server.tool
    async def work(ctx: Context) -> None:
        await ctx.elicit("Name?", str, key="name")
        try:
            await ctx.progress(1)
            working.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    far = to(server)
    state = (await asked(far, able(1, "work")))["requestState"]
    retry = able(2, "work", state=state, answers={"name": ADA})
    exchange = await far.ask(retry)
    async with asyncio.timeout(5):
        await working.wait()
        await far.cancel(retry, exchange)
        await cancelled.wait()
    assert "Invalid requestState" in await refusal(far, able(3, "work", state=state, answers={"name": ADA}))


# Synchronous handlers


async def test_a_synchronous_handler_waits_in_its_thread(far: Any, server: Curious) -> None:
    first = await asked(far, able(1, "waits"))
    assert await text(far, able(2, "waits", state=first["requestState"], answers={"name": ADA})) == "Ada"
    assert len(server.threads) == 1


async def test_handlers_that_wait_in_threads_leave_their_places_to_others(to: To) -> None:
    server = Curious(handler_threads=2)
    far = to(server)
    states = [(await asked(far, able(number, "waits")))["requestState"] for number in range(5)]
    assert await text(far, able("q", "quick")) == "quick"
    for number, state in enumerate(states):
        retry = able(f"r{number}", "waits", state=state, answers={"name": ADA})
        assert await text(far, retry) == "Ada"
    assert server._limiter.total_tokens == 2
    assert server._limiter.borrowed_tokens == 0


async def test_no_more_threads_work_at_once_than_allowed(to: To) -> None:
    server = Curious(handler_threads=2)
    at_work, most = 0, 0
    lock = threading.Lock()

    @server.tool
    def work(ctx: Context) -> None:
        nonlocal at_work, most
        ctx.elicit("Name?", str, key="name")  # type: ignore[unused-coroutine]
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.02)
        with lock:
            at_work -= 1

    far = to(server)
    states = [(await asked(far, able(number, "work")))["requestState"] for number in range(4)]
    retries = [able(f"r{number}", "quick") for number in range(8)]
    await asyncio.gather(*(text(far, one) for one in retries))
    for number, state in enumerate(states):
        await (await far.ask(able(f"s{number}", "work", state=state, answers={"name": ADA}))).result()
    assert most <= 2


async def test_a_given_up_handler_in_a_thread_ends(to: To) -> None:
    server = Server("demo", limits=Limits(question=1))
    ended = threading.Event()

    @server.tool
    def waits(ctx: Context) -> None:
        try:
            ctx.elicit("Name?", str)  # type: ignore[unused-coroutine]
        finally:
            ended.set()

    await asked(to(server), able(1, "waits"))
    assert await asyncio.to_thread(ended.wait, 5)
    await until(lambda: server._limiter.total_tokens == server.limits.handler_threads)
    assert server._limiter.borrowed_tokens == 0


async def test_work_after_an_answer_may_take_longer_than_a_person_may_for_the_answer(to: To) -> None:
    server = Server("demo", limits=Limits(question=1))
    go_on = asyncio.Event()

    @server.tool
    async def long(ctx: Context) -> str:
        answer = await ctx.elicit("Name?", str, key="name")
        await go_on.wait()
        return f"done, {answer.data}"

    far = to(server)
    state = (await asked(far, able(1, "long")))["requestState"]
    asyncio.get_running_loop().call_later(1.2, go_on.set)
    assert await text(far, able(2, "long", state=state, answers={"name": ADA})) == "done, Ada"
