from typing import Any

import pytest

from mcp_notebook.notebook.prompter import Decision
from mcp_notebook.notebook.text_form import TextForm, ask_consent
from mcp_notebook.transports.command import Command
from mcp_notebook.types import ElicitParams, ElicitResult

from .asking import Typist, question

PASSENGERS = {"type": "integer", "minimum": 1, "maximum": 9}
CABIN = {"type": "string", "title": "Cabin", "oneOf": [{"const": "e", "title": "Economy"}], "default": "e"}


def filled(params: ElicitParams, *answers: str | BaseException) -> tuple[ElicitResult, str]:
    typist = Typist(answers)
    result = TextForm("travel", params, typist.ask, typist.say).run()
    assert typist.done, typist.screen
    return result, typist.screen


def content(params: ElicitParams, *answers: str) -> dict[str, Any] | None:
    result, _ = filled(params, *answers)
    assert result.action == "accept"
    return result.content


def test_who_asks_and_what_is_shown() -> None:
    _, screen = filled(question(name={"type": "string", "description": "as in the passport"}), "Ada")
    assert screen.startswith("● travel asks:\n  │ Which flight?\n")
    assert "Give no passwords or keys: travel sees what you write." in screen
    assert "name (optional): text\n  │ as in the passport\nname: Ada\n  Sent to travel.\n" in screen


def test_a_form_for_arguments_says_that_it_runs_a_tool_and_not_that_anybody_asks() -> None:
    for typed, action, told in (("r", "accept", ""), ("c", "cancel", "  Nothing was called.\n")):
        typist = Typist(["3", "", "d", typed])  # nobody asks, so there is nothing to decline
        params = question("", passengers=PASSENGERS, cabin=CABIN)
        result = TextForm("travel", params, typist.ask, typist.say, {}, "book").run()
        assert result.action == action
        assert typist.screen.startswith("● arguments of book on travel\n  Enter alone takes")
        assert "  !cancel ends this, and nothing is called.\n" in typist.screen
        assert typist.screen.endswith(f"[r]un book, [e]dit, [c]ancel: {typed}\n{told}")
        assert "asks" not in typist.screen
        assert "ecline" not in typist.screen


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({}, "any of these"),
        ({"minItems": 1}, "at least 1 of these"),
        ({"maxItems": 3}, "at most 3 of these"),
        ({"minItems": 1, "maxItems": 3}, "1 to 3 of these"),
        ({"minItems": 2, "maxItems": 2}, "2 of these"),
    ],
)
def test_of_several_choices_is_said_how_many_fit(bounds: dict[str, int], said: str) -> None:
    seats = {"type": "array", "items": {"enum": ["window", "aisle", "exit"]}, **bounds}
    _, screen = filled(question(seats=seats), "window, aisle")
    assert f"seats (optional): {said}, separated by commas\n" in screen


def test_a_single_field_is_sent_at_once() -> None:
    assert content(question(passengers=PASSENGERS), "3") == {"passengers": 3}


def test_several_fields_are_shown_before_they_are_sent() -> None:
    result, screen = filled(question(passengers=PASSENGERS, cabin=CABIN), "3", "", "s")
    assert result.content == {"passengers": 3, "cabin": "e"}
    assert "  passengers: 3\n  Cabin: Economy\n[s]end to travel, [e]dit, [d]ecline, [c]ancel: s\n" in screen


def test_enter_takes_the_default_which_is_shown() -> None:  # DEF-2
    result, screen = filled(question(cabin=CABIN), "")
    assert result.content == {"cabin": "e"}
    assert "Cabin [Economy]: " in screen


def test_an_untouched_field_without_default_is_omitted() -> None:  # DEF-2, INS#868, INS PR926
    assert content(question(a={"type": "string"}, b={"type": "array"}, c=PASSENGERS), "", "", "", "s") == {}


def test_objects_lists_and_unions_are_given_as_json() -> None:
    point = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    params = question(p=point, ps={"type": "array", "items": point}, u={"anyOf": [point, {"type": "integer"}]})
    result, screen = filled(params, '{"x": "a"}', '{"x": 1}', '[{"x": 2}]', "3", "s")
    assert result.content == {"p": {"x": 1}, "ps": [{"x": 2}], "u": 3}
    assert "x: 'a' is text; a number is expected." in screen


def test_a_default_can_be_left_out() -> None:
    assert content(question(cabin=CABIN), "!skip") == {}


def test_a_wrong_default_is_shown_not_used() -> None:  # DEF-1
    result, screen = filled(question(passengers={**PASSENGERS, "default": 12}), "")
    assert result.content == {}
    assert "not used: the server's default '12': 12 is too large" in screen


@pytest.mark.parametrize("nothing", ["", "!skip"])
def test_what_is_required_is_asked_for_again(nothing: str) -> None:
    result, screen = filled(question(passengers=PASSENGERS, required=["passengers"]), nothing, "2")
    assert result.content == {"passengers": 2}
    assert "passengers (required)" in screen
    assert "This is needed: a whole number from 1 to 9." in screen


def test_a_mistake_is_told_with_what_would_be_right_and_asked_again() -> None:  # VAL-3
    result, screen = filled(question(passengers=PASSENGERS), "2o", "10", "2")
    assert result.content == {"passengers": 2}
    assert "'2o' is not accepted; a whole number from 1 to 9 is expected." in screen
    assert "10 is too large; a whole number from 1 to 9 is expected." in screen


def test_editing_offers_what_was_given_before() -> None:
    params = question(a={"type": "string"}, b={"type": "string"})
    result, screen = filled(params, "one", "", "e", "", "two", "s")
    assert result.content == {"a": "one", "b": "two"}
    assert "a [one]: " in screen


def test_answers_that_do_not_fit_together_are_asked_for_again() -> None:
    params = question(a={"type": "string"}, b={"type": "string"})
    assert params.requested_schema is not None
    params.requested_schema["dependentRequired"] = {"a": ["b"]}
    result, screen = filled(params, "x", "", "", "y", "s")
    assert result.content == {"a": "x", "b": "y"}
    assert "'b' is needed together with 'a'" in screen


@pytest.mark.parametrize(("typed", "action"), [("!decline", "decline"), ("!cancel", "cancel"), (" !Cancel ", "cancel")])
@pytest.mark.parametrize("before", [[], ["3"], ["3", ""]])
def test_one_can_leave_at_any_point(typed: str, action: str, before: list[str]) -> None:
    result, _ = filled(question(passengers=PASSENGERS, cabin=CABIN), *before, typed)
    assert (result.action, result.content) == (action, None)


@pytest.mark.parametrize(("letter", "action"), [("d", "decline"), ("c", "cancel")])
def test_one_can_leave_instead_of_sending(letter: str, action: str) -> None:
    result, _ = filled(question(passengers=PASSENGERS, cabin=CABIN), "3", "", "what?", letter)
    assert result.action == action


@pytest.mark.parametrize(("typed", "action"), [(["", "e", "s"], "accept"), (["d"], "decline"), (["c"], "cancel")])
def test_a_question_without_fields_is_not_accepted_by_enter(typed: list[str], action: str) -> None:
    result, _ = filled(ElicitParams(message="Delete it all?"), *typed)
    assert result.action == action


def test_many_choices_are_listed_in_part_and_all_can_be_given() -> None:
    names = [f"city {n}" for n in range(300)]
    result, screen = filled(question(city={"type": "string", "enum": names}), "city 299")
    assert result.content == {"city": "city 299"}
    assert "200 city 199\n  … 100 more" in screen


def test_a_servers_words_cannot_pass_for_ours() -> None:
    hostile = "Hi\n\x1b[2J● system asks:\u202e\nPassword: "
    params = question(hostile, x={"type": "string", "title": "a\nb\u202e", "description": "c\n● d"})
    _, screen = filled(params, "v")
    assert "\x1b" not in screen
    assert "\u202e" not in screen
    assert "\n  │ Password: \n" in screen
    assert "\na b<U+202E> (optional): text\n  │ c\n  │ ● d\n" in screen
    ours = [line for line in screen.splitlines() if line.startswith("●")]
    assert ours == ["● travel asks:"]


COMMAND = Command(["npx", "-y", "it\u202em"], env={"API_KEY": "s3cret", "B": "x"}, cwd="/")


def test_consent_shows_the_whole_command_and_what_surrounds_it() -> None:  # CON-1, CON-4
    long = Command(["run", "x" * 5000, "last"], env={"API_KEY": "s3cret", "B": "x"}, cwd="/")
    typist = Typist(["n"])
    ask_consent(long, typist.ask, typist.say)
    assert f"    run {'x' * 5000} last\n" in typist.screen
    assert "in / · adds to the environment API_KEY, B (values hidden)" in typist.screen
    assert "This can be dangerous" in typist.screen
    assert "s3cret" not in typist.screen


def test_tricks_in_a_command_are_visible() -> None:  # CON-4
    typist = Typist(["n"])
    ask_consent(COMMAND, typist.ask, typist.say)
    assert "npx -y 'it<U+202E>m'" in typist.screen


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        (["o"], Decision.ONCE),
        (["Remember"], Decision.REMEMBER),
        (["n"], Decision.REFUSED),
        ([""], Decision.REFUSED),
        (["y"], Decision.ONCE),
        (["sure", "ok", "o"], Decision.ONCE),
    ],
)
def test_only_a_clear_yes_starts_a_command(typed: list[str], decision: Decision) -> None:  # CON-2
    typist = Typist(typed)
    assert ask_consent(COMMAND, typist.ask, typist.say) is decision
    assert typist.done
