"""Where a user's state is kept."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from mcp_notebook.store import state_path


def test_state_is_kept_where_the_system_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MCP_NOTEBOOK_STATE", raising=False)
    assert state_path("calls") == Path(platformdirs.user_state_dir("mcp_notebook", appauthor=False)) / "calls"


def test_an_environment_variable_moves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_NOTEBOOK_STATE", str(tmp_path / "elsewhere"))
    assert state_path("calls") == tmp_path / "elsewhere" / "calls"
    assert not (tmp_path / "elsewhere").exists()


def test_the_variable_may_name_a_folder_from_home_or_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for written in ("~/state", "state"):
        monkeypatch.setenv("MCP_NOTEBOOK_STATE", written)
        assert state_path("calls") == tmp_path / "state" / "calls"
