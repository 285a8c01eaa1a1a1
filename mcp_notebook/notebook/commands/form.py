"""`form`: a form for a tool's arguments; what is filled in is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...client import CallHandle
from ...errors import SchemaError
from ...render.parts import Part, Text
from ...types import ElicitParams
from ..actions import CallActions
from ..brief import CommandError
from ..call_view import CallView
from ..foreground import wait_for
from ..forms import Form
from ..frontend import wants_widgets
from ..live import Live
from ..shown_arguments import shown_arguments, without_secrets
from ..text_form import TextForm
from ..workspace import Workspace
from ..written import as_words
from .call import ToolCall, changes_told, complete_call, parse_call
from .table import Command, Invocation, Reply

if TYPE_CHECKING:
    from ..widgets.tool_form import ToolForm


def run_form(invocation: Invocation) -> Reply:
    """Show the form, or ask in lines of text; where nobody is there, say what to write instead."""
    call = parse_call(invocation, complete=False)
    runtime = invocation.workspace.runtime
    frontend = runtime.frontend()
    notes = _changes(invocation.workspace, call)
    form = _form(call)
    if runtime.answers_widgets and wants_widgets(frontend):
        _with_widgets(invocation.workspace, call, form, notes).show()
        return Reply()
    if frontend.stdin:
        return _ask(invocation, call, notes)
    raise CommandError(
        f"A form needs somebody who fills it in, and nobody can be asked here. Write the arguments: %mcp call "
        f"{call.found.full_name} key=value"
    )


def _form(call: ToolCall) -> Form:
    try:
        return Form(call.found.item.input_schema, call.arguments)
    except SchemaError as error:
        raise CommandError(
            f"There can be no form for {call.found.item.name}, as its input schema is broken: {error} It can be called "
            f"with JSON: %%mcp call {call.found.full_name}"
        ) from None


def tool_form(workspace: Workspace, call: ToolCall) -> ToolForm:
    """A form with widgets, which can stand in a place. Raises CommandError."""
    return _with_widgets(workspace, call, _form(call), _changes(workspace, call))


def _with_widgets(workspace: Workspace, call: ToolCall, form: Form, notes: list[Part]) -> ToolForm:
    from ..widgets.tool_form import ToolForm

    def begin(arguments: dict[str, Any]) -> CallHandle:
        return call.filled_in(arguments).begin(workspace)

    return ToolForm(workspace.runtime, call.found.member.name, call.found.item, form, notes, begin)


def _ask(invocation: Invocation, call: ToolCall, notes: list[Part]) -> Reply:
    workspace, tool = invocation.workspace, call.found.item
    schema = tool.input_schema if isinstance(tool.input_schema, dict) else {}
    message = "\n".join(note.text for note in notes if isinstance(note, Text))
    asked = ElicitParams(message=message, requested_schema=schema)
    result = TextForm(call.found.member.name, asked, input, print, call.arguments, tool.name).run()
    if result.content is None:
        return Reply()
    handle = call.filled_in(result.content).begin(workspace)
    live = Live(workspace.runtime, actions=CallActions(handle))
    view = CallView(handle, as_words(tool, without_secrets(shown_arguments(handle))))
    return Reply(wait_for(handle, view, live, workspace.runtime, quiet=invocation.used))


def _changes(workspace: Workspace, call: ToolCall) -> list[Part]:
    told = changes_told(workspace, call.found)
    return [Text(told, "note")] if told else []


FORM = Command(
    name="form",
    usage="[NAME.]TOOL [key=value …]",
    summary="fill in a tool's arguments in a form, and call it",
    about=(
        "What is given is filled in already. Run calls the tool, as often as you like; the result appears below, and "
        "an error beside the field that it names. The same call can be copied as a magic or as Python. In a terminal "
        "the arguments are asked for one by one."
    ),
    examples=("%mcp form get-sum", "%mcp form everything.get-sum a=1"),
    run=run_form,
    complete=complete_call,
)
