"""With a store that lasts, what ended is still there after a restart, and what was at work has failed and says so."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import Context, Server
from mcp_notebook.server.delivery.remembered import RESTARTED
from mcp_notebook.store import open_store

from ..scripted import until
from .keeping import call, said
from .lines import HttpLine, Line, MemoryLine
from .test_requests import CAN, resume

pytestmark = pytest.mark.anyio
each_line = pytest.mark.parametrize("line", [MemoryLine, HttpLine])


class Lasting(Server):
    """A server of one file, as each process of it would be."""

    def __init__(self, file: Path) -> None:
        super().__init__("lasting", store=open_store(file))
        self.free = asyncio.Event()
        self.ends = 0

        @self.tool(resumable=True, max_wait=600)
        async def work(ctx: Context, fail: bool = False) -> str:
            await ctx.info("one")
            await self.free.wait()
            await ctx.info("two")
            self.ends += 1
            if fail:
                raise RuntimeError("broken")
            return "done"


async def begun(kind: type[Line], server: Server, **arguments: Any) -> tuple[Line, str]:
    line = await kind.open(server, CAN)
    await line.say(call(7, **arguments))
    return line, (await line.next())["params"]["resumeToken"]


def contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.iterdir()]


@each_line
async def test_what_ended_while_the_client_was_away_is_there_after_a_restart(  # RR-5, RR-9, RR-10
    line: type[Line], tmp_path: Path
) -> None:
    server = Lasting(tmp_path / "calls")
    client, token = await begun(line, server)
    assert said([await client.next()]) == ["one"]
    await client.again()  # it goes away
    server.free.set()
    await until(lambda: server.ends == 1)
    later = Lasting(tmp_path / "calls")
    client = await line.open(later, CAN)
    status = await client.ask(9, "requests/getStatus", requestId=7, resumeToken=token)
    assert status["result"]["status"] == "completed"
    await client.say(resume(token, after=1))
    assert said(await client.until_answered(7)) == ["two", "done"]
    assert later.ends == 0  # it was not run again


@each_line
async def test_what_was_at_work_has_failed_and_says_so(line: type[Line], tmp_path: Path) -> None:  # RR-9
    server = Lasting(tmp_path / "calls")
    client, token = await begun(line, server)
    await client.again()
    later = Lasting(tmp_path / "calls")
    client = await line.open(later, CAN)
    status = await client.ask(9, "requests/getStatus", requestId=7, resumeToken=token)
    assert status["result"]["status"] == "failed"
    await client.say(resume(token))
    answer = (await client.until_answered(7))[-1]
    assert answer["error"]["message"] == RESTARTED


async def test_a_restart_tells_no_more_to_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:  # RR-6
    caplog.set_level(logging.DEBUG)
    server = Lasting(tmp_path / "calls")
    line = await MemoryLine.open(server, CAN, "ada")
    await line.say(call())
    token = (await line.next())["params"]["resumeToken"]
    later = Lasting(tmp_path / "calls")
    for principal, id, secret in (("bob", 7, token), ("ada", 8, token), ("ada", 7, token[::-1])):
        other = await MemoryLine.open(later, CAN, principal)
        await other.say(resume(secret, id))
        assert (await other.next())["error"]["code"] == -32602
    assert token not in caplog.text  # RR-11
    assert not any(token.encode() in written for written in contents(tmp_path))


async def test_a_tools_own_error_is_an_outcome_like_any_other(tmp_path: Path) -> None:
    server = Lasting(tmp_path / "calls")
    client, token = await begun(MemoryLine, server, fail=True)
    await client.again()
    server.free.set()
    await until(lambda: server.ends == 1)
    client = await MemoryLine.open(Lasting(tmp_path / "calls"), CAN)
    await client.say(resume(token))
    result = (await client.until_answered(7))[-1]["result"]
    assert result["isError"] is True
    assert "broken" in result["content"][0]["text"]
