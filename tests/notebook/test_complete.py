"""Completion of `%mcp` lines, as IPython gives it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mcp_notebook.notebook.commands import COMMANDS

from .cells import Cells
from .test_magics import DEMO

MORE = """
@demo.completion("notes://{day}/{number}", "day")
def days(value):
    return [day for day in ("monday", "tuesday") if day.startswith(value)]

@demo.completion("ask", "topic")
def topics(value, others):
    return [f"{topic} {others.get('style', '')}".strip() for topic in ("sea", "sky") if topic.startswith(value)]

other = Server("other")

@other.tool
def add(a: int) -> int: ...
"""


@pytest.fixture
def demo(cells: Cells) -> Cells:
    cells.run(DEMO + MORE)
    cells.run("%mcp connect demo demo\n%mcp connect other other")
    return cells


@pytest.fixture(params=[False, True], ids=["without jedi", "with jedi"])
def either(demo: Cells, request: pytest.FixtureRequest) -> Cells:
    demo.shell.Completer.use_jedi = request.param
    return demo


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%mcp con", ["%mcp connect"]),
        ("%mcp re", ["%mcp result", "%mcp resume", "%mcp resources", "%mcp read", "%mcp reconnect"]),
        ("x = %mcp ca", ["x = %mcp call", "x = %mcp calls", "x = %mcp cancel"]),
        ("    %mcp ca", ["    %mcp call", "    %mcp calls", "    %mcp cancel"]),
        ("a = 1\nx = %mcp ca", [f"a = 1\nx = %mcp {name}" for name in ("call", "calls", "cancel")]),
        ("%%mcp ", ["%%mcp call", "%%mcp server"]),
        ("%mcp tools d", ["%mcp tools demo"]),
        ("%mcp tools --f", ["%mcp tools --filter"]),
        ("%mcp tools demo.a", ["%mcp tools demo.add"]),
        ("%mcp disconnect ", ["%mcp disconnect demo", "%mcp disconnect other"]),
        ("%mcp call p", ["%mcp call paint"]),
        ("%mcp call gi", ["%mcp call give-back"]),
        ("%mcp call give-", ["%mcp call give-back"]),
        ("%mcp call ad", []),
        ("%mcp call other.", ["%mcp call other.add"]),
        ("%mcp call demo.give-b", ["%mcp call demo.give-back"]),
        ("%mcp call --b", ["%mcp call --bg"]),
        ("%mcp call --timeout ", []),
        ("%mcp call --timeout 5 pai", ["%mcp call --timeout 5 paint"]),
        ("x = %mcp call paint c", ["x = %mcp call paint colour=", "x = %mcp call paint coats="]),
        ("%mcp call paint colour=red c", ["%mcp call paint colour=red coats="]),
        ("%mcp call paint colour=", ["%mcp call paint colour=red", "%mcp call paint colour=green"]),
        ("%mcp call paint colour=g", ["%mcp call paint colour=green"]),
        ("%mcp call demo.paint glossy=t", ["%mcp call demo.paint glossy=true"]),
        ("%%mcp call paint co", ["%%mcp call paint colour=", "%%mcp call paint coats="]),
        ("%mcp read notes://t", ["%mcp read notes://today"]),
        ("%mcp read demo notes://to", ["%mcp read demo notes://today"]),
        ("%mcp read notes://{", ["%mcp read notes://{day}/{number}"]),
        ("%mcp read notes://{day}/{number} d", ["%mcp read notes://{day}/{number} day="]),
        ("%mcp read notes://{day}/{number} day=m", ["%mcp read notes://{day}/{number} day=monday"]),
        ("%mcp prompt as", ["%mcp prompt ask"]),
        ("%mcp prompt ask to", ["%mcp prompt ask topic="]),
        ("%mcp prompt ask style=s", ["%mcp prompt ask style=short"]),
        ("%mcp prompt ask topic=se", ["%mcp prompt ask topic=sea"]),
        ("%mcp prompt ask style=short topic=", ["%mcp prompt ask style=short topic='sea short'", "…sky short'"]),
        ("%mcp help ca", ["%mcp help call", "%mcp help calls", "%mcp help cancel"]),
        ("%mcp connect x dem", ["%mcp connect x demo"]),
        ("%mcp connect x --tr", ["%mcp connect x --trust"]),
        ("%mcp connect x -- npx --t", []),
        ("%mcp nothing wor", []),
        ("%mcp call say text='open quo", []),
    ],
)
def test_what_tab_offers(either: Cells, text: str, offered: list[str]) -> None:
    if offered and offered[-1].startswith("…"):
        offered = [offered[0], offered[0].replace("sea short'", offered[-1][1:])]
    assert either.complete(text) == offered


def test_every_command_is_offered(demo: Cells) -> None:
    assert demo.complete("%mcp ") == [f"%mcp {name}" for name in COMMANDS]


def test_files_and_the_servers_in_them_are_offered(
    demo: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"files": {}, "github": {}}}')
    monkeypatch.chdir(tmp_path)
    assert demo.complete("%mcp connect mcp") == ["%mcp connect mcp.json"]
    assert demo.complete("%mcp connect mcp.json g") == ["%mcp connect mcp.json github"]


def test_other_lines_are_completed_as_ever(demo: Cells) -> None:
    demo.run("something_long = 1")
    for text in ("something_l", "%mcp call say text=x\nsomething_l", "%mcp call say text={something_l"):
        assert demo.complete(text) == []
        assert demo.complete(text, ours=False) == [f"{text}ong"]


def test_a_server_that_does_not_answer_is_not_waited_for(demo: Cells) -> None:
    demo.run("import asyncio\n@demo.completion('ask', 'topic')\nasync def slow(value):\n    await asyncio.sleep(60)")
    began = time.monotonic()
    assert demo.complete("%mcp prompt ask topic=s") == []
    assert time.monotonic() - began < 1


def test_tools_that_changed_are_offered_anew(demo: Cells) -> None:
    assert demo.complete("%mcp call demo.fre") == []
    demo.run("@demo.tool\ndef fresh() -> None: ...")
    end = time.monotonic() + 5
    while demo.complete("%mcp call demo.fre") != ["%mcp call demo.fresh"]:
        assert time.monotonic() < end
        time.sleep(0.01)


HOSTILE = ["a b", "{print(1)}", "$HOME", "'a", "a\nb", "a\x1b[31mb", "a\u202eb", "\\", '"']


def test_what_a_server_names_so_that_it_would_not_be_a_word_is_not_offered(cells: Cells) -> None:
    cells["HOSTILE"] = HOSTILE
    cells.run(
        "from tests.scripted import Scripted\n"
        "schema = {'properties': {**dict.fromkeys(HOSTILE, {}), 'good': {'enum': [*HOSTILE, 'x']}}}\n"
        "offers = {'tools': [{'name': name, 'inputSchema': schema} for name in [*HOSTILE, 'good']],"
        "    'prompts': [{'name': name} for name in [*HOSTILE, 'good']],"
        "    'resources': [{'uri': f'x:{name}', 'name': name} for name in [*HOSTILE, 'good']]}\n"
        "templates = [{'uriTemplate': f't:{name}{{id}}', 'name': name} for name in [*HOSTILE, 'good']]\n"
        "answers = {f'{kind}/list': {kind: some} for kind, some in offers.items()}\n"
        "answers['resources/templates/list'] = {'resourceTemplates': templates}\n"
        "%mcp connect hostile {Scripted(answers)}"
    )
    assert cells.complete("%mcp call ") == ["%mcp call good", "%mcp call hostile.good"]
    assert cells.complete("%mcp prompt ") == ["%mcp prompt good", "%mcp prompt hostile.good"]
    assert cells.complete("%mcp read ") == [f"%mcp read {uri}" for uri in ("hostile", "x:good", "t:good{id}")]
    assert cells.complete("%mcp call hostile.good ") == ["%mcp call hostile.good good="]
    values = cells.complete("%mcp call hostile.good good=")
    assert "%mcp call hostile.good good='{print(1)}'" in values  # in quotes, it is text
    assert not any(sign in value for value in values for sign in "\n\x1b\u202e")


def test_of_very_many_values_some_are_offered_and_those_that_fit_are_found(cells: Cells) -> None:
    cells.run(
        "from tests.scripted import Scripted\n"
        "schema = {'properties': {'city': {'enum': [f'city-{n:06}' for n in range(100_000)]}}}\n"
        "%mcp connect vast {Scripted({'tools/list': {'tools': [{'name': 'travel', 'inputSchema': schema}]}})}"
    )
    assert 0 < len(cells.complete("%mcp call travel city=")) <= 1000
    assert cells.complete("%mcp call travel city=city-09999") == [
        f"%mcp call travel city=city-09999{digit}" for digit in range(10)
    ]
