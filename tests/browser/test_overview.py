"""The overview as a person sees and uses it in JupyterLab and Notebook 7."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .driver import Notebook

pytestmark = pytest.mark.browser

SETUP = """
%load_ext mcp_notebook
import asyncio
from mcp_notebook import Context, Server

server = Server("lab")

@server.tool
def measure(city: str, days: int = 3) -> str:
    "How warm it is going to be."
    return f"{days} warm days in {city}"

@server.tool
async def crunch(ctx: Context, steps: int = 100) -> str:
    "Count, and say how far it is."
    for step in range(steps):
        await ctx.progress(step, steps, "fitting")
        await asyncio.sleep(0.2)
    return "crunched"

@server.tool
async def book(ctx: Context, message: str = "Which city?") -> str:
    "Book a flight."
    return f"booked {(await ctx.elicit(message, str)).data}"

@server.resource("notes://today")
def today() -> str:
    "What is to be done today."
    return "water the <b>plants</b>"

@server.resource("notes://{day}")
def notes(day: str) -> str:
    "What is to be done on a day."
    return f"notes of {day}"

@server.prompt
def summary(of: str, tone: str = "plain") -> str:
    "Have something summed up."
    return f"Sum up {of} in a {tone} tone"

many = Server("many")
for number in range(10_000):
    many.tool(name=f"tool_{number}", description=f"Does the thing number {number}.")(lambda: "done")

%mcp connect lab server
%mcp connect many many
print("ready")
"""


@pytest.fixture(scope="module", params=["lab", "notebook"])
def notebook(request: pytest.FixtureRequest, open_notebook: Callable[..., Notebook]) -> Notebook:
    notebook = open_notebook(app=request.param)
    notebook.run(SETUP).wait_for("ready")
    return notebook


def test_a_tool_is_found_while_one_types_and_tried_in_place(notebook: Notebook) -> None:
    cell = notebook.run("%mcp").wait_for("2 servers").wait_for("10,000")
    cell.screenshot("overview")
    field = cell.output.get_by_placeholder("search tools, resources, prompts")
    field.click()
    field.page.keyboard.type("measu")
    cell.wait_for("lab.measure").wait_for("How warm")
    cell.screenshot("overview-found")
    field.press("Enter")
    city = cell.output.get_by_label("city", exact=True)
    city.wait_for()
    cell.screenshot("overview-try")
    city.fill("Oslo")
    city.press("Enter")
    cell.wait_for("3 warm days in Oslo")
    cell.screenshot("overview-tried")
