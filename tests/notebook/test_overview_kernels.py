"""The overview with widgets in real kernels, with this test as its front end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ..cache import Unavailable
from ..kernels import Kernel, Outcome, kernel_names, running_kernel

SETUP = """
import asyncio, json
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
SEARCH = "search"


@pytest.fixture(scope="module", params=kernel_names())
def kernel(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    try:
        with running_kernel(request.param) as kernel:
            for cell in ("%load_ext mcp_notebook", SETUP):
                outcome = kernel.run(cell)
                assert outcome.status == "ok", outcome
            yield kernel
    except Unavailable as why:
        pytest.skip(str(why))


class Overview:
    """An overview that a cell shows, and somebody in front of it."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.request = kernel.send("%mcp", cell="a")
        self.outcome: Outcome = kernel.outcome(self.request)
        assert self.outcome.status == "ok", self.outcome

    def comm(self, name: str) -> str:
        return self.until(lambda: self.kernel.value(f"named({name!r})").get(name))

    def click(self, name: str) -> None:
        self.kernel.click(self.comm(name))

    def give(self, name: str, value: Any) -> None:
        self.kernel.comm(self.comm(name), {"method": "update", "state": {"value": value}, "buffer_paths": []})

    def until(self, condition: Callable[[], Any]) -> Any:
        end = time.monotonic() + 15
        while not (found := condition()):
            assert time.monotonic() < end, (self.kernel.value("said()"), self.outcome)
        return found

    def says(self, text: str) -> str:
        """Wait until it says something; all that it says then."""
        return self.until(lambda: text in (said := "\n".join(self.kernel.value("said()"))) and said)


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
    assert kernel.value("open_widgets()") == kernel.value("before")


def test_what_is_typed_is_found_and_shown_as_text(kernel: Kernel) -> None:
    overview = Overview(kernel)
    overview.give(SEARCH, "weather")
    assert "&lt;b&gt;next&lt;/b&gt;" in overview.says("forecast")
    overview.give(SEARCH, "tool 99")
    overview.says("more; another word narrows it down")
    overview.give(SEARCH, "zzz")
    overview.says("Nothing holds 'zzz'")
    overview.click("Clear")
    overview.until(lambda: "zzz" not in "".join(kernel.value("said()")))


def test_the_value_is_the_clients_and_nothing_is_shown(kernel: Kernel) -> None:
    outcome = kernel.run("x = %mcp\nprint(sorted(x))", cell="a")
    assert outcome.text == "['demo', 'many']\n"
    assert outcome.data == []


def test_where_no_widgets_are_shown_it_is_as_it_was(kernel: Kernel) -> None:
    outcome = kernel.run("%mcp")
    assert set(outcome.data[0]) == {"text/html", "text/plain"}
    assert "connected · this process" in outcome.data[0]["text/plain"]
