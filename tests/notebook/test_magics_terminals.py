"""`%mcp` in `ipython` and `jupyter console`, with a person typing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cells import STDIO_SERVER
from .test_runtime_elsewhere import TERMINALS, Terminal, started


@pytest.fixture(params=TERMINALS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "server.py").write_text(STDIO_SERVER)
    terminal = started(TERMINALS[request.param], tmp_path)
    terminal.run("%load_ext mcp_notebook")
    yield terminal
    terminal.process.close(force=True)


def test_a_person_connects_calls_watches_and_interrupts(terminal: Terminal) -> None:
    terminal.run("%mcp", "nothing is connected yet")
    terminal.type(f"%mcp connect apart --env PYTHONPATH -- {sys.executable} ../server.py")
    terminal.see("[n]o (n): ")
    terminal.run("o", "● connected apart")
    terminal.run("%mcp tools", "work")
    terminal.type("%mcp call work steps=4")
    terminal.see("● working work 0:0")
    terminal.see("2 of 4")
    terminal.process.expect(r"● completed work on apart · steps=4\s+1\.\d s\s+worked\s[\s\S]*In \[\d+\]: ")
    terminal.run("x = %mcp call work steps=0")
    terminal.run("x.text", "worked")
    terminal.type("%mcp call work steps=1000")
    terminal.see("3 of 1000")
    terminal.process.sendintr()
    terminal.see("● cancelled")
    terminal.see("the server 'apart' told to stop.")
    terminal.process.expect(r"In \[\d+\]: ")
    terminal.run("%mcp call wrong", "No connected server has a tool 'wrong'")
    terminal.run("%mcp disconnect apart", "disconnected apart")
