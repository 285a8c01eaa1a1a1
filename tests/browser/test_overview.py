"""The overview as a person sees and uses it in JupyterLab and Notebook 7."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from .conftest import once_for_each
from .driver import Cell, Notebook

if TYPE_CHECKING:
    from playwright.sync_api import Locator

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

@server.tool(name="wordy_" + "very_" * 30)
async def wordy(ctx: Context) -> None:
    await ctx.progress(1, 2, "at length " * 100)
    await ctx.elicit("And what else is there to be said about it? " * 20, str)

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

from mcp_notebook.notebook.workspace import Workspace
workspace = Workspace.of(get_ipython())
client = %mcp connect lab server
%mcp connect many many
print("ready")
"""


@pytest.fixture(scope="module")
def opened(open_notebook: Callable[..., Notebook]) -> Callable[[str], Notebook]:
    return once_for_each(open_notebook, SETUP)


@pytest.fixture(params=["ipykernel7", "ipykernel7 in Notebook 7"])
def notebook(request: pytest.FixtureRequest, opened: Callable[[str], Notebook]) -> Notebook:
    return opened(request.param)


@pytest.fixture
def lab(opened: Callable[[str], Notebook]) -> Notebook:
    """JupyterLab, for what is the same everywhere."""
    return opened("ipykernel7")


def search(cell: Cell, text: str) -> Locator:
    """Type into the search field."""
    field = cell.output.get_by_label("search", exact=True)
    field.click()
    field.page.keyboard.press("ControlOrMeta+a")
    field.page.keyboard.type(text)
    return field


def focused(place: Locator) -> None:
    from playwright.sync_api import expect

    expect(place).to_be_focused()


def test_a_tool_is_found_while_one_types_and_tried_by_the_keyboard_alone(notebook: Notebook) -> None:
    cell = notebook.run("%mcp").wait_for("2 servers").wait_for("10,000")
    cell.screenshot("overview")
    field = search(cell, "measu")
    cell.wait_for("lab.measure").wait_for("How warm")
    cell.screenshot("overview-found")
    field.press("Enter")
    city = cell.output.get_by_label("city", exact=True)
    focused(city)
    keyboard = city.page.keyboard
    keyboard.type("Oslo")
    keyboard.press("Enter")
    cell.wait_for("3 warm days in Oslo")
    cell.screenshot("overview-tried")
    cell.button("Close").press("Enter")
    cell.output.get_by_label("city", exact=True).wait_for(state="detached")
    focused(field)
    keyboard.press("Escape")
    cell.output.get_by_text("lab.measure").wait_for(state="detached")


def test_what_can_be_read_is_read_in_place(notebook: Notebook) -> None:
    cell = notebook.run("%mcp")
    cell.output.get_by_label("search in", exact=True).select_option("resources")
    cell.wait_for("notes://today").wait_for("notes://{day}")
    cell.output.get_by_title("Try lab.today", exact=True).click()
    cell.wait_for("water the <b>plants</b>")
    cell.output.get_by_title("Try lab.notes", exact=True).click()
    day = cell.output.get_by_label("day", exact=True)
    focused(day)
    day.fill("Friday")
    day.press("Enter")
    cell.wait_for("notes of Friday")
    cell.output.get_by_label("search in", exact=True).select_option("prompts")
    cell.output.get_by_title("Try lab.summary", exact=True).click()
    cell.output.get_by_label("of", exact=True).fill("all of it")
    cell.button("Get").click()
    cell.wait_for("Sum up all of it in a plain tone")
    cell.screenshot("overview-read")


def test_open_calls_go_on_and_are_cancelled(notebook: Notebook) -> None:
    notebook.run("h = %mcp call --bg lab.crunch")
    cell = notebook.run("%mcp").wait_for("1 call open").wait_for("s left")
    cell.screenshot("overview-calls")
    cell.button("Cancel").click()
    cell.wait_for("cancelled")
    cell.output.get_by_text("call open").wait_for(state="detached")


def test_a_question_that_waits_is_answered_here(notebook: Notebook) -> None:
    notebook.run("b = client.begin_call('book', {'message': 'Where to?'})")
    cell = notebook.run("%mcp").wait_for("1 question").wait_for("lab asks: Where to?")
    cell.button("Answer here").click()
    place = cell.output.get_by_label("value", exact=True)
    focused(place)
    cell.screenshot("overview-question")
    field = cell.output.get_by_label("search", exact=True)
    field.press("Escape")  # which is not for the question
    search(cell, "measu").press("Escape")
    cell.output.get_by_text("lab.measure").wait_for(state="detached")
    place.fill("Oslo")
    place.press("Enter")
    cell.output.get_by_text("1 question").wait_for(state="detached")
    notebook.run("print(b.result(15).text)").wait_for("booked Oslo")


def test_a_question_whose_cell_was_deleted_is_answered_in_the_overview(lab: Notebook) -> None:
    asking = lab.run("b = %mcp call --bg lab.book message='Where to?'")
    asking.output.get_by_label("value", exact=True).wait_for()
    lab.delete(asking)
    cell = lab.run("%mcp").wait_for("needs your answer")
    cell.button("Answer here").click()
    place = cell.output.get_by_label("value", exact=True)
    place.fill("Bergen")
    place.press("Enter")
    lab.run("print(b.result(15).text)").wait_for("booked Bergen")


def test_a_question_goes_on_in_the_newer_overview(lab: Notebook) -> None:
    lab.run("b = client.begin_call('book', {'message': 'Where to?'})")
    older = lab.run("%mcp").wait_for("lab asks")
    older.button("Answer here").click()
    older.output.get_by_label("value", exact=True).wait_for()
    cell = lab.run("%mcp").wait_for("lab asks")
    assert older.output.get_by_role("button").count() == 0
    cell.button("Answer here").click()
    place = cell.output.get_by_label("value", exact=True)
    place.fill("Rome")
    place.press("Enter")
    lab.run("print(b.result(15).text)").wait_for("booked Rome")


def test_a_connection_that_ended_is_made_again(notebook: Notebook) -> None:
    cell = notebook.run("%mcp").wait_for("2 servers")
    notebook.run("%mcp disconnect many")
    cell.wait_for("disconnected")
    cell.screenshot("overview-lost")
    cell.button("Reconnect").click()
    cell.output.get_by_text("disconnected").wait_for(state="detached")
    cell.wait_for("10,000")


def test_it_follows_the_theme(lab: Notebook) -> None:
    lab.run("h = %mcp call --bg lab.crunch")
    lab.run("%mcp disconnect many")
    cell = lab.run("%mcp").wait_for("s left")
    search(cell, "a")
    cell.wait_for("lab.measure")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(theme)  # pyright: ignore[reportArgumentType]
        cell.screenshot(f"overview-{theme.rpartition(' ')[2].lower()}")
    lab.theme("JupyterLab Light")
    lab.run("h.cancel()\n%mcp reconnect many")


@pytest.mark.parametrize("width", [1280, 760])
def test_long_texts_keep_within_the_card(lab: Notebook, width: int) -> None:
    lab.run("w = client.begin_call('wordy_' + 'very_' * 30)\nworkspace.remember(w)")
    cell = lab.run("%mcp").wait_for("1 question")
    search(cell, "wordy")
    cell.wait_for("lab.wordy")
    lab.page.set_viewport_size({"width": width, "height": 1400})
    card = cell.output.locator(".mcp-overview > .mcp-card")
    inside = card.evaluate(
        """card => [...card.querySelectorAll('*')].filter(one => one.checkVisibility()
            && !one.matches('.mcp-bar span, .mcp-about')
            && one.getBoundingClientRect().right > card.getBoundingClientRect().right + 1).map(one => one.outerHTML)"""
    )
    cell.screenshot(f"overview-long-{width}")
    lab.page.set_viewport_size({"width": 1280, "height": 1400})
    lab.run("w.cancel()")
    assert inside == []


def test_ten_thousand_tools_are_searched_while_one_types(lab: Notebook) -> None:
    cell = lab.run("%mcp").wait_for("10,000")
    for text, found in (("tool", "… 9,980 more"), ("tool 99", "more; another word"), ("thing 9999", "tool_9999")):
        search(cell, text)
        cell.wait_for(found)
    cell.screenshot("overview-many")


def test_a_saved_notebook_shows_the_older_overview_without_widgets(lab: Notebook) -> None:
    cell = lab.run("%mcp").wait_for("2 servers")
    lab.run("%mcp").wait_for("2 servers")
    cell.output.get_by_role("textbox").wait_for(state="detached")
    lab.reopen()
    cell.wait_for("2 servers").wait_for("connected")
    assert "Error displaying widget" not in cell.text
