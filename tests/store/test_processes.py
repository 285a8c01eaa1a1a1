"""A file that several processes use, and one of them dies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_notebook.store import open_store

from .conftest import added, check, keys, task

BOUND = 120.0
ADD = """
import sys
from mcp_notebook.store import open_store
from tests.store.conftest import task

path, name, number, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
store = open_store(path)
for n in range(number):
    store.add(task(f"{name} {n}", data=b"x" * size))
    print(f"{name} {n}", flush=True)
"""
"""Adds records once a line comes, and says after each that it is there; ends without closing the store."""


def start(path: Path, name: str, number: int, size: int = 100, before: str = "") -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", before + ADD, str(path), name, str(number), str(size)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate(timeout=BOUND)
    return process


def test_processes_that_come_first_together_make_one_store(path: Path) -> None:
    processes = [start(path, name, 50) for name in "abc"]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=BOUND)
        assert errors == ""
    store = open_store(path)
    records = store.page("alice", "task", limit=1000)
    assert sorted(keys(records)) == sorted(f"{name} {n}" for name in "abc" for n in range(50))
    store.close()
    check(path)


def test_a_killed_process_has_lost_nothing_that_was_done(path: Path) -> None:
    process = start(path, "a", 1_000_000, size=2000)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    said = [process.stdout.readline() for _ in range(1000)]  # more than once the log has gone into the file
    process.kill()
    said += process.stdout.readlines()  # what is still in the pipe; `communicate` would lose what was read ahead
    process.communicate(timeout=BOUND)
    done = [line.strip() for line in said if line.endswith("\n")]
    store = open_store(path)
    kept = keys(store.page("alice", "task", limit=1_000_000))
    assert kept[: len(done)] == done
    assert len(kept) <= len(done) + 1
    assert store.add(task("afterwards")) is not None
    store.close()
    check(path)


@pytest.mark.skipif(os.name == "nt", reason="files have no largest size there")
def test_a_disk_that_takes_no_more_is_told_and_what_was_done_is_there(path: Path) -> None:
    small_disk = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
    process = start(path, "a", 10_000, size=2000, before=small_disk)
    said, errors = process.communicate("go\n", timeout=BOUND)
    assert "StoreError: " in errors
    assert f"The disk fails {path}" in errors
    done = said.splitlines()
    store = open_store(path)
    assert len(done) > 10
    assert keys(store.page("alice", "task", limit=1000)) == done
    store.close()
    check(path)


def test_a_store_keeps_its_hold_on_the_file_while_others_come_and_go(path: Path) -> None:
    """Another of this process, then one of another process, whose end must not take the log away."""
    store = open_store(path)
    added(store, task("1"))
    open_store(path).close()
    _, errors = start(path, "a", 1).communicate("go\n", timeout=BOUND)
    assert errors == ""
    code = "import sys; from mcp_notebook.store import open_store; open_store(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=BOUND)
    added(store, task("2"))
    other = open_store(path)
    assert keys(other.page("alice", "task")) == ["1", "a 0", "2"]
    other.close()
    store.close()
    check(path)
