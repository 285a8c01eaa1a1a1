"""What magics do with URLs: connect, serve, watch."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from .cells import Cells

LAB = """
state = {"n": 0}

def bump() -> int:
    state["n"] += 1
    lab.notify_resource_updated("count://n")
    return state["n"]

@lab.resource("count://n")
def count() -> int:
    return state["n"]
"""


@pytest.fixture
def lab(cells: Cells) -> Cells:
    cells.run(f"%%mcp server lab\n{LAB}")
    return cells


def until(true: Callable[[], object], seconds: float = 10) -> None:
    """Wait for something on the background loop, within a bound."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_a_server_of_a_cell_is_served_and_reached_at_its_url(lab: Cells) -> None:
    lab.run("serving = %mcp serve lab")
    serving = lab["serving"]
    assert "http://127.0.0.1:" in serving.url
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAB_TOKEN", serving.token)
        shown = lab.run("%mcp connect web {serving.url} --token-env LAB_TOKEN").text
    assert "HTTP" in shown
    assert serving.token not in shown
    lab.run("x = %mcp call web.bump")
    assert lab["x"].data == 1
    assert serving.token not in lab.run("%mcp servers web").text


def test_without_the_token_it_says_what_is_wanted(lab: Cells) -> None:
    lab.run("serving = %mcp serve lab")
    assert "401" in lab.fail("%mcp connect web {serving.url}")


def test_a_header_is_sent_as_written(lab: Cells) -> None:
    lab.run("serving = %mcp serve lab")
    lab.run('%mcp connect web {serving.url} --header "Authorization: Bearer {serving.token}"')
    lab.run("x = %mcp call web.bump")
    assert lab["x"].data == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%mcp connect web http://localhost:1/mcp --header nonsense", "is no HTTP header"),
        ("%mcp connect web http://localhost:1/mcp --token-env NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE"),
        ("%mcp connect web http://localhost:1/mcp", "Is the server running"),
        ("%mcp serve lob", "did you mean 'lab'"),
        ("%mcp serve lab --port 99999", "--port"),
        ("%mcp watch", "%mcp watch [NAME] URI"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(lab: Cells, line: str, said: str) -> None:
    assert said in lab.fail(line)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_watched_resource_is_read_anew_when_it_changes(lab: Cells, revision: str) -> None:
    lab.run("serving = %mcp serve lab --no-token")
    lab.run(f"%mcp connect web {{serving.url}} --revision {revision}")
    lab.run("watch = %mcp watch web count://n")
    lab.run("%mcp call web.bump")
    watch = lab["watch"]
    until(lambda: watch.latest.text == "1")
    assert [what for _, what in watch.changes] == ["changed"]
    watch.stop()
    lab.run("%mcp call web.bump")
    assert len(watch.changes) == 1


def test_the_lists_of_a_server_are_watched_by_its_name_alone(lab: Cells) -> None:
    lab.run("watch = %mcp watch lab")
    lab.run("%%mcp server lab\ndef other() -> int:\n    return 2")
    until(lambda: any(what == "its tools changed" for _, what in lab["watch"].changes))
