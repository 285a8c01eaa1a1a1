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
from typing import Any

import pytest
from pydantic_core import from_json

from mcp_notebook.notebook import kept
from mcp_notebook.notebook.journal import NotebookJournal
from mcp_notebook.store import open_store

from ..cache import Unavailable
from ..kernels import Kernel, kernel_names, running_kernel
from ..transports.relay.conftest import relays as relays
from ..transports.relay.helpers import Relays

SERVER = Path(__file__).with_name("lasting_server.py")
NOTEBOOK = "/work/study.ipynb"
BOUND = 30
WAYS = {
    "seed": ("http", "2025-06-18", "--task"),
    "published": ("http", "2025-11-25", "--task"),
    "extension": ("http", "2026-07-28", "--task"),
    "request": ("http", "2025-11-25", ""),
    "stream": ("streams", "2025-11-25", ""),
}
"""A server's name -> how it is served, the revision, how it is called: each form of tasks, each draft of resuming."""


NAMES = ("task", "resumable", "plain")


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


def entries() -> list[dict[str, Any]]:
    """What the journal holds."""
    path = NotebookJournal(NOTEBOOK).path
    if not path.exists():
        return []
    store = open_store(path)
    try:
        return [from_json(record.data) for record in store.of_everyone("call", {"open"})]
    finally:
        store.close()


def noted() -> dict[str, int]:
    """The server's name -> the number of the last message that was shown."""
    return {entry["server"]: entry["last_number"] for entry in entries()}


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


def test_a_question_that_was_open_when_the_kernel_restarted_is_asked_by_the_next_one(
    kernels: Kernels, served: Callable[..., str]
) -> None:  # RR-5, RR-13, TSK-5, TEX-2
    token = "a token of this test's"
    os.environ["LASTING_TOKEN"] = token
    connect = "\n".join(
        f"%mcp connect {name} {served(way, token)} --token-env LASTING_TOKEN --revision {revision}"
        for name, (way, revision, _) in WAYS.items()
    )
    kernels.kernel.run(f"os.environ['LASTING_TOKEN'] = {token!r}")
    kernels.shown(connect)
    for name, (_, _, how) in WAYS.items():
        kernels.kernel.run(f"%mcp call --bg {how} {name}.question name={name}", cell=name, answers=[], timeout=BOUND)
    until(lambda: [entry["asking"] for entry in entries()] == [True] * len(WAYS))
    kernels.kernel.restart()
    loaded = kernels.kernel.run(f"import os\nos.environ['LASTING_TOKEN'] = {token!r}\n%load_ext mcp_notebook")
    assert loaded.status == "ok", loaded
    kernels.shown(connect)
    for entry in entries():
        line = f"x = %mcp result {entry['id']}"
        outcome = kernels.kernel.run(line, cell="again", answers=["green", "", ""], timeout=BOUND)
        assert outcome.status == "ok", outcome
        assert kernels.kernel.value("x.data") == f"{entry['server']} is green"
    until(lambda: not entries())


@pytest.mark.skipif(sys.platform == "win32", reason="servers are kept where there are Unix sockets")
def test_behind_a_relay_every_call_is_picked_up_by_the_next_kernel(
    relays: Relays, kernels: Kernels, tmp_path: Path
) -> None:  # RR-13, TSK-13, ST-7
    command = f"%mcp connect lab --keep --revision 2025-11-25 -- {sys.executable} {SERVER} {tmp_path} stdio"
    try:
        kernels.shown(command)
        kernels.kernel.run("%mcp call --bg --task work name=task", cell="task", timeout=BOUND)
        kernels.kernel.run("%mcp call --bg work name=resumable", cell="resumable", timeout=BOUND)
        kernels.kernel.run("%mcp call --bg plain name=plain", cell="plain", timeout=BOUND)
        watch(
            kernels.kernel,
            lambda: (
                sorted(entry["last_number"] for entry in entries()) == [0, 4, 4] and (tmp_path / "plain.begun").exists()
            ),
        )
        kernels.kill()
        assert "%mcp connect lab)" in "\n".join(kernels.kernel.run("%mcp resume --all").traceback)
        assert "%mcp resume --all goes on with them" in kernels.shown("%mcp connect lab")
        request = kernels.kernel.send("resumed = %mcp resume --all", cell="resume")
        resumed = kernels.kernel.outcome(request, timeout=BOUND)
        (tmp_path / "gate").touch()
        watch(kernels.kernel, lambda: sum("completed" in one["text/plain"] for one in resumed.updates) == 3)
        ends = [one["text/plain"] for one in resumed.updates if "completed" in one["text/plain"]]
        said = {name: next(lines(end) for end in ends if f"{name} is done" in end) for name in NAMES}
        assert said == {"task": [4, 5, 6], "resumable": [4, 5, 6], "plain": []}
        assert all((tmp_path / f"{name}.begun").read_text() == "begun\n" for name in NAMES)
        until(lambda: not entries())
    finally:
        kept.stop(kept.full_name("lab", NOTEBOOK))


def watch(kernel: Kernel, true: Callable[[], object]) -> None:
    """Take in what the kernel shows until something is so, and all that it has shown by then."""

    def looked() -> object:
        kernel.run("pass", timeout=BOUND)  # whatever was shown before has come
        return true()

    until(looked)
    kernel.run("pass", timeout=BOUND)
