"""Forms by lines of text, in `ipython` and `jupyter console`, with a person typing: wrong first, then right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .test_runtime_elsewhere import TERMINALS, Terminal, started

TALK = [
    ("Cabin [Economy]: ", "first", "'first' is not among the choices", "business"),
    ("seats: ", "window, boat", "'boat' is not among the choices", "window, aisle"),
    ("ages: ", '[1, "x"]', "[1]: 'x' is text; a whole number of at least 0 is expected.", "[1, 2]"),
    ("home: ", "{}", "city: missing; text is expected.", '{"city": "Oslo"}'),
    ("day: ", "24.12.", "a date such as 2025-12-31 is expected.", "2026-12-24"),
    ("notes [none]: ", "", "", ""),
]
"""What is asked, what is typed first, what is told of that, and what is typed then."""
SAID = (
    '{"cabin": "b", "seats": ["window", "aisle"], "ages": [1, 2], "home": {"city": "Oslo"}, "day": "2026-12-24", '
    '"notes": "none"}'
)
"""What comes of it."""


@pytest.fixture(params=TERMINALS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """Connected to a server that asks."""
    terminal = started(TERMINALS[request.param], tmp_path)
    terminal.run("%load_ext mcp_notebook")
    terminal.run("from tests.notebook.asking_server import Travel")
    terminal.run("%mcp connect travel {Travel()}", "● connected travel")
    yield terminal
    terminal.process.close(force=True)


def talk(terminal: Terminal, end: str = "[s]end to ") -> None:
    """Answer all that is asked, up to what sends it."""
    for prompt, wrong, told, right in TALK:
        terminal.see(prompt)
        if wrong:
            terminal.type(wrong)
            terminal.see(told)
            terminal.see(prompt)
        terminal.type(right)
    terminal.see("seats: window, aisle")
    terminal.see(end)


def test_a_server_is_told_what_is_right_after_what_was_not(terminal: Terminal) -> None:
    terminal.type("%mcp call travel.ask")
    terminal.see("● travel asks:")
    terminal.see("│ Which trip?")
    terminal.see("1 Economy (e)")
    talk(terminal)
    terminal.run("s", f'got {{"action": "accept", "content": {SAID}}}')


def test_a_tool_is_called_with_what_is_right_after_what_was_not(terminal: Terminal) -> None:
    terminal.type("%mcp form travel.plan")
    talk(terminal, "[r]un plan")
    terminal.run("r", f"got {SAID}")


@pytest.mark.parametrize(
    ("typed", "action"), [("!decline", "decline"), ("!cancel", "cancel"), ("d", "decline"), ("c", "cancel")]
)
def test_a_question_can_be_left(terminal: Terminal, typed: str, action: str) -> None:
    terminal.type("%mcp call travel.ask")
    if typed.startswith("!"):
        terminal.see("Cabin [Economy]: ")
        terminal.type("business")
        terminal.see("seats: ")
    else:
        talk(terminal)
    terminal.run(typed, f'got {{"action": "{action}"}}')


def test_a_form_can_be_left(terminal: Terminal) -> None:
    for typed in ("!cancel", "!decline"):
        terminal.type("%mcp form travel.plan")
        terminal.see("Cabin [Economy]: ")
        terminal.run(typed)
    terminal.run("%mcp calls", "No call was made yet.")
