"""Every notebook gives what is saved in it, cell by cell (nbval).

A cell whose output cannot be the same twice says so: `# NBVAL_IGNORE_OUTPUT`, or the tag `nbval-ignore-output`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.node
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_what_is_saved_in_it(notebook: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-cell-timeout=180", "-p", "no:cacheprovider"]
    command += ["--nbval-sanitize-with", str(ROOT / "tests" / "nbval" / "sanitize.cfg")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MCP_NOTEBOOK_TRUST": "1"}  # CON-3
    environment["XDG_RUNTIME_DIR"] = str(tmp_path)  # where no server of another run is kept
    done = subprocess.run(
        [*command, str(notebook)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_saved_without_unwanted_errors_and_without_what_only_one_machine_has(notebook: Path) -> None:
    text = notebook.read_text("utf-8")
    for cell in nbformat.reads(text, as_version=4).cells:
        failed = [output.evalue for output in cell.get("outputs", []) if output.output_type == "error"]
        assert not failed or "raises-exception" in cell.metadata.tags
    assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"
    assert not re.search(r"/root/|/home/|/Users/|/tmp/", text)


def test_the_tour_and_the_tests_use_the_same_version_of_a_package_from_npm() -> None:
    wanted = json.loads((ROOT / "tests" / "node" / "package.json").read_text("utf-8"))["dependencies"]
    tour = (ROOT / "notebooks" / "01-tour.ipynb").read_text("utf-8")
    package = "@modelcontextprotocol/server-everything"
    assert f"{package}@{wanted[package]}" in tour
