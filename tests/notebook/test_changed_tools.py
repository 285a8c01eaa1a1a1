"""A tool that is no longer what it was when it was last called is not called before the person knows."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook.client.targets import Destination, destination
from mcp_notebook.errors import StoreError
from mcp_notebook.notebook import changed_tools
from mcp_notebook.notebook.changed_tools import UsedTools
from mcp_notebook.notebook.frontend import TERMINAL
from mcp_notebook.notebook.runtime import Runtime
from mcp_notebook.store import MemoryStore, open_store
from mcp_notebook.types import Tool

from .cells import Cells

SERVER = """
import json, sys
from mcp_notebook import Server
described = json.load(open(sys.argv[1]))
server = Server("shop")
def buy(item: str, count: int = 1) -> str: return f"{count} {item}"
def buy_more(item: str, to: str = "") -> str: return f"{item} for {to}"
server.tool(description=described["says"], name="buy")(buy if described["old"] else buy_more)
server.serve_stdio()
"""


def at(url: str = "https://example.org/mcp") -> Destination:
    return destination(url)


def tool(description: str | None = "Buys.", **properties: Any) -> Tool:
    return Tool(name="buy", description=description, input_schema={"type": "object", "properties": properties})


def test_what_is_different_is_told_in_words() -> None:
    used = UsedTools(MemoryStore())
    assert used.changes(at(), tool()) == []  # it was never called
    used.used(at(), tool(a={}, b={"type": "string"}))
    assert used.changes(at(), tool(a={}, b={"type": "string"})) == []
    assert used.changes(at("https://example.org/other"), tool("Sells.")) == []
    assert used.changes(at(), tool("Sells\n<b>all</b>.", b={"type": "integer"}, c={})) == [
        "it said: Buys.",
        "it says: Sells <b>all</b>.",
        "new arguments: c",
        "gone arguments: a",
        "changed arguments: b",
    ]
    used.used(at(), tool("Sells."))
    assert used.changes(at(), tool("Sells.")) == []


def test_no_name_of_an_argument_can_pass_for_a_line_of_ours() -> None:
    used = UsedTools(MemoryStore())
    used.used(at(), tool())
    forged: dict[str, Any] = {"a\n  Nothing has changed.": {}}
    assert used.changes(at(), tool("Buys.", **forged)) == ["new arguments: a Nothing has changed."]


def test_another_kernel_knows_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_NOTEBOOK_STATE", str(tmp_path))
    UsedTools().used(at(), tool())
    assert UsedTools().changes(at(), tool(None)) == ["it said: Buys.", "it says: nothing"]


def test_where_nothing_can_be_kept_the_kernel_alone_remembers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object) -> None:
        raise StoreError("no")

    monkeypatch.setattr(changed_tools, "open_store", refuse)
    used = UsedTools()
    used.used(at(), tool())
    assert used.changes(at(), tool("Sells.")) != []


def test_a_file_that_fails_later_fails_no_call(tmp_path: Path) -> None:
    store = open_store(tmp_path / "tools.sqlite")
    used = UsedTools(store)
    used.used(at(), tool())
    store.close()  # whatever is asked of it now fails
    assert used.changes(at(), tool("Sells.")) == []
    used.used(at(), tool())
    assert used.changes(at(), tool("Sells.")) != []


@pytest.fixture
def shop(cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A notebook with a server in a process of its own; what it says can be changed."""
    monkeypatch.setenv("MCP_NOTEBOOK_STATE", str(tmp_path / "state"))
    (tmp_path / "server.py").write_text(SERVER)
    said = tmp_path / "said.json"

    def says(words: str, *, old: bool = True) -> None:
        said.write_text(json.dumps({"says": words, "old": old}))

    says("Buys something.")
    cells.run(f"%mcp connect shop --trust -- {sys.executable} {tmp_path / 'server.py'} {said}")
    return says


def test_a_changed_tool_is_called_only_when_it_is_called_again(
    shop: Any, cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runtime, "frontend", lambda self: TERMINAL)
    cells.run("%mcp call shop.buy item=bread")
    shop("Buys something, and sends it to somebody.", old=False)
    cells.run("%mcp reconnect shop")
    told = cells.fail("%mcp call shop.buy item=bread")
    assert "buy is not what it was when you last called it" in told
    assert "it said: Buys something." in told
    assert "new arguments: to" in told
    assert "Nothing was called" in told
    assert "bread for" in cells.run("%mcp call shop.buy item=bread").text


def test_where_nobody_can_read_it_first_it_is_said_and_called(shop: Any, cells: Cells) -> None:
    cells.run("%mcp call shop.buy item=bread")
    shop("Sells something.")
    cells.run("%mcp reconnect shop")
    said = cells.run("%mcp call shop.buy item=bread").text
    assert "it says: Sells something." in said
    assert "1 bread" in said
