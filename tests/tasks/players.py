"""The requestor of tasks of one form, played by the test; and a server whose tools wait for the test."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from mcp_notebook import Context, ProtocolError, Server, ToolError

from .lines import EXTENSION, LINES, MODERN, Line

TASK, RELATED = "modelcontextprotocol.io/task", "modelcontextprotocol.io/related-task"
NEW_RELATED = "io.modelcontextprotocol/related-task"
TERMINAL = ("completed", "failed", "cancelled", "unknown")
ADA = {"action": "accept", "content": {"value": "Ada"}}
"""An answer to `work(ask=…)`."""


class Working(Server):
    """A server with a tool that the test lets go on."""

    def __init__(self, **how: Any) -> None:
        super().__init__("working", **how)
        self.free = asyncio.Event()
        self.runs: Counter[str] = Counter()
        """How often what has run."""

        @self.tool(task="optional")
        async def work(ctx: Context, ask: int = 0, fail: str = "", wait: bool = True) -> str:
            """Tells, asks, waits, and ends well or not."""
            self.runs["begun"] += 1
            try:
                await ctx.progress(1, 3, "begun")
                await ctx.info("one")
                names = await asyncio.gather(
                    *(ctx.elicit(f"Name {number}?", str, key=f"name_{number}") for number in range(1, ask + 1))
                )
                if wait:
                    await self.free.wait()
            except asyncio.CancelledError:
                self.runs["cancelled"] += 1
                raise
            await ctx.progress(2, 3, "nearly done")
            await ctx.info("two")
            self.runs["done"] += 1
            if fail == "tool":
                raise ToolError("The disk is full.")
            if fail == "protocol":
                raise ProtocolError(-32050, "The API broke.", {"after": 3})
            return " and ".join(["done", *(str(name.data) for name in names)])

        @self.tool
        def plain() -> str:
            """Knows no tasks."""
            return "plain"

        @self.tool(task="required")
        def only() -> str:
            """Must be a task."""
            return "only"


@dataclass(frozen=True)
class Row:
    """One row of the matrix."""

    form: str
    revision: str
    line: type[Line]

    def __str__(self) -> str:
        return f"{self.form}-{self.revision}-{self.line.__name__}"

    async def player(self, server: Server, **how: Any) -> Player:
        """A client of a server."""
        if self.revision == MODERN:
            how["extensions"] = {EXTENSION: {}, **how.get("extensions", {})}
        return Player(self.form, await self.line.open(server, self.revision, **how))


FORMS = {"requestor": ("2025-06-18", "2025-11-25"), "receiver": ("2025-11-25",), "extension": (MODERN,)}
ROWS = [Row(form, revision, line) for form, revisions in FORMS.items() for revision in revisions for line in LINES]
each_row = pytest.mark.parametrize("row", ROWS, ids=str)


def rows_of(*forms: str) -> pytest.MarkDecorator:
    """The rows of some forms."""
    rows = [row for row in ROWS if row.form in forms]
    return pytest.mark.parametrize("row", rows, ids=str)


class Player:
    """A client that begins tasks in one form."""

    def __init__(self, form: str, line: Line) -> None:
        self.form = form
        self.line = line
        self.requests: dict[str, int] = {}
        """Task -> the id of the request that began it."""

    @property
    def related(self) -> str:
        """The `_meta` key under which messages name their task."""
        return RELATED if self.form == "requestor" else NEW_RELATED

    async def begin(
        self, tool: str = "work", *, keep: int | None = None, id: str | None = None, **arguments: Any
    ) -> str:
        """Call a tool as a task; its id, once there is one."""
        asked = {"name": tool, "arguments": arguments}
        return await self.begin_with("tools/call", asked, keep=keep, id=id)

    async def begin_with(
        self, method: str, params: dict[str, Any], *, keep: int | None = None, id: str | None = None
    ) -> str:
        """Begin any request as a task."""
        meta = {"progressToken": f"token-{len(self.requests)}"}
        if self.form == "requestor":
            id = id or secrets.token_hex(8)
            task = {"taskId": id} if keep is None else {"taskId": id, "keepAlive": keep}
            self.requests[id] = await self.line.begin(method, **params, _meta={**meta, TASK: task})
            await self.line.until(lambda said: _created(said) == id)
            return id
        if self.form == "receiver":
            params = {**params, "task": {} if keep is None else {"ttl": keep}}
        request = await self.line.begin(method, **params, _meta=meta)
        answer = await self.line.answer(request)
        assert "result" in answer, answer
        state = answer["result"]["task"] if self.form == "receiver" else answer["result"]
        self.requests[state["taskId"]] = request
        return state["taskId"]

    async def get(self, id: str) -> dict[str, Any]:
        """Where a task stands."""
        return await self.line.result("tasks/get", taskId=id)

    async def status(self, id: str) -> str:
        """Its status."""
        return (await self.get(id))["status"]

    async def until(self, id: str, *statuses: str) -> dict[str, Any]:
        """Ask about a task until it has one of these statuses (by default: it has ended)."""
        async with asyncio.timeout(10):
            while (state := await self.get(id))["status"] not in (statuses or TERMINAL):  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            return state

    async def result(self, id: str) -> dict[str, Any]:
        """The result of a task that ends, or has ended, with one."""
        if self.form == "extension":
            return (await self.until(id))["result"]
        if self.form == "requestor":
            await self.until(id, "completed")
        return await self.line.result("tasks/result", taskId=id)

    async def text(self, id: str) -> str:
        """The text of that result."""
        return (await self.result(id))["content"][0]["text"]

    async def cancel(self, id: str) -> None:
        """Cancel a task as the form has it; it need not have ended then."""
        if self.form == "requestor":
            params = {"requestId": self.requests[id]}
            await self.line.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        else:
            await self.line.result("tasks/cancel", taskId=id)

    async def reply(self, id: str, answers: dict[str, Any] | None = None) -> None:
        """Answer the questions of a task that asks: each by its key (`name_1` and so on), or all with Ada."""
        state = await self.until(id, "input_required")
        if self.form == "extension":
            given = dict.fromkeys(state["inputRequests"], ADA) if answers is None else answers
            await self.line.result("tasks/update", taskId=id, inputResponses=given)
            return
        if self.form == "receiver":
            await self.line.begin("tasks/result", taskId=id)
        for number in range(1, (1 if answers is None else len(answers)) + 1):
            await self.respond(await self.line.asked(count=number))

    async def respond(self, question: dict[str, Any], answer: dict[str, Any] = ADA) -> None:
        """Answer one question that was pushed."""
        assert question["params"]["_meta"][self.related]["taskId"] in self.requests
        await self.line.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})


def _created(said: dict[str, Any]) -> str | None:
    if said.get("method") != "notifications/tasks/created":
        return None
    return said["params"]["_meta"][RELATED]["taskId"]
