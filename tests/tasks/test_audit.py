"""What is logged of a task: its beginning, end, retrieval and deletion, and whose it is (TSK-14)."""

from __future__ import annotations

import logging

import pytest

from mcp_notebook import Limits

from .players import Row, Working, each_row, rows_of

pytestmark = pytest.mark.anyio


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was logged so far; then nothing is."""
    found = [record.getMessage() for record in caplog.records if record.name == "mcp_notebook.audit"]
    caplog.clear()
    return found


@each_row
async def test_its_life_is_logged_with_its_owner(row: Row, caplog: pytest.LogCaptureFixture) -> None:  # TSK-14
    player = await row.player(Working(), principal="ada")
    with caplog.at_level(logging.INFO, "mcp_notebook.audit"):
        id = await player.begin(wait=False)
        await player.result(id)
        said = lines(caplog)
        for what in ("it begins", "it ended: completed", "fetched"):
            (line,) = {line for line in said if what in line}
            assert line.startswith(f"task '{id[:8]}…' of principal:")
        assert id not in "".join(said)


@rows_of("requestor")
async def test_its_deletion_is_logged(row: Row, caplog: pytest.LogCaptureFixture) -> None:  # TSK-14
    player = await row.player(Working())
    with caplog.at_level(logging.INFO, "mcp_notebook.audit"):
        await player.line.result("tasks/delete", taskId=await player.begin())
        (line,) = [line for line in lines(caplog) if "deleted" in line and "begins" not in line]
        assert "of session:" in line


@each_row
async def test_too_many_questions_are_logged(row: Row, caplog: pytest.LogCaptureFixture) -> None:  # TSK-14
    player = await row.player(Working(limits=Limits(task_rate=0.1)))
    with caplog.at_level(logging.WARNING, "mcp_notebook.audit"):
        for _ in range(3):
            await player.line.ask("tasks/get", taskId="any")
        assert any("too often" in line for line in lines(caplog))
