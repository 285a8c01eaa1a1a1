"""Commands as data: what is shown of them, what runs, what a consent is tied to."""

import os
import sysconfig
from pathlib import Path

import pytest

from mcp_notebook.transports.command import Command
from mcp_notebook.transports.program import find_program


def test_a_command_shows_every_argument_and_only_the_names_of_its_environment() -> None:  # CON-1
    command = Command(["npx", "-y", "pkg", "a b"], {"API_KEY": "s3cret"}, "/srv")
    assert str(command) == "npx -y pkg 'a b'"
    assert repr(command) == "Command(['npx', '-y', 'pkg', 'a b'], env=['API_KEY'], cwd='/srv')"


def test_what_hides_in_a_command_is_made_visible() -> None:  # CON-4
    command = Command(["sh", "-c", "ls\u202e #\n rm -rf x"])
    assert str(command) == "sh -c 'ls<U+202E> #<U+000A> rm -rf x'"
    assert "\u202e" not in repr(command)


def test_a_long_command_is_shown_whole() -> None:  # CON-1
    assert str(Command(["sh", "-c", "x" * 10_000])).count("x") == 10_000


def test_a_line_is_split_as_a_shell_splits_it_and_nothing_is_expanded() -> None:
    command = Command.parse("python -c 'print(1)' \"$HOME\" *", env={"A": "1"}, cwd="/")
    assert command == Command(("python", "-c", "print(1)", "$HOME", "*"), {"A": "1"}, "/")


@pytest.mark.parametrize("args", [[], [""], "npx -y pkg"])
def test_a_command_without_a_program_or_as_one_string_is_refused(args: list[str] | str) -> None:
    with pytest.raises(ValueError, match=r"program|Command\.parse"):
        Command(args)


@pytest.mark.parametrize(
    ("args", "env", "cwd"),
    [
        (["a\0b"], {}, None),
        (["a"], {"B": "\0"}, None),
        (["a"], {"\0": "b"}, None),
        (["a"], {}, "/\0"),
        (["a"], {"": "b"}, None),
        (["a"], {"b=c": "d"}, None),
    ],
)
def test_what_no_system_takes_is_no_command(args: list[str], env: dict[str, str], cwd: str | None) -> None:
    with pytest.raises(ValueError, match=r"NUL|environment"):
        Command(args, env, cwd)


def test_a_child_gets_what_programs_need_and_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_TOKEN", "s3cret")
    monkeypatch.setenv("HOME", "/home/somebody")
    environment = Command(["x"], {"ADDED": "1"}).environment()
    assert "SOME_API_TOKEN" not in environment
    assert environment["HOME"] == "/home/somebody"
    assert environment["PATH"].endswith(os.environ["PATH"])
    assert environment["ADDED"] == "1"


def test_programs_beside_this_python_are_found_first_though_nothing_is_activated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    beside = os.path.join(sysconfig.get_path("scripts"), "python")
    other = tmp_path / "python"
    other.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program(Command(["python"])) == beside
    assert find_program(Command(["python"], {"PATH": str(tmp_path)})) == str(other)
    monkeypatch.delenv("PATH")
    assert find_program(Command(["python"])) == beside


def test_the_path_of_an_activated_environment_stays_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.pathsep.join(["/first", sysconfig.get_path("scripts"), "/last"])
    monkeypatch.setenv("PATH", path)
    assert Command(["python"]).environment()["PATH"] == path


def test_a_child_runs_in_utf8_mode_unless_the_command_says_otherwise() -> None:  # kimi-code#886
    assert Command(["x"]).environment()["PYTHONUTF8"] == "1"
    assert Command(["x"]).environment()["PYTHONIOENCODING"] == "utf-8"
    assert Command(["x"], {"PYTHONUTF8": "0"}).environment()["PYTHONUTF8"] == "0"


def test_a_digest_changes_with_whatever_would_change_what_runs(tmp_path: Path) -> None:  # CON-3
    command = Command(["a", "b"], {"K": "1"}, tmp_path)
    others = [
        Command(["a", "c"], {"K": "1"}, tmp_path),
        Command(["a b"], {"K": "1"}, tmp_path),
        Command(["a", "b"], {"K": "2"}, tmp_path),
        Command(["a", "b"], {"K": "1", "L": ""}, tmp_path),
        Command(["a", "b"], {}, tmp_path),
        Command(["a", "b"], {"K": "1"}, tmp_path / "sub"),
    ]
    assert len({command.digest(), *(other.digest() for other in others)}) == len(others) + 1
    assert command.digest() == Command(("a", "b"), {"K": "1"}, str(tmp_path)).digest()


def test_a_digest_is_of_the_directory_itself_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # CON-3
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert Command(["a"]).digest() == Command(["a"], cwd=tmp_path / "link").digest()


def test_a_command_cannot_be_changed_after_it_was_shown() -> None:
    env = {"K": "1"}
    command = Command(args := ["a"], env)
    args.append("b")
    env["K"] = "2"
    assert list(command.args) == ["a"]
    assert dict(command.env) == {"K": "1"}
    with pytest.raises(TypeError):
        command.env["K"] = "3"  # pyright: ignore[reportIndexIssue]
