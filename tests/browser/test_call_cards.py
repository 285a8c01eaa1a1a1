"""Cards of calls as a person sees and uses them in JupyterLab and Notebook 7."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from .driver import Notebook

pytestmark = pytest.mark.browser

SETUP = """
%load_ext mcp_notebook
import asyncio, gc, time
import psutil
from mcp_notebook import Context, Server

server = Server("lab")

@server.tool
async def crunch(ctx: Context, steps: int = 100, seconds: float = 0.05) -> list[dict[str, float]]:
    for step in range(steps):
        await ctx.progress(step, steps, f"step {step}: fitting")
        await ctx.info(f"step {step}: fitting")
        await asyncio.sleep(seconds)
    return [{"low": -4, "high": 1.5}, {"low": -6, "high": -1}]

@server.tool
async def flood(ctx: Context, seconds: float, pause: float) -> str:
    step, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        await ctx.progress(step, 10_000_000, f"step {step}")
        await ctx.info(f"step {step}: " + "fitting " * 20)
        step += 1
        await asyncio.sleep(pause)
    return f"flooded by {2 * step} events"

def memory():
    gc.collect()
    return psutil.Process().memory_info().rss

%mcp connect lab server
print("ready")
"""


@pytest.fixture(scope="module", params=["ipykernel7", "ipykernel6", "ipykernel7 in Notebook 7"])
def notebook(request: pytest.FixtureRequest, open_notebook: Callable[..., Notebook]) -> Notebook:
    kernel, _, app = request.param.partition(" in ")
    notebook = open_notebook(kernel=kernel, app="notebook" if app else "lab")
    notebook.run(SETUP).wait_for("ready")
    return notebook


def test_a_call_at_work_has_a_bar_and_a_button_and_leaves_its_result(notebook: Notebook) -> None:
    cell = notebook.start("%mcp call crunch steps=60")
    cell.button("Cancel").wait_for()
    cell.wait_for("s left")
    bar = cell.output.get_by_role("progressbar")
    assert 0 < float(bar.get_attribute("value") or 0) < 1
    cell.screenshot("card-working")
    cell.wait_until_done().wait_for("completed")
    assert cell.output.get_by_role("button").count() == 0
    assert cell.output.locator("table").count() == 1
    cell.screenshot("card-completed")


def test_the_button_cancels_in_the_dark_too(notebook: Notebook) -> None:
    notebook.theme("JupyterLab Dark")
    cell = notebook.start("h = %mcp call --bg crunch steps=10000")
    cell.button("Cancel").wait_for()
    cell.wait_for("fitting")
    cell.screenshot("card-working-dark")
    cell.button("Cancel").click()
    cell.wait_for("cancelled")
    assert cell.output.get_by_role("button").count() == 0
    cell.screenshot("card-cancelled-dark")
    notebook.theme("JupyterLab Light")


def test_many_calls_share_a_card(notebook: Notebook) -> None:
    cell = notebook.run(
        "from mcp_notebook import connect\n"
        "client = await connect(server)\n"
        "client.map('crunch', [{'steps': n} for n in range(1, 30)], concurrency=4)"
    )
    cell.button("Cancel").wait_for()
    cell.screenshot("cards-many")
    cell.wait_for("completed")


WATCH = """output => {
    const seen = window.seen = {texts: [], frames: []};
    let last = output.innerText;
    seen.redraws = new MutationObserver(() => {
        if (output.innerText !== last) seen.texts.push(last = output.innerText);
    });
    seen.redraws.observe(output, {childList: true, subtree: true, characterData: true, attributes: true});
    seen.long = new PerformanceObserver(list => seen.frames.push(...list.getEntries().map(frame => frame.duration)));
    seen.long.observe({type: "long-animation-frame"});
}"""
"""Notes what the card says whenever that changes, and the frames of the page over 50 ms, as the browser counts them."""
SEEN = """() => {
    const {texts, frames, redraws, long} = window.seen;
    redraws.disconnect();
    long.disconnect();
    return {texts, frames};
}"""
SECONDS = 2
"""How long a flood lasts. Its card is there for the last three quarters of it."""
OTHERS = 6
"""Changes of an output beside those of how far the call is: the widget is loaded, empty, has buttons; the result."""


@dataclass
class Flood:
    """What was seen of a call that says as much as it can, or nearly so.

    Attributes:
        events: what it said, in all.
        redraws: how often its card was changed while it was at work.
        longest: the longest frame of the page, in milliseconds; 0 where none was over 50.
        heap: bytes of the page's JavaScript heap afterwards.
        memory: bytes of the kernel's memory afterwards.
    """

    events: int
    redraws: int
    longest: float
    heap: float
    memory: int


@pytest.fixture(scope="module")
def floods(notebook: Notebook) -> list[Flood]:
    tools = notebook.page.context.new_cdp_session(notebook.page)
    tools.send("Performance.enable")
    cell, memory = notebook.add(f"%mcp call flood seconds={SECONDS} pause=$pause"), notebook.add("memory()")
    found: list[Flood] = []
    for pause in (0, 0.002) * 3:
        notebook.run(f"pause = {pause}")
        cell.output.evaluate(WATCH)
        cell.run().wait_for("flooded")
        seen: dict[str, Any] = notebook.page.evaluate(SEEN)
        tools.send("HeapProfiler.collectGarbage")
        metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
        found.append(
            Flood(
                events=int(cell.text.partition("flooded by ")[2].split()[0]),
                redraws=len(seen["texts"]) - OTHERS,
                longest=max(seen["frames"], default=0),
                heap=metrics["JSHeapUsedSize"],
                memory=int(memory.run().text),
            )
        )
        print(found[-1])  # shown where a test fails
    tools.detach()
    return found


def test_however_much_a_call_says_its_card_is_redrawn_ten_times_a_second(floods: list[Flood]) -> None:
    assert min(flood.events for flood in floods[::2]) > 5_000
    assert max(flood.redraws for flood in floods) <= 10 * SECONDS
    # A kernel that does nothing else may come to it later: this is told by those that let it have a turn.
    assert max(flood.redraws for flood in floods[1::2]) >= 5 * SECONDS


def test_a_flood_leaves_the_page_responsive(floods: list[Flood]) -> None:
    # Others may need the machine for a while, but not through three floods.
    assert sorted(flood.longest for flood in floods)[2] < 200


def test_floods_leave_nothing_behind_in_the_kernel_or_the_page(floods: list[Flood]) -> None:
    warm, last = floods[1], floods[-1]
    assert last.heap - warm.heap < 5e6
    assert last.memory - warm.memory < 20e6
