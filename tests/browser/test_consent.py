"""A person in front of JupyterLab is asked whether a command may start."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .driver import Cell, Notebook

pytestmark = pytest.mark.browser

WAITS = {"blocking": "runtime.wait(runtime.submit({}), 15)", "await": "await runtime.run({})"}

both_ways = pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())

SETUP = """
%load_ext tests.waits
import sys
from pathlib import Path
from mcp_notebook import Command, connect
from mcp_notebook.notebook.consent import RememberedConsents
from mcp_notebook.notebook.host import NotebookHost

folder = Path({folder!r})
host = NotebookHost.of(runtime, get_ipython())
host.consents = RememberedConsents(folder / "consents")

async def marking(mark):
    "Start a program that leaves a mark and ends."
    try:
        await connect([sys.executable, "-c", f"open({{str(folder / mark)!r}}, 'w')"], env={{"API_KEY": "s3cret"}})
    except Exception as error:
        return type(error).__name__

print("ready")
"""


@pytest.fixture(scope="module", params=["ipykernel7", "ipykernel6", "ipykernel7 in Notebook 7"])
def notebook(
    request: pytest.FixtureRequest, open_notebook: Callable[..., Notebook], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Notebook, Path]:
    kernel, _, app = request.param.partition(" in ")
    folder = tmp_path_factory.mktemp("marks")
    notebook = open_notebook(kernel=kernel, app="notebook" if app else "lab")
    notebook.run(SETUP.format(folder=str(folder))).wait_for("ready")
    return notebook, folder


def card(cell: Cell) -> str:
    """What the card says, once it is there."""
    cell.button("Don’t start").wait_for()
    return cell.text


@both_ways
def test_a_click_starts_the_command_and_leaves_a_line(  # CON-1, CON-2
    notebook: tuple[Notebook, Path], wait: str
) -> None:
    page, folder = notebook
    mark = f"started {wait[:5]}"
    cell = page.start(wait.format(f"marking({mark!r})"))
    shown = card(cell)
    assert "start this program on your computer?" in shown
    assert f"-c 'open('\"'\"'{folder / mark}'\"'\"', '\"'\"'w'\"'\"')'" in shown
    assert "adds to the environment API_KEY (value hidden)" in shown
    assert "This can be dangerous" in shown
    assert "s3cret" not in shown
    assert not (folder / mark).exists()
    cell.button("Start once").click()
    cell.wait_until_done().wait_for("● allowed to start, until this kernel ends: ")
    assert (folder / mark).exists()
    assert cell.output.get_by_role("button").count() == 0


@both_ways
def test_a_no_starts_nothing(notebook: tuple[Notebook, Path], wait: str) -> None:  # CON-2
    page, folder = notebook
    cell = page.start(wait.format("marking('refused')"))
    cell.button("Don’t start").click()
    cell.wait_until_done().wait_for("● not started: ").wait_for("ConsentDenied")
    assert not (folder / "refused").exists()


@both_ways
def test_an_interrupt_starts_nothing_and_takes_the_card_away(  # CON-2
    notebook: tuple[Notebook, Path], wait: str
) -> None:
    page, folder = notebook
    cell = page.start(wait.format("marking('interrupted')"))
    card(cell)
    page.interrupt()
    cell.wait_until_done().wait_for("● not started, as there was no answer: ")
    assert cell.output.get_by_role("button").count() == 0
    assert not (folder / "interrupted").exists()


def test_what_is_remembered_is_not_asked_again(notebook: tuple[Notebook, Path]) -> None:  # CON-3
    page, _ = notebook
    code = "runtime.wait(runtime.submit(host.consent(Command(['server', 'remembered'], cwd='/'))), 15)"
    cell = page.start(code)
    cell.button("Start, and remember").click()
    cell.wait_until_done().wait_for("● allowed to start, and remembered: server remembered")
    again = page.run(f"host._allowed.clear()\n{code}\nprint('not asked')").wait_for("not asked")
    assert again.text.strip() == "not asked"


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_a_long_command_is_shown_whole_and_the_safe_button_is_the_main_one(  # CON-1, CON-4
    notebook: tuple[Notebook, Path], theme: str
) -> None:
    page, _ = notebook
    page.theme(theme)  # pyright: ignore[reportArgumentType]
    words = "'long word ' * 300 + '<b>bold</b>\\u202eend'"
    cell = page.start(f"runtime.wait(runtime.submit(host.consent(Command(['server', {words}, {theme!r}]))), 15)")
    assert "<b>bold</b><U+202E>end" in card(cell)
    command = cell.output.locator("pre.mcp-code")
    assert command.evaluate("element => element.scrollHeight <= element.clientHeight")
    assert command.evaluate("element => element.scrollWidth <= element.clientWidth")
    cell.screenshot(f"consent-{theme.rpartition(' ')[2].lower()}")
    main = cell.output.locator("button.mod-primary")
    assert main.all_inner_texts() == ["Don’t start"]
    main.click()
    cell.wait_until_done()
