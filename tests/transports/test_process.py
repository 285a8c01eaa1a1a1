"""What becomes of children when the process that started them is killed, interrupted, forked or simply ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook.transports.process_tree import TREE, ending_in_words
from mcp_notebook.transports.watchdog import Watchdog

from .stdio_helpers import all_gone, lives, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups and signals are POSIX's")
PARENT = str(Path(__file__).parent / "servers" / "parent.py")
ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def parent(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:
    """A process that has started a server, and the ids of what it has started."""
    command = [sys.executable, PARENT, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def everything(pids: dict[str, Any]) -> list[int]:
    return [pids["child"], pids["watchdog"], *pids["told"].values()]


def test_a_killed_parent_leaves_nothing_behind_not_even_what_ignores_every_request_to_end() -> None:
    with parent("stubborn") as (process, pids):
        assert all(map(lives, everything(pids)))
        assert len(set(everything(pids))) == 3
        process.kill()
        all_gone(*everything(pids), bound=4)


def test_a_killed_parent_leaves_nothing_behind_though_a_forked_copy_of_it_lives_on() -> None:
    with parent("stubborn", "fork") as (process, pids):
        try:
            process.kill()
            all_gone(*everything(pids), bound=4)
            assert lives(pids["copy"])
        finally:
            os.kill(pids["copy"], signal.SIGKILL)


def test_a_parent_killed_with_its_process_group_leaves_nothing_behind() -> None:  # how "restart now" ends a kernel
    with parent("stubborn") as (process, pids):
        os.killpg(process.pid, signal.SIGKILL)
        all_gone(*everything(pids), bound=4)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_a_child_is_told_of_its_parents_death_though_the_watchdog_was_killed_too() -> None:
    with parent("never_read") as (process, pids):
        os.kill(pids["watchdog"], signal.SIGKILL)
        process.kill()
        all_gone(pids["child"], bound=2)


@pytest.mark.parametrize("option", ["leave", "be terminated"])
def test_a_parent_that_ends_without_closing_is_not_held_up_and_leaves_nothing_behind(option: str) -> None:
    with parent("stubborn", option) as (process, pids):
        start = time.monotonic()
        if option != "leave":
            process.terminate()
        process.wait(10)
        assert time.monotonic() - start < 1
        all_gone(*everything(pids), bound=4)


def test_an_interrupt_does_not_reach_a_child() -> None:
    with parent("echo") as (process, pids):
        os.killpg(process.pid, signal.SIGINT)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == [{"still": "here"}]
        assert process.wait(10) == 0
        all_gone(pids["child"], pids["watchdog"])


# The watchdog by itself


@contextlib.contextmanager
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def watchdog() -> Iterator[Watchdog]:
    dog = Watchdog()
    try:
        yield dog
    finally:
        dog.after_fork()  # closes its pipe, and so fires it, as this process's end would


def test_a_group_that_was_forgotten_is_left_alone_and_one_that_was_not_ends() -> None:
    with sleeper() as kept, sleeper() as ended, watchdog() as dog:
        dog.watch(kept.pid, 0.1)
        dog.watch(ended.pid, 0.1)
        dog.forget(kept.pid)
        pid = dog.pid
        dog.after_fork()
        assert ended.wait(5) == -signal.SIGTERM
        all_gone(pid or 0)
        assert lives(kept.pid)


def test_a_watchdog_that_was_killed_is_replaced_and_knows_every_group() -> None:
    with sleeper() as first, sleeper() as second, watchdog() as dog:
        dog.watch(first.pid, 0.1)
        killed = dog.pid
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: not lives(killed))
        dog.watch(second.pid, 0.1)
        assert dog.pid != killed
        dog.after_fork()
        assert first.wait(5) == second.wait(5) == -signal.SIGTERM


def test_a_watchdog_that_was_stopped_holds_nobody_up() -> None:
    with sleeper() as process, watchdog() as dog:
        dog.watch(process.pid, 0.1)
        assert dog.pid is not None
        os.kill(dog.pid, signal.SIGSTOP)
        try:
            start = time.monotonic()
            for _ in range(10_000):  # more than a pipe holds
                dog.watch(process.pid, 0.1)
            assert time.monotonic() - start < 2
        finally:
            os.kill(dog.pid, signal.SIGCONT)


def test_a_watchdog_outlives_polite_signals() -> None:
    with sleeper() as process, watchdog() as dog:
        dog.watch(process.pid, 0.1)
        assert dog.pid is not None
        wait_until(lambda: _ignores(dog.pid, signal.SIGTERM))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(dog.pid, number)
        assert lives(dog.pid)
        dog.after_fork()
        assert process.wait(5) == -signal.SIGTERM


def _ignores(pid: int | None, number: int) -> bool:
    if sys.platform != "linux":
        return True
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigIgn"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_a_program_that_cannot_run_scripts_of_ours_starts_its_children_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert TREE.arguments(["server", "--port"]) == ["server", "--port"]
    with sleeper() as process, watchdog() as dog:
        dog.watch(process.pid, 0.1)
        assert dog.pid is None
        dog.forget(process.pid)


# Words and trees


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "is still running"),
        (0, "ended with status 0"),
        (3, "ended with status 3"),
        (-9, "was killed by signal 9 (SIGKILL)"),
        (-63, "was killed by signal 63"),
    ],
)
def test_an_exit_status_is_told_in_words(status: int | None, words: str) -> None:
    assert ending_in_words(status) == words


def test_a_tree_of_which_only_an_unreaped_process_is_left_is_gone() -> None:
    with sleeper() as process:
        assert TREE.lives(process.pid)
        TREE.kill(process.pid)
        wait_until(lambda: not lives(process.pid))
        assert not TREE.lives(process.pid)  # nobody has waited for it yet
        TREE.terminate(process.pid)
        process.wait(5)
        assert not TREE.lives(process.pid)
        TREE.kill(process.pid)
