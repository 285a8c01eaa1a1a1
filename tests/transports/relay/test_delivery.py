"""What a server says reaches a client once, in order and whole, whoever comes and goes meanwhile (RR-10, ST-2)."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

import psutil
import pytest

from mcp_notebook.jsonrpc import Notification, Request
from mcp_notebook.limits import Limits

from ..stdio_helpers import BOUND, wait_until
from .helpers import Relays, client_process, front, number_of

pytestmark = pytest.mark.anyio
MiB = 1024 * 1024


def asking(id: object, method: str, **params: Any) -> bytes:
    """A request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def lines_until(process: subprocess.Popen[bytes], last: int) -> list[dict[str, Any]]:
    """What a front says, from here to this number."""
    assert process.stdout is not None
    lines, rest = [], b""
    while last not in map(number_of, lines):
        data = process.stdout.read(65536)
        assert data, "the front has ended"
        *whole, rest = (rest + data).split(b"\n")
        lines += [json.loads(line) for line in whole]
    return lines


async def test_what_is_said_while_nobody_is_there_waits_for_the_next_client(relays: Relays) -> None:
    async with relays.client() as client:
        asked = await client.begin("count", to=50, gate=str(relays.gate))
        await client.ask("echo")
    relays.gate.touch()
    wait_until(lambda: relays.the_only_one()["waiting"] > 50 * 70)
    async with relays.client() as client:
        await client.receiver.result(asked)  # pyright: ignore[reportArgumentType]
        assert await client.numbers(50) == list(range(1, 51))
    assert relays.the_only_one()["waiting"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what of a pipe was read")
@pytest.mark.parametrize("size", [10, 3000, 200_000])
async def test_a_line_read_in_part_comes_again_whole_and_what_was_read_does_not(relays: Relays, size: int) -> None:
    with front(relays.command()) as before:
        assert before.stdin is not None
        assert before.stdout is not None
        before.stdout.readline()
        before.stdin.write(asking("a", "count", to=30, size=size))
        line = len(json.dumps({"jsonrpc": "2.0", "method": "number", "params": {"number": 1, "text": "x" * size}})) + 1
        left = 7 * line + line // 2  # seven lines and a half
        while left:
            left -= len(before.stdout.read(left))
        before.kill() if size == 10 else before.stdin.close()
        before.stdout.close()
        before.wait(BOUND)
    async with relays.client() as client:
        numbers = await client.numbers(30)
        assert numbers[-23:] == list(range(8, 31))
        assert len(numbers) == 23 or size == 10  # a killed front could not say what was read


def test_a_killed_client_loses_nothing_that_it_had_not_read_and_nothing_comes_twice(relays: Relays) -> None:
    with client_process(relays) as before:
        before.hears()
        before.begin(1, "count", to=3000, size=500)
        read = [number_of(before.hears()) for _ in range(100)]
        before.kill()
        assert before.process.stdout is not None
        rest = before.process.stdout.read().split(b"\n")[:-1]  # what it printed and the test had not read
        read += [number_of(json.loads(line)) for line in rest]
        assert len(read) < 3000
    with front(relays.command()) as after:
        numbers = [number for message in lines_until(after, 3000) if (number := number_of(message))]
    # The client had read from its pipe what stands between, and was killed before it could say so.
    assert read == list(range(1, len(read) + 1))
    assert numbers == list(range(numbers[0], 3001))
    assert numbers[0] > len(read)


async def test_half_a_line_of_a_killed_client_does_not_spoil_what_the_next_one_says(relays: Relays) -> None:
    with front(relays.command()) as before:
        assert before.stdin is not None
        assert before.stdout is not None
        before.stdout.readline()
        before.stdin.write(asking(1, "echo") + b'{"jsonrpc":"2.0","id":2,"meth')
        before.stdout.readline()
    async with relays.client() as client:
        assert await client.ask("echo", value=1) == {"value": 1}
        assert not [message for message in client.receiver.messages if getattr(message, "method", "") == "spoilt"]


def test_what_a_client_says_in_the_moment_before_it_is_killed_reaches_the_server(relays: Relays) -> None:
    with front(relays.command()) as before:
        assert before.stdin is not None
        assert before.stdout is not None
        before.stdout.readline()
        before.send_signal(signal.SIGSTOP)
        for number in range(1, 11):  # less than a pipe holds
            before.stdin.write(asking(number, "echo", text="x" * 5000))
        before.stdin.close()
        before.stdout.close()
        before.send_signal(signal.SIGTERM)  # as it is told of its parent's death
        before.send_signal(signal.SIGCONT)
        before.wait(BOUND)
    with front(relays.command()) as after:
        assert after.stdin is not None
        after.stdin.write(asking("last", "count", to=1))
        messages = lines_until(after, 1)
    assert {message["id"] for message in messages if "id" in message} >= set(range(1, 11))


async def test_a_client_that_replaces_another_in_the_middle_of_a_line_gets_the_whole(relays: Relays) -> None:
    with front(relays.command()) as old:
        assert old.stdin is not None
        assert old.stdout is not None
        old.stdout.readline()
        old.stdin.write(asking("large", "text", size=10 * MiB))
        old.stdout.read(1000)
        async with relays.client() as new:
            (text,) = await new.receiver.result("large")  # pyright: ignore[reportArgumentType]
            assert len(text) == 10 * MiB


async def test_lines_of_ten_megabytes_go_both_ways(relays: Relays) -> None:
    async with relays.client() as client:
        assert await client.ask("length", text="x" * (10 * MiB)) == 10 * MiB
        assert len(await client.ask("text", size=10 * MiB)) == 10 * MiB
        assert await client.ask("echo", still="here") == {"still": "here"}


async def test_a_line_beyond_the_limit_is_refused_by_its_id_and_the_rest_goes_on(relays: Relays) -> None:
    async with relays.client() as client:
        id = await client.begin("text", size=33 * MiB)
        await client.receiver.until(lambda: client.receiver.invalid)
        assert [error.id for error in client.receiver.invalid] == [id]
        assert await client.ask("echo", still="here") == {"still": "here"}
        assert "was cut, since Limits.message allows" in client.channel.stderr


async def test_a_server_that_says_too_much_for_nobody_has_to_wait_and_all_of_it_arrives(relays: Relays) -> None:
    async with relays.client() as client:
        asked = await client.begin("count", to=100, size=MiB, gate=str(relays.gate))
        await client.ask("echo")
    relays.gate.touch()
    full = Limits().relay_buffer
    wait_until(lambda: relays.the_only_one()["waiting"] >= full)
    await asyncio.sleep(0.3)
    assert relays.the_only_one()["waiting"] < full + 2 * MiB
    async with relays.client() as client:
        assert await client.numbers(100) == list(range(1, 101))
        await client.receiver.result(asked)  # pyright: ignore[reportArgumentType]


async def test_neither_a_server_nor_a_client_that_does_not_read_stops_the_other_way(relays: Relays) -> None:
    async with relays.client() as client:
        asked = await client.begin("count", to=3000, size=1000, gate=str(relays.gate))
        await client.channel.send(Request("deaf", "be_deaf", {"gate": str(relays.folder / "other gate")}))
        sending = asyncio.create_task(client.ask("length", text="x" * (10 * MiB)))
        done, _ = await asyncio.wait({sending}, timeout=0.3)
        assert not done
        relays.gate.touch()
        assert await client.numbers(3000) == list(range(1, 3001))
        await client.receiver.result(asked)  # pyright: ignore[reportArgumentType]
        (relays.folder / "other gate").touch()
        assert await asyncio.wait_for(sending, BOUND) == 10 * MiB


def test_what_a_server_said_before_it_ended_waits_for_the_client_after_one_that_did_not_read_it(relays: Relays) -> None:
    with front(relays.command()) as before:
        assert before.stdin is not None
        assert before.stdout is not None
        before.stdout.readline()
        before.stdin.write(asking("asked", "count", to=100, size=20_000))
        wait_until(lambda: relays.the_only_one()["waiting"] > 100 * 20_000)
        before.stdin.write(asking("end", "end", status=0))
        wait_until(lambda: relays.the_only_one()["ended"])
        before.stdin.close()
        before.stdout.close()
        before.wait(BOUND)
    with front(relays.command()) as after:
        assert after.stdout is not None
        messages = [json.loads(line) for line in after.stdout.read().splitlines()]
        assert after.wait(BOUND) == 0
    numbers = [number for message in messages if (number := number_of(message)) is not None]
    assert numbers == list(range(numbers[0], 101))
    assert numbers[0] <= 4  # a pipe holds three of them
    assert messages[-1]["method"] == "last words"


def test_a_client_that_leaves_at_once_takes_nothing_along(relays: Relays) -> None:
    with front(relays.command()) as before:
        assert before.stdin is not None
        assert before.stdout is not None
        before.stdout.readline()
        before.stdin.write(asking("asked", "count", to=20, size=1000))
        before.stdin.close()
        before.stdout.close()
        before.wait(BOUND)
    wait_until(lambda: relays.the_only_one()["waiting"] > 20 * 1000)
    for _ in range(5):
        with front(relays.command()) as leaving:
            assert leaving.stdin is not None
            assert leaving.stdout is not None
            leaving.stdin.close()
            assert b"number" not in leaving.stdout.read()
    with front(relays.command()) as after:
        numbers = [number_of(message) for message in lines_until(after, 20)]
    assert numbers[1:21] == list(range(1, 21))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what of a pipe was read")
def test_many_short_attachments_in_a_stream_of_messages_lose_none_and_double_none(relays: Relays) -> None:
    chance = random.Random(4)
    with front(relays.command()) as client:
        assert client.stdin is not None
        client.stdin.write(asking("asked", "count", to=20_000, size=200))
        numbers = heard_until_it_goes(client, 1)
    attachments = 1
    while not numbers or numbers[-1] < 20_000:
        attachments += 1
        with front(relays.command()) as client:
            numbers += heard_until_it_goes(client, chance.randrange(2_000_000))
    assert numbers == list(range(1, 20_001))
    assert attachments > 3


def heard_until_it_goes(client: subprocess.Popen[bytes], count: int) -> list[int]:
    """The numbers in the whole lines among so many bytes, after which a client goes without a word."""
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdout.readline()
    data = b""
    while len(data) < count and b'"asked", "result"' not in data:
        data += client.stdout.read(min(count - len(data), 65536))
    client.stdin.close()
    client.stdout.close()
    client.wait(BOUND)
    return [number for line in data.split(b"\n")[:-1] if (number := number_of(json.loads(line))) is not None]


# stderr


async def test_what_a_server_writes_to_stderr_goes_to_the_clients_stderr(relays: Relays) -> None:
    async with relays.client() as client:
        await client.ask("complain", text="a complaint\n")
        await asyncio.wait_for(asyncio.to_thread(wait_until, lambda: "a complaint\n" in client.channel.stderr), BOUND)


async def test_the_end_of_what_stderr_said_to_nobody_is_told_to_the_next_client(relays: Relays) -> None:
    async with relays.client() as client:
        await client.begin("complain", text="complaint {} " + 5000 * "x" + "\n", count=40, gate=str(relays.gate))
        await client.ask("echo")
    relays.gate.touch()
    wait_until(lambda: relays.the_only_one()["waiting"])  # all was said
    with front(relays.command()) as process:
        assert process.stderr is not None
        told = b""
        while b"complaint 39" not in told:
            told += process.stderr.read(65536)
    assert b"complaint 38" in told
    assert b"complaint 20" not in told


async def test_what_stderr_says_to_nobody_does_not_fill_the_memory(relays: Relays) -> None:
    async with relays.client() as client:
        await client.ask("echo")
    keeper = psutil.Process(relays.the_only_one()["keeper"])
    before = keeper.memory_info().rss
    async with relays.client() as client:
        await client.begin("complain", text=MiB * "x", count=100, gate=str(relays.gate))
        await client.ask("echo")
    relays.gate.touch()
    wait_until(lambda: relays.the_only_one()["waiting"])  # all was said
    assert keeper.memory_info().rss - before < 50 * MiB


def test_a_flood_on_stderr_holds_nothing_up_though_nobody_reads_it(relays: Relays) -> None:
    with front(relays.command()) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        for number in range(50):
            process.stdin.write(asking(number, "complain", text=100_000 * "x"))
        process.stdin.write(asking("last", "count", to=1))
        assert lines_until(process, 1)
        assert process.stderr is not None
        process.stdin.close()
        pipe = 64 * 1024
        assert len(process.stderr.read()) <= pipe + Limits().stderr_tail + 1000


async def test_without_announcing_the_first_word_is_the_servers(relays: Relays) -> None:
    command = relays.command()
    with front(replace(command, args=[word for word in command.args if word != "--announce"])) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(asking(1, "pid"))
        assert json.loads(process.stdout.readline())["id"] == 1


async def test_the_server_is_told_of_by_a_notification_that_any_client_may_pass_over(relays: Relays) -> None:
    async with relays.client() as client:
        await client.ask("pid")
        first = client.receiver.messages[0]
        assert isinstance(first, Notification)
        assert set(first.params or {}) == {"server", "attachment", "since", "keep"}
