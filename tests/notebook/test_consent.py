import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcp_notebook.client import connect
from mcp_notebook.errors import ConsentDenied, MCPError, ProtocolError
from mcp_notebook.limits import Limits
from mcp_notebook.notebook import host as host_module
from mcp_notebook.notebook.consent import RememberedConsents
from mcp_notebook.notebook.host import NotebookHost
from mcp_notebook.notebook.nobody import Policy
from mcp_notebook.transports.command import Command
from mcp_notebook.types import ElicitParams

from .asking import CONSOLE, HEADLESS, Place, question
from .working import until

COMMAND = Command(["server", "--flag"], env={"KEY": "value"}, cwd="/")
OTHERS = {
    "arguments": Command(["server"], env={"KEY": "value"}, cwd="/"),
    "environment": Command(["server", "--flag"], env={"KEY": "other"}, cwd="/"),
    "directory": Command(["server", "--flag"], env={"KEY": "value"}, cwd="/tmp"),
}


@pytest.fixture
def consents(tmp_path: Path) -> RememberedConsents:
    return RememberedConsents(tmp_path / "state" / "consents")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.delenv("MCP_NOTEBOOK_TRUST", raising=False)
    monkeypatch.delenv("MCP_NOTEBOOK_ELICITATION", raising=False)
    place = Place(tmp_path, monkeypatch)
    yield place
    place.close()


# What is remembered


def test_a_remembered_command_is_known_to_the_next_kernel(consents: RememberedConsents) -> None:  # CON-3
    assert not consents.has(COMMAND)
    consents.add(COMMAND)
    assert RememberedConsents(consents.path).has(COMMAND)


@pytest.mark.parametrize("change", OTHERS)
def test_any_change_makes_it_another_command(consents: RememberedConsents, change: str) -> None:  # CON-3
    consents.add(COMMAND)
    assert not consents.has(OTHERS[change])
    consents.add(OTHERS[change])
    assert consents.has(COMMAND)
    assert consents.has(OTHERS[change])


def test_the_file_is_the_owners_alone_and_holds_no_secret(consents: RememberedConsents) -> None:
    consents.add(Command(["pro\ngram", "--token=s3cret"], env={"KEY": "s3cret"}))
    assert consents.path.stat().st_mode & 0o777 == 0o600
    assert consents.path.parent.stat().st_mode & 0o777 == 0o700
    written = consents.path.read_text()
    assert "s3cret" not in written
    assert "pro<U+000A>gram" in written
    assert len(written.splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="there are no modes")
def test_what_others_could_have_written_does_not_count(consents: RememberedConsents) -> None:
    consents.add(COMMAND)
    consents.path.chmod(0o666)
    with pytest.raises(PermissionError, match="others may write"):
        consents.has(COMMAND)
    consents.add(OTHERS["arguments"])
    assert consents.has(OTHERS["arguments"])
    assert not consents.has(COMMAND)


def test_a_file_full_of_rubbish_remembers_nothing_and_hinders_nothing(consents: RememberedConsents) -> None:
    consents.add(COMMAND)
    consents.path.write_bytes(b"\xff\xfe\x00 rubbish\n\n" + consents.path.read_bytes())
    assert consents.has(COMMAND)
    assert not consents.has(OTHERS["directory"])


def test_the_file_is_in_the_users_state_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path in RememberedConsents().path.parents


# What the environment says


@pytest.mark.parametrize(
    ("given", "then", "trusted"), [("1", "1", True), (None, "1", False), ("0", "1", False), ("1", "0", False)]
)
def test_trust_comes_from_outside_only(given: str | None, then: str, trusted: bool) -> None:  # CON-3
    code = (
        f"import os; os.environ['MCP_NOTEBOOK_TRUST'] = '{then}'\n"
        "from mcp_notebook.notebook.consent import trusted_from_outside; print(trusted_from_outside())"
    )
    env = {name: value for name, value in os.environ.items() if name != "MCP_NOTEBOOK_TRUST"}
    env |= {} if given is None else {"MCP_NOTEBOOK_TRUST": given}
    answer = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60)
    assert answer.stdout == f"{trusted}\n", answer.stderr


def test_with_trust_from_outside_nothing_is_asked_and_the_command_is_shown(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:  # CON-3, CON-1
    monkeypatch.setattr(host_module, "trusted_from_outside", lambda: True)
    place.begin()
    place.sits(HEADLESS)
    place.cell(place.host.consent(COMMAND))
    assert capsys.readouterr().out == "● Starting without a question, as MCP_NOTEBOOK_TRUST=1 says: server --flag\n"


# Asking


def test_one_start_allows_this_command_until_the_kernel_ends(place: Place) -> None:
    typist = place.sits(CONSOLE, "o")
    place.cell(place.host.consent(COMMAND))
    place.cell(place.host.consent(COMMAND))
    assert typist.done
    assert not place.consents.has(COMMAND)
    place.begin()
    typist = place.sits(CONSOLE, "o")
    place.cell(place.host.consent(COMMAND))
    assert typist.done


@pytest.mark.parametrize("change", OTHERS)
def test_any_change_is_asked_again(place: Place, change: str) -> None:  # CON-3
    typist = place.sits(CONSOLE, "o", "n")
    place.cell(place.host.consent(COMMAND))
    with pytest.raises(ConsentDenied):
        place.cell(place.host.consent(OTHERS[change]))
    assert typist.done


def test_what_is_remembered_is_not_asked_again(place: Place) -> None:  # CON-3
    place.sits(CONSOLE, "r")
    place.cell(place.host.consent(COMMAND))
    place.begin()
    place.cell(place.host.consent(COMMAND))


@pytest.mark.parametrize("answer", ["n", "", KeyboardInterrupt(), EOFError()])
def test_without_a_yes_nothing_is_allowed(place: Place, answer: str | BaseException) -> None:  # CON-2
    typist = place.sits(CONSOLE, answer, "o")
    with pytest.raises(ConsentDenied, match=r"Not started: server --flag\. Connect again to be asked again\."):
        place.cell(place.host.consent(COMMAND))
    place.cell(place.host.consent(COMMAND))
    assert typist.done


def test_where_nobody_can_be_asked_the_error_says_what_to_do(place: Place) -> None:  # CON-2, CON-3
    place.sits(HEADLESS)
    what_to_do = r"MCP_NOTEBOOK_TRUST=1 in its environment \(set outside of the notebook\), or connect with --trust"
    with pytest.raises(ConsentDenied, match=f"{what_to_do}.* Not started: server --flag"):
        place.cell(place.host.consent(COMMAND))


def test_trust_counts_where_nobody_can_be_asked_and_the_command_is_shown(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:  # CON-3, CON-1
    place.sits(HEADLESS)
    place.cell(place.host.consent(COMMAND, trust=True))
    assert capsys.readouterr().out == "● Starting without a question, as nobody can be asked here: server --flag\n"


def test_trust_does_not_replace_asking(place: Place) -> None:  # CON-3
    typist = place.sits(CONSOLE, "n")
    with pytest.raises(ConsentDenied):
        place.cell(place.host.consent(COMMAND, trust=True))
    assert typist.done


def test_the_time_for_an_answer_is_bounded(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:  # CON-2
    place.begin(Limits(question=0.3))
    monkeypatch.setattr("builtins.input", thinking("o"))
    with pytest.raises(ConsentDenied, match=r"Nobody answered within 0\.3 s, so nothing was started: server --flag"):
        place.cell(place.host.consent(COMMAND))


def test_consents_that_cannot_be_read_or_written_are_told_and_asked_for(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").touch()
    place.sits(CONSOLE, "r")
    place.cell(place.host.consent(COMMAND))
    out = capsys.readouterr().out
    assert "● The remembered consents are not used: " in out
    assert "● It starts, but this could not be remembered: " in out


def test_a_host_outlives_loading_the_extension_again(place: Place) -> None:
    assert NotebookHost.of(place.runtime, None) is place.host


# From the client


def marking(path: Path) -> list[str]:
    """A program that leaves a mark and ends."""
    return [sys.executable, "-c", f"open({str(path)!r}, 'w')"]


async def connecting(target: Any, **how: Any) -> None:
    await connect(target, **how)


@pytest.mark.parametrize("configured", [False, True])
def test_nothing_starts_without_consent_by_whatever_way(
    place: Place, tmp_path: Path, configured: bool
) -> None:  # CON-2, CON-3
    mark = tmp_path / "mark"
    program, *args = marking(mark)
    target = {"mcpServers": {"x": {"command": program, "args": args}}} if configured else [program, *args]
    place.sits(CONSOLE, "n", "o")
    with pytest.raises(ConsentDenied):
        place.cell(connecting(target))
    assert not mark.exists()
    with pytest.raises(MCPError):  # it starts, and is no server
        place.cell(connecting(target))
    assert mark.exists()


def test_a_client_hands_its_trust_on(place: Place, tmp_path: Path) -> None:  # CON-3
    mark = tmp_path / "mark"
    place.sits(HEADLESS)
    with pytest.raises(ConsentDenied):
        place.cell(connecting(marking(mark)))
    assert not mark.exists()
    with pytest.raises(MCPError):
        place.cell(connecting(marking(mark), trust=True))
    assert mark.exists()


# Servers' questions, on their way through the host

NAME = question(name={"type": "string"})


def thinking(late: str, begun: Callable[[], object] = lambda: None) -> Callable[[str], str]:
    """An `input` that nobody answers in time."""

    def think(prompt: str) -> str:
        begun()
        time.sleep(60)
        return late

    return think


def action(result: Any) -> str:
    return result.action


def test_a_question_is_asked_where_the_cell_waits(place: Place) -> None:
    place.sits(CONSOLE, "Ada")
    result = place.cell(place.host.elicit("travel", NAME))
    assert result is not None
    assert result.content == {"name": "Ada"}


@pytest.mark.parametrize("left", [KeyboardInterrupt(), EOFError()])
def test_leaving_a_question_cancels_it_and_no_more(place: Place, left: BaseException) -> None:
    place.sits(CONSOLE, left)
    assert action(place.cell(place.host.elicit("travel", NAME))) == "cancel"


def test_a_question_without_an_answer_is_cancelled_in_time(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place.begin(Limits(question=0.3))
    monkeypatch.setattr("builtins.input", thinking("Ada"))
    assert action(place.cell(place.host.elicit("travel", NAME))) == "cancel"
    assert "There was no answer within 0.3 s: cancelled." in capsys.readouterr().out


def test_a_question_that_is_taken_back_gives_the_prompt_back(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def withdrawn() -> str:
        reading = asyncio.Event()
        begun = lambda: place.runtime.loop.call_soon_threadsafe(reading.set)  # noqa: E731
        monkeypatch.setattr("builtins.input", thinking("Ada", begun))
        asking = asyncio.create_task(place.host.elicit("travel", NAME))
        await reading.wait()
        asking.cancel()
        await asyncio.wait([asking])
        return await place.runtime.on_main(lambda: "the cell goes on")

    assert place.cell(withdrawn()) == "the cell goes on"


def test_the_policy_where_nobody_can_answer_can_be_set(place: Place) -> None:  # DEF-3
    params = question(a={"type": "integer", "default": 3})
    place.sits(HEADLESS)
    assert action(place.cell(place.host.elicit("travel", params))) == "cancel"
    place.host.policy = Policy.ACCEPT_DEFAULTS
    result = place.cell(place.host.elicit("travel", params))
    assert result is not None
    assert result.content == {"a": 3}


def test_a_question_that_is_no_schema_is_the_servers_fault(place: Place) -> None:
    with pytest.raises(ProtocolError, match="requestedSchema cannot be used"):
        place.cell(place.host.elicit("travel", ElicitParams(message="", requested_schema={"type": "nothing"})))


def test_a_question_waits_for_a_cell_that_waits(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.sits(CONSOLE, "Ada")
    answer = place.runtime.submit(place.host.elicit("travel", NAME))
    until(lambda: place.host.unheard)
    place.cell()
    assert "● Waiting for you: travel asks: Which flight?" in capsys.readouterr().out
    result = place.cell(answer)
    assert result is not None
    assert result.content == {"name": "Ada"}
    assert "Waiting for you" not in capsys.readouterr().out


def test_a_question_that_no_cell_ever_waits_for_is_cancelled_in_time(place: Place) -> None:
    place.begin(Limits(question=0.3))
    assert place.runtime.submit(place.host.elicit("travel", NAME)).result(10).action == "cancel"
    with pytest.raises(ConsentDenied):
        place.runtime.submit(place.host.consent(COMMAND)).result(10)
    assert place.host.unheard == ()


def test_where_nobody_ever_comes_the_policy_answers_at_once_also_between_cells(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.sits(HEADLESS)
    place.cell()
    assert place.runtime.submit(place.host.elicit("travel", NAME)).result(10).action == "cancel"
    with pytest.raises(ConsentDenied, match="nobody can be asked here"):
        place.runtime.submit(place.host.consent(COMMAND)).result(10)
    place.cell()
    assert "● travel asked: Which flight?\n  Nobody can answer here" in capsys.readouterr().out


def test_a_closed_runtime_lets_go_of_the_shell(place: Place) -> None:
    assert place.callbacks
    place.close()
    assert not place.callbacks
