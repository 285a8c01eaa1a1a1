"""URLs that a server wants to be visited, in real kernels: a click consents, then a link; by text; by policy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..kernels import Kernel
from .test_consent_kernels import WAITS

SETUP = """
from mcp_notebook import Context, Server, connect
from mcp_notebook.notebook.host import NotebookHost
from mcp_notebook.notebook.widgets import url_card

UrlCard = getattr(url_card, "Original", url_card.UrlCard)

class TellingCard(UrlCard):
    def show(self):
        super().show()
        print(*(button.comm.comm_id for button in (*self.buttons.values(), self.done_button)))

    def hold_link(self, waits):
        links.append([self._body.value])
        super().hold_link(waits)
        links[-1].append(self._body.value)

url_card.Original, url_card.UrlCard, links = UrlCard, TellingCard, []
host = NotebookHost.of(runtime, get_ipython())
server = Server("files")
answers = []

@server.tool
async def sign_in(ctx: Context) -> str:
    answer = await ctx.elicit_url("https://example.org/in?for=files", "Sign in <b>now</b>.")
    answers.append(answer)
    return answer.action

signed_in = False

@server.tool
async def read(ctx: Context) -> str:
    from mcp_notebook.errors import URLElicitationRequired
    if not signed_in:
        raise URLElicitationRequired("https://example.org/in?for=files", "Sign in.")
    return "files"

async def calling(tool):
    async with connect(server, revision="2025-11-25") as client:
        return (await client.call_tool(tool)).data
"""
ACCEPT, DECLINE, CANCEL, DONE = range(4)
LINK = '<a href="https://example.org/in?for=files" target="_blank" rel="noopener noreferrer"'
both_ways = pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())


@pytest.fixture
def notebook(kernel: Kernel) -> Iterator[Kernel]:
    assert kernel.run(SETUP).status == "ok"
    yield kernel
    kernel.run("%env MCP_NOTEBOOK_PROMPTS=")


def asked(kernel: Kernel, request: str) -> list[str]:
    """The comm ids of the card's buttons."""
    return kernel.until(request, "\n").text.split()


@both_ways
def test_a_click_consents_and_only_then_there_is_a_link(notebook: Kernel, wait: str) -> None:  # URL-5
    call = wait.format("calling('sign_in')")
    request = notebook.send(f"print({call})", cell="a", answers=[])
    comms = asked(notebook, request)
    bundle = notebook.until(request, lambda outcome: outcome.data).data[0]
    assert "https://example.org/in?for=files" in bundle["text/plain"]
    notebook.click(comms[ACCEPT])
    assert notebook.outcome(request).text.endswith("accept\n")
    before, after = notebook.value("links[-1]")
    assert "<a" not in before
    assert "Sign in &lt;b&gt;now&lt;/b&gt;." in before
    assert LINK in after


@pytest.mark.parametrize(("button", "action"), [(DECLINE, "decline"), (CANCEL, "cancel")])
def test_a_click_declines_or_puts_it_off(notebook: Kernel, button: int, action: str) -> None:  # URL-2
    request = notebook.send("print(runtime.wait(runtime.submit(calling('sign_in'))))", cell="a", answers=[])
    notebook.click(asked(notebook, request)[button])
    outcome = notebook.outcome(request)
    assert outcome.text.endswith(f"{action}\n")
    (left,) = outcome.updates
    assert left["text/plain"].endswith("https://example.org/in?for=files")


def test_a_call_that_wanted_a_visit_goes_on_when_the_person_says_so(notebook: Kernel) -> None:  # URL-3, URL-4
    request = notebook.send("print(runtime.wait(runtime.submit(calling('read'))))", cell="a", answers=[])
    comms = asked(notebook, request)
    notebook.click(comms[ACCEPT])
    notebook.click(comms[DONE])  # which is not true, so the server asks again
    again = notebook.until(request, lambda outcome: outcome.text.count("\n") == 2).text.split("\n")[1].split()
    notebook.click(again[DECLINE])
    outcome = notebook.outcome(request)
    assert "Sign in." in outcome.error
    assert [left["text/plain"].split(":")[0] for left in outcome.updates] == ["● done there, as you said", "● declined"]


def test_by_text_the_url_stands_whole_and_nothing_is_opened(notebook: Kernel) -> None:  # URL-5
    notebook.run("%env MCP_NOTEBOOK_PROMPTS=text")
    outcome = notebook.run("print(runtime.wait(runtime.submit(calling('sign_in'))))", cell="a", answers=["x", "a"])
    assert "https://example.org/in?for=files" in outcome.text
    assert "host: example.org" in outcome.text
    assert "Type a to agree" in outcome.text
    assert outcome.text.endswith("accept\n")


def test_where_nobody_can_be_asked_it_is_cancelled_and_said(notebook: Kernel) -> None:
    outcome = notebook.run("print(runtime.wait(runtime.submit(calling('sign_in'))))")
    assert "Nobody can do that here" in outcome.text
    assert "cancel" in outcome.text.splitlines()
