"""A server whose tasks the test scripts: what each question about them is answered with."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

from mcp_notebook import Client, connect
from mcp_notebook.jsonrpc import Request

from ..scripted import EVERYTHING, NEVER, Scripted
from .players import NEW_RELATED, RELATED, TASK

REVISION = {"requestor": "2025-06-18", "receiver": "2025-11-25", "extension": "2026-07-28"}
FORMS = list(REVISION)
TEXT = {"content": [{"type": "text", "text": "done"}]}
QUESTION = {"method": "elicitation/create", "params": {"message": "Name?", "mode": "form", "requestedSchema": {
    "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}  # fmt: skip
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}, "prompts": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
    "ttlMs": 0,
    "cacheScope": "private",
}


class FarTasks(Scripted):
    """The server.

    Args:
        form: the form of its tasks.
        states: what `tasks/get` says one time after the other: a status, or more of the state, or an error, or NEVER;
            the last again and again.
        poll: how long it wishes to be left alone, in milliseconds.
        announced: whether it tells of a task that it was asked for, where the form has that.
        support: what its tool says of tasks.
        answers: as of `Scripted`, beside what it answers anyhow.
    """

    def __init__(
        self,
        form: str,
        *states: Any,
        poll: int | None = 1000,
        announced: bool = True,
        support: str = "optional",
        **answers: Any,
    ) -> None:
        self.form = form
        self.id = "task-1"
        self.states = list(states)
        self.asked_at: list[float] = []
        """When it was asked how the task stands, on the loop's clock."""
        self.announced = announced
        self._poll = poll
        tool: dict[str, Any] = {"name": "work", "inputSchema": {"type": "object"}}
        if form == "receiver":
            tool["execution"] = {"taskSupport": support}
        listed = {"tools": [tool], "resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        super().__init__(
            {
                "server/discover": DISCOVERED,
                "subscriptions/listen": NEVER,
                "tools/list": listed,
                "tools/call": self.call,
                "tasks/get": self._get,
                "tasks/result": TEXT,
                "tasks/update": {"resultType": "complete"},
                "tasks/cancel": self._cancelled,
                "tasks/delete": {},
                **{method.replace("__", "/"): answer for method, answer in answers.items()},
            },
            revision=REVISION[form],
            capabilities={**EVERYTHING, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}},
        )
        if form != "extension":
            del self.answers["server/discover"]

    async def call(self, request: Request) -> Any:
        """`tools/call` becomes a task."""
        if self.form == "requestor":
            self.id = (request.params or {})["_meta"][TASK]["taskId"]
            if self.announced:
                await self.announce()
            return NEVER
        state = self.state("working")
        return {"task": state} if self.form == "receiver" else {**state, "resultType": "task"}

    async def announce(self) -> None:
        """Tell that there is a task."""
        await self.tell("notifications/tasks/created", {"_meta": {RELATED: {"taskId": self.id}}})

    def state(self, status: Any, **more: Any) -> dict[str, Any]:
        """The state of the task, as the form shows it."""
        state: dict[str, Any] = {"taskId": self.id, "status": status}
        keep, poll = {
            "requestor": ("keepAlive", "pollFrequency"),
            "receiver": ("ttl", "pollInterval"),
            "extension": ("ttlMs", "pollIntervalMs"),
        }[self.form]
        if self.form != "requestor":
            state |= {"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
        if self._poll is not None:
            state[poll] = self._poll
        if self.form == "extension":
            state |= {"resultType": "complete"} | ({"result": TEXT} if status == "completed" else {})
        return {**state, keep: 60_000, **more}

    @property
    def related(self) -> dict[str, Any]:
        """What `_meta` of a message of the task says."""
        return {RELATED if self.form == "requestor" else NEW_RELATED: {"taskId": self.id}}

    def _get(self, request: Request) -> Any:
        self.asked_at.append(asyncio.get_running_loop().time())
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if callable(state):
            state = state()
        if isinstance(state, dict):
            return self.state(**state)
        return self.state(state) if isinstance(state, str) else state

    def _cancelled(self, request: Request) -> Any:
        self.states = ["cancelled"]
        return {"resultType": "complete"} if self.form == "extension" else self.state("cancelled")


@contextlib.asynccontextmanager
async def using(server: FarTasks, **options: Any) -> AsyncIterator[Client]:
    """Our client of it."""
    async with connect(server, revision=REVISION[server.form], **options) as client:
        yield client


def steps(*answers: Any) -> Callable[[Request], Any]:
    """Answers one after another, the last again and again; those that are functions are called, and awaited."""
    left = list(answers)

    def answer(request: Request) -> Any:
        one = left.pop(0) if len(left) > 1 else left[0]
        return one(request) if callable(one) else one

    return answer


async def in_time(condition: Callable[[], Any], within: float = 1000) -> None:
    """Wait, where the clock jumps, until the condition holds."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.5)
