"""Clients that come and go, and the server that stays (RR-3, ST-7)."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_notebook.errors import ConnectError, ServerExited
from mcp_notebook.limits import Limits
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.relay import TAKEN_OVER, is_relay, kept, relayed, starting, starts_nothing
from mcp_notebook.transports.relay.place import id_of_name

from ..stdio_helpers import BOUND, all_gone, lives, opened, wait_until
from .helpers import SERVER, Relays, client_process, front

pytestmark = pytest.mark.anyio


async def test_a_server_behind_a_relay_answers_like_any_other(relays: Relays) -> None:
    async with relays.client() as client:
        assert await client.ask("echo", value=1) == {"value": 1}
        assert client.receiver.invalid == []
    assert client.channel.exit_status == 0


def test_a_killed_client_comes_back_to_the_same_server(relays: Relays) -> None:
    with client_process(relays) as before:
        welcome = before.hears()["params"]
        before.begin(1, "pid")
        pid = before.hears()["result"]
        before.kill()
        wait_until(lambda: not relays.the_only_one()["attached"])
        assert lives(pid)
    with client_process(relays) as after:
        assert after.hears()["params"] == {**welcome, "attachment": 2}
        after.begin(2, "pid")
        assert after.hears()["result"] == pid


def test_a_client_killed_with_its_process_group_and_session_leaves_the_server(relays: Relays) -> None:
    with front(relays.command(), start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        server = relays.the_only_one()["server"]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(BOUND)
    wait_until(lambda: not relays.the_only_one()["attached"])
    assert lives(server)
    assert os.getsid(server) == server
    assert os.getsid(relays.the_only_one()["keeper"]) != os.getsid(0)


def test_closing_stdin_detaches_and_the_server_stays_but_nothing_of_the_client(relays: Relays) -> None:
    reading, writing = os.pipe()
    with front(relays.command(), pass_fds=[writing]) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.communicate(timeout=BOUND)  # stdout and stderr end, too
        assert process.returncode == 0
    os.close(writing)
    assert select.select([reading], [], [], BOUND)[0]
    assert os.read(reading, 1) == b""
    os.close(reading)
    assert relays.the_only_one()["attached"] is False
    assert lives(relays.the_only_one()["server"])


async def test_a_front_that_is_asked_to_end_detaches(relays: Relays) -> None:
    with front(relays.command()) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        assert process.wait(BOUND) == 128 + signal.SIGTERM
    assert lives(relays.the_only_one()["server"])


async def test_the_newest_client_wins_and_the_older_one_is_told_so(relays: Relays) -> None:
    async with relays.client() as old:
        pid = await old.ask("pid")
        async with relays.client() as new:
            assert await new.ask("pid") == pid
            loss = await old.receiver.end()
            assert isinstance(loss, ServerExited)
            assert loss.exit_status == TAKEN_OVER
            assert "another client has taken this one's place" in loss.stderr
            assert await new.ask("echo", still="here") == {"still": "here"}


async def test_a_client_that_reads_nothing_is_replaced_all_the_same(relays: Relays) -> None:
    with front(relays.command()) as old:
        assert old.stdin is not None
        old.stdin.write(b'{"jsonrpc":"2.0","id":"old","method":"count","params":{"to":100,"size":50000}}\n')
        wait_until(lambda: relays.the_only_one()["waiting"] > 4_000_000)
        async with relays.client() as new:
            assert await new.numbers(100) == list(range(1, 101))
        assert old.wait(BOUND) == TAKEN_OVER


async def test_a_front_that_does_nothing_any_more_is_replaced_all_the_same(relays: Relays) -> None:
    with front(relays.command()) as old:
        assert old.stdout is not None
        old.stdout.readline()
        old.send_signal(signal.SIGSTOP)
        async with relays.client() as new:
            assert await new.ask("echo", value=1) == {"value": 1}


async def test_many_quick_attachments_meet_one_server(relays: Relays) -> None:
    pids: list[int] = []
    for number in range(20):
        async with relays.client() as client:
            assert (await client.attached())["attachment"] == number + 1
            pids.append(await client.ask("pid"))
    assert len(set(pids)) == 1


def test_clients_that_start_at_the_same_moment_start_one_server(relays: Relays) -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(front(relays.command())) for _ in range(6)]
        wait_until(lambda: [process.poll() for process in processes].count(None) == 1)
        assert [process.poll() for process in processes].count(TAKEN_OVER) == 5
        assert relays.the_only_one()["attached"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who waits for a lock")
def test_clients_start_one_after_the_other(relays: Relays) -> None:
    with starting.Place().locked(), front(relays.command()) as process:
        wait_until(lambda: f"WRITE {process.pid} " in Path("/proc/locks").read_text())
        assert not list(relays.place.glob("*.socket"))
        process.kill()
    with front(relays.command()) as process:
        assert process.stdout is not None
        assert process.stdout.readline()


@pytest.mark.parametrize("other", [{"more": ["argument"]}, {"env": {"KEY": "b"}}, {"cwd": "/"}])
async def test_commands_that_differ_in_anything_do_not_meet(relays: Relays, other: dict[str, object]) -> None:
    more = other.pop("more", [])
    assert isinstance(more, list)
    async with relays.client(env={"KEY": "a"}) as one, relays.client(*more, **{"env": {"KEY": "a"}, **other}) as two:
        assert await one.ask("pid") != await two.ask("pid")
    assert len(relays.running()) == 2


async def test_a_command_is_the_same_in_another_terminal(relays: Relays) -> None:
    pids: set[int] = set()
    for terminal in ("xterm", "screen"):
        async with relays.client(env={"TERM": terminal, "SHLVL": str(len(pids))}) as client:
            pids.add(await client.ask("pid"))
    assert len(pids) == 1


async def test_relays_of_one_command_with_different_names_do_not_meet(relays: Relays) -> None:
    async with relays.client(name="one") as one, relays.client(name="two") as two:
        assert await one.ask("pid") != await two.ask("pid")
    assert sorted(relay["name"] for relay in relays.running()) == ["one", "two"]


async def test_a_name_holds_whatever_the_environment_is_but_for_one_command_only(relays: Relays) -> None:
    async with relays.client(name="one", env={"KEY": "a"}) as client:
        pid = await client.ask("pid")
    async with relays.client(name="one", env={"KEY": "b"}) as client:
        assert await client.ask("pid") == pid
    async with relays.client("argument", name="one") as client:
        loss = await client.receiver.end()
        assert isinstance(loss, ServerExited)
        assert "'one' runs another command" in loss.stderr
    assert relays.the_only_one()["server"] == pid


async def test_a_server_runs_in_the_folder_and_environment_of_the_command(relays: Relays) -> None:
    async with relays.client(env={"KEY": "value"}) as client:
        found = await client.ask("environment", names=["KEY", "PYTHONUTF8"])
        server = relays.the_only_one()["server"]
    assert found == {"cwd": str(relays.folder), "session": server, "KEY": "value", "PYTHONUTF8": "1"}


# The end


async def test_a_server_that_nobody_wants_any_more_ends_with_its_keeper(relays: Relays) -> None:
    async with relays.client(keep=0.3) as client:
        before = await client.attached()
        relay = relays.the_only_one()
        await asyncio.sleep(0.5)  # longer than it is kept for nobody: somebody is here
        assert await client.ask("pid") == relay["server"]
    all_gone(relay["server"], relay["keeper"], bound=4)
    assert relays.running() == []
    async with relays.client(keep=0.3) as client:
        assert (await client.attached())["server"] != before["server"]


async def test_whoever_comes_back_in_time_finds_the_server_and_the_time_begins_anew(relays: Relays) -> None:
    for _ in range(4):
        async with relays.client(keep=1.5) as client:
            await client.attached()
        await asyncio.sleep(0.5)
    assert relays.the_only_one()["attached"] is False


@pytest.mark.parametrize(("way", "status"), [("end", 3), ("kill", 128 + signal.SIGKILL)])
async def test_a_server_that_ends_is_told_with_its_status_and_last_words(relays: Relays, way: str, status: int) -> None:
    async with relays.client() as client:
        relay = relays.the_only_one() if await client.attached() else {}
        await client.begin(way, **({"status": 3} if way == "end" else {"number": signal.SIGKILL}))
        loss = await client.receiver.end()
    assert isinstance(loss, ServerExited)
    assert loss.exit_status == status
    if way == "end":
        assert await client.receiver.params("last words")
        assert "the last complaint" in loss.stderr
    assert f"(pid {relay['server']}) " in loss.stderr
    all_gone(relay["server"], relay["keeper"], bound=4)
    assert relays.running() == []


async def test_a_server_that_ended_while_nobody_was_there_is_told_to_the_next_client(relays: Relays) -> None:
    async with relays.client() as client:
        server = (await client.attached())["server"]
        await client.begin("end", status=3, gate=str(relays.gate))
        relay = relays.the_only_one()
    relays.gate.touch()
    wait_until(lambda: relays.the_only_one()["ended"])
    async with relays.client() as client:
        assert (await client.attached())["server"] == server
        await client.receiver.params("last words")
        loss = await client.receiver.end()
    assert isinstance(loss, ServerExited)
    assert loss.exit_status == 3
    assert "the last complaint" in loss.stderr
    all_gone(relay["keeper"])
    async with relays.client() as client:
        assert (await client.attached())["server"] != server


async def test_a_server_that_cannot_start_is_told_with_the_reason(relays: Relays) -> None:
    command = relayed(Command(["no-such-program"], relays.environment, relays.folder))
    async with opened(command) as (_, receiver):
        loss = await receiver.end()
    assert isinstance(loss, ServerExited)
    assert loss.exit_status == 127
    assert "'no-such-program' was not found in any directory of PATH" in loss.stderr
    wait_until(lambda: relays.running() == [])


async def test_stopping_ends_the_server_with_all_that_it_started_and_its_client(relays: Relays) -> None:
    async with relays.client(name="one") as client:
        child = await client.ask("have_child")
        relay = relays.the_only_one()
        assert await asyncio.to_thread(starting.stop, "one")
        assert isinstance(await client.receiver.end(), ServerExited)
    all_gone(child, relay["server"], relay["keeper"])
    assert not starting.stop("one")


async def test_a_killed_keeper_takes_the_server_along_and_its_socket_is_replaced(relays: Relays) -> None:
    async with relays.client() as client:
        before = await client.attached()
        child = await client.ask("have_child")
        relay = relays.the_only_one()
        os.kill(relay["keeper"], signal.SIGKILL)
        loss = await client.receiver.end()
        assert isinstance(loss, ServerExited)
        assert "the process that keeps the server has ended" in loss.stderr
    all_gone(relay["server"], child, bound=5)
    assert len(list(relays.place.glob("*.socket"))) == 1
    async with relays.client() as client:
        assert (await client.attached())["server"] != before["server"]
    assert len(list(relays.place.glob("*.socket"))) == 1


def test_whoever_comes_while_a_keeper_ends_starts_another(relays: Relays) -> None:
    ending = starting.Place().listen(id_of_name("one"))
    with ending, front(relays.command(name="one")) as process:
        visitor, _ = ending.accept()
        assert visitor.recv(1000)
        starting.Place().remove(id_of_name("one"))
        ending.close()
        visitor.close()
        assert process.stdout is not None
        assert b"attached" in process.stdout.readline()


async def test_a_keeper_that_is_asked_to_end_ends_the_server(relays: Relays) -> None:
    async with relays.client() as client:
        await client.attached()
        relay = relays.the_only_one()
        os.kill(relay["keeper"], signal.SIGTERM)
        assert isinstance(await client.receiver.end(), ServerExited)
    all_gone(relay["server"], relay["keeper"])
    assert not list(relays.place.glob("*.socket"))


# Who may come


async def test_only_its_user_can_enter_the_place(relays: Relays) -> None:
    umask = os.umask(0)
    try:
        async with relays.client() as client:
            await client.attached()
    finally:
        os.umask(umask)
    (socket,) = relays.place.glob("*.socket")
    assert relays.place.stat().st_mode & 0o777 == 0o700
    assert socket.stat().st_mode & 0o777 == 0o600


def refused(relays: Relays) -> str:
    with front(relays.command()) as process:
        _, stderr = process.communicate(timeout=BOUND)
    assert process.returncode == 1
    return stderr.decode()


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o707])
def test_a_place_that_others_can_enter_is_refused(relays: Relays, mode: int) -> None:
    relays.place.mkdir(parents=True)
    relays.place.chmod(mode)
    assert "is not yours alone. Make it so" in refused(relays)
    relays.place.chmod(0o700)


def test_a_place_that_is_a_link_or_a_file_is_refused(relays: Relays, tmp_path: Path) -> None:
    relays.place.parent.mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    relays.place.symlink_to(tmp_path / "elsewhere")
    assert "There is no folder for relays at" in refused(relays)
    relays.place.unlink()
    relays.place.write_text("")
    assert "There is no folder for relays at" in refused(relays)
    relays.place.unlink()


async def test_a_keeper_that_does_not_answer_is_given_up_on(relays: Relays, monkeypatch: pytest.MonkeyPatch) -> None:
    async with relays.client(name="one") as client:
        await client.attached()
    keeper = relays.the_only_one()["keeper"]
    os.kill(keeper, signal.SIGSTOP)
    try:
        with pytest.raises(ConnectError, match="does not answer"):
            starting.attach(
                Command(SERVER), name="one", keep=1, announce=False, limits=Limits(connect=0.2, shutdown=0.1)
            )
        with pytest.raises(ConnectError, match="did not end within"):
            starting.stop("one", Limits(shutdown=0.05))
        assert starting.running(Limits(shutdown=0.1)) == []
    finally:
        os.kill(keeper, signal.SIGCONT)


# The command


def test_a_relayed_command_runs_the_same_in_the_same_place_and_is_known_for_what_it_is() -> None:
    command = Command(["npx", "-y", "package", "--", "word"], {"KEY": "value"}, "/tmp")
    behind = relayed(command)
    assert str(behind).endswith(" -P -m mcp_notebook relay --announce -- npx -y package -- word")
    assert (behind.env, behind.cwd) == (command.env, command.cwd)
    named = relayed(command, name="a b", keep=5)
    assert named.args[5:] == ("--announce", "--name", "a b", "--keep", "5", *behind.args[6:])
    assert is_relay(behind)
    assert is_relay(named)
    assert is_relay(Command(["python", "-m", "mcp_notebook", "relay", "--", "npx"]))
    for line in ("npx", "python -m mcp_notebook tour", "python a.py -m mcp_notebook relay", "python -m other relay"):
        assert not is_relay(Command.parse(line))


def test_a_file_beside_the_server_is_not_taken_for_one_of_ours(relays: Relays) -> None:
    (relays.folder / "select.py").write_text("raise SystemExit('taken')")
    (relays.folder / "mcp_notebook").mkdir()
    with front(relays.command()) as process:
        assert process.stdout is not None
        assert b"attached" in process.stdout.readline()


@pytest.mark.parametrize("missing", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_stream_that_the_client_has_closed_is_like_one_that_has_ended(relays: Relays, missing: str) -> None:
    command = relays.command()
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {missing}', "sh", *command.args],
        cwd=relays.folder,
        env=command.environment(),
        input=b"",
        stdout=subprocess.PIPE,
        timeout=BOUND,
    )
    assert done.returncode == 0
    assert relays.the_only_one()["attached"] is False


def test_a_name_alone_attaches_to_what_is_kept_as_it_was_and_starts_nothing(relays: Relays) -> None:
    alone = replace(kept("one"), env=relays.environment, cwd="/")
    with front(alone) as process:
        assert process.wait(BOUND) == 1
        assert process.stderr is not None
        assert (
            process.stderr.read()
            == b"relay: No server is kept as 'one', or no longer. Connect with its command to start it.\n"
        )
    with front(relays.command(name="one", keep=29)) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())["params"]
    with front(alone) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["params"] == {**first, "attachment": 2}
    assert first["keep"] == 29
    assert is_relay(alone)
    assert starts_nothing(kept("one"))
    assert not starts_nothing(alone)  # what is added to its environment may be anything
    assert not starts_nothing(relays.command(name="one"))
