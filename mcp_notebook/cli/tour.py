"""Open the tour in JupyterLab, or run it here and say what each step does."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["add_arguments", "run"]

PACKAGE = Path(__file__).parents[1]
TOUR = "01-tour.ipynb"
STEP_LIMIT = 180
"""Seconds that one step may take. The first one fetches a package from npm."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("--headless", action="store_true", help="run it without a browser and print what it does")
    parser.add_argument("options", nargs="*", metavar="OPTION", help="after `--`: options for JupyterLab")


def run(options: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        The exit status: not 0 where a step failed, or something is missing.
    """
    needed = "nbclient" if options.headless else "jupyterlab"
    if importlib.util.find_spec(needed) is None:
        print(f'The tour needs {needed}, which is not installed: pip install "mcp_notebook[tour]"', file=sys.stderr)
        return 1
    return run_here(shipped_tour()) if options.headless else open_in_jupyterlab(shipped_tour(), options.options)


def shipped_tour() -> Path:
    """Where the tour is: in the package where that was installed, beside it in a checkout."""
    installed = PACKAGE / "notebooks" / TOUR
    return installed if installed.exists() else PACKAGE.parent / "notebooks" / TOUR


def open_in_jupyterlab(tour: Path, options: list[str]) -> int:
    """Open JupyterLab on the tour, and stay until it ends.

    What is installed with the package stays as it is: the person gets a copy in the current folder.
    """
    if tour.is_relative_to(PACKAGE):
        copy = Path(TOUR).absolute()
        tour = copy if copy.exists() else Path(shutil.copy(tour, copy))
    from jupyterlab.labapp import LabApp

    arguments = [f"--ServerApp.root_dir={tour.parent}", f"--LabApp.default_url=/lab/tree/{tour.name}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")  # as in a container; who runs this has the rights already
    LabApp.launch_instance([*arguments, *options])
    return 0


def run_here(tour: Path) -> int:
    """Run each step, and print it with what it gave and how long it took."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal

    notebook = nbformat.read(tour, as_version=4)
    client = NotebookClient(notebook, timeout=STEP_LIMIT, kernel_name="python3", extra_arguments=["--log-level=ERROR"])
    began = time.monotonic()
    # Whoever runs the tour this way has said yes to the commands in it, as nobody can be asked on the way.
    with client.setup_kernel(env={**os.environ, "MCP_NOTEBOOK_TRUST": "1"}):
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                print(cell.source, end="\n\n")
                continue
            print(_indented(cell.source, ">>> "), flush=True)
            start = time.monotonic()
            try:
                client.execute_cell(cell, index)
            except (CellControlSignal, RuntimeError) as error:  # RuntimeError: the kernel died
                print(error, "The tour failed at this step.", sep="\n", file=sys.stderr)
                return 1
            print(_indented("\n".join(map(_as_text, cell.outputs)), "    "))
            print(f"    [{time.monotonic() - start:.1f} s]\n", flush=True)
    print(f"The tour is done. It took {time.monotonic() - began:.1f} s.")
    return 0


def _as_text(output: Any) -> str:
    """One output of a cell, as a terminal can show it."""
    match output.output_type:
        case "stream":
            return output.text.rstrip()
        case "error":
            return f"{output.ename}: {output.evalue}"
        case _:
            return output.data.get("text/plain") or ", ".join(output.data)


def _indented(text: str, by: str) -> str:
    return "\n".join(f"{by}{line}" for line in text.splitlines())
