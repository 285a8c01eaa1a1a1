"""What may be secret is not written into a saved notebook."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_notebook.notebook.forms import Form
from mcp_notebook.notebook.shown_arguments import HIDDEN, without_secrets
from mcp_notebook.notebook.widgets.question_card import told
from mcp_notebook.render import mimebundle
from mcp_notebook.types import ElicitResult

from .cells import Cells

DEMO = """
from mcp_notebook import Server
server = Server("demo")
long = "long " * 40

@server.tool
def say(text: str, more: str = "") -> str:
    return "said"

secret = "hunter" + "2"
%mcp connect demo server
"""


def test_names_that_speak_of_secrets_lose_their_values_at_any_depth() -> None:
    assert without_secrets(
        {
            "user": "ann",
            "Password": "hunter2",
            "login": {"api-key": "k", "at": "home"},
            "all": [{"access_token": "t"}, "plain", [{"private_key": "p"}]],
        }
    ) == {
        "user": "ann",
        "Password": HIDDEN,
        "login": {"api-key": HIDDEN, "at": "home"},
        "all": [{"access_token": HIDDEN}, "plain", [{"private_key": HIDDEN}]],
    }


def test_what_lies_too_deep_to_be_looked_through_is_hidden_too() -> None:
    deep: Any = {"password": "hunter2"}
    for _ in range(5000):
        deep = [deep]
    assert "hunter2" not in json.dumps(without_secrets({"deep": deep}))


def test_what_was_answered_is_told_without_them() -> None:
    text = {"type": "string"}
    schema = {
        "properties": {"user": text, "password": text, "code": {**text, "title": "Your secret code"}, "more": text}
    }
    content = {"user": "ann", "password": "hunter2", "code": "hunter2", "more": "long " * 60}
    answer = ElicitResult(action="accept", content=content)
    shown = json.dumps(mimebundle([told("demo", "Who are you?", Form(schema).fields, answer)]))
    assert "ann" in shown
    assert f"Your secret code: {HIDDEN}" in shown
    assert "all that was sent" in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize("call", ["say text=$secret", "say text={secret} more=$long", "say text='$' more=$secret"])
@pytest.mark.parametrize("shown", ["handle", "%mcp result {handle.id}", "%mcp status {handle.id}", "%mcp calls"])
def test_python_values_are_shown_as_they_were_written_wherever_a_call_is_shown(
    cells: Cells, call: str, shown: str
) -> None:
    cells.run(DEMO)
    begun = cells.run(f"handle = %mcp call --bg {call}")
    cells.run("handle.result()")
    for ran in (begun, cells.run(shown)):
        assert "hunter2" not in f"{ran.shown} {ran.stdout}"
