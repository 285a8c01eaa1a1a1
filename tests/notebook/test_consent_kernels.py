"""Consent in real kernels, with this test as their front end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..kernels import Kernel, kernel_names, running_kernel
from .conftest import started

WAITS = {"blocking": "runtime.wait(runtime.submit({}))", "await": "await runtime.run({})"}

both_ways = pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())

ONCE, REMEMBER, REFUSED = range(3)

SETUP = """
import sys
from mcp_notebook import Command, connect
from mcp_notebook.notebook.consent import RememberedConsents
from mcp_notebook.notebook.host import NotebookHost
from mcp_notebook.notebook.widgets import consent_card

class TellingCard(consent_card.ConsentCard):
    def show(self):
        super().show()
        print(*(button.comm.comm_id for button in self.buttons.values()))

consent_card.ConsentCard = TellingCard
host = NotebookHost.of(runtime, get_ipython())
host.consents = RememberedConsents(folder / "consents")
def command(*words, **env):
    return Command(["server", *words], env=env, cwd="/")
async def marking():
    await connect([sys.executable, "-c", f"open({str(folder / 'mark')!r}, 'w')"])
"""


@pytest.fixture
def notebook(kernel: Kernel, tmp_path: Path) -> Iterator[Kernel]:
    """A kernel whose notebook has a host, which remembers nothing yet."""
    set_up(kernel, tmp_path)
    yield kernel
    kernel.run("%env MCP_NOTEBOOK_PROMPTS=")


def set_up(kernel: Kernel, folder: Path) -> None:
    outcome = kernel.run(f"from pathlib import Path\nfolder = Path({str(folder)!r})\n{SETUP}")
    assert outcome.status == "ok", outcome


def buttons(kernel: Kernel, request: str) -> list[str]:
    """The comm ids of the card's buttons."""
    return kernel.until(request, "\n").text.split()


@both_ways
def test_a_click_on_the_card_starts_the_command(notebook: Kernel, wait: str) -> None:  # CON-1, CON-2
    asking = f"host.consent(command({wait!r}, API_KEY='s3cret'))"
    ask = f"{wait.format(asking)}\nprint('allowed')"
    request = notebook.send(ask, cell="a", answers=[])
    shown = buttons(notebook, request)
    outcome = notebook.until(request, lambda outcome: outcome.data)
    notebook.click(shown[ONCE])
    outcome = notebook.outcome(request)
    assert outcome.text.endswith("allowed\n"), outcome
    bundle = outcome.data[0]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "start this program on your computer?" in bundle["text/plain"]
    assert "in / · adds to the environment API_KEY (value hidden)" in bundle["text/plain"]
    assert "s3cret" not in json.dumps(outcome.data)
    again = notebook.run(ask, cell="b")
    assert (again.text, again.data) == ("allowed\n", [])


def test_what_is_remembered_by_a_click_is_not_asked_by_another_host(notebook: Kernel) -> None:  # CON-3
    request = notebook.send("runtime.wait(runtime.submit(host.consent(command('kept'))))", cell="a")
    notebook.click(buttons(notebook, request)[REMEMBER])
    assert notebook.outcome(request).status == "ok"
    assert notebook.value("host.consents.has(command('kept'))") is True
    assert notebook.value("host.consents.has(command('kept', A='1'))") is False


def test_nothing_starts_where_the_person_says_no(notebook: Kernel, tmp_path: Path) -> None:  # CON-2
    request = notebook.send("runtime.wait(runtime.submit(marking()))", cell="a")
    notebook.click(buttons(notebook, request)[REFUSED])
    assert notebook.outcome(request).error.startswith("ConsentDenied: Not started: ")
    assert not (tmp_path / "mark").exists()


@both_ways
def test_nothing_starts_where_the_question_is_interrupted(  # CON-2
    notebook: Kernel, wait: str, tmp_path: Path
) -> None:
    request = notebook.send(wait.format("marking()"), cell="a")
    shown = buttons(notebook, request)
    notebook.interrupt()
    outcome = notebook.outcome(request)
    assert outcome.error.split(":")[0] in ("KeyboardInterrupt", "CancelledError"), outcome
    late = notebook.click(shown[ONCE])
    notebook.until(late, lambda heard: heard.idle)
    assert notebook.run("print('next')").text == "next\n"
    assert not (tmp_path / "mark").exists()


@both_ways
def test_a_console_asks_by_text(notebook: Kernel, wait: str, tmp_path: Path) -> None:  # CON-1
    ask = wait.format("marking()")
    outcome = notebook.run(ask, answers=["n"])
    assert outcome.error.startswith("ConsentDenied: Not started: ")
    assert "● Start this program on your computer?" in outcome.text
    assert not (tmp_path / "mark").exists()
    outcome = notebook.run(ask, answers=["o"])
    assert "ConsentDenied" not in outcome.error
    assert (tmp_path / "mark").exists()


def test_widgets_can_be_done_without(notebook: Kernel) -> None:  # vscode-jupyter#17231
    notebook.run("%env MCP_NOTEBOOK_PROMPTS=text")
    outcome = notebook.run(
        "runtime.wait(runtime.submit(host.consent(command('text'))))\nprint('allowed')", cell="a", answers=["o"]
    )
    assert "● Start this program on your computer?" in outcome.text
    assert outcome.text.endswith("allowed\n")


def test_where_nobody_can_be_asked_it_is_denied_at_once(notebook: Kernel, tmp_path: Path) -> None:  # CON-2, CON-3
    outcome = notebook.run("import os; os.environ['MCP_NOTEBOOK_TRUST'] = '1'\nawait marking()")
    assert outcome.error.startswith("ConsentDenied: ")
    assert "MCP_NOTEBOOK_TRUST=1" in outcome.error
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("loads", ["", "%load_ext tests.waits\n"], ids=["no extension", "a loop without a host"])
def test_without_the_extension_nothing_starts(tmp_path: Path, loads: str) -> None:  # CON-3
    program = ["python", "-c", f"open({str(tmp_path / 'mark')!r}, 'w')"]
    with running_kernel("ipykernel7") as kernel:
        outcome = kernel.run(f"{loads}from mcp_notebook import connect\nawait connect({program})", cell="a")
    assert outcome.error.startswith("ConsentDenied: ")
    assert "%load_ext mcp_notebook" in outcome.error
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("name", kernel_names())
def test_a_kernel_started_with_trust_asks_nothing(  # CON-3
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_NOTEBOOK_TRUST", "1")
    with started(name) as kernel:
        set_up(kernel, tmp_path)
        outcome = kernel.run("await runtime.run(marking())")
    assert outcome.text.startswith("● Starting without a question, as MCP_NOTEBOOK_TRUST=1 says: ")
    assert (tmp_path / "mark").exists()
