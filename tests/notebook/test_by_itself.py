"""A notebook that runs by itself, as `jupyter nbconvert --execute` has it: what its tools ask is answered by policy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from ..kernels import ROOT, write_kernelspec

CELLS = [
    """%load_ext mcp_notebook
from mcp_notebook import Context, Server

server = Server("travel")

@server.tool
async def book(ctx: Context) -> str:
    seat = {"type": "string", "default": "aisle"}
    answer = await ctx.elicit("Which seat?", {"type": "object", "properties": {"seat": seat}})
    return f"it was {answer.action}: {answer.data}"

@server.tool
async def pay(ctx: Context) -> str:
    return (await ctx.elicit_url("https://example.org/pay", "Pay.")).action

%mcp connect travel server""",
    "%mcp call book",
    "%mcp call pay",
]


@pytest.mark.parametrize(
    ("policy", "done", "result"),
    [("", "cancelled", "it was cancel: None"), ("accept-defaults", "accepted with its defaults", "'seat': 'aisle'")],
)
def test_questions_end_by_policy_and_what_it_did_is_said(  # DEF-3
    policy: str, done: str, result: str, tmp_path: Path
) -> None:
    write_kernelspec("ipykernel7", tmp_path / "kernels")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    nbformat.write(notebook, tmp_path / "asks.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "notebook", "--output", "done.ipynb"]
    command += ["--ExecutePreprocessor.kernel_name=ipykernel7", "asks.ipynb"]
    environment = os.environ | {
        "JUPYTER_PATH": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "MCP_NOTEBOOK_ELICITATION": policy,
    }
    if not policy:
        del environment["MCP_NOTEBOOK_ELICITATION"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=90)
    shown = [
        "\n".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        for cell in nbformat.read(tmp_path / "done.ipynb", as_version=4).cells
    ]
    assert f"Nobody can answer here, so it was {done}" in shown[1]
    assert result in shown[1]
    assert "https://example.org/pay" in shown[2]
    assert "Nobody can do that here, so it was cancelled" in shown[2]
