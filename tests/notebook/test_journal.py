"""What a notebook remembers of calls under way, and what it does not."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic_core import from_json

from mcp_notebook import connect
from mcp_notebook.journal import Entry, SavedSession
from mcp_notebook.limits import Limits
from mcp_notebook.notebook import journal as journals
from mcp_notebook.notebook.journal import NotebookJournal
from mcp_notebook.notebook.workspace import Workspace
from mcp_notebook.protocol.calls import CallState
from mcp_notebook.protocol.resuming import ResumePolicy
from mcp_notebook.store import open_store

from .cells import Cells
from .test_magics_calls import until

LAB = """%%mcp server lab
import asyncio
from mcp_notebook import Context
opened = []

@lab.tool(task="optional", resumable=True)
async def crunch(n: int, ctx: Context) -> str:
    while not opened:
        await asyncio.sleep(0.01)
    return f"crunched {n}"

@lab.tool
def plain() -> str:
    return "at once"
"""
ENTRY = Entry(
    id="7f3a",
    address="http://127.0.0.1:9/mcp",
    server="lab",
    tool="crunch",
    began=0.0,
    request_id="ab-1",
    last_number=3,
    dialect="requests/resume",
    policy=ResumePolicy(request_id="ab-1", token="very secret", max_wait=60),
    session=SavedSession("a secret session", {"protocolVersion": "2025-11-25"}),
)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MCP_NOTEBOOK_STATE", str(tmp_path))
    return tmp_path


@pytest.fixture
def others() -> Callable[[], NotebookJournal]:
    """Makes the journal of the next kernel: all that were made before have ended."""

    def make(days: float = 7) -> NotebookJournal:
        return NotebookJournal("/work/study.ipynb", Limits(journal=days * 24 * 3600))

    return make


def test_what_a_kernel_noted_the_next_one_finds_whole_and_then_it_is_its_own(
    state: Path, others: Callable[..., NotebookJournal]
) -> None:  # RR-13
    first, second = others(), others()
    first.note(ENTRY)
    first.note(replace(ENTRY, last_number=4))
    assert second.left() == ([replace(ENTRY, last_number=4)], [])
    assert second.left() == ([], [])
    third = others()
    third.forget(ENTRY.address, ENTRY.id)
    assert others().left() == ([], [])


def test_a_call_of_a_kernel_that_runs_is_left_alone(
    state: Path, others: Callable[..., NotebookJournal], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = others()
    first.note(ENTRY)
    monkeypatch.setattr(journals, "_born", lambda process: [1, 0.0])  # another process than the first's
    assert others().left() == ([], [])


def test_only_the_owner_can_read_it(state: Path, others: Callable[..., NotebookJournal]) -> None:  # RR-11
    journal = others()
    assert not journal.path.exists()  # where there is nothing to remember, there is no file
    journal.note(ENTRY)
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.path.parent.stat().st_mode) == 0o700
    assert state in journal.path.parents


def test_no_secret_of_an_entry_is_in_its_repr() -> None:  # RR-11
    assert "secret" not in repr(ENTRY)
    assert "very secret" not in repr(replace(ENTRY, arguments={"key": "very secret"}))


def test_what_nobody_came_back_to_expires_and_is_told_once(state: Path, others: Callable[..., NotebookJournal]) -> None:
    others(days=0).note(ENTRY)
    left, expired = others().left()
    assert not left
    assert [entry.id for entry in expired] == [ENTRY.id]
    assert others().left() == ([], [])


def test_a_file_that_cannot_be_used_is_told_and_calls_go_on_without_it(cells: Cells) -> None:
    cells.run(LAB + "serving = None")
    journal = Workspace.of(cells.shell).journal
    journal.path.parent.mkdir(parents=True)
    journal.path.write_text("no database at all, but some text that is long enough to be read as a header")
    journal.path.chmod(0o600)
    cells.run("serving = %mcp serve lab --no-token\n%mcp connect web {serving.url} --revision 2025-11-25")
    cells.run("handle = %mcp call --bg web.crunch n=3")
    until(lambda: journal.trouble)
    told = cells.run("%mcp calls").text
    assert "do not outlive this kernel" in told
    assert "no store" in told
    cells.run("opened.append(1)\nx = handle.result()")
    assert cells["x"].data == "crunched 3"


def kept(cells: Cells) -> list[dict[str, object]]:
    """What the notebook's journal has."""
    journal = Workspace.of(cells.shell).journal
    if not journal.path.exists():
        return []
    store = open_store(journal.path)
    try:
        return [from_json(record.data) for record in store.of_everyone("call", {"open"})]
    finally:
        store.close()


@pytest.mark.parametrize(("option", "kept_arguments"), [("", None), ("--remember-arguments", {"n": 3})])
def test_arguments_are_remembered_only_on_request(cells: Cells, option: str, kept_arguments: object) -> None:
    cells.run(LAB)
    cells.run(f"serving = %mcp serve lab --no-token\n%mcp connect web {{serving.url}} --revision 2025-11-25 {option}")
    cells.run("handle = %mcp call --bg web.crunch n=3")
    until(lambda: kept(cells))
    assert [entry["arguments"] for entry in kept(cells)] == [kept_arguments]
    cells.run("opened.append(1)\nhandle.result()")
    until(lambda: not kept(cells))


def test_calls_that_end_with_their_connection_are_not_remembered(cells: Cells) -> None:
    cells.run(LAB)
    cells.run("serving = %mcp serve lab --no-token\n%mcp connect web {serving.url}\n%mcp connect here lab")
    cells.run("opened.append(1)\n%mcp call web.plain\n%mcp call here.crunch n=1\n%mcp call here.crunch n=1 --task")
    assert not Workspace.of(cells.shell).journal.path.exists()


def test_an_outcome_that_nobody_was_told_of_is_remembered(cells: Cells) -> None:  # TSK-13
    cells.run(LAB)
    cells.run("serving = %mcp serve lab --no-token\n%mcp connect web {serving.url} --revision 2025-11-25")
    cells.run("opened.append(1)\nhandle = %mcp call --bg --task web.crunch n=3")
    until(lambda: cells["handle"].done())
    assert [entry["id"] for entry in kept(cells)] == [cells["handle"].id]
    cells.run(f"%mcp result {cells['handle'].id}")
    until(lambda: not kept(cells))


def test_a_call_that_was_left_is_listed_forgotten_and_says_what_it_needs(
    state: Path, others: Callable[..., NotebookJournal], cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_NOTEBOOK_STATE", str(state))
    monkeypatch.setenv("JPY_SESSION_NAME", "/work/study.ipynb")
    others().note(ENTRY)
    others().note(replace(ENTRY, id="8f3b", address="web of /work/study.ipynb", server="web"))
    monkeypatch.setattr(cells.shell, "_mcp_workspace", None)
    assert cells.complete("%mcp resume ") == ["%mcp resume 7f3a", "%mcp resume 8f3b"]
    shown = cells.run("%mcp calls").text
    assert shown.count("dropped") == 2
    assert "was under way when the kernel ended" in cells.run("%mcp status 7f3a").text
    for command in ("resume", "result", "cancel"):
        assert "%mcp connect lab http://127.0.0.1:9/mcp" in cells.fail(f"%mcp {command} 7f3a")
    assert "%mcp connect web)" in cells.fail("%mcp resume 8f3b")
    assert "forgotten" in cells.run("%mcp forget 7f3a").text
    assert "7f3a" not in cells.run("%mcp calls").text
    assert [entry.id for entry in others().left()[0]] == ["8f3b"]


def test_what_is_no_longer_there_says_so_and_goes(
    state: Path, others: Callable[..., NotebookJournal], cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:  # RR-6, RR-13
    monkeypatch.setenv("MCP_NOTEBOOK_STATE", str(state))
    monkeypatch.setenv("JPY_SESSION_NAME", "/work/study.ipynb")
    cells.run(LAB)
    cells.run("serving = %mcp serve lab --no-token")
    task = {"id": "unheard-of", "status": "working", "created": "", "updated": "", "parent": None, "children": []}
    task |= {"message": None, "keep": None, "poll": None}
    url = cells["serving"].url
    others().note(replace(ENTRY, address=url, server="web"))
    others().note(replace(ENTRY, id="8f3b", address=url, server="web", policy=None, form="receiver", task=task))
    monkeypatch.setattr(cells.shell, "_mcp_workspace", None)
    shown = cells.run("%mcp connect web {serving.url} --revision 2025-11-25").text
    assert "7f3a (crunch), 8f3b (crunch). %mcp resume --all goes on with them" in shown
    calls = Workspace.of(cells.shell).calls
    cells.run("%mcp resume --all")
    until(lambda: all(call.status is CallState.EXPIRED for call in calls.values()))
    assert cells.run("%mcp calls").text.count("no longer there") == 2
    assert "no longer has this call" in cells.fail("%mcp result 7f3a")
    assert others().left() == ([], [])


@pytest.mark.anyio
async def test_a_program_without_a_notebook_remembers_nothing(state: Path) -> None:
    from mcp_notebook import Server

    server = Server("lab")

    @server.tool(task="optional")
    def crunch() -> str:
        return "crunched"

    async with connect(server) as client:
        assert (await client.begin_call("crunch", task=True)).data == "crunched"
    assert not os.listdir(state)
