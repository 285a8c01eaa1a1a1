"""What the tests of relays share: a place of their own, in which nothing outlives a test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .helpers import Relays


@pytest.fixture
def relays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Relays]:
    if sys.platform == "win32":
        pytest.skip("relays need Unix sockets and process groups")
    monkeypatch.chdir(tmp_path)  # and back: whoever looks for relays changes it
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    relays = Relays(tmp_path)
    try:
        yield relays
    finally:
        relays.end()
