"""The card in which a tool's arguments are filled in, from which it is called, and below which the result appears."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from IPython.display import DisplayHandle
from ipywidgets import Button, Widget

from ...client import CallHandle, ToolResult
from ...errors import MCPError
from ...render import mimebundle, parts_of
from ...render.as_html import write_all
from ...render.html import h
from ...render.letters import line
from ...render.parts import Part
from ...types import Tool
from ..actions import Choice
from ..background import watch
from ..call_view import CallView
from ..forms import Form
from ..host import no_longer_in
from ..places import Place
from ..runtime import Runtime
from ..shown_arguments import shown_arguments, without_secrets
from ..told import Told
from ..written import as_magic, as_python, as_words
from .card import Card, button, classed
from .form import FormView
from .keys import SEND, keys
from .kit import Kit, say
from .long_text import readable

_RUN = Choice("Run", "Call the tool with this", "primary")
_STOP = Choice("Cancel call", "The server is told to stop")
_CLOSE = Choice("Close", "Take the form away; results stay")


class ToolForm(Card):
    """A form for a tool's arguments.

    Args:
        runtime: where calls go on; what they ask is asked in this card.
        server: whose tool it is.
        tool: the tool.
        form: what is put in.
        notes: what else there is to say about it.
        begin: begins a call.
    """

    def __init__(
        self,
        runtime: Runtime,
        server: str,
        tool: Tool,
        form: Form,
        notes: Sequence[Part],
        begin: Callable[[dict[str, Any]], CallHandle],
    ) -> None:
        self._runtime, self._server, self._tool, self._begin = runtime, server, tool, begin
        self._call: CallHandle | None = None
        self._below: _Below = _OutputBelow()
        self.view = FormView(form)
        self.view.on_submit(self._run)
        self.view.on_change(self._write)
        self.buttons = {
            choice.label: button(choice, act)
            for choice, act in ((_RUN, self.view.submit), (_STOP, self._stop), (_CLOSE, self._leave_it))
        }
        classed(self.buttons["Run"], SEND)
        self._kit = Kit()
        self._code = self._kit.html(None, "mcp-code-sheet")
        self._turn = self._kit.make(Button, "mcp-link", description=_CLOSED, tooltip="The same call, to copy")
        self._turn.on_click(lambda _: self._show_code())
        self._shown = False
        parts: list[Widget] = [
            *([self._kit.html(h("div", write_all(notes)))] if notes else []),
            *readable(self._kit, tool.description or "", "mcp-message"),
            self.view,
        ]
        aside = self._kit.row([self._turn, self.view.json], "mcp-aside")
        self._rows = [self.buttons["Run"], self.buttons["Close"], aside]
        self._questions = self._kit.column(())
        self._keys = keys()
        super().__init__(
            "",
            "",
            None,
            self._rows,
            self._kit.column(parts, "mcp-body"),
            self._questions,
            self._code,
            self._keys,
            name=line(tool.name),
            about=f"on {line(server)}",
        )

    def show(self) -> None:
        """Display it in the cell that runs, and below it a place for results. Call it in the main thread."""
        self.present(f"● a form for {line(self._tool.name)}: run the cell again to fill it in")
        self._below.draw([])

    async def stand_in(self, place: Place) -> None:
        """Show it in another card, with results below it there."""
        self._below = below = _SheetBelow(self._kit)
        self.children = (*self.children, below.sheet)
        self.take_focus()
        await super().stand_in(place)

    @property
    def busy(self) -> bool:
        """Whether a call is at work."""
        return self._call is not None

    @property
    def call(self) -> CallHandle | None:
        """The call that is at work."""
        return self._call

    @property
    def shown(self) -> Sequence[Part]:
        """What is to be seen of its last call."""
        return self._below.parts

    def focus(self) -> None:
        """Put the cursor into its first field."""
        self.view.focus()

    def abandon(self) -> None:
        """Take it away; a call goes on without it, and what that asked here is asked elsewhere."""
        no_longer_in(self._runtime, self)
        self.withdraw()
        self._close()

    # As a place for the call's questions

    async def hold(self, widget: Any) -> None:
        self._questions.children = (*self._questions.children, widget)

    def release(self, widget: Any, parts: Sequence[Part]) -> None:
        self._questions.children = tuple(child for child in self._questions.children if child is not widget)
        self._below.told.add(parts)

    def withdraw(self) -> None:
        for card in self._questions.children:
            card.withdraw()

    # Within

    def _run(self) -> None:
        if self._call is not None:
            return
        arguments = self.view.value
        try:
            call = self._call = self._begin(arguments)
        except MCPError as error:
            self._below.finish(parts_of(error))
            return
        self._row.children = [self.buttons[_STOP.label], *self._rows[1:]]
        self._below.told = Told()
        view = CallView(call, as_words(self._tool, without_secrets(shown_arguments(call))))
        watch(self._runtime, call, view, self._below, self, self._blame).add_done_callback(lambda _: self._ready())

    def _ready(self) -> None:
        self._call = None
        self._row.children = self._rows

    def _blame(self, result: ToolResult) -> str:
        """Show a tool's error beside the fields that it names (VAL-3)."""
        if result.is_error and self.view.form.blame(result.text):
            self.view.refresh()
        return ""

    def _stop(self) -> None:
        if self._call is not None:
            self._call.cancel()

    def _leave_it(self) -> None:
        self._stop()
        self.leave_parts([])

    def _close(self) -> None:
        self._row.children = [*self.buttons.values(), *self._rows[2:]]  # also what is not shown at the moment
        super()._close()
        self._kit.close()

    def _show_code(self) -> None:
        self._shown = not self._shown
        self._turn.description = _OPENED if self._shown else _CLOSED
        self._write()

    def _write(self) -> None:
        arguments = self.view.value
        code = [as_magic(self._server, self._tool, arguments), as_python(self._server, self._tool, arguments)]
        say(self._code, h("div", [h("pre", text, cls="mcp-text mcp-code") for text in code]) if self._shown else None)


class _Below:
    """What is below the form: its calls appear there, the last one."""

    def __init__(self) -> None:
        self.told = Told()
        self.parts: Sequence[Part] = ()

    def draw(self, parts: Sequence[Part]) -> bool:
        self.parts = [*parts, *self.told]
        self.show()
        return True

    def finish(self, parts: Sequence[Part]) -> None:
        self.draw(parts)

    def show(self) -> None:
        raise NotImplementedError


class _OutputBelow(_Below):
    """An output of the form's cell."""

    def __init__(self) -> None:
        super().__init__()
        self._handle = DisplayHandle()
        self._begun = False

    def show(self) -> None:
        if self._begun:
            self._handle.update(mimebundle(self.parts), raw=True)
        else:
            self._handle.display({"text/plain": ""}, raw=True)
        self._begun = True


class _SheetBelow(_Below):
    """A part of the card that the form stands in."""

    def __init__(self, kit: Kit) -> None:
        super().__init__()
        self.sheet = kit.html()

    def show(self) -> None:
        say(self.sheet, h("div", write_all(self.parts)))


_CLOSED, _OPENED = "▸ as code", "▾ as code"
