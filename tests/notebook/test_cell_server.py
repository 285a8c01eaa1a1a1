"""`%%mcp server NAME` in a shell of this process."""

from __future__ import annotations

import time
from typing import Any

import pytest

from mcp_notebook import Server
from mcp_notebook.notebook.workspace import Workspace

from .cells import Cells

GARDEN = '''%%mcp server garden
"Everything about the garden."
from dataclasses import dataclass
from functools import lru_cache
from json import dumps

beds = {"tomatoes": 4}

@dataclass
class Bed:
    "Not a tool."
    name: str
    count: int = 1

def plant(bed: Bed) -> dict[str, int]:
    """Plant something.

    Args:
        bed: What, and how much.
    """
    _check(bed)
    beds[bed.name] = bed.count
    return beds

@lru_cache
def double(n: int) -> int:
    return 2 * n

if True:
    async def late() -> str:
        return "late"

def _check(bed): ...

@garden.resource("garden://{bed}")
def look(bed: str) -> str:
    return f"{beds[bed]} {bed}"

@garden.prompt
def advise(plant: str) -> str:
    return f"How does {plant} grow?"

@garden.tool(name="dig-up")
def dig_up() -> str:
    return "dug"
'''


def tools(cells: Cells, name: str = "garden") -> list[str]:
    cells.run(f"offered = %mcp tools {name}")
    return sorted(tool.name for tool in cells["offered"])


def changes_of(cells: Cells, name: str) -> list[str]:
    """Which changes the client hears of from now on."""
    heard: list[str] = []
    Workspace.of(cells.shell).member(name).client.add_listener(lambda notification: heard.append(notification.method))
    return heard


def test_the_functions_of_a_cell_become_tools(cells: Cells) -> None:
    ran = cells.run(GARDEN)
    assert tools(cells) == ["dig-up", "double", "late", "plant"]
    assert "● connected garden" in ran.text
    assert "Plant something." in ran.text
    assert "and 1 resource · 1 prompt" in ran.text
    assert isinstance(cells["garden"], Server)
    assert cells.run('%mcp call plant bed={"name": "beans", "count": 3}').text.endswith("beans: 3")
    assert cells.run("%mcp call double n=21").text.endswith("42")
    assert cells.run("%mcp call late").text.endswith("late")
    assert cells.run("%mcp read garden://beans").text.endswith("3 beans")
    assert "How does ivy grow?" in cells.run("%mcp prompt advise plant=ivy").text
    assert cells["plant"](cells["Bed"]("peas"))["peas"] == 1
    assert cells["garden"].instructions == "Everything about the garden."


def test_running_the_cell_again_replaces_the_tools_and_tells_clients_once(cells: Cells) -> None:
    cells.run(GARDEN)
    server, client = cells["garden"], Workspace.of(cells.shell).member("garden").client
    heard = changes_of(cells, "garden")
    ran = cells.run('%%mcp server garden\ndef water() -> str:\n    "Water it."\n    return "wet"')
    assert "● changed garden" in ran.text
    assert "+water −dig-up −plant −double −late" in ran.text
    end = time.monotonic() + 5
    while len(heard) < 3:
        assert time.monotonic() < end, heard
        time.sleep(0.01)
    assert sorted(heard) == [f"notifications/{kind}/list_changed" for kind in ("prompts", "resources", "tools")]
    assert tools(cells) == ["water"]
    assert cells["garden"] is server
    assert Workspace.of(cells.shell).member("garden").client is client


def test_the_new_code_of_a_tool_runs_even_if_it_looks_the_same(cells: Cells) -> None:
    for answer in ("one", "two"):
        cells.run(f'%%mcp server it\ndef tell() -> str:\n    return "{answer}"')
        assert cells.run("%mcp call tell").text.endswith(answer)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("def new() -> str: ...\n1 / 0", "ZeroDivisionError: division by zero"),
        ("def new(:", "SyntaxError"),
        ("def new(x: nothing): ...", "nothing"),
        ("def new(x: 'Missing'): ...", "Missing"),
        ("def new(*args): ...", "args"),
        ("@garden.tool(nme='x')\ndef new(): ...", "nme"),
    ],
)
def test_a_cell_that_fails_leaves_the_server_as_it_was(cells: Cells, cell: str, told: str) -> None:
    cells.run(GARDEN)
    server = cells["garden"]
    assert told in cells.fail(f"%%mcp server garden\n{cell}")
    assert cells["garden"] is server
    assert tools(cells) == ["dig-up", "double", "late", "plant"]


def test_a_first_cell_that_fails_leaves_no_server(cells: Cells) -> None:
    cells.fail("%%mcp server it\ndef tell() -> str: ...\n1 / 0")
    assert "it" not in cells.shell.user_ns
    assert "nothing is connected yet" in cells.run("%mcp").text


def test_an_error_in_the_cell_shows_its_own_lines_and_none_of_ours(cells: Cells) -> None:
    shown = cells.fail("%%mcp server it\ndef broken() -> int:\n    return 1 / 0\n\nbroken()")
    assert "return 1 / 0" in shown
    assert "mcp_notebook" not in shown
    assert "run_cell_magic" not in shown


@pytest.mark.parametrize(
    ("name", "cell", "told"),
    [
        ("", "def f(): ...", "It begins a cell: %%mcp server NAME"),
        ("two words", "def f(): ...", "one word too many"),
        ("no-name", "def f(): ...", "it is a Python name, too"),
        ("f", "def f(): ...", "the server's own name"),
        ("json", "def f(): ...", "already the name of something else here, of type module"),
    ],
)
def test_a_name_that_cannot_be_used_is_told_of(cells: Cells, name: str, cell: str, told: str) -> None:
    cells.run("import json")
    assert told in cells.fail(f"%%mcp server {name}\n{cell}")


def test_the_line_magic_says_that_it_begins_a_cell(cells: Cells) -> None:
    assert "It begins a cell: %%mcp server NAME" in cells.fail("%mcp server garden")


def test_a_name_that_is_connected_elsewhere_is_not_taken(cells: Cells) -> None:
    cells.run("import sys\nfrom tests.notebook.cells import STDIO_SERVER")
    cells.run("%mcp connect it {[sys.executable, '-c', STDIO_SERVER]} --trust")
    assert "already connected" in cells.fail("%%mcp server it\ndef tell() -> str: ...")


def test_a_cell_without_functions_says_so(cells: Cells) -> None:
    assert "It has no tools" in cells.run("%%mcp server it\nx = 1").text
    assert cells["x"] == 1


def test_magics_work_in_the_cell(cells: Cells) -> None:
    cells.run("%%mcp server it\nfolder = %pwd\ndef where() -> str:\n    return folder")
    assert "/" in cells.run("%mcp call where").text


def test_a_server_of_its_own_making_can_be_given_in_the_cell(cells: Cells) -> None:
    cells.run('%%mcp server it\nfrom mcp_notebook import Server\nit = Server("it", title="Mine")\ndef f() -> str: ...')
    assert "Mine" in cells.run("%mcp servers it").text
    assert tools(cells, "it") == ["f"]


def test_annotations_as_text_are_resolved_in_the_cell(cells: Cells) -> None:  # FM#905
    cells.run(
        "%%mcp server it\nfrom __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass server:\n    name: str\ndef tell(of: server) -> str:\n    return of.name"
    )
    assert cells.run('%mcp call tell of={"name": "x"}').text.endswith("x")


def test_after_a_reset_the_cell_goes_on_with_the_server_that_is_connected(cells: Cells) -> None:
    cells.run(GARDEN)
    server = cells["garden"]
    cells.run("%reset -f")
    cells.run("%%mcp server garden\ndef water() -> str: ...")
    assert cells["garden"] is server
    assert tools(cells) == ["water"]


def test_a_handler_that_names_its_server_reaches_the_one_that_is_connected(cells: Cells) -> None:
    for _ in range(2):
        cells.run("%%mcp server it\ndef tell() -> int:\n    return id(it)")
    shown: Any = cells.run("%mcp call tell")
    assert shown.text.endswith(str(id(cells["it"])))
