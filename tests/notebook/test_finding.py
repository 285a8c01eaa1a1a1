"""Searching what servers offer, and the overview of what goes on."""

from __future__ import annotations

import pytest

from mcp_notebook.notebook.searching import hits_of, search
from mcp_notebook.types import Prompt, PromptArgument, Resource, ResourceTemplate, Tool

from .cells import Cells

SCHEMA = {"type": "object", "properties": {"path": {}, "mode": {}}, "required": ["path"]}
OFFERS = [
    (
        "files",
        [
            Tool(name="read_file", description="Reads text.", input_schema=SCHEMA),
            Tool(name="list", description="Lists what can be read."),
            Resource(uri="notes://1", name="notes", description="Notes to read."),
            ResourceTemplate(uri_template="notes://{id}", name="one note"),
            Prompt(name="summary", title="Reading list", arguments=[PromptArgument(name="of", required=True)]),
        ],
    ),
    ("other", [Tool(name="READ", description=None)]),
]
HITS = [hit for server, items in OFFERS for hit in hits_of(server, items)]


def test_names_come_before_what_else_holds_the_words() -> None:
    found = [(hit.server, hit.item.name) for hit in search(HITS, ["read"])]
    assert found == [
        ("files", "read_file"),
        ("other", "READ"),
        ("files", "list"),
        ("files", "notes"),
        ("files", "summary"),
    ]
    assert [hit.item.name for hit in search(HITS, ["read", "text"])] == ["read_file"]
    assert search(HITS, ["nothing"]) == []
    assert [hit.item.name for hit in search(HITS, ["other.re"])] == ["READ"]


def test_what_has_an_argument_of_that_name_comes_last() -> None:
    assert [hit.item.name for hit in search(HITS, ["mode"])] == ["read_file"]
    assert [hit.item.name for hit in search(HITS, ["of"])] == ["summary"]
    assert [hit.item.name for hit in search(HITS, ["read", "path"])] == ["read_file"]
    told = [Tool(name="copy", input_schema=SCHEMA), Tool(name="where", description="The path of it.")]
    assert [hit.item.name for hit in search(hits_of("more", told), ["path"])] == ["where", "copy"]
    assert [hit.item.name for hit in search(hits_of("more", told), ["path", "copy"])] == ["copy"]


def test_each_thing_says_how_it_is_tried() -> None:
    attempts = {hit.item.name: hit.attempt for hit in search(HITS, [""])}
    assert attempts == {
        "read_file": "%mcp call files.read_file path=…",
        "list": "%mcp call files.list",
        "notes": "%mcp read notes://1",
        "one note": "%mcp read notes://{id}",
        "summary": "%mcp prompt files.summary of=…",
        "READ": "%mcp call other.READ",
    }


@pytest.fixture
def demo(cells: Cells) -> Cells:
    cells.run(
        "import asyncio\n"
        "from mcp_notebook import Server\n"
        "server = Server('demo')\n"
        "@server.tool\n"
        "async def wait_long() -> str:\n"
        "    'Waits.'\n"
        "    await asyncio.sleep(60)\n"
        "for number in range(10_000): server.tool(name=f'tool_{number}')(lambda: 'x')"
    )
    cells.run("%mcp connect demo server")
    return cells


def test_ten_thousand_tools_are_searched(demo: Cells) -> None:
    shown = demo.run("%mcp find tool 99")
    assert "demo.tool_99" in shown.text
    assert "more; another word narrows it down" in shown.text
    assert demo.run("found = %mcp find waits\nprint(found[0].name)").stdout == "wait_long\n"
    assert "Nothing holds 'zzz'" in demo.run("%mcp find zzz").text
    assert "Find what?" in demo.fail("%mcp find")


def test_the_overview_shows_what_goes_on(demo: Cells) -> None:
    demo.run("h = %mcp call --bg wait_long")
    shown = demo.run("%mcp").text
    assert "1 call open" in shown
    assert "● working wait_long" in " ".join(shown.split())
    demo.run("h.cancel()\ntry: h.result()\nexcept Exception: pass")
    assert "open" not in demo.run("%mcp").text
