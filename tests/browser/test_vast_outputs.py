"""Servers that say 10 MB, or 100,000 things, wherever they can: little is shown of it, and the page stays at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .driver import Notebook
from .test_call_cards import SEEN, WATCH

pytestmark = pytest.mark.browser

SETUP = """
%load_ext mcp_notebook
from tests.browser.hostile_server import Vast
vast = Vast()
print("ready")
"""
SAVED = """index => {
    const cells = window.jupyterapp.shell.currentWidget.content.widgets;
    return JSON.stringify(cells[index].model.sharedModel.outputs).length;
}"""
"""How large the outputs of a cell are in the notebook's file."""

ANSWERS = ("text", "error", "data", "keys", "rows", "blocks", "link", "resource", "image", "unknown")
CODES = {
    "connecting": "%mcp connect vast vast",
    "the overview": "%mcp",
    "a server": "%mcp servers vast",
    "tools": "%mcp tools",
    "a long description": "%mcp tools vast.described",
    "a long name": "name = 'vast.' + 'x' * 10_000_000\n%mcp tools $name",
    "100,000 values": "%mcp tools vast.travel",
    "100,000 arguments": "%mcp tools vast.wide",
    "a wrong value": "%mcp call vast.travel city=Oslo",
    "a wrong argument": "%mcp call vast.wide town=Oslo",
    "resources": "%mcp resources",
    "prompts": "%mcp prompts",
    "find": "%mcp find x",
    "read": "%mcp read vast a:b",
    "prompt": "%mcp prompt vast.plain",
    **{kind: f"%mcp call vast.answer kind={kind}" for kind in ANSWERS},
    "many calls": "calls = vast_client.map('answer', ['text', 'data', 'error'])\ncalls.result(); calls",
    "an error": "%mcp call vast.fail",
    "an error in the background": "handle = %mcp call --bg vast.fail",
    "an error of the API": "vast_client.begin_call('fail').result()",
    "a call at work": "%mcp call vast.work",
    "the log": "%mcp log",
    "calls": "%mcp calls",
    "a status": "%mcp status {handle.id}",
}


@pytest.fixture(scope="module")
def notebook(open_notebook: Callable[..., Notebook]) -> Notebook:
    notebook = open_notebook()
    notebook.run(SETUP).wait_for("ready")
    notebook.run("vast_client = %mcp connect vast vast")
    return notebook


@pytest.mark.parametrize("code", CODES.values(), ids=CODES.keys())
def test_of_very_much_little_is_shown(notebook: Notebook, code: str) -> None:
    cell = notebook.add(code)
    cell.output.evaluate(WATCH)
    cell.run()
    cell.output.locator(".jp-OutputArea-output").first.wait_for()
    seen: dict[str, Any] = notebook.page.evaluate(SEEN)
    assert len(cell.text) < 50_000
    assert notebook.page.evaluate(SAVED, cell.index) < 200_000
    assert max(seen["frames"], default=0) < 2_000


def test_of_a_very_long_reason_to_open_a_page_little_is_shown(notebook: Notebook) -> None:
    cell = notebook.add("url = 'https://example.invalid/?' + 'x' * 10_000\n%mcp call vast.visit url=$url")
    cell.output.evaluate(WATCH)
    cell.start().button("Decline").wait_for()
    assert "x" * 10_000 in cell.text
    assert len(cell.text) < 50_000
    cell.button("Decline").click()
    cell.wait_until_done().wait_for("● declined")
    seen: dict[str, Any] = notebook.page.evaluate(SEEN)
    assert max(seen["frames"], default=0) < 2_000
    assert notebook.page.evaluate(SAVED, cell.index) < 200_000


def test_an_address_that_is_too_long_to_be_judged_is_not_offered(notebook: Notebook) -> None:
    cell = notebook.run("url = 'https://example.invalid/?' + 'x' * 1_000_000\n%mcp call vast.visit url=$url")
    cell.wait_for("This URL is not opened: it is longer than 16,384 characters")
    assert len(cell.text) < 10_000
