"""A form as widgets: its fields, and the same as JSON to copy from and paste into. It can stand in any card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ipywidgets import Button, Textarea, VBox

from ...limits import DISPLAY_LIMITS
from ...render.html import h
from ...render.letters import size
from ...render.style import ROOT
from ..forms import Form
from .containers import control_of
from .control import Desk
from .kit import Kit, close_all, say
from .settling import Settling
from .style import FORM


class FormView(VBox):
    """Shows a form, and puts in what a person does.

    Args:
        form: the form.

    Attributes:
        json: the button that shows the form as JSON; whoever holds the view places it.
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        self._kit = Kit()
        self._heard: list[Callable[[], None]] = []
        self._submitted: list[Callable[[], None]] = []
        self._settling = Settling(self._submit)
        desk = Desk(self._kit, self._changed, self.submit)
        self._root = control_of(form.root, desk)
        self._problems = self._kit.html(None, "mcp-note")
        self.json = self._kit.make(
            Button, "mcp-link", description=_CLOSED, tooltip="The same as JSON, to copy or paste"
        )
        self.json.on_click(lambda _: self._turn_json())
        self._text = self._kit.make(Textarea, "mcp-json", tooltip="The form as JSON")
        self._text.observe(self._pasted, "value")
        self._wrong = self._kit.html(None, "mcp-note")
        self._sheet = self._kit.column([self._text, self._wrong], "mcp-sheet")
        self._writing = False
        self._open = False
        self._styles = self._kit.html(FORM)
        self._always = (self._styles, self._root.widget, self._problems)
        super().__init__(self._always)
        for name in (ROOT, "mcp-form"):
            self.add_class(name)
        self.refresh()

    @property
    def value(self) -> dict[str, Any]:
        """What would be sent."""
        return self.form.value

    def on_submit(self, callback: Callable[[], None]) -> None:
        """Have something called when the person sends the form, and all in it is well."""
        self._submitted.append(callback)

    def on_change(self, callback: Callable[[], None]) -> None:
        """Have something called whenever something else is put in."""
        self._heard.append(callback)

    def submit(self) -> None:
        """The person wants to send it. What they typed last may still be on its way, so that is waited for."""
        self._settling.begin()

    def focus(self) -> None:
        """Put the cursor into the first field."""
        self._root.focus()

    def refresh(self) -> None:
        """Show how the form stands now. May be called from any thread."""
        self._root.refresh()
        problems = [h("div", problem, cls="mcp-bad", role="alert") for problem in self.form.problems]
        say(self._problems, h("div", problems) if problems else None)
        if self._open:
            self._write()

    def close(self) -> None:
        """Close it, and all widgets in it."""
        self._settling.close()
        self._root.close()
        for widget in (self._sheet, self._styles, self._problems, self.json):
            close_all(widget)
        self._kit.close()
        self.layout.close()
        super().close()

    def _changed(self) -> None:
        self.form.check()
        self.refresh()
        for callback in self._heard:
            callback()

    def _submit(self) -> None:
        if self.form.attempt():
            for callback in self._submitted:
                callback()
        else:
            self.refresh()
            self._root.focus_wrong()

    # As JSON

    def _turn_json(self) -> None:
        self._open = not self._open
        self.json.description = _OPENED if self._open else _CLOSED
        if self._open:
            self._write()
            self.children = (*self._always, self._sheet)
        else:
            self.children = self._always

    def _write(self) -> None:
        text = self.form.written
        long = len(text) > DISPLAY_LIMITS.text
        self._writing = True
        try:
            self._text.value = "" if long else text
            self._text.disabled = long
        finally:
            self._writing = False
        say(self._wrong, h("div", f"{size(len(text))}: too long to be edited here", cls="mcp-mute") if long else None)

    def _pasted(self, change: Any) -> None:
        if self._writing:
            return
        try:
            self.form.paste(change["new"])
        except ValueError as error:
            say(self._wrong, h("div", str(error), cls="mcp-bad", role="alert"))
            return
        for entry in self.form.root.walk():
            entry.touched = True
        self.form.check()
        self._open = False  # what a person is writing is not rewritten
        self.refresh()
        self._open = True
        say(self._wrong, None)
        for callback in self._heard:
            callback()


_CLOSED = "▸ as JSON"
_OPENED = "▾ as JSON"
