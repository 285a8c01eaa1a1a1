"""This process as a server on stdin and stdout: pipes, files, and everything that must not reach the wire."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_notebook.errors import ConnectError, ConnectionLost
from mcp_notebook.jsonrpc import PARSE_ERROR, Notification, Request, Response
from mcp_notebook.limits import Limits
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.stdio_server import StdioServerChannel

from .stdio_helpers import QUICK, Remembering, opened, wait_until

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]
SERVE = [sys.executable, str(Path(__file__).parent / "servers" / "serve.py")]
SERVER = Command(SERVE, {"PYTHONPATH": str(ROOT)})
ONE = b'{"jsonrpc":"2.0","id":1,"method":"echo","params":{"n":1}}\n'


async def test_our_client_and_our_server_understand_each_other_and_the_server_ends_with_its_stdin() -> None:
    async with opened(SERVER, Limits()) as (channel, receiver):
        await channel.send(Request(1, "echo", {"text": "grüße"}))
        assert await receiver.result() == [{"text": "grüße"}]
    assert channel.exit_status == 0
    assert "The client has ended the connection" in channel.stderr
    assert not receiver.invalid


async def test_what_tools_libraries_and_child_processes_print_goes_to_stderr() -> None:
    async with opened(SERVER, Limits()) as (channel, receiver):
        await channel.send(Request(1, "chatter"))
        assert await receiver.result() == ["done"]
        await asyncio.to_thread(wait_until, lambda: "a print" in channel.stderr)  # at once, not when a buffer is full
        await channel.send(Request(2, "echo", {"still": "fine"}))
        assert await receiver.result(2) == [{"still": "fine"}]
        assert not receiver.invalid
    for text in ("before serving", "a print", "a write without an end", "a library", "a child process"):
        assert text in channel.stderr
    assert "after serving" not in channel.stderr


async def test_nobody_else_can_read_the_clients_messages() -> None:
    async with opened(SERVER, Limits()) as (channel, receiver):
        await channel.send(Request(1, "steal"))
        await channel.send(Request(2, "echo", {"not": "stolen"}))
        assert await receiver.result() == [repr(("", b"", b""))]
        assert await receiver.result(2) == [{"not": "stolen"}]


async def test_a_large_answer_arrives_whole() -> None:
    async with opened(SERVER, Limits()) as (channel, receiver):
        await channel.send(Request(1, "large", {"size": 10_000_000}))
        (text,) = await receiver.result()
        assert len(text) == 10_000_000


def test_files_serve_as_stdin_and_stdout_and_every_answer_owed_is_written(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(ONE * 3 + b"rubbish\n" + ONE.strip())
    with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        subprocess.run(
            SERVE,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            env=SERVER.environment(),
            timeout=20,
            check=True,
        )
    *lines, last = (tmp_path / "out").read_text().splitlines()
    answers = [json.loads(line) for line in lines]
    assert [answer.get("result") for answer in answers] == [{"n": 1}, {"n": 1}, {"n": 1}, None, {"n": 1}]
    assert answers[3]["error"]["code"] == PARSE_ERROR
    assert last == "after serving"  # stdout was given back


class Wire:
    """The client's side of a server channel in this process: the other ends of its pipes."""

    def __init__(self) -> None:
        self.stdin, self.to_server = os.pipe()
        self.from_server, self.stdout = os.pipe()
        self._open = {self.stdin, self.to_server, self.from_server, self.stdout}

    def close(self, *ends: int) -> None:
        for end in ends or tuple(self._open):
            self._open.discard(end)
            os.close(end)


@contextlib.asynccontextmanager
async def serving(limits: Limits = QUICK) -> AsyncIterator[tuple[StdioServerChannel, Remembering, Wire]]:
    wire = Wire()
    channel, receiver = StdioServerChannel(limits, stdin=wire.stdin, stdout=wire.stdout), Remembering()
    await channel.open(receiver)
    wire.close(wire.stdin, wire.stdout)  # the channel has its own
    try:
        yield channel, receiver, wire
    finally:
        await channel.close()
        wire.close()


async def test_a_line_that_is_no_message_is_told_and_the_next_one_read() -> None:
    async with serving() as (_, receiver, wire):
        os.write(wire.to_server, b"rubbish\n[]\n" + ONE)
        await receiver.until(lambda: receiver.messages)
        assert receiver.messages == [Request(1, "echo", {"n": 1})]
        assert len(receiver.invalid) == 2


async def test_the_end_of_stdin_ends_the_connection_and_answers_can_still_be_sent() -> None:
    async with serving() as (channel, receiver, wire):
        os.write(wire.to_server, ONE)
        wire.close(wire.to_server)
        assert isinstance(await receiver.end(), ConnectionLost)
        assert receiver.messages
        await channel.send(Response(1, "late"))
        assert json.loads(os.read(wire.from_server, 1000))["result"] == "late"
        await channel.close()
        with pytest.raises(ConnectionLost):
            await channel.send(Response(1, "too late"))
    assert len(receiver.ends) == 1


async def test_a_client_that_no_longer_reads_ends_the_connection() -> None:
    async with serving() as (channel, receiver, wire):
        wire.close(wire.from_server)
        error = await receiver.end()
        assert "no longer reads" in str(error)
        with pytest.raises(ConnectionLost, match="no longer reads"):
            await channel.send(Notification("n"))
        await asyncio.to_thread(os.write, wire.to_server, ONE * 4000)  # more than a pipe holds: it is read
        assert not receiver.messages


async def test_closing_tells_the_end_once_and_writes_what_waits() -> None:
    async with serving(Limits(send_buffer=10_000_000)) as (channel, receiver, wire):
        await channel.send(Notification("n", {"text": "x" * 1_000_000}))
        closing = asyncio.create_task(channel.close())
        received = await asyncio.to_thread(_read_all, wire.from_server)
        await closing
        await channel.close()
    assert len(json.loads(received)["params"]["text"]) == 1_000_000
    assert receiver.ends == [None]


async def test_a_client_that_reads_nothing_slows_senders_down_and_cannot_hold_up_closing() -> None:
    async with serving(Limits(send_buffer=1000, shutdown=0.3)) as (channel, _, _wire):
        sending = asyncio.create_task(channel.send(Notification("n", {"text": "x" * 1_000_000})))
        await asyncio.wait({sending}, timeout=0.1)
        assert not sending.done()
        start = time.monotonic()
        await channel.close()
        assert time.monotonic() - start < 1
        with pytest.raises(ConnectionLost):
            await sending


async def test_files_given_are_read_and_written_and_stay_open(tmp_path: Path) -> None:
    with _open_both(tmp_path, ONE * 2) as (stdin, stdout):
        channel, receiver = StdioServerChannel(Limits(send_buffer=10), stdin=stdin, stdout=stdout), Remembering()
        await channel.open(receiver)
        await receiver.end()
        for _ in range(3):
            await channel.send(Response(1, "a text larger than the buffer"))
        await channel.close()
        assert len(receiver.messages) == 2
        assert len(_written(tmp_path).splitlines()) == 3
        os.fstat(stdin.fileno())


async def test_without_a_stdin_there_is_nothing_to_serve_on() -> None:
    with pytest.raises(ConnectError, match="no stdin"):
        await StdioServerChannel(stdin=999, stdout=999).open(Remembering())
    with pytest.raises(ValueError, match="both"):
        StdioServerChannel(stdin=0)


@contextlib.contextmanager
def _open_both(place: Path, content: bytes):
    (place / "in").write_bytes(content)
    with (place / "in").open("rb") as stdin, (place / "out").open("wb") as stdout:
        yield stdin, stdout


def _written(place: Path) -> bytes:
    return (place / "out").read_bytes()


def _read_all(fd: int) -> bytes:
    data = b""
    while piece := os.read(fd, 1_000_000):
        data += piece
    return data
