"""`%mcp form`: by widgets with this test as their front end, by text, and where nobody is; calls as one writes them."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_notebook.notebook.body import read_body
from mcp_notebook.notebook.commands.call import read_arguments
from mcp_notebook.notebook.interpolation import Names
from mcp_notebook.notebook.words import split
from mcp_notebook.notebook.written import as_magic, as_python
from mcp_notebook.types import Tool

from ..kernels import Kernel
from .test_questions_kernels import Shown

SETUP = """
%load_ext mcp_notebook
import json
from mcp_notebook import Context, Server
from mcp_notebook.notebook.widgets import question_card, tool_form
from mcp_notebook.notebook.widgets.card import all_of

def telling(Original):
    Original = getattr(Original, "Original", Original)
    class Telling(Original):
        def show(self):
            super().show()
            named = {w.description: w.comm.comm_id for w in all_of(self) if getattr(w, "description", "")}
            more = {name: button.comm.comm_id for name, button in self.buttons.items() if name == "Cancel call"}
            print(json.dumps(named | more | {"echo": self.view._settling._back.comm.comm_id}))
    Telling.Original = Original
    return Telling

tool_form.ToolForm = telling(tool_form.ToolForm)
server = Server("weather")
called = []

@server.tool
def forecast(city: str, days: int = 3) -> str:
    "The weather of the next days."
    called.append((city, days))
    if city == "Osl0":
        raise ValueError("city: 'Osl0' is not a known city")
    return f"{days} days of sun in {city}"

@server.tool
async def endless(ctx: Context) -> None:
    import asyncio
    await ctx.progress(1, 2)
    await asyncio.sleep(60)

%mcp connect weather server
"""


@pytest.fixture
def notebook(kernel: Kernel) -> Kernel:
    outcome = kernel.run(SETUP, cell="s")
    assert outcome.status == "ok", outcome
    return kernel


class Form(Shown):
    """A form that a cell has left behind."""

    def __init__(self, kernel: Kernel, line: str) -> None:
        super().__init__(kernel, line)
        self.outcome = self.end()

    def run(self) -> None:
        self.kernel.click(self.comms["Run"])
        self.echo()

    def until(self, text: str) -> str:
        """What the output below the form says, once it contains a text."""
        import time

        end = time.monotonic() + 15
        while not any(text in one.get("text/html", "") for one in self.outcome.updates[-1:]):
            assert time.monotonic() < end, self.outcome
            self.kernel._read(0.2)
        return self.outcome.updates[-1]["text/html"]


def test_a_form_calls_the_tool_and_shows_the_result_below(notebook: Kernel) -> None:
    form = Form(notebook, "%mcp form weather.forecast days=2")
    assert form.outcome.status == "ok"
    form.give("city", "Oslo")
    form.run()
    form.until("2 days of sun in Oslo")
    form.give("days", "4")
    form.run()
    form.until("4 days of sun in Oslo")
    form.give("days", "")
    form.run()
    form.until("3 days of sun in Oslo")
    assert notebook.value("called[-3:]") == [("Oslo", 2), ("Oslo", 4), ("Oslo", 3)]


def test_a_form_that_lacks_something_calls_nothing(notebook: Kernel) -> None:
    form = Form(notebook, "%mcp form weather.forecast")
    form.run()
    form.give("city", "Oslo")
    form.run()
    form.until("3 days of sun in Oslo")
    assert notebook.value("len(called)") == 1


def test_a_tools_error_is_shown_beside_the_field_and_can_be_corrected(notebook: Kernel) -> None:  # VAL-3
    notebook.run("import ipywidgets, time")
    form = Form(notebook, "%mcp form weather.forecast city=Osl0")
    form.run()
    form.until("the tool reports an error")
    beside = (
        "any(w.value == '<div class=\"mcp-bad\" role=\"alert\">\\'Osl0\\' is not a known city</div>' "
        "for w in ipywidgets.widgets.widget._instances.values() if isinstance(w, ipywidgets.HTML))"
    )
    assert notebook.value(beside) is True
    form.give("city", "Oslo")
    form.run()
    form.until("3 days of sun in Oslo")
    assert notebook.value(beside) is False


def test_a_call_of_a_form_is_cancelled_by_its_button(notebook: Kernel) -> None:
    form = Form(notebook, "%mcp form weather.endless")
    form.run()
    form.until("1 of 2")
    form.click("Cancel call")
    form.until("cancelled")


def test_a_console_asks_for_the_arguments_one_by_one(notebook: Kernel) -> None:
    outcome = notebook.run("%mcp form weather.forecast city=Oslo", answers=["", "5", "r"])
    assert outcome.status == "ok", outcome
    assert "● arguments of forecast on weather" in outcome.text
    assert "5 days of sun in Oslo" in str(outcome.data)


def test_where_nobody_is_the_error_says_what_to_write(notebook: Kernel) -> None:
    outcome = notebook.run("%mcp form weather.forecast")
    assert outcome.error.startswith("CommandError: A form needs somebody")
    assert "%mcp call weather.forecast key=value" in outcome.error
    assert notebook.run("%mcp form weather.forcast", cell="a").error.startswith("CommandError: No connected server")


SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "size": {"type": "number"},
        "flag": {"type": "boolean"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "either": {"type": ["integer", "string"]},
        "list": {"type": "array"},
        "object": {"type": "object"},
        "any-thing": {},
    },
}
TOOL = Tool(name="tool", input_schema=SCHEMA)
texts = st.text() | st.sampled_from(
    ["null", "007", "1", "a b", "it's", '"', "{x}", "$HOME", "--bg", "a\nb", "\\", "=", ""]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda parts: st.lists(parts, max_size=2) | st.dictionaries(texts, parts, max_size=2),
    max_leaves=5,
)


def same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from([*SCHEMA["properties"], "other", "a b", "=", "ä"]), anything, max_size=4))
def test_a_call_that_is_copied_is_the_same_call(arguments: dict[str, Any]) -> None:
    line, _, body = as_magic("server", TOOL, arguments).partition("\n")
    words = split(line.lstrip("%").removeprefix("mcp "))
    assert [word.raw for word in words[:2]] == ["call", "server.tool"]
    read = read_arguments(TOOL, words[2:], Names({})) if not body else read_body(body, TOOL)
    assert same(read, arguments)
    call = as_python("server", TOOL, arguments).splitlines()[1].removeprefix("result = await client.call_tool")
    given = ast.literal_eval(f"({call.removeprefix('(').removesuffix(')')},)")
    assert same(given[1] if len(given) > 1 else {}, arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"text": "Oslo", "count": 3, "flag": True}, "text=Oslo count=3 flag=true"),
        ({"text": "two words"}, "text='two words'"),
        ({"text": "it's"}, 'text:="it\'s"'),
        ({"maybe": "null"}, 'maybe:="null"'),
        ({"list": [1, "a"]}, 'list:=[1, "a"]'),
        ({}, ""),
    ],
)
def test_arguments_are_written_as_people_do(arguments: dict[str, Any], words: str) -> None:
    assert as_magic("server", TOOL, arguments) == f"%mcp call server.tool {words}".rstrip()
