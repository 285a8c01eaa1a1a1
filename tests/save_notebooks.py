"""Run the notebooks and save what they give: `MCP_NOTEBOOK_TRUST=1 python -m tests.save_notebooks [NAME.ipynb …]`."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def save(path: Path) -> None:
    """Run one notebook, and save it without what differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, kernel_name="python3", record_timing=False, timeout=180).execute()
    notebook.metadata.language_info = {"name": "python"}
    notebook.metadata.pop("widgets", None)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for chosen in map(Path, sys.argv[1:]) if len(sys.argv) > 1 else sorted(NOTEBOOKS.glob("*.ipynb")):
        print(chosen)
        save(chosen)
