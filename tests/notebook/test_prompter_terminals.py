"""A person in a terminal is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .test_runtime_elsewhere import TERMINALS, Terminal, started

SETUP = (
    "from pathlib import Path",
    "from mcp_notebook import Command, Limits",
    "from mcp_notebook.types import ElicitParams",
    "from mcp_notebook.notebook.consent import RememberedConsents",
    "from mcp_notebook.notebook.host import NotebookHost",
    "host = NotebookHost(runtime, get_ipython())",
    "host.consents = RememberedConsents(Path('consents').absolute())",
    "ask = lambda name: runtime.submit(host.consent(Command(['server', name], env={'KEY': 's3cret'})))",
)


@pytest.fixture(params=TERMINALS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    terminal = started(TERMINALS[request.param], tmp_path)
    for line in ("%load_ext tests.waits", *SETUP):
        terminal.run(line)
    yield terminal
    terminal.process.close(force=True)


def test_a_terminal_asks_for_consent(terminal: Terminal) -> None:  # CON-1, CON-2
    for wait in ("runtime.wait({})", "await runtime.settled({})"):
        terminal.type(wait.format("ask('one')"))
        terminal.see("server one")
        terminal.process.expect(re.escape("adds to the environment KEY (value hidden)"))
        terminal.see("[n]o (n): ")
        terminal.run("n", "ConsentDenied")
        terminal.type(wait.format("ask('one')"))
        terminal.see("[n]o (n): ")
        terminal.process.sendintr()
        terminal.see("No answer was given.")
        terminal.process.expect(r"ConsentDenied[\s\S]*In \[\d+\]: ")
    terminal.type("runtime.wait(ask('one')); print('all' 'owed')")
    terminal.see("[n]o (n): ")
    terminal.run("o", "allowed")
    terminal.run("runtime.wait(ask('one')); print('not as' 'ked')", "not asked")


# `jupyter console` shows nothing while its own prompt for input waits, though the cell has ended.
@pytest.mark.parametrize("terminal", ["ipython"], indirect=True)
def test_a_terminal_gets_its_prompt_back_when_the_time_is_over(terminal: Terminal) -> None:
    terminal.run("host = NotebookHost(runtime, get_ipython(), Limits(question=1))")
    terminal.type("runtime.wait(ask('late'))")
    terminal.see("[n]o (n): ")
    terminal.see("No answer was given.")
    terminal.process.expect(r"Nobody answered within 1 s[\s\S]*In \[\d+\]: ")


def test_a_terminal_asks_what_a_server_wants_to_know(terminal: Terminal) -> None:
    terminal.run("schema = {'properties': {'city': {'type': 'string'}}}")
    terminal.run("params = ElicitParams(message='Where to?', requested_schema=schema)")
    terminal.type("print(runtime.wait(runtime.submit(host.elicit('travel', params))).content)")
    terminal.see("Where to?")
    terminal.see("city: ")
    terminal.run("Oslo", "{'city': 'Oslo'}")
