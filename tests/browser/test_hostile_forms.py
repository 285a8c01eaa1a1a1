"""Forms of hostile servers, in a real browser: nothing runs, nothing is fetched, nothing is hidden; nor is it slow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ..render.test_hostile import CORPUS
from .driver import Notebook
from .hostile import HIDDEN, MARKUP, assert_harmless, watched
from .test_questions import asked, expect_value

pytestmark = pytest.mark.browser

SETUP = """
%load_ext mcp_notebook
import json
from mcp_notebook import Server, connect
from mcp_notebook.notebook.host import NotebookHost
from mcp_notebook.types import ElicitParams
runtime = get_ipython()._mcp_runtime
host = NotebookHost.of(runtime, get_ipython())
def ask(server, message, schema):
    params = ElicitParams(message=message, requested_schema=schema)
    return runtime.wait(runtime.submit(host.elicit(server, params)), 120)
print("ready")
"""


def hostile(text: str) -> dict[str, Any]:
    """A schema with a text in each place that a form shows."""
    named = {"title": text, "description": text}
    return {
        "type": "object",
        "properties": {
            text: {"type": "string", **named, "default": text},
            "wrong": {"type": "integer", **named, "default": text, "pattern": text},
            "choice": {"enum": [text, text + "2"], "enumNames": [text, text], **named, "default": text},
            "several": {"type": "array", "items": {"enum": [text, "other"]}, "default": [text], **named},
            "many": {"type": "array", "items": {"enum": [text, *map(str, range(50))]}, "default": [text], **named},
            "group": {
                "type": "object",
                "properties": {text: {"const": text}},
                "required": [text],
                "default": {text: text},
            },
            "list": {"type": "array", "items": {"type": "string", **named}, "default": [text], **named},
            "union": {
                "anyOf": [{"type": "integer", **named}, {"type": "object", "properties": {"a": {"const": text}}}]
            },
            "json": {"type": "object", **named, "default": {text: text}},
        },
        "required": ["missing " + text, "union"],
    }


@pytest.fixture(scope="module")
def notebook(open_notebook: Callable[..., Notebook]) -> Iterator[Notebook]:
    notebook = open_notebook()
    notebook.run(SETUP).wait_for("ready")
    with watched(notebook):
        yield notebook


def test_whatever_a_server_says_in_a_form_is_text(notebook: Notebook) -> None:
    parts = {f"{at} {text}": hostile(text) for at, text in enumerate(CORPUS.values())}
    schema = {"type": "object", "properties": parts, "required": list(parts)}
    said = "\n".join(CORPUS.values())
    cell = notebook.start(f"result = ask({said!r}, {said!r}, json.loads({json.dumps(schema)!r}))\nprint(result.action)")
    cell.button("Send").wait_for()
    cell.button("▸ as JSON").click()
    cell.button("Send").click()
    cell.output.get_by_role("alert").first.wait_for()
    assert MARKUP in cell.text
    assert not HIDDEN.search(cell.output.locator(".mcp-json textarea").input_value())
    assert_harmless(cell)
    cell.button("Decline").click()
    cell.wait_until_done().wait_for("declined")
    assert_harmless(cell)


def test_very_many_values_and_very_long_texts_are_shown_in_part_and_sent_whole(notebook: Notebook) -> None:
    from playwright.sync_api import expect

    cell = notebook.start(
        "long = 'x' * 10_000_000\n"
        "cities = [{'const': n, 'title': f'City {n:06}'} for n in range(100_000)]\n"
        "result = ask('travel', long, {'type': 'object', 'description': long, 'required': ['city'], 'properties': {\n"
        "    'city': {'oneOf': cities, 'description': long}, 'text': {'type': 'string', 'default': long},\n"
        "    'cities': {'type': 'array', 'items': {'enum': [str(n) for n in range(100_000)]}}}})\n"
        "print(result.action, result.content['city'], len(result.content['text']), result.content['cities'])"
    )
    city = asked(cell)
    city.fill("99999")
    expect(cell.output.locator("datalist option[value='City 099999']")).to_have_count(1)
    city.fill("City 099999")
    cities = asked(cell, "cities")
    cities.fill("77777")
    cell.button("77777 ×").wait_for()
    assert len(cell.text) < 10_000
    cell.button("Show all of it (10.0 MB)").first.click()
    cell.output.locator("pre", has_text="x" * 100_000).wait_for()
    cell.button("Send").wait_for()
    cell.button("Send").click()
    cell.wait_until_done(60).wait_for("accept 99999 10000000 ['77777']")
    assert len(cell.text) < 10_000


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_a_day_is_the_same_in_every_time_zone(notebook: Notebook, zone: str) -> None:
    page = notebook.page
    tools = page.context.new_cdp_session(page)
    tools.send("Emulation.setTimezoneOverride", {"timezoneId": zone})
    days: dict[str, Any] = {name: {"type": "string", "format": "date"} for name in ("first", "second", "third")}
    days["first"]["default"] = "2026-12-24"
    days["second"]["default"] = "2026-01-01"
    cell = notebook.start(f"print(ask('travel', 'When?', {{'type': 'object', 'properties': {days!r}}}).content)")
    expect_value(asked(cell, "first"), "2026-12-24")
    asked(cell, "second").fill("2026-03-29")
    asked(cell, "third").fill("2026-06-30")
    cell.output.locator(".mcp-asking[data-keys]").wait_for()
    asked(cell, "third").press("Enter")
    cell.wait_until_done().wait_for("{'first': '2026-12-24', 'second': '2026-03-29', 'third': '2026-06-30'}")
    tools.detach()
