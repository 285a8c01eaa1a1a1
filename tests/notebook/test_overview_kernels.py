"""The overview with widgets in real kernels, with this test as its front end."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from ..kernels import ROOT, Kernel, Outcome, kernel_names
from .working import prepared

SETUP = """
import asyncio, sys
from ipywidgets.widgets import widget
from mcp_notebook import Context, Server
from mcp_notebook.notebook.workspace import Workspace

workspace = Workspace.of(get_ipython())
server = Server("demo")

@server.tool
def forecast(city: str, days: int = 3) -> str:
    "The weather of the <b>next</b> days."
    return f"{days} days of sun in {city}"

@server.tool
async def work(ctx: Context) -> str:
    await ctx.progress(1, 4, "on it")
    await asyncio.sleep(60)
    return "worked"

@server.tool
async def book(ctx: Context) -> str:
    "Book a flight."
    first = await ctx.elicit("Where <i>to</i>?", str)
    second = await ctx.elicit("When?", str)
    return f"{first.data} {second.data}"

@server.tool(name="\u202egnp.exe<script>")
def hostile() -> str:
    "<img src=x onerror=alert(1)> \u202e reversed"
    return "<b>bold</b>"

@server.resource("notes://today")
def today() -> str:
    return "water the <b>plants</b>"

@server.resource("notes://{day}")
def notes(day: str) -> str:
    return f"notes of {day}"

@server.prompt
def summary(of: str, tone: str = "plain") -> str:
    "Have something summed up."
    return f"Sum up {of} in a {tone} tone"

@server.completion("summary", "tone")
def tones(value: str) -> list[str]:
    return ["plain", "merry"]

many = Server("many")
for number in range(10_000):
    many.tool(name=f"tool_{number}", description=f"Does the thing number {number}.")(lambda: "done")

%mcp connect demo server
%mcp connect many many

def open_widgets():
    return sorted(type(one).__name__ for one in widget._instances.values())

def said():
    "All that the overview says."
    from mcp_notebook.notebook.widgets.kit import all_of
    card = workspace.overview
    return [one.value for one in all_of(card.widget) if type(one).__name__ == "HTML"] if card else []

def named(*names):
    "The comms of what is called so in the overview: its description or its tooltip."
    from mcp_notebook.notebook.widgets.kit import all_of
    found = {}
    for one in all_of(workspace.overview.widget):
        for name in (getattr(one, "description", ""), getattr(one, "tooltip", "")):
            if name in names and one.comm is not None:
                found.setdefault(name, one.comm.comm_id)
    return found
"""
APART = """
import os, sys
from mcp_notebook import Server
server = Server("apart")

@server.tool
def leave() -> None:
    "Ends the server."
    print("so long <b>", file=sys.stderr, flush=True)
    os._exit(3)

@server.tool
def stay() -> str:
    return "stayed"

server.serve_stdio()
"""
"""The code of a server for a process of its own."""
SEARCH = "search"


def started(name: str) -> AbstractContextManager[Kernel]:
    """A kernel with servers."""
    return prepared(name, "%load_ext mcp_notebook", SETUP, f"command = [sys.executable, '-c', {APART!r}]")


@pytest.fixture(scope="module", params=kernel_names())
def kernel(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    with started(request.param) as kernel:
        yield kernel


def value(kernel: Kernel, expression: str) -> Any:
    """What an expression is, asked from a cell: what is printed below it is left out."""
    outcome = kernel.run(f"print(repr({expression}))", cell="q")
    assert outcome.status == "ok", outcome
    return ast.literal_eval(outcome.text.splitlines()[0])


def begin(kernel: Kernel, line: str) -> None:
    """Run a line in a cell of its own, as somebody who can be asked."""
    outcome = kernel.run(line, cell="b")
    assert outcome.status == "ok", outcome


class Overview:
    """An overview that a cell shows, and somebody in front of it."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.request = kernel.send("%mcp", cell="a")
        self.outcome: Outcome = kernel.outcome(self.request)
        assert self.outcome.status == "ok", self.outcome

    def comm(self, name: str) -> str:
        return self.until(lambda: value(self.kernel, f"named({name!r})").get(name))

    def click(self, name: str) -> None:
        self.kernel.click(self.comm(name))

    def give(self, name: str, value: Any) -> None:
        self.kernel.comm(self.comm(name), {"method": "update", "state": {"value": value}, "buffer_paths": []})

    def until(self, condition: Callable[[], Any]) -> Any:
        end = time.monotonic() + 15
        while not (found := condition()):
            assert time.monotonic() < end, (value(self.kernel, "said()"), self.outcome)
        return found

    def says(self, text: str) -> str:
        """Wait until it says something; all that it says then."""
        return self.until(lambda: text in (said := "\n".join(value(self.kernel, "said()"))) and said)


def test_the_overview_is_there_at_once_and_in_plain_html_too(kernel: Kernel) -> None:
    overview = Overview(kernel)
    (shown,) = overview.outcome.data
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"} <= set(shown)
    assert "2 servers" in shown["text/plain"]
    assert "10,000" in shown["text/html"]
    said = overview.says("10,000")
    assert "<b>2 servers</b>" in said
    assert "connected" in said


def test_a_newer_overview_leaves_the_older_one_as_plain_html(kernel: Kernel) -> None:
    kernel.run("workspace.overview and workspace.overview.end()\nbefore = open_widgets()")
    first = Overview(kernel)
    first.give(SEARCH, "forecast")
    first.says("demo.")
    first.click("Try demo.forecast")
    first.comm("Run")
    Overview(kernel)
    (last,) = first.outcome.updates
    assert set(last) == {"text/html", "text/plain"}
    assert "2 servers" in last["text/plain"]
    kernel.run("workspace.overview.end()")
    assert value(kernel, "open_widgets()") == value(kernel, "before")


def test_what_is_typed_is_found_and_shown_as_text(kernel: Kernel) -> None:
    overview = Overview(kernel)
    overview.give(SEARCH, "weather")
    assert "&lt;b&gt;next&lt;/b&gt;" in overview.says("forecast")
    overview.give(SEARCH, "tool 99")
    overview.says("more; another word narrows it down")
    overview.give(SEARCH, "zzz")
    overview.says("Nothing holds 'zzz'")
    overview.click("Clear")
    overview.until(lambda: "zzz" not in "".join(value(kernel, "said()")))


def test_a_tool_is_tried_in_place(kernel: Kernel) -> None:
    overview = Overview(kernel)
    overview.give(SEARCH, "forecast")
    overview.click("Try demo.forecast")
    overview.give("city", "Oslo")
    overview.click("Run")
    overview.says("3 days of sun in Oslo")
    overview.click("Close")
    overview.until(lambda: "3 days of sun" not in "".join(value(kernel, "said()")))
    assert value(kernel, "named('city')") == {}


def test_a_call_that_is_tried_goes_on_in_the_newer_overview(kernel: Kernel) -> None:
    kernel.run("workspace.overview and workspace.overview.end()\nbefore = open_widgets()")
    older = Overview(kernel)
    older.give(SEARCH, "work")
    older.click("Try demo.work")
    older.click("Run")
    older.says("1 of 4")
    newer = Overview(kernel)
    assert "1 of 4" in older.outcome.updates[-1]["text/html"]
    newer.says("1 of 4")
    newer.click("Cancel")
    newer.says("cancelled")
    kernel.run("workspace.overview.end()")
    newer.until(lambda: value(kernel, "open_widgets() == before"))


def test_the_last_result_stays_in_the_notebook(kernel: Kernel) -> None:
    overview = Overview(kernel)
    overview.give(SEARCH, "forecast")
    overview.click("Try demo.forecast")
    overview.give("city", "Rome")
    overview.click("Run")
    overview.says("3 days of sun in Rome")
    kernel.run("workspace.overview.end()")
    assert "3 days of sun in Rome" in overview.outcome.updates[-1]["text/html"]


def test_what_is_to_be_read_is_read_in_place(kernel: Kernel) -> None:
    overview = Overview(kernel)
    overview.give(SEARCH, "today")
    overview.click("Try demo.today")
    overview.says("water the &lt;b&gt;plants&lt;/b&gt;")
    overview.give(SEARCH, "notes")
    overview.click("Try demo.notes")
    overview.give("day", "Friday")
    overview.click("Read")
    overview.says("notes of Friday")
    overview.give(SEARCH, "summary")
    overview.click("Try demo.summary")
    overview.says("such as plain, merry")
    overview.give("of", "it all")
    overview.give("tone", "merry")
    overview.click("Get")
    overview.says("Sum up it all in a merry tone")


def test_what_servers_say_is_text_and_hides_nothing(kernel: Kernel) -> None:
    overview = Overview(kernel)
    overview.give(SEARCH, "gnp.exe")
    said = overview.says("gnp.exe")
    assert "&lt;U+202E&gt;gnp.exe&lt;script&gt;" in said
    assert "&lt;img src=x" in said
    assert not any(text in said for text in ("<script", "<img", "\u202e"))
    overview.click("Try demo.<U+202E>gnp.exe<script>")
    overview.click("Run")
    assert "\u202e" not in overview.says("&lt;b&gt;bold&lt;/b&gt;")


def test_a_server_that_does_not_answer_holds_nothing_up(kernel: Kernel) -> None:
    kernel.run(
        "answer = asyncio.Event()\nasync def ping():\n    await answer.wait()\n    return 0.001\n"
        "client = workspace.get('many').client\nclient.ping = ping"
    )
    overview = Overview(kernel)
    lines = overview.outcome.data[0]["text/plain"].splitlines()
    (row,) = (line for line in lines if line.split()[:1] == ["many"])
    assert row.endswith("…")
    kernel.run("workspace.runtime.loop.call_soon_threadsafe(answer.set)\ndel client.ping")
    overview.until(lambda: not any("many" in said and "…" in said for said in value(kernel, "said()")))


def test_what_comes_to_be_offered_is_counted_and_found(kernel: Kernel) -> None:
    overview = Overview(kernel)
    overview.give(SEARCH, "late")
    overview.says("Nothing holds")
    kernel.run("@server.tool\ndef latecomer() -> str: return 'here'")
    overview.says("latecomer")
    kernel.run("server.remove_tool('latecomer')")


def test_open_calls_are_shown_and_cancelled(kernel: Kernel) -> None:
    begin(kernel, "h = %mcp call --bg demo.work")
    overview = Overview(kernel)
    assert "1 call open" in overview.outcome.data[0]["text/plain"]
    said = overview.says("1 of 4")
    assert "1 call open" in said
    overview.click("Cancel")
    overview.says("cancelled")
    overview.until(lambda: "call open" not in "".join(value(kernel, "said()")))
    assert value(kernel, "h.status.value") == "cancelled"


def test_a_question_is_answered_here_and_the_next_one_too(kernel: Kernel) -> None:
    begin(kernel, "b = workspace.get('demo').client.begin_call('book')\nworkspace.remember(b)")
    overview = Overview(kernel)
    said = overview.says("demo asks: Where &lt;i&gt;to&lt;/i&gt;?")
    assert "1 question" in said
    overview.click("Answer here")
    overview.give("value", "Oslo")
    overview.click("Send")
    overview.says("When?")
    overview.give("value", "today")
    overview.click("Send")
    assert value(kernel, "b.result(15).text") == "Oslo today"
    overview.says("%mcp result")


def test_a_question_that_was_taken_up_waits_again_for_the_newer_overview(kernel: Kernel) -> None:
    kernel.run("workspace.overview and workspace.overview.end()\nbefore = open_widgets()")
    begin(kernel, "b = workspace.get('demo').client.begin_call('book')\nworkspace.remember(b)")
    Overview(kernel).click("Answer here")
    overview = Overview(kernel)
    overview.click("Answer here")
    overview.give("value", "Rome")
    overview.click("Send")
    overview.says("When?")
    kernel.run("b.cancel()")
    overview.says("cancelled")
    kernel.run("workspace.overview.end()")
    overview.until(lambda: value(kernel, "open_widgets() == before"))


def test_a_lost_connection_says_why_and_is_made_again(kernel: Kernel) -> None:
    kernel.run(f"%mcp connect apart command --trust --env PYTHONPATH={ROOT}")
    overview = Overview(kernel)
    overview.says("3 servers")
    kernel.run("try: await workspace.get('apart').client.call_tool('leave')\nexcept Exception as error: print(error)")
    said = overview.says("lost")
    assert "ended with status 3: so long &lt;b&gt;" in said
    overview.click("Reconnect")
    overview.until(lambda: "lost" not in "".join(value(kernel, "said()")))
    kernel.run("%mcp disconnect apart\ndel workspace._members['apart']")


def test_consent_to_connect_again_is_given_here(kernel: Kernel) -> None:  # CON-1
    kernel.run(f"%mcp connect apart command --trust --env PYTHONPATH={ROOT}")
    begin(kernel, "%mcp disconnect apart\nworkspace.runtime.host._allowed.clear()")
    overview = Overview(kernel)
    overview.click("Reconnect")
    assert APART.splitlines()[1] in overview.says("may this program start?")
    overview.click("Answer here")
    overview.says("it runs with your rights")
    assert value(kernel, "workspace.get('apart').connected") is False
    overview.click("Start once")
    overview.until(lambda: value(kernel, "workspace.get('apart').connected"))
    begin(kernel, "%mcp disconnect apart\ndel workspace._members['apart']")


def test_a_tool_that_has_changed_says_so_before_it_is_called(kernel: Kernel) -> None:
    kernel.run(f"%mcp connect apart command --trust --env PYTHONPATH={ROOT}")
    kernel.run(
        "member = workspace.get('apart')\n"
        "tool = [tool for tool in await member.client.list_tools() if tool.name == 'stay'][0]\n"
        "workspace.used.used(member.target.where, tool.model_copy(update={'description': 'Was harmless.'}))"
    )
    overview = Overview(kernel)
    overview.give(SEARCH, "apart stay")
    overview.give(SEARCH, "stay")
    overview.click("Try apart.stay")
    overview.says("is not what it was when you last called it")
    overview.says("it said: Was harmless.")
    kernel.run("%mcp disconnect apart\ndel workspace._members['apart']")


def test_the_value_is_the_clients_and_nothing_is_shown(kernel: Kernel) -> None:
    outcome = kernel.run("x = %mcp\nprint(sorted(x))", cell="a")
    assert outcome.text == "['demo', 'many']\n"
    assert outcome.data == []


def test_where_no_widgets_are_shown_it_is_as_it_was(kernel: Kernel) -> None:
    outcome = kernel.run("%mcp")
    assert set(outcome.data[0]) == {"text/html", "text/plain"}
    assert "connected · this process" in outcome.data[0]["text/plain"]


@pytest.mark.parametrize("name", kernel_names())
@pytest.mark.parametrize("how", ["shutdown_kernel", "restart_kernel"])
def test_the_end_of_the_kernel_leaves_plain_html(name: str, how: str) -> None:
    with started(name) as kernel:
        overview = Overview(kernel)
        getattr(kernel.manager, how)()
        end = time.monotonic() + 15
        while not overview.outcome.updates:
            assert time.monotonic() < end, overview.outcome
            kernel._read(0.2)
        assert set(overview.outcome.updates[-1]) == {"text/html", "text/plain"}
        assert "2 servers" in overview.outcome.updates[-1]["text/plain"]
