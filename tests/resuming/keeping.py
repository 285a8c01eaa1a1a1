"""A server with a call that is kept for its client, and what the tests of both drafts do with it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2

from mcp_notebook import CallHandle, Client, Context, Limits, Server, connect
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.protocol.resuming import MESSAGE

from ..faults import FaultyProxy
from ..scripted import until
from ..transports.http.loopback import listening


class Keeping(Server):
    """A server with a resumable tool that the test lets go on."""

    def __init__(self, **terms: Any) -> None:
        super().__init__("keeping", limits=Limits(kept=30))
        self.free = asyncio.Event()
        self.runs = 0
        self.ended: list[str] = []

        @self.tool(resumable=True, **terms)
        async def work(ctx: Context, ask: bool = False, fail: bool = False) -> str:
            self.runs += 1
            try:
                await ctx.info("one")
                await ctx.info("two")
                if ask:
                    answer = await ctx.elicit("Name?", str)
                    await ctx.info(f"hello {answer.data}")
                await self.free.wait()
                await ctx.info("three")
            except asyncio.CancelledError:
                self.ended.append("cancelled")
                raise
            if fail:
                raise RuntimeError("secret")
            self.ended.append("done")
            return f"run {self.runs}"

        @self.tool
        async def plain() -> str:
            return "plain"


def call(id: Any = 7, **arguments: Any) -> dict[str, Any]:
    params = {"name": "work", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


def said(messages: list[dict[str, Any]]) -> list[Any]:
    """Messages in a word each."""
    words = []
    for message in messages:
        params, result = message.get("params") or {}, message.get("result") or {}
        content = result.get("content")
        words.append(content[0]["text"] if content else params.get("data") or message.get("method") or message)
    return words


def number(message: dict[str, Any]) -> int:
    return message["params"]["_meta"][MESSAGE]["number"]


@contextlib.asynccontextmanager
async def behind_a_proxy(server: Server) -> AsyncIterator[tuple[Client, FaultyProxy, str]]:
    """Our client of a server, what can cut its connections, and the server's own URL."""
    async with (
        listening(server) as url,
        FaultyProxy.before(url) as proxy,
        connect(proxy.url(), revision="2025-11-25") as client,
    ):
        yield client, proxy, url


async def heard_in_a_new_session(server: Keeping, client: Client, handle: CallHandle, url: str) -> list[Any]:
    """All log lines of a call whose session the server forgets, and which it lets go on only then."""
    channel: Any = client.session.connection.channel
    async with httpx2.AsyncClient() as somebody:
        assert (await somebody.delete(url, headers={"mcp-session-id": channel._session})).status_code == 200
    await until(lambda: handle.status in (CallState.DROPPED, CallState.RESUMING))
    server.free.set()
    return [event.data.data async for event in handle.events() if event.kind == "log"]
