"""A cell asks a question in a widget and waits for the answer, in the three ways there are."""

from collections.abc import Callable

import pytest

from .driver import Cell, Notebook

pytestmark = pytest.mark.browser

WAITS = {"blocking": "runtime.wait({}, 15)", "await": "await runtime.settled({})"}

both_ways = pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())


@pytest.fixture(scope="module", params=["ipykernel7", "ipykernel6", "ipykernel7 in Notebook 7"])
def notebook(request: pytest.FixtureRequest, open_notebook: Callable[..., Notebook]) -> Notebook:
    kernel, _, app = request.param.partition(" in ")
    notebook = open_notebook(kernel=kernel, app="notebook" if app else "lab")
    notebook.run("%load_ext tests.waits\nruntime.frontend()").wait_for("kind='lab', widgets=True, stdin=True")
    return notebook


def answer(cell: Cell, name: str) -> None:
    """As a person does: key by key. The front end holds letters back while the kernel has not dealt with others."""
    cell.output.get_by_placeholder("name").press_sequentially(name, delay=10)
    cell.button("Submit").click()


@both_ways
def test_the_cell_that_waits_gets_the_answer(notebook: Notebook, wait: str) -> None:
    cell = notebook.start(f"print({wait.format('ask()')})")
    answer(cell, "Ada Lovelace")
    cell.wait_until_done().wait_for("hello Ada Lovelace").wait_for("answered")


def test_the_answer_comes_when_the_cell_has_ended(notebook: Notebook) -> None:
    cell = notebook.run("ask_aside()")
    notebook.run("1 + 1").wait_for("2")
    answer(cell, "Ada Lovelace")
    cell.wait_for("hello Ada Lovelace")


@both_ways
def test_queued_cells_run_in_order_after_the_answer(notebook: Notebook, wait: str) -> None:
    first = notebook.start(f"order = [{wait.format('ask()')}]")
    queued = [notebook.start(f"order.append({n}); print(order)") for n in (1, 2, 3)]
    answer(first, "Ada")
    for n, cell in enumerate(queued, 1):
        cell.wait_until_done()
        assert cell.text.strip() == str(["hello Ada", 1, 2, 3][: n + 1])


@both_ways
def test_the_interrupt_button_ends_the_wait(notebook: Notebook, wait: str) -> None:
    cell = notebook.start(f"cancelled.clear()\n{wait.format('runtime.submit(endless())')}")
    cell.wait_for("waits")
    notebook.interrupt()
    cell.wait_until_done()
    notebook.run("cancelled.wait(5)").wait_for("True")
