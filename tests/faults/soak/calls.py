"""Making the calls, and noting what is heard of them."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from mcp_notebook import Client, connect
from mcp_notebook.client.calls import CallHandle
from mcp_notebook.errors import ConnectError, MCPError, OutcomeUnknown, RequestTimeout, SessionExpired
from mcp_notebook.jsonrpc import Notification
from mcp_notebook.limits import Limits
from mcp_notebook.protocol.calls import CallEvent, CallState
from mcp_notebook.types import ElicitParams

from ..ledger import Ledger, Occurrence
from ..record import Record
from .server import answer, result

AT_ONCE = 25
"""How many calls each client makes at once."""
CLIENTS = 4
"""How many clients there are, side by side."""
LONGEST = 300.0
"""Seconds after which a call counts as lost."""
LIMITS = Limits(request=60, resumes=20, question=60, connect=20)


@dataclass(slots=True)
class Share:
    """What was made, and what came of it.

    Args:
        mechanism: how calls are gone on with.
        seed: what the faults come from.
        calls: how many calls are made.
    """

    mechanism: str
    seed: int
    calls: int
    patience: float = 60.0
    """Seconds of silence after which a call is asked about again, or given up."""
    knows_ids: bool = False
    """Whether an event id is a promise; where sessions are forgotten, only a token is."""
    ledger: Ledger = field(default_factory=Ledger)
    record: Record = field(default_factory=Record)
    drops: int = 0
    """How often a call was dropped, of which its client knew how to go on with it."""
    dropped: set[str] = field(default_factory=set)
    """The calls that were."""

    def check(self) -> None:
        """Fail, and say how to repeat it, if anything was lost, doubled, or in another order."""
        again = f"python -m tests.faults.soak {self.mechanism} --seeds {self.seed} --calls {self.calls}"
        self.ledger.check(f"again: {again}", f"faults: {dict(self.record.counts)}")


async def soaked(
    mechanism: str, reach: Callable[[Share], contextlib.AbstractAsyncContextManager[list[Any]]], seed: int, calls: int
) -> Share:
    """Make the calls.

    Args:
        mechanism: the name of the way of going on.
        reach: opens what is called: what each client connects to.
        seed: what the faults come from.
        calls: how many calls.
    """
    share = Share(mechanism, seed, calls)
    async with reach(share) as targets:
        each = [range(first, calls, len(targets)) for first in range(len(targets))]
        await asyncio.gather(*(_client(share, target, names) for target, names in zip(targets, each, strict=True)))
    return share


async def _client(share: Share, target: Any, names: range) -> None:
    limit = asyncio.Semaphore(AT_ONCE)
    async with _connected(share, target) as client:

        async def one(name: str) -> None:
            async with limit:
                await _call(share, client, name)

        await asyncio.gather(*(one(str(name)) for name in names))


@contextlib.asynccontextmanager
async def _connected(share: Share, target: Any) -> AsyncIterator[Client]:
    """A client. The handshake is not what this is about: it is tried until it succeeds."""
    ledger = share.ledger

    async def asked(params: ElicitParams) -> dict[str, Any]:
        call, number = map(int, params.message.split())
        ledger.note("heard", call, number)
        ledger.note("asked", call, "the question")
        await asyncio.sleep(random.Random(params.message).uniform(0, 0.05))
        return {"value": answer(call, number)}

    def told(notification: Notification) -> None:
        data = (notification.params or {}).get("data")
        if notification.method == "notifications/message" and isinstance(data, dict):
            ledger.note("heard", data["call"], data["number"])

    while True:
        with contextlib.suppress(MCPError):
            client = await connect(
                target, revision="2025-11-25", limits=LIMITS, elicitation=asked, on_notification=told
            )
            break
    try:
        yield client
    finally:
        await client.close()


async def _call(share: Share, client: Client, name: str) -> None:
    ledger = share.ledger
    ledger.note("began", name, result(int(name)))

    def happened(handle: CallHandle, event: CallEvent) -> None:
        match event.kind, event.data:
            case "progress", data:
                ledger.note("heard", name, int(data.progress))
            case "state", CallState.DROPPED:
                share.drops += 1
                share.dropped.add(name)
            case _:
                pass

    try:
        async with asyncio.timeout(LONGEST):
            handle = await _begun(share, client, name, happened)
            while await _ends(share, handle, name) is None:  # nobody took it
                handle = await _begun(share, client, name, happened)
            if handle.policy is not None:
                ledger.note("promised", name)
    except TimeoutError:
        ledger.note("failed", name, "no end")
    if (share.knows_ids and name in share.dropped) or ledger.calls[name].count("heard"):
        ledger.note("promised", name)


async def _ends(share: Share, handle: CallHandle, name: str) -> Occurrence | None:
    """Wait for the outcome, and note it; None: nobody took the call, and nothing was done."""
    while True:
        what, value = "failed", None
        try:
            what, value = "received", (await handle).text
        except OutcomeUnknown:
            what = "unknown"
        except RequestTimeout:
            if handle.policy is not None:
                handle.resume()
                continue
            what = "unknown"  # it may have been lost on its way
        except MCPError as error:
            if handle.request_id is None or isinstance(error, (ConnectError, SessionExpired)):
                return None
            value = f"{type(error).__name__}: {error}"
        share.ledger.note(what, name, value)
        return what


async def _begun(
    share: Share, client: Client, name: str, happened: Callable[[CallHandle, CallEvent], None]
) -> CallHandle:
    """A call that has begun. Where the connection is just lost, nothing is sent; it is made anew."""
    while True:
        with contextlib.suppress(MCPError):
            await client.home.run(client.attached())
            handle = client.begin_call("work", {"call": int(name)}, timeout=share.patience)
            handle.add_listener(happened)
            return handle
        await asyncio.sleep(0.05)
