"""Cards of calls as a person sees and uses them in JupyterLab."""

from collections.abc import Callable

import pytest

from .driver import Notebook

pytestmark = pytest.mark.browser

SETUP = """
%load_ext mcp_notebook
import asyncio
from mcp_notebook import Context, Server, ToolError

server = Server("lab")

@server.tool
async def crunch(ctx: Context, steps: int = 100, seconds: float = 0.05) -> list[dict[str, float]]:
    for step in range(steps):
        await ctx.progress(step, steps, f"step {step}: fitting")
        await ctx.info(f"step {step}: fitting")
        await asyncio.sleep(seconds)
    return [{"low": -4, "high": 1.5}, {"low": -6, "high": -1}]

@server.tool
async def flood(ctx: Context) -> str:
    for step in range(10_000):
        await ctx.progress(step, 10_000, f"step {step}")
    return "flooded"

%mcp connect lab server
print("ready")
"""


@pytest.fixture(scope="module")
def notebook(open_notebook: Callable[..., Notebook]) -> Notebook:
    notebook = open_notebook()
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


def test_a_flood_of_progress_leaves_the_page_responsive(notebook: Notebook) -> None:
    notebook.page.evaluate(
        """() => {
            window.longest = 0;
            let before = performance.now();
            const frame = now => {
                window.longest = Math.max(window.longest, now - before);
                before = now;
                window.frames_counted = (window.frames_counted || 0) + 1;
                requestAnimationFrame(frame);
            };
            requestAnimationFrame(now => { before = now; requestAnimationFrame(frame); });
        }"""
    )
    cell = notebook.start("for _ in range(3):\n    %mcp call flood")
    cell.wait_until_done(60).wait_for("flooded")
    # On a free machine the longest frame takes under 200 ms; here only that the page went on is held.
    assert notebook.page.evaluate("window.frames_counted") > 10
