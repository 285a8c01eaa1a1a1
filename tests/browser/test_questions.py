"""Servers' questions as forms, in front of JupyterLab and Notebook 7: filled in by keyboard and mouse, and left."""

from __future__ import annotations

import re
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
from dataclasses import dataclass, field
from typing import Literal
from mcp_notebook import Context, Server, connect

@dataclass
class Flight:
    city: str
    seats: int = 1
    cabin: Literal["economy", "business"] = "economy"

server = Server("travel")

@server.tool
async def book(ctx: Context, message: str = "Which flight?") -> str:
    answer = await ctx.elicit(message, Flight)
    return f"{answer.action} {answer.data}"

%mcp connect travel server
travel = get_ipython()._mcp_workspace.get("travel").client
print("ready")
"""
CALLS = {
    "magic": "x = %mcp call travel.book\nprint(x.content[0].text)",
    "blocking": "print(travel.begin_call('book').result(60).content[0].text)",
    "await": "print((await travel.call_tool('book')).content[0].text)",
}
all_ways = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
NOTEBOOK_HAS_FOCUS = (
    "document.activeElement.closest('.jp-Notebook')"
    " && !document.activeElement.matches('input, select, textarea, button')"
)
SENT = "accept Flight(city='Oslo', seats=2, cabin='business')"


@pytest.fixture(scope="module")
def opened(open_notebook: Callable[..., Notebook]) -> Callable[[str], Notebook]:
    return once_for_each(open_notebook, SETUP)


@pytest.fixture(params=["ipykernel7", "ipykernel6", "ipykernel7 in Notebook 7"])
def notebook(request: pytest.FixtureRequest, opened: Callable[[str], Notebook]) -> Notebook:
    return opened(request.param)


@pytest.fixture
def lab(opened: Callable[[str], Notebook]) -> Notebook:
    """A notebook for what is the same with every kernel and front end."""
    return opened("ipykernel7")


def asked(cell: Cell, name: str = "city") -> Locator:
    """A field of the form, once it is there."""
    place = cell.output.get_by_label(name, exact=True)
    place.first.wait_for()
    return place.first


def fill(cell: Cell) -> None:
    """As a person does who uses no mouse, up to what sends it."""
    city = asked(cell)
    city.click()
    keyboard = city.page.keyboard
    keyboard.type("Oslo")
    keyboard.press("Tab")
    keyboard.press("ControlOrMeta+a")
    keyboard.type("2")
    keyboard.press("Tab")
    asked(cell, "cabin").select_option("business")


@all_ways
def test_a_question_is_answered_by_the_keyboard_in_the_cell_that_waits(notebook: Notebook, call: str) -> None:
    cell = notebook.start(call)
    fill(cell)
    asked(cell, "seats").press("Enter")
    cell.wait_until_done().wait_for(SENT).wait_for("● answered travel Which flight? — city: Oslo · seats: 2")
    assert cell.output.get_by_role("button", name="Send").count() == 0


def test_a_call_that_the_cell_waits_for_asks_in_its_own_card(notebook: Notebook) -> None:
    cell = notebook.start("%mcp call travel.book")
    fill(cell)
    card = cell.output.locator(".mcp-live > .mcp-card")
    assert card.get_by_label("city").count() == 1
    assert "needs your answer book on travel" in " ".join(card.inner_text().split())
    assert card.locator(".mcp-asking").count() == cell.output.locator(".mcp-asking").count() == 1
    cell.button("Send").click()
    cell.wait_until_done().wait_for(SENT)
    assert cell.output.locator(".mcp-card .mcp-card").inner_text().startswith("● answered")
    assert cell.output.locator(".mcp-card .mcp-card").count() == 1


def test_a_call_in_the_background_asks_in_its_own_card_while_other_cells_run(notebook: Notebook) -> None:
    cell = notebook.run("handle = %mcp call --bg travel.book")
    fill(cell)
    other = notebook.run("1 + 1").wait_for("2")
    assert "Waiting for you" not in cell.text + other.text
    cell.button("Send").click()
    cell.wait_for(SENT).wait_for("● answered travel Which flight? — city: Oslo · seats: 2")
    assert cell.output.get_by_role("button").count() == 0


def test_a_form_calls_a_tool_asks_what_it_asks_and_shows_the_result_below(lab: Notebook) -> None:
    cell = lab.run("%mcp form travel.book message=Where")
    asked(cell, "message").fill("Where to?")
    cell.output.locator(".mcp-asking[data-keys]").wait_for()
    asked(cell, "message").press("Escape")
    lab.page.wait_for_function(NOTEBOOK_HAS_FOCUS)
    expect_value(asked(cell, "message"), "Where to?")
    cell.button("▸ as code").click()
    cell.wait_for("%mcp call travel.book message='Where to?'")
    asked(cell, "message").press("Enter")
    fill(cell)
    cell.button("Send").click()
    cell.wait_for(SENT).wait_for("● answered travel Where to? — city: Oslo · seats: 2")
    cell.button("Close").click()
    cell.output.get_by_role("button", name="Run").wait_for(state="hidden")
    cell.wait_for(SENT)


def test_what_is_wrong_is_told_while_one_types_and_is_not_sent(lab: Notebook) -> None:
    cell = lab.start(CALLS["blocking"])
    seats = asked(cell, "seats")
    seats.fill("2o")
    told = cell.output.get_by_role("alert")
    told.get_by_text("a whole number is expected").wait_for()
    cell.button("Send").click()
    told.get_by_text("needed", exact=True).wait_for()
    assert asked(cell).evaluate("element => element === document.activeElement")
    seats.fill("2")
    asked(cell, "cabin").select_option("business")
    asked(cell).fill("Oslo")
    cell.button("Send").click()
    cell.wait_until_done().wait_for(SENT)


@pytest.mark.parametrize(("leave", "action"), [("Decline", "decline"), ("Cancel", "cancel"), ("Escape", "cancel")])
def test_one_can_leave(lab: Notebook, leave: str, action: str) -> None:
    cell = lab.start(CALLS["blocking"])
    city = asked(cell)
    city.fill("Oslo")
    cell.output.locator(".mcp-asking[data-keys]").wait_for()
    _ = city.press("Escape") if leave == "Escape" else cell.button(leave).click()
    cell.wait_until_done().wait_for(f"{action} None")
    assert "Oslo" not in cell.text


def test_an_interrupt_takes_the_form_away(notebook: Notebook) -> None:
    cell = notebook.start(CALLS["await"])
    asked(cell)
    notebook.interrupt()
    cell.wait_until_done().wait_for("● not answered travel Which flight?")
    assert cell.output.get_by_role("button", name="Send").count() == 0


def test_json_is_pasted_and_copied(lab: Notebook) -> None:
    cell = lab.start(CALLS["blocking"])
    asked(cell)
    cell.button("▸ as JSON").click()
    sheet = cell.output.locator(".mcp-json textarea")
    sheet.fill('{"city": "Oslo", "seats": ')
    cell.output.get_by_role("alert").get_by_text("This is no JSON").wait_for()
    sheet.fill('{"city": "Oslo", "seats": 2, "cabin": "business"}')
    expect_value(asked(cell), "Oslo")
    expect_value(asked(cell, "seats"), "2")
    asked(cell, "seats").fill("3")
    expect_value(sheet, re.compile('"seats": 3'))
    asked(cell, "seats").fill("2")
    cell.button("Send").click()
    cell.wait_until_done().wait_for(SENT)


def expect_value(place: Locator, value: str | re.Pattern[str]) -> None:
    from playwright.sync_api import expect

    expect(place).to_have_value(value)


def test_run_all_stops_at_a_question_and_goes_on_with_the_answer(lab: Notebook) -> None:
    first = lab.add("order = ['first']")
    question = lab.add(f"{CALLS['magic']}\norder.append(x.content[0].text)")
    last = lab.add("order.append('last'); print(order)")
    lab.run_from(first)
    fill(question)
    assert "last" not in last.text
    question.button("Send").click()
    last.wait_until_done().wait_for(f"""['first', "{SENT}", 'last']""")
    assert first.text == ""


def test_two_questions_at_once_are_answered_in_any_order(lab: Notebook) -> None:
    cell = lab.start(
        "import asyncio\n"
        "calls = (travel.call_tool('book', {'message': message}) for message in ('First?', 'Second?'))\n"
        "print([result.content[0].text for result in await asyncio.gather(*calls)])"
    )
    cell.wait_for("First?").wait_for("Second?")
    for message, city in (("Second?", "Rome"), ("First?", "Oslo")):
        card = cell.output.locator(".mcp-asking", has_text=message)
        card.get_by_label("city").fill(city)
        card.get_by_role("button", name="Send", exact=True).click()
        cell.wait_for(f"● answered travel {message} — city: {city}")
    cell.wait_until_done()
    assert cell.text.index("city='Oslo'") < cell.text.index("city='Rome'")


def test_the_form_follows_the_theme_and_keeps_what_was_typed(lab: Notebook) -> None:
    cell = lab.start(CALLS["blocking"])
    city = asked(cell)
    city.fill("Oslo")
    colours: list[str] = []
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        lab.theme(theme)  # pyright: ignore[reportArgumentType]
        colours.append(city.evaluate("element => getComputedStyle(element).backgroundColor"))
        cell.screenshot(f"question-{theme.rpartition(' ')[2].lower()}")
    lab.theme("JupyterLab Light")
    assert colours[0] != colours[1]
    expect_value(city, "Oslo")
    cell.button("Cancel").click()
    cell.wait_until_done()


def test_letters_and_arrows_choose_from_a_list_and_leave_the_notebook_alone(lab: Notebook) -> None:
    cell = lab.start(CALLS["magic"])
    cabin = asked(cell, "cabin")
    cell.output.locator(".mcp-asking[data-keys]").wait_for()
    cabin.focus()
    for key in ("ArrowDown", "m", "d", "d", "x"):  # which the notebook would take for its own commands
        lab.page.keyboard.press(key)
    expect_value(cabin, "business")
    lab.page.keyboard.press("Shift+Tab")
    lab.page.keyboard.press("Escape")
    cell.wait_until_done()
    lab.page.wait_for_function(NOTEBOOK_HAS_FOCUS)  # so that its own keys work again


def test_a_restart_in_the_middle_leaves_a_notebook_that_works(lab: Notebook) -> None:
    cell = lab.start(CALLS["blocking"])
    asked(cell)
    lab.restart()
    card = cell.output.locator(".mcp-asking > .mcp-card")
    said = card.evaluate("element => getComputedStyle(element, '::after').content")
    assert "The kernel of this card has ended" in said
    assert not cell.button("Send").is_visible()
    lab.run(SETUP).wait_for("ready")
    again = lab.start(CALLS["blocking"])
    fill(again)
    again.button("Send").click()
    again.wait_until_done().wait_for(SENT)


def test_a_saved_notebook_tells_what_was_answered_without_widgets(lab: Notebook) -> None:
    cell = lab.start(CALLS["blocking"])
    fill(cell)
    cell.button("Send").click()
    cell.wait_until_done().wait_for(SENT)
    lab.reopen()
    cell.wait_for("● answered travel Which flight? — city: Oslo · seats: 2 · cabin: business")
    assert "Error displaying widget" not in cell.text
