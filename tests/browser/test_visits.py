"""A person in front of JupyterLab is asked whether to open a URL: nothing is opened or fetched before they click."""

from collections.abc import Callable

import pytest

from .driver import Notebook

pytestmark = pytest.mark.browser

SETUP = """
%load_ext mcp_notebook
from mcp_notebook import Context, Server

server = Server("files")

@server.tool
async def sign_in(ctx: Context) -> str:
    answer = await ctx.elicit_url(URL, "Sign in to <img src=x onerror=alert(1)> your files.")
    return f"it was answered: {answer.action}"

%mcp connect files server
print("ready")
"""


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_a_click_shows_the_link_which_opens_nothing_of_this_page(
    open_notebook: Callable[..., Notebook], app: str
) -> None:  # URL-5
    page = open_notebook(app=app)
    asked: list[str] = []
    page.page.on("request", lambda request: asked.append(request.url))
    url = "https://xn--xample-2of.invalid/sign-in?for=files"
    page.run(f"URL = {url!r}\n{SETUP}").wait_for("ready")
    cell = page.start("%mcp call files.sign_in")
    cell.button("Decline").wait_for()
    assert url in cell.text
    assert "host: xn--xample-2of.invalid" in cell.text
    assert "may look like others" in cell.text
    assert "<img src=x onerror=alert(1)>" in cell.text
    assert cell.output.locator("a").count() == 0
    cell.screenshot(f"visit-{app}")
    cell.button("Agree and show the link").click()
    link = cell.output.locator("a")
    link.wait_for()
    assert link.get_attribute("href") == url
    assert link.get_attribute("target") == "_blank"
    assert set((link.get_attribute("rel") or "").split()) >= {"noopener", "noreferrer"}
    cell.screenshot(f"visit-link-{app}")
    cell.wait_until_done().wait_for("it was answered: accept")
    assert not [one for one in asked if "xample" in one]
    cell.button("Close").click()
    cell.wait_for("the link was shown: https://xn--xample-2of")
    assert cell.output.locator("a").count() == 0
    assert cell.output.get_by_role("button").count() == 0
    assert "completed sign_in on files" in " ".join(cell.text.split())
