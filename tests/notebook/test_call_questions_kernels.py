"""The questions of calls that have cards, in real kernels, with this test as their front end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ..kernels import Kernel, Outcome, kernel_names
from .working import prepared

SETUP = """
import asyncio, json, threading
from mcp_notebook import Context, Server
from mcp_notebook.notebook.call_view import CallView
from mcp_notebook.notebook.widgets.card import Card, all_of

def tell(**what):
    with open(HEARD, "a") as file:
        file.write(json.dumps(what) + "\\n")

class Telling:
    "Says which widget is called what, and whether a place has taken it."
    async def stand_in(self, place, original=Card.stand_in):
        comms = {one.description: one.comm.comm_id for one in all_of(self) if getattr(one, "description", "")}
        await original(self, place)
        tell(comms=comms | {"echo": self.view._settling._back.comm.comm_id})

Card.stand_in = Telling.stand_in
server = Server("demo")

@server.tool
async def ask(ctx: Context, first: float = 0) -> str:
    await asyncio.sleep(first)
    answer = await ctx.elicit("Your name?", str)
    return f"{answer.action} {answer.data}"

%mcp connect demo server
"""
WIDGETS = "[type(one).__name__ for one in __import__('ipywidgets').widgets.widget._instances.values()]"
VIEW = "application/vnd.jupyter.widget-view+json"


class Notebook:
    """A kernel, and what is asked in its cards."""

    def __init__(self, kernel: Kernel, heard: Path) -> None:
        self.kernel, self._heard = kernel, heard
        self._seen = 0

    def run(self, code: str) -> Outcome:
        outcome = self.kernel.run(code, cell="a", answers=[])
        assert outcome.status == "ok", outcome
        return outcome

    def send(self, code: str) -> str:
        return self.kernel.send(code, cell="b", answers=[])

    def value(self, expression: str) -> Any:
        return eval(self.run(f"print(repr({expression}))").text.splitlines()[0])

    def wait(self, condition: Any, *, seconds: float = 15) -> Any:
        """Until it holds; what it gives then."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, "it did not come to that"
            self.kernel.hear(0.05)
        return found

    def asked(self) -> dict[str, str]:
        """The comms of the next question that a card has taken."""

        def found() -> Any:
            lines = self._heard.read_text("utf-8").splitlines()
            return (
                json.loads(lines[self._seen]) if len(lines) > self._seen and lines[self._seen].endswith("}") else None
            )

        self.wait(found)
        comms = found()["comms"]
        self._seen += 1
        return comms

    def answer(self, comms: dict[str, str], name: str = "Ada") -> None:
        self.kernel.comm(comms["value"], {"method": "update", "state": {"value": name}, "buffer_paths": []})
        self.kernel.click(comms["Send"])
        self.kernel.comm(comms["echo"], {"method": "update", "state": {"value": "1"}, "buffer_paths": []})


@contextmanager
def started(name: str, heard: Path) -> Iterator[Kernel]:
    """A kernel that writes into a file what is asked in it."""
    heard.write_text("", "utf-8")
    with prepared(name, "%load_ext mcp_notebook", f"HEARD = {str(heard)!r}\n{SETUP}") as kernel:
        yield kernel


@pytest.fixture(scope="module", params=kernel_names())
def kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kernel, Path]]:
    heard = tmp_path_factory.mktemp("heard") / "heard"
    with started(request.param, heard) as kernel:
        yield kernel, heard


@pytest.fixture
def notebook(kernel: tuple[Kernel, Path]) -> Iterator[Notebook]:
    """A notebook in which no widget is left behind."""
    kernel[1].write_text("", "utf-8")
    notebook = Notebook(*kernel)
    before = notebook.value(WIDGETS)
    yield notebook
    notebook.wait(lambda: notebook.value(WIDGETS) == before, seconds=5)


def test_a_question_of_an_interrupted_task_is_asked_in_the_cell_that_waits_for_it_again(notebook: Notebook) -> None:
    left = notebook.send("%mcp call --task ask")
    notebook.asked()
    notebook.kernel.interrupt()
    first = notebook.kernel.outcome(left)
    assert "It needs your answer" in "\n".join(first.traceback)
    call = notebook.value("list(get_ipython()._mcp_workspace.calls)[-1]")
    again = notebook.send(f"%mcp result {call}")
    notebook.answer(notebook.asked())
    second = notebook.kernel.outcome(again)
    assert "answered demo Your name? — value: Ada" in second.updates[-1]["text/plain"]
    notebook.wait(lambda: VIEW not in first.updates[-1])
    assert "answered" not in first.updates[-1]["text/plain"]  # neither that it was, nor that it was not


def test_a_cell_that_waits_takes_over_the_question_of_a_card_and_gives_it_back(notebook: Notebook) -> None:
    begun = notebook.run("handle = %mcp call --task --bg ask")
    notebook.asked()
    waits = notebook.send("%mcp result {handle.id}")
    notebook.asked()
    notebook.kernel.interrupt()
    outcome = notebook.kernel.outcome(waits)
    notebook.answer(notebook.asked())
    notebook.wait(lambda: begun.updates)
    assert "answered demo Your name? — value: Ada" in begun.updates[-1]["text/plain"]
    assert "accept Ada" in begun.updates[-1]["text/plain"]
    assert VIEW not in outcome.updates[-1]


def test_a_card_asks_after_another_card_of_its_call_is_over(notebook: Notebook) -> None:
    begun = notebook.run("handle = %mcp call --task --bg ask first=2")
    waits = notebook.send("%mcp result {handle.id}")
    notebook.kernel.until(waits, lambda outcome: outcome.data)
    notebook.kernel.interrupt()
    notebook.kernel.outcome(waits)
    notebook.answer(notebook.asked())
    notebook.wait(lambda: begun.updates)
    assert "accept Ada" in begun.updates[-1]["text/plain"]


def test_a_question_of_a_call_in_another_thread_waits_for_a_cell_that_waits(notebook: Notebook) -> None:
    told = notebook.run(
        "thread = threading.Thread(target=lambda: get_ipython().run_line_magic('mcp', 'call ask'))\n"
        "thread.start()\n"
        "while not get_ipython()._mcp_runtime.host.unheard: thread.join(0.02)"
    )
    assert "Waiting for you: demo asks: Your name?" in told.text
    left = notebook.run("get_ipython().run_line_magic('mcp', f'cancel {list(get_ipython()._mcp_workspace.calls)[-1]}')")
    assert "not answered" not in "".join(shown["text/plain"] for shown in [*told.data, *left.data])
    notebook.run("thread.join(5)")


def test_how_a_call_stands_is_looked_at_where_it_is_heard(notebook: Notebook) -> None:
    """Elsewhere what it says would change in the middle of that."""
    notebook.run(
        "threads, looked = set(), CallView.working\n"
        "CallView.working = lambda self: threads.add(threading.current_thread().name) or looked(self)"
    )
    waits = notebook.send("%mcp call ask")
    notebook.answer(notebook.asked())
    assert notebook.kernel.outcome(waits).status == "ok"
    notebook.run("CallView.working = looked")
    assert notebook.value("threads") == {"mcp"}


def test_in_a_console_a_question_stands_on_a_line_of_its_own(notebook: Notebook) -> None:
    said = notebook.kernel.run("%mcp call ask first=1", answers=["Ada", ""]).text
    assert "● working ask" in said
    assert "\r\x1b[K● demo asks:\n  │ Your name?\n" in said


@pytest.mark.parametrize("name", kernel_names())
@pytest.mark.parametrize("how", ["shutdown_kernel", "restart_kernel", "%unload_ext mcp_notebook"])
def test_the_end_of_the_kernel_or_of_the_extension_leaves_plain_html(name: str, how: str, tmp_path: Path) -> None:
    with started(name, tmp_path / "heard") as kernel:
        notebook = Notebook(kernel, tmp_path / "heard")
        begun = notebook.run("handle = %mcp call --bg ask")
        notebook.asked()
        working = notebook.run("other = %mcp call --bg ask first=60")
        if how.startswith("%"):
            notebook.run(how)
        else:
            getattr(kernel.manager, how)()
        notebook.wait(lambda: begun.updates and working.updates)
        for outcome in (begun, working):
            assert set(outcome.updates[-1]) == {"text/html", "text/plain"}
            assert "ask on demo" in outcome.updates[-1]["text/plain"]
        if how.startswith("%"):
            assert notebook.value(WIDGETS) == []
