"""The tour in JupyterLab, as a person takes it."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from .driver import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.node]

TOUR = Path(__file__).parents[2] / "notebooks" / "01-tour.ipynb"


def test_the_tour_runs_from_top_to_bottom_for_a_person_who_lets_its_command_start(
    open_notebook: Callable[..., Notebook],
) -> None:
    notebook = open_notebook(TOUR)
    cells = nbformat.read(TOUR, as_version=4).cells
    for index, cell in enumerate(cells):
        if cell.cell_type != "code":
            continue
        shown = notebook.cell(index).start()
        if cell.source.startswith("%mcp connect"):
            shown.button("Start once").click()
            shown.wait_for("● connected", 120)  # npx may have to fetch it first
        shown.wait_until_done()
        failed = shown.output.locator('[data-mime-type="application/vnd.jupyter.stderr"]').count() > 0
        assert failed == ("raises-exception" in cell.metadata.get("tags", [])), shown.text
    notebook.cell(len(cells) - 1).wait_for("2 servers")
