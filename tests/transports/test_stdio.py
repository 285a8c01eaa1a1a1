"""A server as a child process: whatever it does, no wait is without end and nothing of it stays."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from mcp_notebook.errors import ConnectError, ConnectionLost, LimitExceeded, ServerExited
from mcp_notebook.jsonrpc import Notification, Request, Response
from mcp_notebook.limits import Limits
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.stdio import StdioChannel

from .stdio_helpers import BOUND, QUICK, Remembering, all_gone, lives, misbehaving, opened, wait_until

pytestmark = pytest.mark.anyio
ASK = Request(1, "ask", {"text": "grüße"})


async def test_requests_are_answered_and_closing_ends_the_process() -> None:
    async with opened(misbehaving("echo")) as (channel, receiver):
        pid = channel.pid
        assert pid is not None
        assert lives(pid)
        await channel.send(ASK)
        assert await receiver.result() == [{"text": "grüße"}]
        assert channel.exit_status is None
    assert not lives(pid)
    assert channel.exit_status == 0
    assert receiver.ends == [None]


async def test_a_child_has_a_session_of_its_own_its_directory_its_additions_and_utf8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_TOKEN", "s3cret")
    async with opened(misbehaving("environment", env={"ADDED": "ü"}, cwd=tmp_path)) as (channel, receiver):
        seen = await receiver.params("environment")
    assert seen["session"] == seen["pid"] == channel.pid
    assert _same_place(seen["cwd"], tmp_path)
    assert seen["ADDED"] == "ü"
    assert seen["PYTHONUTF8"] == "1"  # kimi-code#886
    assert "SOME_API_TOKEN" not in seen


async def test_it_works_on_a_loop_in_a_background_thread() -> None:  # PS#359, PS#1103: what a kernel does
    outcome: list[object] = []

    async def talk() -> None:
        async with opened(misbehaving("echo")) as (channel, receiver):
            await channel.send(ASK)
            outcome.append(await receiver.result())
            os.kill(channel.pid or 0, signal.SIGKILL)
            outcome.append(await receiver.end())

    thread = threading.Thread(target=lambda: asyncio.run(talk()))
    thread.start()
    await asyncio.to_thread(thread.join, BOUND)
    answer, error = outcome
    assert answer == [{"text": "grüße"}]
    assert isinstance(error, ServerExited)
    assert error.exit_status == -signal.SIGKILL


# Servers that end


@pytest.mark.parametrize(
    ("way", "status", "words"),
    [
        ("die_on_request", 3, "ended with status 3"),
        ("be_killed", -9, "was killed by signal 9 (SIGKILL)"),
        ("die_mid_message", 3, "ended with status 3 in the middle of a message"),
    ],
)
async def test_a_server_that_dies_in_a_call_is_an_error_within_a_second(
    way: str, status: int, words: str
) -> None:  # PS#332, FM#499, PS#1577
    async with opened(misbehaving(way)) as (channel, receiver):
        await channel.send(ASK)
        start = time.monotonic()
        error = await receiver.end()
        assert time.monotonic() - start < 1
    assert isinstance(error, ServerExited)
    assert error.exit_status == channel.exit_status == status
    assert words in str(error)
    assert not receiver.invalid
    assert len(receiver.ends) == 1


async def test_a_server_that_dies_at_its_start_is_an_error_that_quotes_the_end_of_its_stderr() -> None:  # PS#1103
    async with opened(misbehaving("die_at_start")) as (channel, receiver):
        error = await receiver.end()
    assert isinstance(error, ServerExited)
    assert error.exit_status == 1
    assert "  RuntimeError: no configuration was found" in str(error).splitlines()
    assert error.stderr.startswith("Traceback")
    assert channel.stderr == error.stderr


async def test_the_last_message_and_the_last_words_come_before_the_end_is_told() -> None:
    async with opened(misbehaving("answer_then_die")) as (channel, receiver):
        await channel.send(ASK)
        error = await receiver.end()
        assert receiver.messages == [Response(1, {"text": "grüße"})]
    assert isinstance(error, ServerExited)
    assert error.stderr == "last words\n"


async def test_a_death_is_noticed_though_a_grandchild_keeps_the_pipes_open_and_the_grandchild_ends() -> None:
    async with opened(misbehaving("leave_grandchild")) as (channel, receiver):
        grandchild = (await receiver.params("left"))["pid"]
        await receiver.params("ready")
        os.kill(channel.pid or 0, signal.SIGKILL)
        start = time.monotonic()
        assert isinstance(await receiver.end(), ServerExited)
        assert time.monotonic() - start < 1
        # Nobody needs to close for it.
        await asyncio.to_thread(all_gone, grandchild)


@pytest.mark.parametrize(("way", "pipe"), [("close_stdout", "stdout"), ("close_stdin", "stdin")])
async def test_a_server_that_closes_a_pipe_but_lives_on_is_lost_and_ended(way: str, pipe: str) -> None:
    async with opened(misbehaving(way)) as (channel, receiver):
        if way == "close_stdout":
            await channel.send(ASK)
        error = await receiver.end()
        assert isinstance(error, ServerExited)
        assert error.exit_status is None
        assert f"is still running but has closed its {pipe}" in str(error)
        await asyncio.to_thread(all_gone, channel.pid or 0)


async def test_sending_to_a_server_that_has_ended_is_the_same_error() -> None:
    async with opened(misbehaving("die_on_request", "7")) as (channel, receiver):
        await channel.send(ASK)

        async def insist() -> None:
            while True:  # until some moment between its death and the news of it
                await channel.send(ASK)
                await asyncio.sleep(0)

        with pytest.raises(ServerExited, match="ended with status 7"):
            await insist()
        assert receiver.ends
        with pytest.raises(ServerExited, match="ended with status 7"):
            await channel.send(ASK)


# Servers that write what they should not


async def test_several_megabytes_on_stderr_hold_nothing_up_and_their_end_is_kept() -> None:  # mark3labs/mcp-go#956
    async with opened(misbehaving("flood_stderr"), Limits(stderr_tail=2000)) as (channel, receiver):
        await channel.send(ASK)
        await receiver.result()
        await asyncio.to_thread(wait_until, lambda: channel.stderr.endswith("the end\n"))
        assert len(channel.stderr) == 2000


async def test_rubbish_on_stdout_is_skipped_and_quoted_once() -> None:  # PS PR924, PS PR115, PS#2454
    lines = ["Hello!", r"caf\xe9", r"INFO {\"a\":1", r"DEBUG {\"jsonrpc\":\"2.0\",\"method\":\"glued\"}"]
    async with opened(misbehaving("rubbish", *lines)) as (channel, receiver):
        await channel.send(ASK)
        await receiver.result()
    assert receiver.messages == [Notification("glued"), Response(1, {"text": "grüße"})]
    assert ["'Hello!'" in str(error) for error in receiver.invalid] == [True]


@pytest.mark.parametrize("size", [132_000, 10_000_000])
async def test_large_messages_come_whole_and_soon(size: int) -> None:  # qwen-code#9298
    async with opened(misbehaving("large", str(size))) as (channel, receiver):
        start = time.monotonic()
        await channel.send(ASK)
        (result,) = await receiver.result()
        assert time.monotonic() - start < 3
        assert len(result["text"]) == size


async def test_a_message_beyond_the_limit_is_reported_with_its_id_and_the_next_one_is_read() -> None:
    async with opened(misbehaving("large", "200000"), Limits(message=100_000)) as (channel, receiver):
        for id in (1, 2):
            await channel.send(Request(id, "ask"))
        await receiver.until(lambda: len(receiver.invalid) == 2)
        assert [error.id for error in receiver.invalid] == [1, 2]
        assert isinstance(receiver.invalid[0].__cause__, LimitExceeded)
        assert not receiver.ends
        with pytest.raises(LimitExceeded, match="was not sent"):
            await channel.send(Request(3, "ask", {"text": "x" * 100_000}))


# Servers that do not read


async def test_senders_are_slowed_down_where_the_server_reads_slowly_and_all_arrives() -> None:
    async with opened(misbehaving("slow_reader"), Limits(send_buffer=100_000)) as (channel, receiver):
        await receiver.params("ready")
        sent = 0

        async def send() -> None:
            nonlocal sent
            for id in range(40):
                await channel.send(Request(id, "ask", {"text": "x" * 50_000}))
                sent += 1

        sending = asyncio.create_task(send())
        await asyncio.wait({sending}, timeout=0.3)
        assert not sending.done()
        assert sent < 30
        os.kill(channel.pid or 0, signal.SIGUSR1)
        await sending
        await receiver.result(39)
        assert [message.id for message in receiver.messages if isinstance(message, Response)] == list(range(40))


async def test_a_server_that_never_reads_cannot_hold_up_closing() -> None:
    async with opened(misbehaving("never_read"), Limits(send_buffer=1000, shutdown=0.6)) as (channel, receiver):
        await receiver.params("ready")
        sending = asyncio.create_task(channel.send(Request(1, "ask", {"text": "x" * 1_000_000})))
        await asyncio.wait({sending}, timeout=0.1)
        assert not sending.done()
        start = time.monotonic()
        closing = asyncio.create_task(channel.close())
        with pytest.raises(ConnectionLost, match="closed"):
            await sending
        assert time.monotonic() - start < 0.4
        await closing
        assert time.monotonic() - start < 1.5
    assert receiver.ends == [None]
    assert not lives(channel.pid or 0)


# Closing


async def test_a_stubborn_server_and_its_grandchild_are_killed_within_bounds() -> None:  # PS#360
    async with opened(misbehaving("stubborn")) as (channel, receiver):
        grandchild = (await receiver.params("ready"))["grandchild"]
        assert lives(grandchild)
        start = time.monotonic()
        await channel.close()
        assert time.monotonic() - start < 4 * QUICK.shutdown
    assert channel.exit_status == -signal.SIGKILL
    assert not lives(grandchild)


async def test_a_grandchild_that_outlives_a_clean_exit_ends_too() -> None:  # PS PR2773
    async with opened(misbehaving("leave_grandchild")) as (channel, receiver):
        grandchild = (await receiver.params("left"))["pid"]
        await receiver.until(lambda: len(receiver.messages) == 2)
    assert channel.exit_status == 0
    assert not lives(grandchild)


async def test_a_grandchild_that_outlives_a_clean_exit_is_asked_before_it_is_killed(tmp_path: Path) -> None:
    goodbye = tmp_path / "goodbye"
    async with opened(misbehaving("leave_polite_grandchild", str(goodbye)), Limits()) as (channel, receiver):
        await receiver.params("ready")
    assert channel.exit_status == 0
    assert goodbye.exists()


async def test_what_has_left_the_process_group_and_keeps_stdin_open_holds_nothing_up() -> None:
    async with opened(misbehaving("echo")):
        pass  # starts the watchdog, whose pipe stays
    await asyncio.sleep(0)
    before = _open_files()
    async with opened(misbehaving("escape"), Limits(shutdown=0.3, send_buffer=10_000_000)) as (channel, receiver):
        escaped = (await receiver.params("ready"))["pid"]
        await channel.send(Request(1, "ask", {"text": "x" * 1_000_000}))
    try:
        await asyncio.sleep(0)
        assert _open_files() == before
    finally:
        os.kill(escaped, signal.SIGKILL)


async def test_what_a_server_says_after_closing_began_is_dropped() -> None:
    async with opened(misbehaving("talk_after_eof")) as (channel, receiver):
        await channel.send(ASK)
        await receiver.result()
    assert [type(message) for message in receiver.messages] == [Response]
    async with opened(misbehaving("chatter")) as (channel, receiver):
        await receiver.params("chatter")
        closing = asyncio.create_task(channel.close())
        await receiver.end()
        told = len(receiver.messages)
        await closing
        assert len(receiver.messages) == told


async def test_closing_again_or_at_once_from_several_sides_does_nothing_more() -> None:
    async with opened(misbehaving("echo")) as (channel, receiver):
        await asyncio.gather(channel.close(), channel.close())
        await channel.close()
        with pytest.raises(ConnectionLost, match="Connect again"):
            await channel.send(ASK)
    assert receiver.ends == [None]


async def test_closing_what_was_never_opened_does_nothing() -> None:
    channel = StdioChannel(misbehaving("echo"))
    await channel.close()
    with pytest.raises(ConnectionLost):
        await channel.send(ASK)
    assert channel.pid is None
    assert channel.exit_status is None
    assert channel.stderr == ""


def test_a_loop_that_ends_while_a_server_is_being_closed_kills_it() -> None:
    pids: list[int] = []

    async def leave() -> None:
        channel, receiver = StdioChannel(misbehaving("stubborn"), Limits(shutdown=30)), Remembering()
        await channel.open(receiver)
        pids.extend((await receiver.params("ready")).values())
        closing = asyncio.create_task(channel.close())
        await receiver.end()
        closing.cancel()

    start = time.monotonic()
    asyncio.run(leave())
    all_gone(*pids)
    assert time.monotonic() - start < 5


async def test_nothing_is_left_open_behind_a_server(recwarn: pytest.WarningsRecorder) -> None:
    async def once(way: str) -> None:
        async with opened(misbehaving(way)) as (channel, receiver):
            await channel.send(ASK)
            await receiver.until(lambda: receiver.messages or receiver.ends)

    await once("echo")
    await asyncio.sleep(0)
    before = _open_files()
    for way in ("echo", "die_on_request", "close_stdout"):
        await once(way)
    await asyncio.sleep(0)
    assert _open_files() == before
    assert not [warning for warning in recwarn if issubclass(warning.category, ResourceWarning)]


def _same_place(one: str, other: Path) -> bool:
    return Path(one).samefile(other)


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd" if sys.platform == "linux" else "/dev/fd"))


# Commands that cannot start


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            Command(["npx", "-y", "pkg"], {"PATH": "/nowhere"}),
            "'npx' was not found in any directory of PATH. It comes with Node.js",
        ),
        (Command(["no-such-program"]), "'no-such-program' was not found in any directory of PATH. Install it"),
        (
            Command(["./no-such-program"], cwd="/"),
            "'./no-such-program' does not exist (looked for '/./no-such-program')",
        ),
        (Command([__file__]), "is not executable. Allow it (chmod +x)"),
        (Command(["/"]), "'/' is a directory"),
        (Command([sys.executable], cwd="/no/such/place"), "cannot run in '/no/such/place': there is no such directory"),
        (Command([sys.executable, "x" * 3_000_000]), "its arguments and environment are too long"),
    ],
)
async def test_a_command_that_cannot_start_is_a_connect_error_that_says_why(command: Command, words: str) -> None:
    channel, receiver = StdioChannel(command), Remembering()
    with pytest.raises(ConnectError) as caught:
        await channel.open(receiver)
    assert words in str(caught.value)
    await channel.close()
    assert not receiver.ends


async def test_a_program_is_found_relative_to_its_directory_and_on_its_own_path(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.stderr.write('hello from ' + sys.argv[0])\n")
    program.chmod(0o755)
    for command in (Command(["./server"], cwd=tmp_path), Command(["server"], {"PATH": str(tmp_path)})):
        async with opened(command) as (channel, receiver):
            await receiver.end()
            assert channel.stderr.startswith("hello from")


async def test_a_program_that_the_system_refuses_says_so_in_its_place(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text("neither a binary nor a script")
    program.chmod(0o755)
    channel, receiver = StdioChannel(Command([str(program)]), QUICK), Remembering()
    error = None
    try:
        await channel.open(receiver)
        error = await receiver.end()
    except ConnectError as refused:  # where nothing stands between us and the program
        error = refused
    assert "Exec format error" in str(error)
    await channel.close()
