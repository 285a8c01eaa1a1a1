"""The runtime where there is no notebook in a browser: terminals, and notebooks that run by themselves."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import nbclient
import nbformat
import pytest

from ..kernels import ROOT, write_kernelspec

pexpect = pytest.importorskip("pexpect")

TERMINALS = {
    "ipython": ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"],
    "jupyter console": ["-m", "jupyter_console", "--simple-prompt", "--kernel=ipykernel7"],
}


ANSWER = 10
"""Seconds that a terminal may take over its first line."""


class Terminal:
    """An interactive session, and what is typed into it."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        write_kernelspec("ipykernel7", folder / "kernels")
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "JUPYTER_PATH": str(folder),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "IPYTHONDIR": str(folder / "ipython"),
            "TERM": "dumb",
        }
        self.process = pexpect.spawn(
            sys.executable, arguments, env=environment, cwd=str(folder), encoding="utf-8", echo=False, timeout=30
        )
        self.process.expect_exact("In [1]: ")

    def type(self, line: str) -> None:
        self.process.sendline(line)

    def see(self, text: str) -> None:
        self.process.expect_exact(text)

    def run(self, line: str, sees: str = "") -> None:
        """Type a line, see what it prints, and then the next prompt."""
        self.type(line)
        self.see(sees)
        self.process.expect(r"In \[\d+\]: ")


@pytest.fixture(params=TERMINALS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    terminal = started(TERMINALS[request.param], tmp_path)
    terminal.run("%load_ext tests.waits")
    yield terminal
    terminal.process.close(force=True)


def started(arguments: list[str], folder: Path) -> Terminal:
    """A terminal that has answered its first line. jupyter console may wait for ever for that: it does not make sure
    that it hears the kernel before it asks."""
    for attempt in range(4):
        terminal = Terminal(arguments, folder / str(attempt))
        patience, terminal.process.timeout = terminal.process.timeout, ANSWER
        try:
            terminal.run("import asyncio")
        except pexpect.TIMEOUT:
            terminal.process.close(force=True)
        else:
            terminal.process.timeout = patience
            return terminal
    raise AssertionError("the terminal answered nothing")


def test_a_terminal_can_wait_be_interrupted_and_asked(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("print(runtime.frontend().widgets, runtime.frontend().stdin)", "False True")

    terminal.run("runtime.wait(runtime.submit(asyncio.sleep(0.2, 'blocked')))", "'blocked'")
    terminal.run("await runtime.run(asyncio.sleep(0.2, 'awaited'))", "'awaited'")

    for wait in ("runtime.wait(runtime.submit(endless()))", "await runtime.run(endless())"):
        terminal.run("cancelled.clear()")
        terminal.type(wait)
        terminal.see("waits")
        terminal.process.sendintr()
        terminal.process.expect(r"(KeyboardInterrupt|CancelledError)")
        terminal.process.expect(r"In \[\d+\]: ")
        terminal.run("print('hea' 'rd', cancelled.wait(5))", "heard True")

    for wait in ("runtime.wait(runtime.submit(asking()))", "await runtime.run(asking())"):
        terminal.type(wait)
        terminal.see("Your name? ")
        terminal.run("Ada", "'hello Ada'")

    terminal.run(f"trace_closing({str(tmp_path / 'trace')!r})")
    terminal.type("exit()")
    terminal.process.expect(pexpect.EOF)
    assert (tmp_path / "trace").read_text() == "closed "


def test_a_notebook_that_runs_by_itself_waits_and_is_asked_nothing(tmp_path: Path) -> None:
    write_kernelspec("ipykernel7", tmp_path / "kernels")
    code = """
%load_ext tests.waits
async def refused():
    try:
        await asking()
    except Exception as error:
        return type(error).__name__
print(runtime.frontend().kind, runtime.wait(runtime.submit(refused())), await runtime.run(refused()))
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(tmp_path))
        nbclient.NotebookClient(notebook, kernel_name="ipykernel7", timeout=60).execute()
    printed = "".join(output["text"] for output in notebook.cells[0].outputs)
    assert printed == "headless StdinNotImplementedError StdinNotImplementedError\n"
