"""What may be secret is not written into a saved notebook."""

from __future__ import annotations

import json
from typing import Any

from mcp_notebook.notebook.forms import Form
from mcp_notebook.notebook.shown_arguments import HIDDEN, without_secrets
from mcp_notebook.notebook.widgets.question_card import told
from mcp_notebook.render import mimebundle
from mcp_notebook.types import ElicitResult


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
    schema = {"properties": {"user": {"type": "string"}, "password": {"type": "string"}}}
    answer = ElicitResult(action="accept", content={"user": "ann", "password": "hunter2"})
    shown = json.dumps(mimebundle([told("demo", "Who are you?", Form(schema).fields, answer)]))
    assert "ann" in shown
    assert HIDDEN in shown
    assert "hunter2" not in shown
