"""`call`: one call of a tool."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from pydantic_core import from_json

from ...client import CallHandle, ToolResult
from ...protocol.json_schema import coerce_text, describe, properties_of, required_of
from ...render.letters import one_line
from ...render.parts import Part, Text
from ...types import Tool
from ..actions import CallActions
from ..background import watch
from ..body import read_body
from ..brief import CommandError, hinted
from ..call_view import CallView
from ..foreground import wait_for
from ..interpolation import Names, as_json
from ..live import Live, show
from ..shown_arguments import as_written
from ..words import Word
from ..workspace import Workspace
from .completing import Completing, complete_arguments
from .naming import Found, find
from .table import Command, Invocation, Option, Reply, seconds


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a person asked for it.

    Attributes:
        found: the tool, and who has it.
        arguments: as JSON data.
        typed: the same as it was written.
        shown: the same as cards show them, with Python values as they were written; None for as they are.
        timeout: seconds of silence after which it is given up; None for the connection's own.
        background: not to be waited for.
        save: where to write the result, if anywhere.
        task: called as a task.
        keep_for: seconds for which the server should keep that; None for its own choice.
    """

    found: Found
    arguments: dict[str, Any]
    typed: str = ""
    shown: Mapping[str, Any] | None = None
    timeout: float | None = None
    background: bool = False
    save: Path | None = None
    task: bool = False
    keep_for: float | None = None

    def begin(self, workspace: Workspace) -> CallHandle:
        """Begin it, and have it remembered, and the tool as one that was called. Raises MCPError."""
        member, tool = self.found.member, self.found.item
        member.check()
        handle = member.client.begin_call(
            tool.name, self.arguments, timeout=self.timeout, task=self.task, keep=self.keep_for
        )
        handle.written = self.shown
        workspace.remember(handle)
        workspace.used.used(member.target.where, tool)
        return handle

    def filled_in(self, arguments: dict[str, Any]) -> ToolCall:
        """The same with other arguments, of which those that are as they were are still shown as they were written."""
        shown = self.shown or {}
        same = {name: shown[name] for name in shown if name in arguments and arguments[name] == self.arguments[name]}
        return replace(self, arguments=arguments, shown=arguments | same)

    def keep(self, result: ToolResult) -> str:
        """Write the result where that is wanted, and say so.

        Raises:
            CommandError: it cannot be written.
        """
        if self.save is None:
            return ""
        if result.is_error:
            return "Nothing was saved, as the tool reports an error."
        try:
            files = result.save(self.save)
        except (OSError, ValueError) as error:
            raise CommandError(f"The call is done, but its result was not saved: {error}") from None
        return f"saved to {', '.join(map(str, files))}"


def parse_call(invocation: Invocation, *, complete: bool = True) -> ToolCall:
    """Understand the line and the cell.

    Args:
        invocation: what was written.
        complete: whether all that is required has to be there.

    Raises:
        MCPError: there is no such tool, or an argument is unknown, missing, or not what the tool's schema wants.
    """
    if not invocation.words or invocation.words[0].key:
        raise CommandError(f"Which tool? {invocation.command.say_usage()}  %mcp tools lists them.")
    name, *words = invocation.words
    _check_written(invocation, name, words)
    found = find(invocation.workspace, "tools", invocation.names.text(name))
    arguments = read_body(invocation.body, found.item) if invocation.body is not None else {}
    given = read_arguments(found.item, words, invocation.names)
    arguments |= given
    if complete:
        _check_required(found.item, arguments)
    options = invocation.options
    if "keep" in options and "task" not in options:
        raise CommandError("--keep says how long a task is kept: write --task --keep SECONDS.")
    return ToolCall(
        found,
        arguments,
        " ".join(word.raw for word in words),
        arguments | as_written(words, given),
        options.get("timeout"),
        options.get("bg", False),
        options.get("save"),
        options.get("task", False),
        options.get("keep"),
    )


def _check_written(invocation: Invocation, name: Word, words: Sequence[Word]) -> None:
    """Raise CommandError for what people write who have other languages in mind."""
    if "(" in name.raw:
        tool = name.raw.partition("(")[0]
        raise CommandError(f"Arguments follow without parentheses and commas: %mcp call {tool} key=value key=value")
    if any(word.raw.startswith("=") for word in words):
        raise CommandError("There are no blanks around =: key=value. Values with blanks stand in quotes.")
    if name.raw in invocation.workspace and words and not words[0].key and words[0].raw[0] not in "{$'\"":
        raise CommandError(f"A dot joins server and tool: %mcp call {name.raw}.{words[0].raw}")


def read_arguments(tool: Tool, words: Sequence[Word], names: Names) -> dict[str, Any]:
    """Arguments of `key=value` words, by the tool's schema, and of dicts, which hold several. Raises CommandError."""
    properties = properties_of(tool.input_schema)
    several: dict[str, Any] = {}
    arguments: dict[str, Any] = {}
    for at, word in enumerate(words):
        if not word.key:
            held = _several(word, names)
            several |= _stray(tool, words, at) if held is None else held
            continue
        if word.key in arguments:
            raise CommandError(f"{word.key} is given twice.")
        if word.key not in properties and word.operator == "=" and not _is_open(tool):
            raise CommandError(_unknown_argument(tool, word.key, properties))
        try:
            arguments[word.key] = _value(word, properties.get(word.key, {}), names)
        except CommandError:
            _check_commas(words, at)
            raise
    return several | arguments


def _several(word: Word, names: Names) -> dict[str, Any] | None:
    """The arguments that a word holds which has no name: those of a dict, or of a JSON object. Raises CommandError."""
    if word.expression is not None:
        value = as_json(names.evaluate(word.expression))
    else:
        text = names.value_text(word)
        if not text.startswith("{"):
            return None
        try:
            value = from_json(text, allow_inf_nan=False)
        except ValueError:
            return None
    return value if isinstance(value, dict) else None


def _stray(tool: Tool, words: Sequence[Word], at: int) -> NoReturn:
    """Raise CommandError for a word that is no argument, with what was probably meant."""
    properties, word = properties_of(tool.input_schema), words[at]
    start = f"{word.raw!r} is no argument"
    before = words[at - 1] if at else None
    if before is not None and before.operator == "=":
        rest = itertools.takewhile(lambda one: not one.key, words[at:])
        text = " ".join([before.raw.removeprefix(f"{before.key}="), *(one.raw for one in rest)])
        if '"' not in text and "'" not in text and _fits(properties.get(before.key, {}), text):
            raise CommandError(f'{start}. Text with blanks goes in quotes: {before.key}="{text}"')
    given = {one.key for one in words}
    free = [name for name in properties if name not in given]
    if properties and not free and not _is_open(tool):
        raise CommandError(f"{start}: {tool.name} takes {', '.join(properties)}, all of which are given.")
    raise CommandError(
        f"{start}: write {next(iter(free), 'name')}={word.raw}. Text with blanks goes in quotes, Python expressions in "
        "braces; a dict or a JSON object holds several arguments."
    )


def _fits(schema: Any, text: str) -> bool:
    try:
        coerce_text(schema, text)
    except ValueError:
        return False
    return True


_COMMA = re.compile(r",(?=[A-Za-z_][\w.\-]*:?=)")


def _check_commas(words: Sequence[Word], at: int) -> None:
    """Raise CommandError where the value of a word is none because there is a comma before the next argument."""
    without = [_COMMA.sub(" ", word.raw).rstrip(",") for word in words]
    if without[at] != words[at].raw:
        raise CommandError(f"Arguments are separated by blanks, not commas: {' '.join(without)}") from None


def _value(word: Word, schema: Mapping[str, Any], names: Names) -> Any:
    if word.expression is not None:
        return as_json(names.evaluate(word.expression))
    text = names.value_text(word)
    try:
        return coerce_text(schema, text) if word.operator == "=" else from_json(text, allow_inf_nan=False)
    except ValueError as error:
        wanted = str(error) if word.operator == "=" else f"after := comes JSON, and this is none: {error}"
        raise CommandError(f"{word.key}: {wanted.removesuffix('?')}{'?' if wanted.endswith('?') else '.'}") from None


def _is_open(tool: Tool) -> bool:
    """Whether the tool takes arguments that its schema does not name."""
    schema = tool.input_schema
    if not isinstance(schema, dict):
        return True
    more = schema.get("additionalProperties")
    return bool(more) or (more is None and not properties_of(schema)) or "patternProperties" in schema


def _unknown_argument(tool: Tool, key: str, properties: Mapping[str, Any]) -> str:
    missing = hinted(f"{tool.name} has no argument {key!r}", key, properties)
    takes = f"It takes {', '.join(properties)}." if properties else "It takes none."
    return f"{missing} {takes} To send it all the same, write {key}:= and JSON."


def _check_required(tool: Tool, arguments: Mapping[str, Any]) -> None:
    properties = properties_of(tool.input_schema)
    missing = [name for name in required_of(tool.input_schema) if name not in arguments]
    if missing:
        wanted = "; ".join(f"{name}=… ({describe(properties.get(name, {}))})" for name in missing)
        raise CommandError(f"{tool.name} needs {wanted}.")


def changes_told(workspace: Workspace, found: Found) -> str:
    """What has changed about a tool since it was last called; "" where nothing has."""
    changes = workspace.used.changes(found.member.target.where, found.item)
    lines = "\n".join(f"  {change}" for change in changes)
    return f"{one_line(found.item.name)} is not what it was when you last called it:\n{lines}" if changes else ""


def _check_unchanged(workspace: Workspace, found: Found) -> list[Part]:
    """What has changed about a tool, where nobody is there to read it before it is called.

    Raises:
        CommandError: somebody is: they are told, and may call it again.
    """
    told = changes_told(workspace, found)
    if told and workspace.runtime.frontend().kind != "headless":
        workspace.used.used(found.member.target.where, found.item)
        raise CommandError(f"{told}\n  Nothing was called. Run this again to call it as it is now.")
    return [Text(told, "note")] if told else []


def run_call(invocation: Invocation) -> Reply:
    """Make the call, and show it at work."""
    call, workspace = parse_call(invocation), invocation.workspace
    show(_check_unchanged(workspace, call.found))
    handle = call.begin(workspace)
    live = Live(workspace.runtime, background=call.background, actions=CallActions(handle))
    view = CallView(handle, call.typed)
    if call.background:
        return _in_background(workspace, call, handle, view, live)
    return Reply(wait_for(handle, view, live, workspace.runtime, quiet=invocation.used, keep=call.keep))


def _in_background(workspace: Workspace, call: ToolCall, handle: CallHandle, view: CallView, live: Live) -> Reply:
    """Give the handle at once. Where outputs can be changed in place, the call's own shows how it goes on."""
    if live.in_place:
        live.draw(view.working())
        watch(workspace.runtime, handle, view, live, live.place, call.keep)
    return Reply(handle, [Text("_.result() waits for it, _.cancel() stops it.", "note")])


def complete_call(completing: Completing) -> Iterable[str]:
    """Tools; then the arguments of the one that was named, and their values."""
    if not completing.words:
        return completing.names_of("tools")
    found = completing.found("tools")
    return complete_arguments(completing, found.item) if found is not None else ()


def _path(text: str) -> Path:
    return Path(text).expanduser()


CALL = Command(
    name="call",
    usage="[NAME.]TOOL [key=value …]",
    summary="call a tool; x = %mcp call … keeps its result",
    about=(
        "Values are read by the tool's schema. $name and {expression} are Python values, which are passed as they "
        "are: numbers, lists, dicts, dates, dataclasses, data frames. key:= is followed by JSON. Quotes work as in "
        "a shell, and in single quotes everything is text. A dict ($arguments) or a JSON object holds several "
        "arguments, of which key=value replaces some. Under %%mcp call the rest of the cell holds arguments as JSON "
        "or YAML."
    ),
    examples=(
        "%mcp call echo message=hello",
        'x = %mcp call everything.get-sum a=1 b={len("abc")}',
        '%mcp call everything.get-sum {"a": 1, "b": 2}',
        "%mcp call plot points=$frame --save plot.png",
        '%mcp call search filter:={"kind": "book"} --timeout 300',
        "handle = %mcp call --bg crunch n=100",
        "%mcp call --task crunch n=100",
    ),
    options=(
        Option("--task", "have the server carry it out as a task, which goes on there whatever happens here"),
        Option("--keep", "how long the server should keep the task", value="SECONDS", read=seconds),
        Option("--bg", "give a CallHandle at once, and let the call go on in the background"),
        Option("--timeout", "give up after so many seconds without a sign of life", value="SECONDS", read=seconds),
        Option("--save", "write what it gives to a file", value="PATH", read=_path),
    ),
    run=run_call,
    complete=complete_call,
    body="maybe",
)
