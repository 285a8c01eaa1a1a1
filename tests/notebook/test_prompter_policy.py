import asyncio

import pytest

from mcp_notebook.notebook.nobody import Nobody, Policy
from mcp_notebook.notebook.prompter import Decision
from mcp_notebook.transports.command import Command
from mcp_notebook.types import ElicitParams, ElicitResult

from .asking import question

WITH_DEFAULTS = question(a={"type": "integer", "default": 3}, b={"type": "string"}, required=["a"])
WITHOUT = question(a={"type": "integer"}, required=["a"])


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MCP_NOTEBOOK_ELICITATION", raising=False)


def answered(params: ElicitParams, policy: Policy | None = None) -> tuple[ElicitResult, str]:
    told: list[str] = []

    async def tell(text: str) -> None:
        told.append(text)

    result = asyncio.run(Nobody(tell, policy).elicit("travel", params))
    return result, "\n".join(told)


def test_by_default_a_question_is_cancelled_and_that_is_said() -> None:  # DEF-3
    result, told = answered(WITH_DEFAULTS)
    assert result == ElicitResult(action="cancel")
    assert told.startswith("● travel asked: Which flight?\n  Nobody can answer here, so it was cancelled")
    assert "MCP_NOTEBOOK_ELICITATION=accept-defaults" in told


def test_accepting_with_defaults_can_be_chosen() -> None:  # DEF-3
    result, told = answered(WITH_DEFAULTS, Policy.ACCEPT_DEFAULTS)
    assert result == ElicitResult(action="accept", content={"a": 3})
    assert "accepted with its defaults" in told


def test_the_environment_chooses_where_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:  # DEF-3
    monkeypatch.setenv("MCP_NOTEBOOK_ELICITATION", "accept-defaults")
    assert answered(WITH_DEFAULTS)[0].action == "accept"
    assert answered(WITH_DEFAULTS, Policy.DECLINE)[0].action == "decline"


def test_defaults_that_do_not_suffice_are_not_sent() -> None:
    result, told = answered(WITHOUT, Policy.ACCEPT_DEFAULTS)
    assert result.action == "cancel"
    assert "as the defaults do not suffice (a: " in told


def test_a_wrong_default_is_not_accepted() -> None:  # DEF-1
    params = question(a={"type": "integer", "default": "3"})
    assert answered(params, Policy.ACCEPT_DEFAULTS)[0].content == {}


def test_an_unknown_policy_cancels_and_names_the_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_NOTEBOOK_ELICITATION", "yes")
    result, told = answered(WITH_DEFAULTS)
    assert result.action == "cancel"
    assert "'yes', which is none of cancel, decline, accept-defaults" in told


def test_what_is_told_is_one_line_of_the_servers() -> None:
    _, told = answered(question("a\nb\u202e"))
    assert told.startswith("● travel asked: a b<U+202E>\n")


def test_nobody_consents() -> None:  # CON-2
    async def tell(text: str) -> None: ...

    assert asyncio.run(Nobody(tell).consent(Command(["x"]))) is Decision.NOBODY
