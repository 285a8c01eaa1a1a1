"""Faults between a client and its child process."""

from __future__ import annotations

import signal

import pytest

from mcp_notebook.errors import ConnectionLost
from mcp_notebook.jsonrpc import Request

from ..transports.stdio_helpers import QUICK, Remembering, misbehaving
from .channel import FaultyStdio
from .messages import Fault, at

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("kill", "status"), [(False, 0), (True, -signal.SIGKILL)])
async def test_a_cut_closes_stdin_or_kills_and_the_next_connection_has_its_own_plan(kill: bool, status: int) -> None:
    stdio = FaultyStdio(lambda number: at({("in", 2): Fault("cut after")} if number == 1 else {}), kill=kill)
    for _ in range(2):
        channel, receiver = stdio(misbehaving("echo"), QUICK), Remembering()
        await channel.open(receiver)
        await channel.send(Request(1, "ask", {}))
        await receiver.result(1)
        await channel.send(Request(2, "ask", {}))
        await receiver.result(2)
        if stdio.connections == 1:
            assert isinstance(await receiver.end(), ConnectionLost)
        await channel.close()
        assert channel.exit_status == (status if stdio.connections == 1 else 0)
    assert stdio.record.lines == ["connection 1, message 2 in (answer to 2): cut after"]
