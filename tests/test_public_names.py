"""What people import: sorted, there, documented."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import mcp_notebook

PACKAGE = Path(mcp_notebook.__file__).parent
MODULES = sorted(
    ".".join(["mcp_notebook", *file.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    for file in PACKAGE.rglob("*.py")
    if file.name != "__main__.py"
)


def test_the_public_names_are_sorted() -> None:
    assert mcp_notebook.__all__ == sorted(mcp_notebook.__all__)


@pytest.mark.parametrize("name", mcp_notebook.__all__)
def test_a_public_name_can_be_imported_and_says_what_it_is(name: str) -> None:
    assert getattr(mcp_notebook, name).__doc__
    assert name in dir(mcp_notebook)


def test_type_checkers_see_the_same_names_as_people() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    for_checkers = next(node for node in tree.body if isinstance(node, ast.If))
    imported = {alias.name for node in for_checkers.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported == set(mcp_notebook.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match=r"mcp_notebook.*no attribute 'Sever'"):
        mcp_notebook.Sever  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is_and_has_the_names_that_it_offers(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    assert [offered for offered in getattr(module, "__all__", []) if not hasattr(module, offered)] == []


def test_every_part_can_be_imported_first() -> None:
    """No part depends on another having been imported before it."""
    code = """
        import importlib, sys
        for name in sys.argv[1:]:
            for loaded in [module for module in sys.modules if module.startswith("mcp_notebook")]:
                del sys.modules[loaded]
            importlib.import_module(name)
        """
    parts = [name for name in MODULES if name.count(".") == 1]
    command = [sys.executable, "-c", textwrap.dedent(code), *parts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
