"""What hostile servers say outside of forms, in a real browser: nothing runs, is fetched, or hides, wherever it stands.

Forms have tests of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from mcp_notebook.visible import visible

from ..render.test_hostile import CORPUS
from .driver import Cell, Notebook
from .hostile import MARKUP, assert_harmless, watched
from .hostile_server import URL

TEXTS = len(CORPUS)
PATIENCE = 60
"""Seconds that something may take with all of the servers."""

pytestmark = pytest.mark.browser

SETUP = """
%load_ext mcp_notebook
import json
from mcp_notebook import MCPError
from tests.browser.hostile import MARKUP
from tests.browser.hostile_server import Hostile
from tests.render.test_hostile import CORPUS
texts = list(CORPUS.values())
servers = [Hostile(text) for text in texts]
def clients():
    return [member.client for member in get_ipython()._mcp_workspace]

def calls():
    return list(get_ipython()._mcp_workspace.calls)

def each(line, body=False):
    "A command for each server: in it stand `server`, `text`, and `full` for a name. Errors are shown as cells do."
    for n, text in enumerate(texts):
        globals().update(server=f"s{n}", text=text, full=f"s{n}.{text}")
        try:
            if body:
                get_ipython().run_cell_magic("mcp", line, json.dumps({text: "1"}))
            else:
                get_ipython().run_line_magic("mcp", line)
        except MCPError:
            get_ipython().showtraceback()

print("ready")
"""


@pytest.fixture(scope="module")
def notebook(open_notebook: Callable[..., Notebook]) -> Iterator[Notebook]:
    """Connected to a server for each text."""
    notebook = open_notebook()
    notebook.run(SETUP).wait_for("ready")
    with watched(notebook):
        cell = shown(notebook, "each('connect $server {servers[texts.index(text)]}')")
        assert cell.text.count("● connected") == TEXTS
        yield notebook


def shown(notebook: Notebook, code: str, *, says: str = MARKUP) -> Cell:
    """A cell that has ended, and whose output shows a hostile text, and does no harm."""
    cell = notebook.start(code).wait_until_done(PATIENCE).wait_for(says, PATIENCE)
    assert_harmless(cell)
    return cell


OFFERS = {
    "a server": "each('servers $server')",
    "tools": "%mcp tools",
    "resources": "%mcp resources",
    "prompts": "%mcp prompts",
    "find": "%mcp find alert",
    "one tool": "each('tools $full')",
    "read": "each('read $server $text')",
    "prompt": "each('prompt {server}.plain')",
}


@pytest.mark.parametrize("code", OFFERS.values(), ids=OFFERS.keys())
def test_what_a_server_offers_is_text(notebook: Notebook, code: str, request: pytest.FixtureRequest) -> None:
    cell = shown(notebook, code)
    cell.screenshot(f"hostile-{request.node.callspec.id.replace(' ', '-')}")


@pytest.mark.parametrize("kind", range(10))
def test_what_a_tool_answers_is_text(notebook: Notebook, kind: int) -> None:
    cell = shown(notebook, f"each('call $server.answer kind:={kind}')", says="answer on s16")
    assert MARKUP in cell.text or "whose data is not base64" in cell.text
    again = shown(
        notebook, f"for one in clients(): display(one.begin_call('answer', {{'kind': {kind}}}).result())", says=""
    )
    assert MARKUP in again.text or "whose data is not base64" in again.text


def test_what_a_call_says_at_work_is_text_then_and_afterwards(notebook: Notebook) -> None:
    cell = notebook.start("each('call --bg $full', body=True)").wait_until_done(PATIENCE)
    cell.wait_for("1 of 2")
    assert_harmless(cell)
    cell.screenshot("hostile-working")
    shown(notebook, "%mcp", says=f"{TEXTS} calls open")
    shown(notebook, "%mcp calls")
    shown(notebook, "for name in calls()[-len(texts):]:\n    %mcp status {name}")
    shown(notebook, "each('log $server')")
    shown(notebook, "each('call $server.release')")
    cell.wait_for("● an answer that makes no sense", PATIENCE)  # since it is text, too, and no JSON
    assert_harmless(cell)
    cell.screenshot("hostile-ended")


def test_what_a_server_says_of_a_task_is_text(notebook: Notebook) -> None:
    cell = shown(notebook, "each('call --bg --task $server.work')", says="● working")
    shown(notebook, "%mcp calls")
    shown(notebook, "for name in calls()[-len(texts):]:\n    %mcp status {name}")
    notebook.run("for name in calls()[-len(texts):]:\n    %mcp cancel {name}")
    cell.wait_for("● cancelled")
    assert_harmless(cell)


def test_a_table_of_many_calls_is_text(notebook: Notebook) -> None:
    cell = notebook.run(
        "maps = [one.map('answer', [{'kind': kind} for kind in range(10)]) for one in clients()]\n"
        "for one in maps: one.result(); display(one)"
    ).wait_for(MARKUP)
    assert_harmless(cell)
    cell.screenshot("hostile-map")


def test_errors_of_servers_are_text(notebook: Notebook) -> None:
    cell = shown(notebook, "each('call $server.fail')")
    cell.screenshot("hostile-errors")
    shown(notebook, "each('call --bg $server.fail')")
    shown(notebook, "clients()[texts.index(MARKUP)].begin_call('fail').result()")


def test_what_a_call_says_is_text_in_the_cell_that_waits_for_it(notebook: Notebook) -> None:
    for number in range(TEXTS):
        cell = notebook.start(f"%mcp call s{number}.work")
        cell.wait_for("1 of 2")
        assert_harmless(cell)
        cell.button("Cancel").click()
        cell.wait_until_done().wait_for("cancelled")
        assert_harmless(cell)


CALLS = {
    "its card": "%mcp call s{}.visit url=$url",
    "no card": "clients()[{}].begin_call('visit', {{'url': url}}).result()",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize(("button", "left"), [("Decline", "● declined"), ("Not now", "● not now")])
def test_a_url_is_text_until_the_person_wants_a_link_and_after_they_do_not(
    notebook: Notebook, call: str, button: str, left: str
) -> None:
    urls = [f"{URL}{text}" for text in CORPUS.values() if text.isprintable() and " " not in text]
    assert len(urls) > 5
    for number, url in enumerate(urls):
        cell = notebook.start(f"url = {url!r}\n{call.format(number)}")
        cell.button(button).wait_for()
        assert url in cell.text
        assert_harmless(cell)
        cell.button(button).click()
        cell.wait_until_done().wait_for(left).wait_for(visible(url))
        assert_harmless(cell)


REFUSED = ["javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "/etc/passwd", "https://a\u202e.example/"]


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_no_address_of_a_page_is_not_offered(notebook: Notebook, url: str) -> None:
    cell = notebook.run(f"url = {url!r}\n%mcp call s2.visit url=$url").wait_for("This URL is not opened")
    assert_harmless(cell)
