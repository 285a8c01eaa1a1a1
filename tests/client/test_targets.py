"""What one can connect to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook import Command, ConnectError, Server, connect
from mcp_notebook.client.targets import Destination, destination, expand
from mcp_notebook.transports.http.options import HttpOptions
from mcp_notebook.transports.relay import relayed

BASE = {"command": "prog"}


def command(target: Any, **options: Any) -> Command:
    found = destination(target, **options).command
    assert found is not None
    return found


def test_a_server_object_is_in_this_process() -> None:
    server = Server("demo")
    found = destination(server)
    assert (found.name, found.server, found.command, found.transport) == ("demo", server, None, "this process")


@pytest.mark.parametrize(
    "target",
    [
        ["prog", "-x", "a b"],
        ("prog", "-x", "a b"),
        [Path("prog"), "-x", "a b"],
        'prog -x "a b"',
        Command(["prog", "-x", "a b"]),
        {"command": "prog", "args": ["-x", "a b"]},
        {"type": "stdio", "command": "prog", "args": ["-x", "a b"]},
        {"mcpServers": {"it": {"command": "prog", "args": ["-x", "a b"]}}},
        {"servers": {"it": {"command": "prog", "args": ["-x", "a b"]}}},
    ],
    ids=repr,
)
def test_a_command_may_be_a_list_a_line_a_command_or_an_entry_of_a_configuration(target: Any) -> None:
    found = destination(target)
    assert found.command == Command(["prog", "-x", "a b"])
    assert found.transport == "stdio"
    assert found.server is None


def test_environment_and_folder_can_be_added_to_a_command() -> None:
    found = command(Command(["prog"], env={"A": "1", "B": "1"}, cwd="/a"), env={"B": "2", "C": "3"}, cwd="/b")
    assert dict(found.env) == {"A": "1", "B": "2", "C": "3"}
    assert found.cwd == "/b"
    assert command(Command(["prog"], cwd="/a"), env={"B": "2"}).cwd == "/a"
    assert command(["prog"], cwd=Path("/c")).cwd == "/c"


def test_an_entry_has_environment_and_folder_of_its_own() -> None:
    found = command({**BASE, "env": {"A": "1", "N": 5}, "cwd": "/x"})
    assert dict(found.env) == {"A": "1", "N": "5"}
    assert found.cwd == "/x"


# Variables


def test_variables_are_expanded_everywhere_in_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHAT", "value")
    monkeypatch.delenv("MISSING", raising=False)
    entry = {
        "command": "${WHAT}/prog",
        "args": ["--key=${WHAT}", "${MISSING:-default}", "${MISSING:-}", "$WHAT", "${WHAT}${WHAT}"],
        "env": {"KEY": "${env:WHAT}"},
        "cwd": "/${WHAT}",
    }
    found = command(entry)
    assert found.args == ("value/prog", "--key=value", "default", "", "$WHAT", "valuevalue")
    assert dict(found.env) == {"KEY": "value"}
    assert found.cwd == "/value"


@pytest.mark.parametrize(
    ("entry", "field"),
    [
        ({"command": "${MISSING}"}, "command"),
        ({**BASE, "args": ["a", "${MISSING}"]}, r"args\[1\]"),
        ({**BASE, "env": {"KEY": "x${MISSING}"}}, r"env\.KEY"),
        ({**BASE, "cwd": "${MISSING}"}, "cwd"),
    ],
)
def test_a_missing_variable_names_the_field_and_what_to_do(
    entry: Any, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MISSING", raising=False)
    with pytest.raises(ConnectError, match=f"'{field}' needs the environment variable MISSING.*" r"\$\{MISSING:-…\}"):
        destination(entry)


def test_the_value_of_a_variable_is_not_expanded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE", "${TWO}")
    assert expand("${ONE}", "x") == "${TWO}"


def test_outside_of_configurations_nothing_is_expanded() -> None:
    assert command(["prog", "${HOME}"]).args == ("prog", "${HOME}")


def test_an_empty_variable_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY", "")
    assert expand("${EMPTY:-default}", "x") == ""


# What leads nowhere


@pytest.mark.parametrize(
    "target",
    [
        None,
        5,
        [],
        [1],
        [""],
        "",
        "   ",
        "prog 'unclosed",
        b"prog",
        Server,
        {},
        {"args": []},
        {"command": ["prog"]},
        {"command": ""},
        {**BASE, "args": "x"},
        {**BASE, "args": [["x"]]},
        {**BASE, "env": ["A=1"]},
        {**BASE, "env": {"A": None}},
        {"mcpServers": {}},
        {"mcpServers": {"a": "prog"}},
        object(),
    ],
    ids=repr,
)
def test_what_leads_nowhere_is_refused_at_once(target: Any) -> None:
    with pytest.raises(ConnectError):
        connect(target)


def test_a_configuration_of_several_servers_says_which_there_are() -> None:
    with pytest.raises(ConnectError, match=r"2 servers \(a, b\); give one"):
        destination({"mcpServers": {"a": BASE, "b": BASE}})


@pytest.mark.parametrize("target", ["https://${HOST:-a.test}/mcp/", {"url": "https://${HOST:-a.test}/mcp/"}])
def test_a_url_is_reached_as_it_is_written(target: Any) -> None:
    found = destination(target)
    expanded = isinstance(target, dict)
    assert found.url == ("https://a.test/mcp/" if expanded else target)
    assert (found.transport, found.has_headers, found.command) == ("HTTP", True, None)


def test_headers_of_an_entry_are_expanded_and_those_given_beside_it_count_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "t")
    entry = {"url": "https://a.test", "headers": {"Authorization": "Bearer ${TOKEN}", "X": "1"}}
    found = destination(entry, http=HttpOptions(headers={"X": "2"})).http
    assert found is not None
    assert dict(found.headers) == {"Authorization": "Bearer t", "X": "2"}


def test_a_url_without_a_host_is_refused() -> None:
    with pytest.raises(ConnectError, match="no host"):
        destination("http://")


# Names


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["npx", "-y", "@modelcontextprotocol/server-everything"], "everything"),
        (["npx", "-y", "@scope/mcp-server-files@1.2.3", "/data"], "files"),
        (["uvx", "mcp-server-git"], "git"),
        (["python", "weather.py"], "weather"),
        (["python3.11", "-m", "weather"], "weather"),
        ([sys.executable, "weather.py"], "weather"),
        (["node", "/opt/notes/dist/index.js"], "notes"),
        (["docker", "run", "-i", "mcp/fetch"], "fetch"),
        (["./my-server"], "my-server"),
        (["python"], "python"),
    ],
)
def test_a_command_is_called_by_what_says_most_about_it(args: list[str], name: str) -> None:
    assert destination(args).name == name


def test_a_name_can_be_given() -> None:
    assert isinstance(destination(["prog"]), Destination)
    assert "await" in repr(connect(["prog"], name="mine"))


def test_a_relay_is_called_by_the_command_behind_it_and_outlives_a_connection() -> None:
    there = destination(relayed(Command(["npx", "-y", "@scope/server-files", "--", "x"]), name="mine"))
    assert there.name == "files"
    assert there.lasts
    assert not destination(["npx", "-y", "@scope/server-files"]).lasts
