"""Calls that outlive their kernel: it is killed in their middle, and another picks them up (RR-13, TSK-13)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pydantic_core import from_json

from mcp_notebook.notebook.journal import NotebookJournal
from mcp_notebook.store import open_store

from ..cache import Unavailable
from ..kernels import Kernel, kernel_names, running_kernel
from ..transports.relay.conftest import relays as relays

SERVER = Path(__file__).with_name("lasting_server.py")
NOTEBOOK = "/work/study.ipynb"
BOUND = 60
WAYS = {
    "seed": ("http", "2025-06-18", "--task"),
    "published": ("http", "2025-11-25", "--task"),
    "extension": ("http", "2026-07-28", "--task"),
    "request": ("http", "2025-11-25", ""),
    "stream": ("streams", "2025-11-25", ""),
}
"""A server's name -> how it is served, the revision, how it is called: each form of tasks, each draft of resuming."""


@pytest.fixture(autouse=True)
def notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", NOTEBOOK)
    monkeypatch.setenv("MCP_NOTEBOOK_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("MCP_NOTEBOOK_TRUST", "1")
    monkeypatch.setenv("MCP_NOTEBOOK_PROMPTS", "text")  # what is shown is text, which a test can read


class Kernels:
    """A kernel, which can be killed; then there is another for the same notebook."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.kernel = self._started()

    def _started(self) -> Kernel:
        try:
            kernel = self._stack.enter_context(running_kernel(kernel_names()[0]))
        except Unavailable as why:
            pytest.skip(str(why))
        assert kernel.run("import os\n%load_ext mcp_notebook", timeout=BOUND).status == "ok"
        return kernel

    def kill(self) -> None:
        """Kill -9."""
        os.kill(self.kernel.value("os.getpid()"), signal.SIGKILL)
        self.kernel = self._started()

    def close(self) -> None:
        self._stack.close()

    def shown(self, code: str) -> str:
        """What a cell shows, as plain text."""
        outcome = self.kernel.run(code, timeout=BOUND)
        assert outcome.status == "ok", outcome
        return "\n".join(data["text/plain"] for data in outcome.data)


@pytest.fixture
def kernels() -> Iterator[Kernels]:
    kernels = Kernels()
    yield kernels
    kernels.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Starts the server in a process of its own, and gives its address."""
    processes: dict[str, tuple[subprocess.Popen[str], str]] = {}

    def serve(way: str, *more: str) -> str:
        if way not in processes:
            command = [sys.executable, str(SERVER), str(tmp_path), way, *more]
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"http://\S+/mcp", line)
            assert found, line
            processes[way] = process, found.group()
        return processes[way][1]

    yield serve
    for process, _ in processes.values():
        process.kill()
        process.communicate()


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + BOUND
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def noted() -> dict[str, int]:
    """What the journal holds: the server's name -> the number of the last message that was shown."""
    path = NotebookJournal(NOTEBOOK).path
    if not path.exists():
        return {}
    store = open_store(path)
    try:
        entries = [from_json(record.data) for record in store.of_everyone("call", {"open"})]
    finally:
        store.close()
    return {entry["server"]: entry["last_number"] for entry in entries}


def lines(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"line (\d)", text)]


def test_each_call_that_outlives_its_kernel_is_picked_up_by_the_next_and_shown_from_there_on_once(
    kernels: Kernels, served: Callable[..., str], tmp_path: Path
) -> None:  # RR-13, TSK-13
    connect = "\n".join(
        f"%mcp connect {name} {served(way)} --revision {revision}" for name, (way, revision, _) in WAYS.items()
    )
    kernels.shown(connect)
    begun = {
        name: kernels.kernel.send(f"%mcp call --bg {how} {name}.work name={name}", cell=name)
        for name, (_, _, how) in WAYS.items()
    }
    first = {name: kernels.kernel.outcome(request, timeout=BOUND) for name, request in begun.items()}
    watch(kernels.kernel, lambda: noted() == dict.fromkeys(WAYS, 4))
    for name, outcome in first.items():
        assert lines(outcome.updates[-1]["text/plain"]) == [1, 2, 3], name
    kernels.kill()

    listed = kernels.shown("%mcp calls")
    assert listed.count("dropped") == len(WAYS), listed
    assert "1 of 2" in listed
    refused = kernels.kernel.run("%mcp resume --all")
    assert f"such as %mcp connect seed {served('http')}" in "\n".join(refused.traceback)
    shown = kernels.shown(connect)
    assert shown.count("Under way when the kernel before this one ended") == len(WAYS), shown
    request = kernels.kernel.send("resumed = %mcp resume --all", cell="resume")
    resumed = kernels.kernel.outcome(request, timeout=BOUND)
    assert resumed.status == "ok", resumed
    assert len(resumed.data) == len(WAYS)
    (tmp_path / "gate").touch()
    watch(kernels.kernel, lambda: sum("completed" in one["text/plain"] for one in resumed.updates) == len(WAYS))
    ends = [one["text/plain"] for one in resumed.updates if "completed" in one["text/plain"]]
    for name in WAYS:
        (end,) = [text for text in ends if f"{name} is done" in text]
        assert lines(end) == [4, 5, 6], end
        assert (tmp_path / f"{name}.begun").read_text() == "begun\n"
    until(lambda: not noted())  # all was shown, and nothing is remembered any more


def watch(kernel: Kernel, true: Callable[[], object]) -> None:
    """Take in what the kernel shows until something is so, and all that it has shown by then."""

    def looked() -> object:
        kernel.run("pass", timeout=BOUND)  # whatever was shown before has come
        return true()

    until(looked)
    kernel.run("pass", timeout=BOUND)
