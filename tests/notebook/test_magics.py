"""`%mcp` in a shell of this process, with servers of this process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mcp_notebook import CallHandle, Client, ToolResult
from mcp_notebook.notebook.commands import COMMANDS
from mcp_notebook.notebook.commands.table import Command, parse
from mcp_notebook.notebook.interpolation import Names
from mcp_notebook.notebook.words import split
from mcp_notebook.notebook.workspace import Workspace
from mcp_notebook.types import Prompt

from ..kernels import ROOT
from .cells import Cells

DEMO = """
import datetime, time
from typing import Any, Literal
from mcp_notebook import Context, Server

demo = Server("demo", title="The demo", instructions="Use it well.")

@demo.tool
def add(a: int, b: int = 0) -> int:
    "Add two numbers."
    return a + b

@demo.tool
def paint(colour: Literal["red", "green"], coats: int = 1, glossy: bool = False) -> str:
    "Paint it."
    return f"{coats} x {colour}, {'glossy' if glossy else 'matt'}"

@demo.tool(name="give-back")
def give_back(value: Any = None) -> dict[str, Any]:
    "Give the value back."
    return {"value": value}

@demo.tool
def say(text: str) -> str:
    "Say it again."
    return text

@demo.tool
def refuse(why: str = "no reason") -> str:
    "Fail."
    raise ValueError(why)

@demo.tool
async def work(steps: int, ctx: Context) -> str:
    "Work."
    for step in range(steps):
        await ctx.progress(step + 1, steps, f"step {step + 1}")
        await ctx.info(f"did {step + 1}")
    return "done"

@demo.resource("notes://today")
def today() -> str:
    "Today's note."
    return "a note"

@demo.resource("notes://{day}/{number}")
def note(day: str, number: int) -> str:
    "A note of any day."
    return f"note {number} of {day}"

@demo.prompt
def ask(topic: str, style: Literal["short", "long"] = "short") -> str:
    "Ask about a topic."
    return f"Tell me about {topic}, {style}."
"""


@pytest.fixture
def demo(cells: Cells) -> Cells:
    """A shell that is connected to `demo`."""
    cells.run(DEMO)
    cells.run("%mcp connect demo demo")
    return cells


def given(cells: Cells, line: str) -> object:
    """The JSON that reaches a tool as its argument."""
    cells.run(f"x = %mcp call demo.give-back {line}")
    return cells["x"].data["value"]


# The overview, help


def test_with_nothing_connected_the_overview_says_how_to_begin(cells: Cells) -> None:
    shown = cells.run("%mcp").text
    assert "%mcp connect NAME -- command" in shown
    assert "%%mcp server NAME" in shown
    assert "%mcp help" in shown


def test_the_overview_shows_state_revision_transport_and_counts(demo: Cells) -> None:
    shown = demo.run("%mcp").text
    assert "1 server" in shown
    row = next(line for line in shown.splitlines() if line.strip().startswith("demo"))
    assert "connected · this process · 20" in row
    assert row.split()[-6:-2] == ["6", "1", "1", "1"]
    assert row.endswith(" ms")
    assert "%mcp tools demo" in shown


def test_help_lists_every_command_and_tells_all_about_one(cells: Cells) -> None:
    shown = cells.run("%mcp help").text
    for line in ("%mcp connect NAME", "%mcp call [NAME.]TOOL", "%%mcp server NAME"):
        assert line in shown
    about = cells.run("%mcp help call").text
    assert "--timeout SECONDS" in about
    assert "%mcp call echo message=hello" in about


def test_help_of_a_tool_shows_its_arguments(demo: Cells) -> None:
    for line in ("%mcp help demo.paint", "%mcp tools demo.paint", "%mcp help paint"):
        shown = demo.run(line).text
        assert "colour*" in shown
        assert "red" in shown
        assert "%mcp call paint colour=…" in shown


def test_a_question_mark_shows_the_table_of_commands(cells: Cells) -> None:
    assert "%mcp call [NAME.]TOOL" in cells["get_ipython"]().magics_manager.magics["line"]["mcp"].__doc__


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_the_examples_of_the_help_are_written_as_they_should_be(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("TOKEN", "LAB_TOKEN"):
        monkeypatch.setenv(variable, "secret")
    for example in command.examples:
        line = example.splitlines()[0].partition("%mcp ")[2]
        word, *words = split(line)
        assert word.raw == command.name
        parse(command, words, Names({"folder": "f", "frame": []}))
        assert not any(each.open_brace for each in words)


# Connecting


def test_connecting_shows_who_it_is_what_it_offers_and_the_next_step(cells: Cells) -> None:
    cells.run(DEMO)
    shown = cells.run("%mcp connect it demo")
    assert "● connected it The demo · this process" in shown.text
    assert "6 tools · 1 resource · 1 template · 1 prompt" in shown.text
    assert "%mcp tools it" in shown.text
    assert "<summary>its instructions</summary>" in shown.shown[0]["text/html"]


def test_a_server_object_alone_is_connected_under_its_variable(cells: Cells) -> None:
    cells.run(DEMO)
    cells.run("%mcp connect demo")
    cells.run("x = %mcp servers")
    assert list(cells["x"]) == ["demo"]


def test_an_assigned_connection_is_the_client_and_shows_nothing(cells: Cells) -> None:
    cells.run(DEMO)
    ran = cells.run("client = %mcp connect demo {demo}")
    assert isinstance(cells["client"], Client)
    assert ran.shown == []


def test_a_client_that_was_connected_in_python_is_taken_in(cells: Cells) -> None:
    cells.run(DEMO)
    cells.run("from mcp_notebook import connect\nclient = await connect(demo)\n%mcp connect mine client")
    assert "3" in cells.run("%mcp call mine.add a=1 b=2").text


def test_connecting_the_same_again_makes_it_anew(demo: Cells) -> None:
    before = Workspace.of(demo.shell).member("demo").client.session
    demo.run("%mcp connect demo demo")
    after = Workspace.of(demo.shell).member("demo").client.session
    assert after is not before
    assert len(Workspace.of(demo.shell)) == 1


def test_connecting_elsewhere_under_the_same_name_says_what_it_replaces(demo: Cells) -> None:
    shown = demo.run('other = Server("other")\n%mcp connect demo other').text
    assert "It replaces the connection to the Server object 'demo'." in shown
    assert "No connected server has a tool 'add'" in demo.fail("%mcp call add a=1")


def test_a_failed_connection_elsewhere_leaves_what_was_connected(demo: Cells) -> None:
    assert "no connection" in demo.fail("%mcp connect demo {[]}")
    assert demo.run("%mcp call demo.add a=1").shown


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "%mcp connect NAME -- command arguments…"),
        ("-- npx -y some-server", "%mcp connect some-server -- npx -y some-server"),
        ("lonely", "What is 'lonely' to be connected to?"),
        ("npx -y some-server", "Does the server's name stand first?"),
        ("a/b -- run", "no name for a server"),
        ("it -- ", "What is 'it' to be connected to?"),
        ("it {5}", "{5} is of type int"),
        ("missing.json", "cannot be read"),
        ("it --tiemout 5 -- run", "no option '--tiemout'; did you mean '--timeout'?"),
        ("it run --port 5", "no option '--port'. It has --env KEY[=VALUE]"),
        ("it --timeout soon -- run", "'soon' is no value for --timeout SECONDS"),
        ("it --env NOT_SET_ANYWHERE -- run", "--env NOT_SET_ANYWHERE=VALUE"),
        ("it --revision 1999-01-01 {demo}", "1999-01-01"),
    ],
)
def test_what_leads_nowhere_is_answered_with_how_it_is_written(cells: Cells, line: str, told: str) -> None:
    cells.run(DEMO)
    shown = cells.fail(f"%mcp connect {line}")
    assert told in shown
    assert "Traceback" not in shown


def test_a_command_is_not_started_where_nobody_can_allow_it(cells: Cells, tmp_path: Path) -> None:  # CON-3
    cells["file"] = tmp_path / "started"
    shown = cells.fail("%mcp connect it -- touch {file}")
    assert "● not started" in shown
    assert "--trust" in shown
    assert not cells["file"].exists()


def test_a_command_may_hold_python_values_variables_of_the_environment_and_the_home_folder(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/of/somebody")
    monkeypatch.setenv("DEMO_FOLDER", "a b")
    cells["n"] = 5
    shown = cells.fail("%mcp connect it -- run ~/x '~/y' $DEMO_FOLDER/{n + 1} --flag '{n}'")
    assert "Not started: run /home/of/somebody/x '~/y' 'a b/6' --flag '{n}'" in shown


def test_one_dead_server_of_a_file_does_not_stop_the_rest(cells: Cells, tmp_path: Path) -> None:
    cells.run(DEMO)
    entries = {"dead": {"command": "does-not-exist-anywhere"}, "odd": {"args": []}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
    cells["folder"] = tmp_path
    ran = cells.try_("%mcp connect {folder}/mcp.json --trust")
    assert "None of the servers is connected" in ran.traceback
    assert "dead" in ran.text
    assert "'command'" in ran.text
    cells.run('servers = {"mcpServers": {"dead": {"command": "does-not-exist-anywhere"}, "demo": demo}}')
    ran = cells.run("%mcp connect servers --trust")
    assert "● connected demo" in ran.text
    assert "● no connection" in ran.text


def test_disconnecting_and_reconnecting(demo: Cells) -> None:
    assert "● disconnected demo" in demo.run("%mcp disconnect demo").text
    assert "disconnected" in demo.run("%mcp").text
    shown = demo.fail("%mcp call demo.add a=1")
    assert "demo is not connected" in shown
    assert "demo is not connected" in shown
    assert "● connected demo" in demo.run("%mcp reconnect").text
    assert "1" in demo.run("%mcp call demo.add a=1").text


def test_which_server_is_asked_where_there_are_several(demo: Cells) -> None:
    demo.run('other = Server("other")\n%mcp connect other other')
    assert "Which server (demo, other)?" in demo.fail("%mcp disconnect")
    demo.run("%mcp disconnect --all")
    assert not Workspace.of(demo.shell).connected()


def test_connections_outlive_reset_and_loading_again(demo: Cells) -> None:
    demo.run("%reset -f")
    demo.run("%load_ext mcp_notebook\n%reload_ext mcp_notebook")
    assert "3" in demo.run("%mcp call demo.add a=1 b=2").text


def test_unloading_ends_the_connections(demo: Cells) -> None:
    client = Workspace.of(demo.shell).member("demo").client
    demo.run("%unload_ext mcp_notebook")
    assert client.state == "closed"
    demo.fail("%mcp")
    demo.run("%load_ext mcp_notebook")
    assert "nothing is connected yet" in demo.run("%mcp").text


# Lists


def test_lists_show_names_what_they_do_and_arguments(demo: Cells) -> None:
    shown = demo.run("%mcp tools demo").text
    assert "Add two numbers." in shown
    assert "a* integer, b integer" in shown
    resources = demo.run("%mcp resources").text
    assert "notes://today" in resources
    assert "notes://{day}/{number}" in resources
    assert "topic*, style" in demo.run("%mcp prompts").text


def test_lists_of_several_servers_name_each(demo: Cells) -> None:
    demo.run('other = Server("other")\n%mcp connect other other')
    shown = demo.run("%mcp tools").text
    assert "demo\n" in shown
    assert "other has no tools" in shown


def test_a_filter_keeps_what_has_a_text_in_name_or_description(demo: Cells) -> None:
    shown = demo.run("%mcp tools --filter NUMBERS").text
    assert "add" in shown
    assert "paint" not in shown
    assert "no tools with 'xyz'" in demo.run("%mcp tools --filter=xyz").text


def test_an_assigned_list_is_a_list_and_shows_nothing(demo: Cells) -> None:
    ran = demo.run("x = %mcp tools demo")
    assert [tool.name for tool in demo["x"]] == ["add", "paint", "give-back", "say", "refuse", "work"]
    assert ran.shown == []


# Calls


def test_a_call_shows_its_result_once(demo: Cells) -> None:
    ran = demo.run("%mcp call add a=1 b=2")
    assert ran.text == "● completed add on demo · a=1 b=2\n  3"
    assert len(ran.shown) == 1
    assert isinstance(demo["_"], ToolResult)


def test_every_line_of_a_cell_shows_its_result(demo: Cells) -> None:
    ran = demo.run("%mcp call add a=1\nfor n in range(2):\n    %mcp call add a={n} b=10\n%mcp call say text=end")
    assert [bundle["text/plain"].splitlines()[-1].strip() for bundle in ran.shown] == ["1", "10", "11", "end"]


def test_an_assigned_call_gives_the_result_and_shows_nothing(demo: Cells) -> None:
    ran = demo.run("x = %mcp call add a=1 b=2")
    assert demo["x"].data == 3
    assert ran.shown == []


def test_a_value_that_is_used_in_any_way_is_not_shown(demo: Cells) -> None:
    ran = demo.run(
        "def three():\n    x = %mcp call add a=1 b=2\n    return x\n"
        "results = [get_ipython().run_line_magic('mcp', f'call add a={n}') for n in range(2)]\nthree().data"
    )
    assert [bundle["text/plain"] for bundle in ran.shown] == ["3"]
    assert [result.data for result in demo["results"]] == [0, 1]


def test_local_variables_of_a_function_are_found(demo: Cells) -> None:
    demo.run("def double(n):\n    x = %mcp call add a=$n b={n}\n    return x.data\ny = double(21)")
    assert demo["y"] == 42


def test_values_are_read_by_the_schema(demo: Cells) -> None:
    assert demo.run("%mcp call paint colour=red coats=2 glossy=true").text.endswith("2 x red, glossy")
    demo.run("x = %mcp call say text=007")
    assert demo["x"].data == "007"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("value=text", "text"),
        ('value="two words"', "two words"),
        ("value='{not} $an expression'", "{not} $an expression"),
        (r"value=\{x\}\$y", "{x}$y"),
        (r"value=C:\Users\me", r"C:\Users\me"),
        ("value=a\"b c\"'d'", "ab cd"),
        ('value={"a": [1, "b c"]}', {"a": [1, "b c"]}),
        ("value=[1, 2]", [1, 2]),
        ("value=['a', 'b c']", ["a", "b c"]),
        ("value={'a': 1}", {"a": 1}),
        ("value={}", {}),
        ('value:="10"', "10"),
        ('value:={"deep": {"x": null}}', {"deep": {"x": None}}),
        ("value:='[1, 2]'", [1, 2]),
        ("value={n + 1}", 6),
        ("value=$n", 5),
        ('value="$n"', 5),
        ("value=n$n,{n * 2}", "n5,10"),
        ('value={d["a b"]}', [1]),
        ("value={{'n': n}}", {"n": 5}),
        ("value={[n, n]}", [5, 5]),
        ('value={f"{n}!"}', "5!"),
        ("value={datetime.date(2025, 1, 2)}", "2025-01-02"),
        ("value={b'\\x00'}", "AA=="),
        ("value={(1, None)}", [1, None]),
        ("value={float('nan')}", None),
        ("value=$point", {"x": 1}),
        ("value=$text", "5"),
        ("value=", ""),
    ],
)
def test_what_reaches_the_tool(demo: Cells, line: str, value: object) -> None:
    demo.run(
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n"
        "n, d, point, text = 5, {'a b': [1]}, Point(1), '5'"
    )
    assert given(demo, line) == value


def test_data_frames_and_arrays_are_passed_as_records_and_lists(demo: Cells) -> None:
    demo.run(
        "import pandas\nframe = pandas.DataFrame({'day': pandas.to_datetime(['2025-01-02']), 'n': [None]})\n"
        "array = frame.index.to_numpy()"
    )
    assert given(demo, "value=$frame") == [{"day": "2025-01-02T00:00:00.000", "n": None}]
    assert given(demo, "value={frame.n}") == [None]
    assert given(demo, "value=$array") == [0]
    assert given(demo, "value={array[0]}") == 0


def test_a_variable_of_the_environment_is_found_and_not_shown(demo: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_TOKEN", "secret")
    ran = demo.run("%mcp call refuse why=$DEMO_TOKEN")
    assert "why=$DEMO_TOKEN" in ran.text
    ran = demo.run("x = %mcp call say text=$DEMO_TOKEN")
    assert demo["x"].data == "secret"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "Which tool?"),
        ("a=1", "Which tool?"),
        ("ad a=1", "no connected server has a tool 'ad'; did you mean 'add'?"),
        ("demo.ad a=1", "did you mean 'demo.add'?"),
        ("add", "add needs a=… (a whole number)"),
        ("add 1", "write a=1"),
        ("add a=1 a=2", "a is given twice"),
        ("add a=one", "a: 'one' is not accepted; a whole number is expected."),
        ("add aa=1", "add has no argument 'aa'"),
        ("paint colour=rde", "did you mean 'red'?"),
        ("add a={nothing}", "{nothing} has no value: NameError"),
        ("add a=$nothing", "there is no variable 'nothing'"),
        ("say text={a: b}", "a brace holds neither JSON nor a Python expression"),
        ("say text='open", "A quotation is not closed"),
        ("add a:=x", "after := comes JSON"),
        ("add a={print}", "cannot be passed as JSON"),
        ("add a=1 --timeout", "--timeout needs a value"),
        ("add a=1 --bg=yes", "--bg takes no value"),
    ],
)
def test_a_slip_is_answered_with_what_would_be_right(demo: Cells, line: str, told: str) -> None:
    shown = demo.fail(f"%mcp call {line}")
    assert told.lower() in shown.lower()
    assert len(shown.splitlines()) <= 6
    assert "File " not in shown


def test_an_unknown_argument_can_be_sent_all_the_same(demo: Cells) -> None:
    assert "● the tool reports an error" in demo.run("%mcp call add a=1 colour:=5").text  # VAL-1


def test_the_servers_name_is_needed_where_several_have_the_tool(demo: Cells) -> None:
    demo.run('other = Server("other")\n@other.tool\ndef add(a: int) -> int:\n    return -a\n%mcp connect other other')
    shown = demo.fail("%mcp call add a=1")
    assert "demo.add or other.add" in shown
    assert demo.run("%mcp call other.add a=1").text.endswith("-1")


def test_names_with_dots_and_dashes_are_found(demo: Cells) -> None:
    demo.run('odd = Server("odd")\n@odd.tool(name="files.read-all")\ndef read() -> str:\n    return "read"')
    demo.run("%mcp connect odd-one odd")
    for name in ("files.read-all", "odd-one.files.read-all"):
        assert demo.run(f"%mcp call {name}").text.endswith("read")


def test_a_tool_that_fails_gives_its_error_as_a_result(demo: Cells) -> None:
    ran = demo.run("%mcp call refuse why='wrong day'")
    assert "● the tool reports an error refuse on demo" in ran.text
    assert "wrong day" in ran.text
    ran = demo.run("x = %mcp call refuse")
    assert demo["x"].is_error
    assert "no reason" in ran.text  # what failed is never passed over in silence


def test_log_lines_of_a_call_stand_below_its_result(demo: Cells) -> None:
    ran = demo.run("%mcp call work steps=2")
    assert ran.text == "● completed work on demo · steps=2\n  done\n  log (2 lines):\n    did 1\n    did 2"


def test_of_a_very_long_log_the_end_is_kept_and_of_a_very_long_line_the_beginning(demo: Cells) -> None:
    demo.run(
        "@demo.tool\nasync def chatter(ctx: Context) -> None:\n    for n in range(5000):\n"
        "        await ctx.info(f'line {n}')\n    await ctx.info('x' * 1_000_000)"
    )
    ran = demo.run("%mcp call chatter")
    assert "of 5,001 lines):" in ran.text
    assert "line 4999\n    " + "x" * 100 in ran.text
    assert "line 1\n" not in ran.text
    assert len(ran.shown[0]["text/html"]) < 40_000
    assert len(demo.run("%mcp log").text) < 10_000


def test_the_rest_of_a_cell_holds_arguments_as_json_or_yaml(demo: Cells) -> None:
    def through(body: str) -> object:
        demo.run(f"%%mcp call give-back\n{body}")
        return demo["_"].data["value"]

    assert through('{"value": {"a": [1, "two words", "{x} $y"]}}') == {"a": [1, "two words", "{x} $y"]}
    assert through("value:\n  - 1\n  - no\n  - 2025-01-02\n  - {x: 1.5, y: ~}") == [
        1,
        "no",
        "2025-01-02",
        {"x": 1.5, "y": None},
    ]
    assert through("value: |\n  some\n  lines") == "some\nlines\n"
    demo.run("%%mcp call say\ntext: 12345")
    assert demo["_"].data == "12345"
    demo.run("%%mcp call add b={40 + 1}\na: 1")
    assert demo["_"].data == 42


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("- 1\n- 2", "named arguments"),
        ('{"value": [1, }', "neither JSON nor YAML"),
        ("value: [1", "neither JSON nor YAML"),
        ("a: one", "(line 1 of the cell's body)"),
    ],
)
def test_a_body_that_cannot_be_read_is_told_of(demo: Cells, body: str, told: str) -> None:
    assert told in demo.fail(f"%%mcp call add\n{body}")


def test_a_body_is_refused_where_it_would_be_passed_over(demo: Cells) -> None:
    assert "does not read the rest of the cell" in demo.fail("%%mcp tools\nsomething")


def test_a_call_in_the_background_gives_its_handle_at_once(demo: Cells) -> None:
    demo.run("h = %mcp call --bg add a=1 b=2")
    assert isinstance(demo["h"], CallHandle)
    assert demo.run("h.result().data").text == "3"
    assert "_.result()" in demo.run("%mcp call --bg add a=1").text
    assert isinstance(demo["_"], CallHandle)


def test_a_time_limit_ends_the_call(demo: Cells) -> None:
    demo.run("@demo.tool\nasync def sleep() -> None:\n    import asyncio\n    await asyncio.sleep(60)")
    shown = demo.fail("%mcp call sleep --timeout 0.1")
    assert "● no answer in time" in shown
    assert "--timeout" in shown


def test_a_result_is_saved_to_a_file(demo: Cells, tmp_path: Path) -> None:
    demo["folder"] = tmp_path
    assert "saved to" in demo.run("%mcp call say text=hello --save {folder}/said").text
    assert (tmp_path / "said.txt").read_text() == "hello"
    ran = demo.try_("%mcp call say text=hello --save {folder}/missing/said.txt")
    assert "hello" in ran.text
    assert "was not saved" in ran.traceback


def test_a_server_that_dies_in_a_call_is_told_of_with_what_to_do(cells: Cells, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(
        "import os, sys\nfrom mcp_notebook import Server\nserver = Server('it')\n@server.tool\ndef leave() -> None:\n"
        "    print('so long', file=sys.stderr, flush=True)\n    os._exit(3)\nserver.serve_stdio()"
    )
    cells["command"] = [sys.executable, str(tmp_path / "server.py")]
    cells.run(f"%mcp connect it command --trust --env PYTHONPATH={ROOT}")
    for line in ("%mcp call leave", "%mcp call it.leave"):
        shown = cells.fail(line)
        assert "status 3" in shown
        assert "so long" in shown
        assert "%mcp reconnect it connects it again." in shown
    assert "lost: " in cells.run("%mcp").text
    assert "so long" in cells.run("%mcp log it").text
    assert "● connected it" in cells.run("%mcp reconnect it").text


def test_what_the_server_wrote_is_a_fold_beside_the_error(cells: Cells) -> None:
    cells.run(
        "import sys\ncommand = [sys.executable, '-c', "
        "\"import sys; print('much to tell', file=sys.stderr); sys.exit(3)\"]"
    )
    ran = cells.try_("%mcp connect it command --trust")
    assert "much to tell" in ran.traceback
    assert any("much to tell" in bundle["text/html"] for bundle in ran.shown)
    assert "much to tell" not in ran.text


# Reading


def test_a_resource_is_read_by_its_uri(demo: Cells) -> None:
    assert demo.run("%mcp read notes://today").text.endswith("a note")
    demo.run("x = %mcp read demo notes://monday/3")
    assert demo["x"].text == "note 3 of monday"


def test_a_templates_variables_are_given_behind_it_or_are_the_notebooks(demo: Cells) -> None:
    demo.run("day = 'a b'")
    demo.run("x = %mcp read notes://{day}/{number} number=3")
    assert demo["x"].text == "note 3 of a b"
    assert "needs a value for number" in demo.fail("%mcp read notes://{day}/{number}")


def test_which_server_is_asked_where_several_could_have_it(demo: Cells) -> None:
    demo.run('other = Server("other")\n@other.resource("notes://today")\ndef t() -> str:\n    return "other"')
    demo.run("%mcp connect other other")
    assert "%mcp read demo notes://today or %mcp read other notes://today" in demo.fail("%mcp read notes://today")
    assert demo.run("%mcp read other notes://today").text.endswith("other")


def test_a_resource_that_is_not_there_is_an_error(demo: Cells) -> None:
    assert "Resource not found" in demo.fail("%mcp read nothing://here")
    assert "no server 'dmo'; did you mean 'demo'?" in demo.fail("%mcp read dmo notes://today")


# Prompts


def test_a_prompt_gives_its_messages(demo: Cells) -> None:
    assert demo.run("%mcp prompt ask topic='the sea'").text.endswith("\nuser\nTell me about the sea, short.")
    assert "ask needs topic=…" in demo.fail("%mcp prompt demo.ask")
    assert "no argument 'topik'; did you mean 'topic'?" in demo.fail("%mcp prompt ask topik=x")
    demo.run("x = %mcp prompts")
    assert all(isinstance(prompt, Prompt) for prompt in demo["x"])


# Logs


def test_the_log_shows_what_a_server_said(demo: Cells) -> None:
    assert "has said nothing" in demo.run("%mcp log").text
    demo.run("%mcp call work steps=1")
    assert "did 1" in demo.run("%mcp log demo").text


# A server that we did not write


@pytest.mark.node
def test_the_npm_package_server_everything(cells: Cells, everything_command: list[str]) -> None:
    cells["command"] = everything_command
    assert "● connected everything" in cells.run("%mcp connect everything command --trust").text
    assert "get-sum" in cells.run("%mcp tools everything").text
    assert cells.run("%mcp call echo message='hi there'").text.endswith("Echo: hi there")
    assert "1 and 2 is 3" in cells.run("%mcp call get-sum a=1 b={1 + 1}").text
    assert "Oslo" in cells.run("%mcp prompt args-prompt city=Oslo").text
    shown = cells.run("%mcp read demo://resource/dynamic/text/{resourceId} resourceId=3").text
    assert "Resource 3" in shown
    assert "image/png" in cells.run("%mcp call get-tiny-image").text
    assert "one of 'error', 'success' or 'debug'" in cells.fail("%mcp call get-annotated-message messageType=x")
    assert cells.complete("%mcp call get-annotated-message messageType=e") == [
        "%mcp call get-annotated-message messageType=error"
    ]
    assert cells.complete("%mcp prompt completable-prompt department=E") == [
        "%mcp prompt completable-prompt department=Engineering"
    ]
    handle = cells.run("h = %mcp call --bg trigger-long-running-operation duration=0.2 steps=2")
    assert handle.shown == []
    assert "Steps: 2" in cells.run("h.result().text").text


# Commands


def test_an_unknown_command_is_answered_with_the_nearest(cells: Cells) -> None:
    shown = cells.fail("%mcp conect x -- y")
    assert "no command 'conect'; did you mean 'connect'?" in shown
    assert "%mcp help" in shown


def test_a_word_too_many_is_told_of(demo: Cells) -> None:
    assert "'more' is one word too many" in demo.fail("%mcp tools demo more")


def test_an_error_is_a_real_exception_of_its_own_kind(demo: Cells) -> None:
    demo.run("from mcp_notebook import MCPError")
    demo.run("try:\n    %mcp call nothing\nexcept MCPError as error:\n    told = str(error)")
    assert "nothing" in demo["told"]


def test_what_a_server_sends_is_escaped(demo: Cells) -> None:
    ran = demo.run("%mcp call say text='<script>alert(1)</script>'")
    assert "<script>" not in ran.shown[0]["text/html"]
    assert "&lt;script&gt;" in ran.shown[0]["text/html"]
