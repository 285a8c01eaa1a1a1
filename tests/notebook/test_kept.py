"""Servers that outlive the kernel: `%mcp connect NAME --keep`."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import OutcomeUnknown
from mcp_notebook.notebook import kept
from mcp_notebook.notebook.prompter import circumstances
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.relay import relayed

from ..cache import Unavailable
from ..kernels import Kernel, kernel_names, running_kernel
from ..transports.relay.conftest import relays as relays
from ..transports.relay.helpers import Relays
from .cells import Cells

SERVER = """
import asyncio, os, sys
from pathlib import Path
from mcp_notebook import Server

server = Server("counter")
count = 0

@server.tool
def step() -> int:
    global count
    count += 1
    return count

@server.tool
async def work(gate: str) -> int:
    step()
    while not Path(gate).exists():
        await asyncio.sleep(0.01)
    return count

@server.tool
def process() -> int:
    return os.getpid()

server.serve_stdio()
"""
BOUND = 30


def until(true: Callable[[], Any], seconds: float = BOUND) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


@pytest.fixture
def connect(relays: Relays) -> Iterator[str]:
    """The line that connects to a server of this test."""
    script = relays.folder / "counter.py"
    script.write_text(SERVER)
    yield f"%mcp connect lab --keep --trust -- {sys.executable} {script}"
    for name in kept.names(kept.place_of(None)):
        kept.stop(kept.full_name(name, kept.place_of(None)))


@pytest.fixture(autouse=True)
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/work/study.ipynb")


def test_a_kept_server_is_left_found_again_and_ended(connect: str, cells: Cells) -> None:
    shown = cells.run(connect.replace("--keep", "--keep=12")).text
    assert "● connected lab counter · stdio, kept running" in shown
    assert "It runs on when this kernel ends." in shown
    assert "with nobody connected it ends by itself after 12 hours" in shown
    assert cells.run("%mcp call step").text.endswith("1")
    shown = cells.run("%mcp disconnect lab").text
    assert "● disconnected lab" in shown
    assert "The server runs on. %mcp connect lab comes back to it" in shown
    assert "It has been running since before, and has what it had in memory." in cells.run("%mcp connect lab").text
    assert cells.run("%mcp call step").text.endswith("2")
    assert "● stopped lab" in cells.run("%mcp disconnect lab --stop").text
    assert kept.names("/work/study.ipynb") == []
    assert "It was started anew: what the one before had in memory is gone." in cells.run("%mcp connect lab").text
    assert cells.run("%mcp call step").text.endswith("1")


def test_a_restarted_kernel_comes_back_to_what_it_left(connect: str) -> None:  # RR-13
    try:
        with running_kernel(kernel_names()[0]) as kernel:
            assert kernel.run(f"%load_ext mcp_notebook\n{connect}").status == "ok"
            assert kernel.run("%mcp call step").status == "ok"
            kernel.restart()
            assert kernel.run("%load_ext mcp_notebook").status == "ok"
            assert "Kept running from before: lab. %mcp connect lab comes back to it." in _shown(kernel, "%mcp")
            assert offered(kernel, "%mcp connect la") == ["lab"]
            assert "It has been running since before" in _shown(kernel, "%mcp connect lab")  # nobody is asked
            assert _shown(kernel, "%mcp call step").endswith("2")
    except Unavailable as why:
        pytest.skip(str(why))


def _shown(kernel: Kernel, code: str) -> str:
    outcome = kernel.run(code)
    assert outcome.status == "ok", outcome
    return "\n".join(data["text/plain"] for data in outcome.data)


def offered(kernel: Kernel, code: str) -> list[str]:
    kernel.client.complete(code)
    reply = kernel.client.get_shell_msg(timeout=BOUND)
    while reply["msg_type"] != "complete_reply":
        reply = kernel.client.get_shell_msg(timeout=BOUND)
    return reply["content"]["matches"]


def test_two_notebooks_with_the_same_line_have_two_servers(
    connect: str, cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells.run(connect)
    first = cells.run("x = %mcp call process\nx.data").text
    monkeypatch.setattr(cells.shell, "_mcp_workspace", None)
    monkeypatch.setenv("JPY_SESSION_NAME", "/work/other.ipynb")
    cells.run(connect)
    assert cells.run("x = %mcp call process\nx.data").text != first
    assert kept.names("/work/study.ipynb") == kept.names("/work/other.ipynb") == ["lab"]
    cells.run("%mcp disconnect lab --stop")
    assert kept.names("/work/other.ipynb") == []
    monkeypatch.setattr(cells.shell, "_mcp_workspace", None)
    monkeypatch.setenv("JPY_SESSION_NAME", "/work/study.ipynb")
    assert "● stopped lab" in cells.run("%mcp disconnect lab --stop").text  # without connecting to it first
    assert "What is 'lab' to be connected to?" in cells.fail("%mcp connect lab")


def test_a_call_goes_on_where_the_connection_is_cut_and_is_found_by_its_id(
    connect: str, cells: Cells, tmp_path: Path
) -> None:  # RR-13
    cells.run(connect)
    cells.run(f"handle = %mcp call --bg work gate={tmp_path}/open")
    cells.run("client = %mcp connect lab")
    client, handle = cells["client"], cells["handle"]
    until(lambda: handle.status is not CallState.RUNNING)
    (tmp_path / "open").touch()
    cells.run(f"%mcp resume {handle.id}" if handle.outlives_its_connection else "pass")
    assert handle.result(BOUND).data == 1
    os.kill(client.session.connection.channel.pid, signal.SIGKILL)
    until(lambda: client.state == "lost")
    assert "The server itself should still run" in cells.fail("%mcp call lab.step")
    assert "%mcp reconnect lab" in cells.run("%mcp").text
    cells.run("%mcp reconnect lab")
    assert cells.run("%mcp call step").text.endswith("2")


def test_where_another_takes_the_server_over_it_is_told_how_to_come_back(
    connect: str, cells: Cells, tmp_path: Path, relays: Relays
) -> None:
    cells.run(connect)
    cells.run(f"handle = %mcp call --bg work gate={tmp_path}/open")
    cells.run("from mcp_notebook import connect\nfrom mcp_notebook.transports.relay import kept\n")
    cells.run("other = await connect(kept('lab of /work/study.ipynb'))")
    with pytest.raises(OutcomeUnknown, match="Another client took the server over while 'work' ran"):
        cells["handle"].result(BOUND)
    said = cells.fail("%mcp call lab.step")
    assert "● the server is used elsewhere" in said
    assert "%mcp reconnect lab connects it again." in said
    cells.run("%mcp reconnect lab")
    (tmp_path / "open").touch()
    cells.run(f"%mcp resume {cells['handle'].id}")
    assert cells["handle"].result(BOUND).data == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%mcp connect x $demo --keep", "Only a server that a command starts can be kept running"),
        ("%mcp connect x http://localhost:1/mcp --keep", "Only a server that a command starts can be kept running"),
        ("%mcp connect x --keep=long -- python", "'long' is no value for --keep[=HOURS]"),
        ("%mcp connect x --keep=0 -- python", "'0' is no value for --keep[=HOURS]"),
        ("%mcp disconnect x --stop", "No server 'x' is kept running here"),
    ],
)
def test_what_cannot_be_kept_is_told(line: str, said: str, cells: Cells, relays: Relays) -> None:
    cells.run("from mcp_notebook import Server\ndemo = Server('demo')")
    assert said in cells.fail(line)


def test_the_same_name_for_another_command_is_refused_with_the_way_out(connect: str, cells: Cells) -> None:
    cells.run(connect)
    said = cells.fail(f"{connect} more")
    assert "runs another command" in said
    assert "%mcp disconnect NAME --stop" in said
    assert cells.run("%mcp call step").text.endswith("1")


def test_a_notebook_is_known_by_its_file_or_else_by_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        user_ns: dict[str, Any] = {"__vsc_ipynb_file__": "/work/code.ipynb"}

    assert kept.place_of(Shell) == "/work/study.ipynb"
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert kept.place_of(Shell) == "/work/code.ipynb"
    Shell.user_ns = {}
    assert kept.place_of(Shell) == str(Path.cwd())


@pytest.mark.parametrize(
    ("seconds", "words"), [(3600, "1 hour"), (43200, "12 hours"), (90, "1.5 minutes"), (5, "5 seconds")]
)
def test_times_in_words(seconds: float, words: str) -> None:
    assert kept.span(seconds) == words


def test_whoever_is_asked_to_let_it_start_hears_that_it_outlives_the_kernel() -> None:  # CON-1
    assert circumstances(relayed(Command(["python"]), name="x")).endswith("runs on when this kernel ends")
    assert "runs on" not in circumstances(Command(["python"]))
