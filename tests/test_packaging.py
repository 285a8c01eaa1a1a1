"""What is built, and that the project's files say the same things."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=120)
    return next(folder.glob("*.whl"))


def test_a_wheel_holds_the_package_its_notebooks_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    sources = {f"mcp_notebook/{file.relative_to(ROOT / 'mcp_notebook').as_posix()}" for file in _files("mcp_notebook")}
    notebooks = {f"mcp_notebook/notebooks/{file.name}" for file in (ROOT / "notebooks").glob("*.ipynb")}
    assert names == sources | notebooks
    assert {"mcp_notebook/py.typed", "mcp_notebook/notebooks/01-tour.ipynb"} <= names


def test_a_tour_that_came_with_a_wheel_is_copied_before_it_is_opened_and_a_changed_copy_is_kept(
    wheel: Path, tmp_path: Path
) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    lab = tmp_path / "installed" / "jupyterlab"
    lab.mkdir()
    (lab / "__init__.py").touch()
    (lab / "labapp.py").write_text(
        "import json\nclass LabApp:\n  launch_instance = lambda words: print(json.dumps(words))"
    )
    here = tmp_path / "here"
    here.mkdir()

    def tour() -> list[str]:
        command = [sys.executable, "-m", "mcp_notebook", "tour", "--", "--no-browser"]
        environment = {"PYTHONPATH": str(tmp_path / "installed"), "PATH": ""}
        done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    copy = here / "01-tour.ipynb"
    assert tour()[:2] == [f"--ServerApp.root_dir={here}", "--LabApp.default_url=/lab/tree/01-tour.ipynb"]
    assert tour()[-1] == "--no-browser"
    assert copy.read_bytes() == (ROOT / "notebooks" / "01-tour.ipynb").read_bytes()
    copy.write_text("changed")
    tour()
    assert copy.read_text() == "changed"


def test_every_library_that_the_package_imports_is_declared() -> None:
    extras = PROJECT["optional-dependencies"]
    named = {_name(text) for text in [*PROJECT["dependencies"], *extras["tour"], *extras["pandas"]]}
    distributions = importlib.metadata.packages_distributions()
    modules = set[str]().union(*(_imports(file) for file in _files("mcp_notebook") if file.suffix == ".py"))
    foreign = modules - sys.stdlib_module_names - {"mcp_notebook"}
    assert {module for module in foreign if named.isdisjoint(map(_name, distributions.get(module, [])))} == set()


def test_the_readme_has_the_two_commands() -> None:
    setup = 'python3 -m venv .venv && .venv/bin/pip install -e ".[{}]" && .venv/bin/python -m {}'
    assert setup.format("tour", "mcp_notebook tour") in README.splitlines()
    assert setup.format("test", "pytest") in README.splitlines()  # .ci/run reads it there


def test_the_version_and_its_changes_are_told() -> None:
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def _files(folder: str) -> list[Path]:
    return [file for file in (ROOT / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts]


def _imports(file: Path) -> set[str]:
    """The modules that a file imports by their absolute names, without what stands in them."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Import():
                names += [alias.name for alias in node.names]
            case ast.ImportFrom(module=str(module), level=0):
                names.append(module)
    return {name.partition(".")[0] for name in names}


def _name(requirement: str) -> str:
    """A distribution's name, in its one normal form."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()
