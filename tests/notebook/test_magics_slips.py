"""What people write who do not know `%mcp` yet, and what it says to them."""

from __future__ import annotations

import pytest

from .cells import Cells


@pytest.fixture
def demo(cells: Cells) -> Cells:
    cells.run("%%mcp server demo\ndef add(a: int, b: int = 2) -> int:\n    return a + b")
    return cells


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%mcp call demo.add(a=1, b=2)", "%mcp call demo.add key=value"),
        ("%mcp call demo.add a = 1", "no blanks around ="),
        ("%mcp call demo add a=1", "%mcp call demo.add"),
    ],
)
def test_a_call_that_is_written_as_elsewhere_is_told_how_it_is_written_here(demo: Cells, line: str, said: str) -> None:
    assert said in demo.fail(line)


def test_a_name_may_be_followed_by_attributes_and_what_is_none_is_text(demo: Cells) -> None:
    demo.run("from types import SimpleNamespace\nplace = SimpleNamespace(count=40)\nfolder = 'data'")
    demo.run("x = %mcp call add a=$place.count")
    assert demo["x"].data == 42
    demo.run("%%mcp server echo\ndef say(text: str) -> str:\n    return text")
    demo.run("y = %mcp call say text=$folder.zip")
    assert demo["y"].data == "data.zip"


def test_what_is_served_can_be_connected_to_as_it_is(demo: Cells) -> None:
    demo.run("serving = %mcp serve demo")
    demo.run("%mcp connect web $serving")
    demo.run("x = %mcp call web.add a=1")
    assert demo["x"].data == 3


def test_a_cell_that_is_no_python_shows_where_and_nothing_of_ours(demo: Cells) -> None:
    shown = demo.fail("%%mcp server demo\ndef add(a: int) -> int\n    return a")
    assert "expected ':'" in shown
    assert "cell_server" not in shown
    demo.run("x = %mcp call add a=1")
    assert demo["x"].data == 3


def test_a_connection_that_nobody_awaited_says_so(demo: Cells) -> None:
    assert "await connect" in demo.fail("from mcp_notebook import connect\nconnect(demo).call_tool('add')")


def test_an_error_of_the_python_api_shows_the_persons_lines_and_none_of_ours(demo: Cells) -> None:
    demo.run("from mcp_notebook import connect\nclient = await connect(demo)")
    shown = demo.fail("async def mine():\n    return await client.call_tool('nosuch')\n\nawait mine()")
    assert "Unknown tool: nosuch" in shown
    assert "await client.call_tool('nosuch')" in shown
    assert "mcp_notebook/" not in shown
    assert "asyncio" not in shown


def test_nothing_hides_in_what_a_server_says_there(demo: Cells) -> None:
    demo.run(
        "from mcp_notebook import ProtocolError, connect\n"
        "@demo.tool\ndef fail() -> str:\n    raise ProtocolError(-32000, 'no\\x1b]0;title\\x07\\u202e')\n"
        "client = await connect(demo)"
    )
    shown = demo.fail("await client.call_tool('fail')")
    assert "no<U+001B>]0;title<U+0007><U+202E>" in shown
    assert not any(hidden in shown for hidden in ("\x1b]", "\x07", "\u202e"))
