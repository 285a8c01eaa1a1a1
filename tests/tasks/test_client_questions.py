"""What a task asks our client: each question is put to the person once, however often it comes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_notebook import InvalidResult
from mcp_notebook.jsonrpc import Request
from mcp_notebook.types import ElicitParams

from ..scripted import NEVER, until
from ..virtual_time import virtual_time as anyio_backend  # noqa: F401
from .far_tasks import QUESTION, TEXT, FarTasks, in_time, using

pytestmark = pytest.mark.anyio
PUSHED = ("requestor", "receiver")


class Person:
    """Answers after so many seconds, and notes what was asked."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = list(seconds)
        self.asked: list[str] = []

    async def answer(self, params: ElicitParams) -> dict[str, str]:
        number = len(self.asked)
        self.asked.append(params.message)
        await asyncio.sleep(self.seconds[number])
        return {"name": f"Ada {number + 1}"}


def asks(*keys: str) -> dict[str, Any]:
    """The state of a task of the extension that asks."""
    return {"status": "input_required", "inputRequests": dict.fromkeys(keys, QUESTION)}


def answers(server: FarTasks) -> list[dict[str, Any]]:
    """What was sent by `tasks/update`: each answer's name, by its key."""
    sent = [(request.params or {})["inputResponses"] for request in server.requests("tasks/update")]
    return [{key: answer["content"]["name"] for key, answer in one.items()} for one in sent]


async def test_a_question_in_the_state_is_answered_by_its_key() -> None:  # TEX-2
    server = FarTasks("extension", asks("a"), "completed")

    def update(request: Request) -> Any:
        assert (request.params or {})["taskId"] == server.id
        return {"resultType": "complete"}

    server.answers["tasks/update"] = update
    person = Person(0)
    async with using(server, elicitation=person.answer) as client:
        await client.begin_call("work", task=True)
    assert person.asked == ["Name?"]


async def test_a_question_that_is_shown_again_is_not_asked_again() -> None:  # TEX-2
    server = FarTasks("extension", asks("a"), asks("a"), asks("a"), asks("a"), "working", "completed")
    person = Person(2.5)
    async with using(server, elicitation=person.answer) as client:
        await client.begin_call("work", task=True)
    assert person.asked == ["Name?"]
    assert answers(server)
    assert all(one == {"a": "Ada 1"} for one in answers(server))


async def test_an_answer_that_may_be_lost_is_sent_again_as_it_was_given() -> None:  # TEX-2
    server = FarTasks("extension", *[asks("a")] * 5, "completed")
    person = Person(0.5)
    async with using(server, elicitation=person.answer) as client:
        await client.begin_call("work", task=True)
    assert person.asked == ["Name?"]
    assert len(answers(server)) > 1
    assert all(one == {"a": "Ada 1"} for one in answers(server))


async def test_what_is_answered_goes_while_the_rest_is_thought_about() -> None:  # TEX-2
    server = FarTasks("extension", *[asks("a", "b")] * 3, asks("b"), asks("b"), "completed")
    person = Person(9000, 0.5)
    async with using(server, elicitation=person.answer) as client:
        handle = client.begin_call("work", task=True)
        await in_time(lambda: server.requests("tasks/update"))
        assert answers(server)[0] == {"b": "Ada 2"}
        assert (await handle).text == "done"
    assert person.asked == ["Name?", "Name?"]


async def test_the_same_key_in_another_call_is_another_question() -> None:  # TEX-2
    person = Person(0, 0)
    for _ in range(2):
        server = FarTasks("extension", asks("a"), "completed")
        async with using(server, elicitation=person.answer) as client:
            await client.begin_call("work", task=True)
    assert person.asked == ["Name?", "Name?"]


async def test_a_question_that_was_not_allowed_ends_the_task() -> None:  # TEX-2
    server = FarTasks("extension", asks("a"))
    async with using(server) as client:
        with pytest.raises(InvalidResult, match="elicitation/create"):
            await client.begin_call("work", task=True)
        assert server.requests("tasks/cancel")


@pytest.mark.parametrize("broken", [7, "a", {"params": {}}, {"method": 3}, None], ids=str)
async def test_a_broken_question_is_left_alone(broken: Any) -> None:  # TEX-2
    state = {"status": "input_required", "inputRequests": {"x": broken, "a": QUESTION}}
    server = FarTasks("extension", state, "completed")
    person = Person(0)
    async with using(server, elicitation=person.answer) as client:
        assert (await client.begin_call("work", task=True)).text == "done"
    assert person.asked == ["Name?"]


@pytest.mark.parametrize("form", PUSHED)
async def test_a_question_that_is_pushed_is_answered_with_its_task(form: str) -> None:  # TSK-2, TSK-5, TCR-4
    server = FarTasks(form, "input_required", tasks__result=NEVER)
    person = Person(0)
    async with using(server, elicitation=person.answer) as client:
        handle = client.begin_call("work", task=True)
        await until(lambda: server.asked_at)
        answer = await server.ask("elicitation/create", {**QUESTION["params"], "_meta": server.related})
        assert answer == {"action": "accept", "content": {"name": "Ada 1"}, "_meta": server.related}
        server.states, server.answers["tasks/result"] = ["completed"], TEXT
        await handle


@pytest.mark.parametrize("form", PUSHED)
async def test_a_question_that_is_pushed_twice_is_answered_once(form: str) -> None:  # TSK-5, TCR-3
    server = FarTasks(form, "input_required", tasks__result=NEVER)
    person = Person(5)
    async with using(server, elicitation=person.answer) as client:
        handle = client.begin_call("work", task=True)
        await until(lambda: server.asked_at)
        asked = Request("q-1", "elicitation/create", {**QUESTION["params"], "_meta": server.related})
        await server.send(asked)
        await until(lambda: person.asked)
        await server.hang_up()
        asked_before = len(server.asked_at)
        await in_time(lambda: len(server.asked_at) > asked_before)
        server._asked["q-1"] = answered = asyncio.get_running_loop().create_future()
        await server.send(asked)
        assert (await answered)["content"] == {"name": "Ada 1"}
        server.states, server.answers["tasks/result"] = ["completed"], TEXT
        await handle
    assert person.asked == ["Name?"]


async def test_at_input_required_the_result_is_asked_for_as_it_carries_the_questions() -> None:  # TCR-3
    server = FarTasks("receiver", "working", "input_required", "completed")

    async def result(request: Request) -> Any:
        answer = await server.ask("elicitation/create", {**QUESTION["params"], "_meta": server.related})
        return {"content": [{"type": "text", "text": answer["content"]["name"]}]}

    server.answers["tasks/result"] = result
    async with using(server, elicitation=Person(0).answer) as client:
        assert (await client.begin_call("work", task=True)).text == "Ada 1"
