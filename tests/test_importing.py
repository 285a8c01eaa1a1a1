"""What an import brings along: nothing that a program may never need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "IPython",
    "cryptography",
    "docstring_parser",
    "httpx2",
    "importlib.metadata",
    "ipywidgets",
    "jsonschema",
    "mcp_notebook.notebook",
    "mcp_notebook.render",
    "uvicorn",
    "yaml",
}


@pytest.mark.parametrize("name", ["connect", "Server"])
def test_importing_a_name_brings_nothing_that_may_never_be_needed(name: str) -> None:
    statement = f"from mcp_notebook import {name}"
    code = f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert HEAVY & set(json.loads(done.stdout)) == set()
