"""`python -m mcp_notebook relay`, as people type it. What it does stands in `tests/transports/relay`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook.__main__ import main
from mcp_notebook.errors import ConnectError
from mcp_notebook.transports.command import Command
from mcp_notebook.transports.relay import starting

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="relays need Unix sockets and process groups")


@pytest.fixture
def attached(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What it would have attached to."""
    calls: list[dict[str, Any]] = []

    def attach(command: Command, **options: Any) -> int:
        calls.append({"command": command, **options})
        return 7

    monkeypatch.setattr(starting, "attach", attach)
    return calls


@pytest.mark.parametrize(
    ("words", "args"),
    [
        (["--", "npx", "-y", "package"], ("npx", "-y", "package")),
        (["--", "npx", "--name", "theirs", "--", "word"], ("npx", "--name", "theirs", "--", "word")),
        (["npx", "-y", "package"], ("npx", "-y", "package")),
        (["--keep", "60", "--", "npx"], ("npx",)),
    ],
)
def test_what_follows_is_the_servers_command_whatever_it_looks_like(
    words: list[str], args: tuple[str, ...], attached: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "value")
    assert main(["relay", *words]) == 7
    (call,) = attached
    assert call["command"].args == args
    assert call["command"].env["SOME_KEY"] == "value"
    assert call["command"].directory == str(Path.cwd())


def test_the_options_are_handed_on_with_their_defaults(attached: list[dict[str, Any]]) -> None:
    main(["relay", "--", "npx"])
    main(["relay", "--name", "one", "--keep", "60", "--announce", "--", "npx"])
    assert [{key: call[key] for key in ("name", "keep", "announce")} for call in attached] == [
        {"name": None, "keep": None, "announce": False},
        {"name": "one", "keep": 60, "announce": True},
    ]


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan", "long"])
def test_a_time_that_is_none_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["relay", "--keep", seconds, "--", "npx"])
    assert end.value.code == 2
    assert "--keep" in capsys.readouterr().err


def test_without_a_command_it_says_where_one_goes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["relay"]) == 2
    assert "Give it after `--`" in capsys.readouterr().err


def test_the_help_says_that_a_client_that_ends_only_detaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["relay", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert "When the client ends, or closes stdin, it is detached: the server runs on" in text
    assert "relay [OPTION ...] -- COMMAND" in text


def test_the_list_shows_what_is_kept_and_hides_nothing_in_its_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    relay = {"id": "1a2b", "name": None, "keeper": 10, "server": 11, "ended": False, "since": 0, "attached": True}
    relay |= {"waiting": 12345, "command": "npx -y package", "cwd": "/"}
    monkeypatch.setattr(starting, "running", lambda: [relay, {**relay, "name": "a\u202eb", "attached": False}])
    assert main(["relay", "--list"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("1a2b  attached since 19")
    assert first.endswith("12,345 bytes kept, pid 11 (keeper 10): npx -y package")
    assert second.startswith("a<U+202E>b  alone since")
    monkeypatch.setattr(starting, "running", list)
    main(["relay", "--list"])
    assert capsys.readouterr().out == "No server is kept.\n"


def test_stopping_says_whether_there_was_anything_to_stop(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(starting, "stop", lambda name: name == "one")
    assert main(["relay", "--stop", "one"]) == 0
    assert main(["relay", "--stop", "two"]) == 1
    heard = capsys.readouterr()
    assert heard.out == "Stopped one.\n"
    assert "no server 'two' is kept" in heard.err


def test_what_goes_wrong_is_a_line_on_stderr(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ConnectError("There is no folder for relays.")

    monkeypatch.setattr(starting, "running", fail)
    assert main(["relay", "--list"]) == 1
    assert capsys.readouterr().err == "relay: There is no folder for relays.\n"


def test_on_windows_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert main(["relay", "--", "npx"]) == 1
    assert "which Windows lacks. Start the server directly." in capsys.readouterr().err
