"""A client whose server is a process: what it says when that process misbehaves."""

from __future__ import annotations

import asyncio
import sys
import textwrap
import time
from pathlib import Path

import pytest

from mcp_notebook import ConnectionLost, LimitExceeded, Limits, ServerExited, connect

from ..faults import Fault, FaultyStdio, at
from ..scripted import until

pytestmark = pytest.mark.anyio

REVISION = "2025-11-25"
SCRIPT = """
    import json, os, sys

    def say(message):
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        name = (request.get("params") or {}).get("name")
        result = {}
        if request["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x"}}
        elif name == "big":
            result = {"content": [{"type": "text", "text": "x" * 200_000}]}
        elif name == "torn":
            result = {"content": [{"type": "text", "text": "cut \\ud83d"}]}
        elif name == "die":
            print("out of memory", file=sys.stderr, flush=True)
            os._exit(3)
        elif name == "chat":
            print("INFO working", flush=True)
            print("INFO still working", flush=True)
        say({"id": request["id"], "result": result})
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    script = tmp_path / "server.py"
    script.write_text(textwrap.dedent(SCRIPT), "utf-8")
    return [sys.executable, "-I", str(script)]


async def test_an_answer_beyond_the_limit_fails_its_call_at_once_and_the_next_call_works(command: list[str]) -> None:
    async with connect(command, revision=REVISION, limits=Limits(message=100_000)) as client:
        with pytest.raises(LimitExceeded, match=r"Limits\.message allows 100,000"):
            await client.call_tool("big", timeout=30)
        assert (await client.call_tool("torn")).text == "cut ?"
        assert client.state == "connected"


async def test_log_lines_on_stdout_are_skipped_and_remembered_once(command: list[str]) -> None:
    async with connect(command, revision=REVISION) as client:
        await client.call_tool("chat")
        assert len(client.session.faults) == 1
        assert "INFO working" in client.session.faults[0]


async def test_a_server_that_dies_in_a_call_is_an_error_within_a_second_that_says_how(command: list[str]) -> None:
    async with connect(command, revision=REVISION) as client:
        began = time.monotonic()
        with pytest.raises(ConnectionLost, match="status 3") as caught:
            await asyncio.wait_for(client.call_tool("die"), 5)
        assert time.monotonic() - began < 1
        assert "out of memory" in str(caught.value)
        exited = caught.value.__cause__ or caught.value  # whether the call was carried out is another question
        assert isinstance(exited, ServerExited)
        assert exited.exit_status == 3
        assert "out of memory" in exited.stderr
        await until(lambda: client.state == "lost")
        with pytest.raises(ServerExited, match="out of memory"):
            await client.ping()
        await client.reconnect()
        assert (await client.call_tool("torn")).text == "cut ?"


async def test_a_connection_that_ends_behind_the_last_word_of_its_handshake_is_lost(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stdio = FaultyStdio(lambda number: at({("out", 2): Fault("cut after")} if number == 1 else {}))
    monkeypatch.setattr("mcp_notebook.transports.stdio.StdioChannel", stdio)
    with pytest.raises(ConnectionLost, match="cut, by a test"):
        await connect(command, revision=REVISION)
    async with connect(command, revision=REVISION) as client:
        assert client.state == "connected"
