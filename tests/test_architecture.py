"""The rules of the house that CONTRIBUTING.md tells, read from the source, so that nobody has to watch over them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "mcp_notebook"
FILES = sorted(PACKAGE.rglob("*.py"))

LAYERS = [
    {"errors"},
    {"limits", "visible"},
    {"jsonrpc"},
    {"types"},
    {"protocol"},
    {"transports", "store", "auth", "render"},
    {"calls", "host", "journal"},
    {"home"},
    {"client", "server"},
    {"notebook", "cli"},
    {"__main__", "__init__"},
]
"""The parts of the package, from the bottom up. A part imports from layers below its own, and from itself."""

HEIGHT = {part: height for height, layer in enumerate(LAYERS) for part in layer}
ONLY_IN_NOTEBOOK = {"IPython", "comm", "ipykernel", "ipywidgets", "traitlets"}
DATES = [file.stem.removeprefix("v") for file in (PACKAGE / "protocol" / "revisions").glob("v*.py")]
A_REVISION = re.compile("|".join(DATES).replace("_", "[-_]"))


def name_of(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def part_of(file: Path) -> str:
    """errors.py -> errors, client/calls.py -> client."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> Iterator[str]:
    """The absolute names of all that a file imports: at its top, in functions, for type checking."""
    package = ["mcp_notebook", *file.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def literals(file: Path) -> Iterator[str]:
    """The strings that a file works with, docstrings left out."""
    tree = ast.parse(file.read_text("utf-8"))
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_imports_run_downwards_only(file: Path) -> None:
    part = part_of(file)
    assert part in HEIGHT, f"{part} is new: give it a place in LAYERS, and in CONTRIBUTING.md"
    others = {name.split(".")[1] for name in imports(file) if name.startswith("mcp_notebook.")} - {part}
    # What is imported from the package itself (`from mcp_notebook import Server`) comes through the top.
    upwards = {other for other in others if HEIGHT.get(other, len(LAYERS)) >= HEIGHT[part]}
    assert not upwards, f"{part} must not import {', '.join(sorted(upwards))}: they stand beside it or above it"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_revision_is_named_by_its_date_only_where_revisions_are_written(file: Path) -> None:
    if (PACKAGE / "protocol" / "revisions") in file.parents:
        return
    dates = [text for text in [*literals(file), *imports(file)] if A_REVISION.search(text)]
    assert not dates, f"ask the profile instead of naming a date: {dates}"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_only_notebook_knows_ipython_and_widgets(file: Path) -> None:
    known = {name.split(".")[0] for name in imports(file)} & ONLY_IN_NOTEBOOK
    assert part_of(file) == "notebook" or not known


def test_the_http_client_library_is_imported_in_one_file_at_most() -> None:
    files = [name_of(file) for file in FILES if any(name.split(".")[0] == "httpx2" for name in imports(file))]
    assert len(files) <= 1, files


def test_importing_the_package_loads_nothing_heavy() -> None:  # FM#3292
    heavy = ["IPython", "anyio", "asyncio", "ipykernel", "ipywidgets", "jsonschema", "pydantic", "mcp_notebook.errors"]
    code = (
        f"import sys; before = set(sys.modules); import mcp_notebook; print({{*{heavy}}} & {{*sys.modules}} - before)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout.strip() == "set()"


def test_every_part_is_in_the_picture_of_the_house() -> None:
    picture = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
    entries = {part_of(file) for file in FILES} - {"__init__", "__main__"}
    assert [part for part in sorted(entries) if not re.search(rf"^  {part}(/|\.py) +\w", picture, re.MULTILINE)] == []


def test_the_rules_see_what_breaks_them() -> None:
    """The helpers above, on a file whose faults are known."""
    assert "mcp_notebook.client.calls.CallHandle" in set(imports(PACKAGE / "client" / "__init__.py"))
    assert any(A_REVISION.search(text) for text in literals(PACKAGE / "protocol" / "revisions" / "v2025_11_25.py"))
    assert {"IPython", "ipywidgets"} <= {
        name.split(".")[0] for file in FILES if part_of(file) == "notebook" for name in imports(file)
    }
