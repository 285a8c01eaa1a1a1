"""What people write who do not know `%mcp` yet, and what it says to them."""

from __future__ import annotations

import pytest

from .cells import Cells


@pytest.fixture
def demo(cells: Cells) -> Cells:
    cells.run(
        "%%mcp server demo\ndef add(a: int, b: int = 2) -> int:\n    return a + b\n"
        "def note(text: str, loud: bool = False) -> str:\n    return text"
    )
    return cells


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%mcp call demo.add(a=1, b=2)", "%mcp call demo.add key=value"),
        ("%mcp call demo.add a = 1", "no blanks around ="),
        ("%mcp call demo add a=1", "%mcp call demo.add"),
        ("%mcp call add a=1,b=2", "separated by blanks, not commas: a=1 b=2"),
        ("%mcp call add a=1, b=2", "separated by blanks, not commas: a=1 b=2"),
        ("%mcp call add 1 2", "write a=1"),
        ("%mcp call add a=1 2", "write b=2"),
        ("%mcp call add a=1 b=2 3", "add takes a, b, all of which are given"),
        (
            "%mcp call note text=hello world",
            "'world' is no argument. Text with blanks goes in quotes: text=\"hello world\"",
        ),
        ("%mcp call note text=hello big world loud=true", 'text="hello big world"'),
        ("%mcp call demo", "demo is a server; its tools are: add, note. A dot joins them: demo.add"),
        ("%mcp call demo a=1", "demo is a server; its tools are: add, note."),
        ('%mcp call add {"a": 1, "c": x}', "a brace holds neither JSON nor a Python expression"),
    ],
)
def test_a_call_that_is_written_as_elsewhere_is_told_how_it_is_written_here(demo: Cells, line: str, said: str) -> None:
    assert said in demo.fail(line)


@pytest.mark.parametrize(
    "given",
    [
        '{"a": 1, "b": 4}',
        "{'a': 1, 'b': 4}",
        "$both",
        "{both}",
        "{dict(a=1, b=4)}",
        "$both b=4",
        "a=1 {'b': 4}",
        '\'{"a":1,"b":4}\'',
    ],
)
def test_a_dict_or_a_json_object_holds_several_arguments(demo: Cells, given: str) -> None:
    demo.run(f"both = {{'a': 1, 'b': 4}}\nx = %mcp call add {given}")
    assert demo["x"].data == 5


def test_a_line_may_end_with_a_comment(demo: Cells) -> None:
    demo.run("serving = %mcp serve demo    # for other programs\nx = %mcp call add a=1  #")
    assert demo["x"].data == 3
    demo.run("y = %mcp call note text='# 1'\nz = %mcp call note text=#1")
    assert (demo["y"].data, demo["z"].data) == ("# 1", "#1")


def test_the_values_of_a_dict_are_shown_as_they_were_written(demo: Cells) -> None:
    demo.run("both = {'a': 1}\nh = %mcp call --bg add $both b=3\nh.result()")
    assert demo["h"].written == {"a": "$both['a']", "b": 3}


def test_a_tool_of_a_server_that_is_not_connected_says_so_first(demo: Cells) -> None:
    demo.run("%%mcp server other\ndef ada() -> int:\n    return 1\ndef note2() -> int:\n    return 2")
    demo.run("%mcp call add a=1")
    demo.run("%mcp disconnect demo")
    shown = demo.fail("%mcp call add a=1")
    assert "demo, which has the tool 'add', is not connected at the moment: %mcp reconnect demo" in shown
    assert "ada" not in shown
    assert "demo is not connected. %mcp reconnect demo" in demo.fail("%mcp call demo.add a=1")
    assert "demo is not connected. %mcp reconnect demo" in demo.fail("%mcp call demo")
    assert "Not connected at the moment: demo" in demo.fail("%mcp call noted")


def test_which_of_several_servers_is_said_as_the_usage_says_it(demo: Cells) -> None:
    assert "has said nothing" in demo.run("%mcp log").text
    demo.run("%%mcp server other\ndef one() -> int:\n    return 1")
    shown = demo.fail("%mcp log")
    assert "Which server (demo, other)? It can be left out only where there is just one: %mcp log demo" in shown


def test_a_name_may_be_followed_by_attributes_and_what_is_none_is_text(demo: Cells) -> None:
    demo.run("from types import SimpleNamespace\nplace = SimpleNamespace(count=40)\nfolder = 'data'")
    demo.run("x = %mcp call add a=$place.count")
    assert demo["x"].data == 42
    demo.run("%%mcp server echo\ndef say(text: str) -> str:\n    return text")
    demo.run("y = %mcp call say text=$folder.zip")
    assert demo["y"].data == "data.zip"


def test_what_is_served_can_be_connected_to_as_it_is(demo: Cells) -> None:
    shown = demo.run("serving = %mcp serve demo").text
    url, token = demo["serving"].url, demo["serving"].token
    assert f"demo is served at {url}. To connect: %mcp connect NAME {url} --token-env VARIABLE, with .token" in shown
    assert token not in shown
    assert len(shown.splitlines()) == 1
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
