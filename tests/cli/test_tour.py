from __future__ import annotations

import importlib.util
from pathlib import Path

import nbformat
import pytest

from mcp_notebook.__main__ import main
from mcp_notebook.cli.tour import run_here, shipped_tour


def notebook(folder: Path, *cells: str) -> Path:
    path = folder / "a.ipynb"
    v4 = nbformat.v4
    nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell("# Title"), *map(v4.new_code_cell, cells)]), path)
    return path


def test_each_step_is_printed_with_what_it_gave(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_here(notebook(tmp_path, "print('one')\n1 + 1", "import os\nos.environ['MCP_NOTEBOOK_TRUST']")) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[:5] == ["# Title", "", ">>> print('one')", ">>> 1 + 1", "    one"]
    assert "    2" in lines
    assert "    '1'" in lines, "the commands of the tour are consented to"  # CON-3
    assert lines[-1].startswith("The tour is done.")


def test_the_first_step_that_fails_ends_the_tour_with_its_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_here(notebook(tmp_path, "1 / 0", "print('never')")) == 1
    shown = capfd.readouterr()
    assert "ZeroDivisionError" in shown.err
    assert "never" not in shown.out


def test_a_kernel_that_dies_ends_the_tour(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_here(notebook(tmp_path, "import os; os._exit(3)")) == 1
    assert "died" in capfd.readouterr().err


def test_the_tour_of_a_checkout_is_opened_in_place() -> None:
    assert shipped_tour() == Path(__file__).parents[2] / "notebooks" / "01-tour.ipynb"


@pytest.mark.parametrize(("arguments", "needed"), [(["tour"], "jupyterlab"), (["tour", "--headless"], "nbclient")])
def test_what_the_tour_needs_and_lacks_is_named_with_the_way_to_get_it(
    arguments: list[str], needed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(arguments) == 1
    assert f'{needed}, which is not installed: pip install "mcp_notebook[tour]"' in capsys.readouterr().err


def test_without_a_command_the_usage_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([])
    assert end.value.code == 2
    assert "usage: python -m mcp_notebook" in capsys.readouterr().err
