"""Asking in lines of text: a question is printed, `input()` reads the answers. Runs in the main thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import indent
from typing import Any, Literal

from ..client.urls import ExaminedUrl
from ..limits import DISPLAY_LIMITS
from ..render.letters import excerpt, legible, line
from ..transports.command import Command
from ..types import ElicitParams, ElicitResult
from ..visible import visible
from .forms import NOTHING, Field, Form
from .forms.choices import title_of
from .prompter import WARNING, Decision, around_host, circumstances

Ask = Callable[[str], str]
"""Reads a line: `input`."""
Say = Callable[[str], None]
"""Shows lines: `print`."""

_CONSENT = {
    "": Decision.REFUSED,
    "n": Decision.REFUSED,
    "no": Decision.REFUSED,
    "o": Decision.ONCE,
    "once": Decision.ONCE,
    "y": Decision.ONCE,
    "yes": Decision.ONCE,
    "r": Decision.REMEMBER,
    "remember": Decision.REMEMBER,
}


def ask_consent(command: Command, ask: Ask, say: Say) -> Decision:
    """Show a command, untruncated, and ask whether it may start (CON-1, CON-2). Enter alone is no."""
    say(f"● Start this program on your computer?\n\n    {command}\n\n  {circumstances(command)}\n  {WARNING}")
    while (decision := _CONSENT.get(ask("Start [o]nce, start and [r]emember, or [n]o (n): ").strip().lower())) is None:
        say("  Type o for once, r to remember it for this command, or n for no.")
    return decision


_VISIT: dict[str, Literal["accept", "decline", "cancel"]] = {
    "a": "accept",
    "agree": "accept",
    "d": "decline",
    "decline": "decline",
    "": "cancel",
    "n": "cancel",
    "not now": "cancel",
}


def ask_visit(server: str, message: str, url: ExaminedUrl, ask: Ask, say: Say) -> ElicitResult:
    """Show a URL whole, its host apart, and ask whether it may be opened (URL-5). Enter alone is "not now"."""
    before, host, after = map(visible, around_host(url))
    warnings = "".join(f"  Careful: {warning}\n" for warning in url.warnings)
    say(
        f"● {line(server)} wants you to open a page in your browser:\n{_foreign(message)}\n\n"
        f"    {before}{host}{after}\n\n  host: {url.host}\n{warnings}"
        "  Nothing is opened here: copy it into your browser, if you trust it."
    )
    while (
        action := _VISIT.get(ask("[a]gree and open it yourself, [d]ecline, or [n]ot now (n): ").strip().lower())
    ) is None:
        say("  Type a to agree, d to decline, or n for not now.")
    return ElicitResult(action=action)


class _Left(Exception):
    """The person left the form."""

    def __init__(self, action: Literal["decline", "cancel"]) -> None:
        self.action: Literal["decline", "cancel"] = action


class TextForm:
    """A server's question as a conversation.

    Args:
        server: what the server is called.
        params: the question.
        ask: reads a line.
        say: shows lines.
        values: what is given already.
        tool: the tool whose arguments these are, where nobody asks for them but the person.
    """

    def __init__(
        self,
        server: str,
        params: ElicitParams,
        ask: Ask,
        say: Say,
        values: Mapping[str, Any] | None = None,
        tool: str = "",
    ) -> None:
        self._tool = line(tool)
        self._given = dict(values or {})
        self._server = line(server)
        self._message = params.message
        self._form = Form(params.requested_schema)
        self._ask = ask
        self._say = say

    def run(self) -> ElicitResult:
        """Ask until there is an answer that fits."""
        self._introduce()
        try:
            values = self._filled(self._form.defaults() | self._given)
            # A single field is sent at once: what would be shown again stands right above.
            while len(self._form.fields) != 1 and self._wants_to_edit(values):
                values = self._filled(values)
        except _Left as left:
            done = "Nothing was called." if self._tool else "Declined." if left.action == "decline" else "Cancelled."
            self._say(f"  {done}")
            return ElicitResult(action=left.action)
        if not self._tool:
            self._say(f"  Sent to {self._server}.")
        return ElicitResult(action="accept", content=values)

    def _introduce(self) -> None:
        if self._tool:
            self._say(f"● arguments of {self._tool} on {self._server}")
            if self._message:
                self._say(_foreign(self._message))
        else:
            self._say(f"● {self._server} asks:\n{_foreign(self._message)}")
        if self._form.fields:
            self._say("  Enter alone takes the value in [brackets], or leaves out what is optional.")
        if self._tool:
            self._say("  !cancel ends this, and nothing is called.")
            return
        self._say(f"  !decline or !cancel ends this. Give no passwords or keys: {self._server} sees what you write.")

    def _filled(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for each field, and again for all while they do not fit together."""
        while True:
            answers = {field.name: self._value(field, values.get(field.name, NOTHING)) for field in self._form.fields}
            unasked = {name: value for name, value in values.items() if name not in answers}
            values = {name: value for name, value in answers.items() if value is not NOTHING} | unasked
            problems = self._form.errors(values)
            if not problems:
                return values
            self._say("\n".join(f"  {problem}" for problem in problems))

    def _value(self, field: Field, present: Any) -> Any:
        self._describe(field)
        bracket = "" if present is NOTHING else f" [{line(field.show(present))}]"
        if bracket and not field.required:
            self._say("  !skip leaves it out.")
        while True:
            text = self._read(f"{line(field.title)}{bracket}: ")
            if text == "!skip" or (text == "" and present is NOTHING):
                if not field.required:
                    return NOTHING
                self._say(f"  This is needed: {line(field.expected)}.")
            elif text == "":
                return present
            else:
                try:
                    return field.read(text)
                except ValueError as error:
                    self._say(f"  {error}.")

    def _describe(self, field: Field) -> None:
        about = "required" if field.required else "optional"
        choices = (field.choices if field.type != "boolean" else None) or ()
        expected = f"{field.how_many or 'any'} of these, separated by commas" if field.many else "one of these"
        lines = [f"\n{line(field.title)} ({about}): {expected if choices else line(field.expected)}"]
        if field.description:
            lines.append(_foreign(field.description))
        shown = choices[: DISPLAY_LIMITS.rows]
        for number, choice in enumerate(shown, 1):
            value = "" if choice.title == title_of(choice.value) else f" ({line(title_of(choice.value))})"
            lines.append(f"  {f'{number:>3} ' if field.numbered else '  '}{line(choice.title)}{value}")
        if more := len(choices) - len(shown):
            lines.append(f"  … {more:,} more, which can be given too")
        if field.misfit:
            lines.append(f"  (not used: the server's default {field.misfit})")
        self._say("\n".join(lines))

    def _wants_to_edit(self, values: Mapping[str, Any]) -> bool:
        """Show what would be sent, and ask what to do with it."""
        for field in self._form.fields:
            self._say(f"  {line(field.title)}: {line(field.show(values.get(field.name, NOTHING)))}")
        edit = "[e]dit, " if self._form.fields else ""
        send, decline = (f"[r]un {self._tool}", "") if self._tool else (f"[s]end to {self._server}", "[d]ecline, ")
        while True:
            match self._read(f"{send}, {edit}{decline}[c]ancel: ").strip().lower():
                case "r" | "run" if self._tool:
                    return False
                case "s" | "send" if not self._tool:
                    return False
                case "e" | "edit" if self._form.fields:
                    return True
                case "d" | "decline" if not self._tool:
                    raise _Left("decline")
                case "c" | "cancel":
                    raise _Left("cancel")
            self._say("  Type one of the letters in brackets.")

    def _read(self, prompt: str) -> str:
        text = self._ask(prompt)
        match text.strip().lower():
            case "!decline":
                raise _Left("decline")
            case "!cancel":
                raise _Left("cancel")
            case "!skip":
                return "!skip"
        return text


def _foreign(text: str) -> str:
    """The server's words with a bar before each line, so that none can pass for ours."""
    return indent(excerpt(legible(text), DISPLAY_LIMITS.text), "  │ ", lambda _: True)
