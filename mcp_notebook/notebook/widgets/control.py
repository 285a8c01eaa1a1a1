"""What every control of a form is: it shows an entry, puts in what a person does, and says what is wrong beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ipywidgets import Widget

from ...render.html import Html, h
from ...render.letters import excerpt, line
from ..forms import Entry, Field
from .kit import Kit, close_all, say
from .long_text import readable

E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class Desk:
    """What the controls of one form have in common.

    Attributes:
        kit: makes their widgets.
        changed: to be called when a person changed something.
        submit: to be called when they pressed Enter.
    """

    kit: Kit
    changed: Callable[[], None]
    submit: Callable[[], None]


class Control(Generic[E]):
    """Shows an entry, and puts in what a person does.

    Args:
        entry: the entry.
        desk: what it has in common with others.

    Attributes:
        widget: what is shown.
        note: what fits, or what is wrong.
    """

    def __init__(self, entry: E, desk: Desk) -> None:
        self.entry = entry
        self.desk = desk
        self.kit = desk.kit
        self.note = self.kit.html(None, "mcp-note")
        self._refreshing = False
        self.widget = self.kit.column((), "mcp-field")

    def show(self, first: Widget, *more: Widget) -> None:
        """Show widgets: what is wrong stands right below them, and the server's words below the first one."""
        between, below = (self._about(), ()) if more else ((), self._about())
        self.widget.children = (first, *between, *more, self.note, *below)

    def refresh(self) -> None:
        """Show how the entry stands now."""
        self._refreshing = True
        try:
            self.update()
        finally:
            self._refreshing = False
        say(self.note, _note(self.entry.problem, self.hint))

    def update(self) -> None:
        """Show the entry's value."""

    @property
    def hint(self) -> str:
        """What fits, where that does not go without saying."""
        return ""

    @property
    def place(self) -> Any:
        """The widget that takes the cursor."""
        return self.widget.children[0]

    def focus(self) -> None:
        """Put the cursor here."""
        self.place.focus()

    def focus_wrong(self) -> bool:
        """Put the cursor where something is wrong; tell whether something is."""
        if self.entry.problem:
            self.place.focus()
        return bool(self.entry.problem)

    def touched(self) -> None:
        """The person did something here."""
        self.entry.touched = True
        self.desk.changed()

    def observe(self, widget: Widget, act: Callable[[Any], None]) -> None:
        """Have something done with each value that a person gives a widget."""

        def heard(change: Any) -> None:
            if not self._refreshing:
                act(change["new"])

        widget.observe(heard, "value")

    def close(self) -> None:
        """Close its widgets."""
        close_all(self.widget)

    def _about(self) -> Sequence[Widget]:
        field = self.entry.field
        misfit = f"not used: the server’s default {field.misfit}" if field.misfit else ""
        return [
            *readable(self.kit, field.description, "mcp-about"),
            *([self.kit.html(h("div", misfit, cls="mcp-about"))] if misfit else []),
        ]


def label(field: Field) -> dict[str, str]:
    """The traits by which a widget is called what its field is called.

    A variant stands right below the choice that names it; its name is there for those who cannot see that.
    """
    return (
        {"description": "", "tooltip": line(field.title)}
        if field.role == "variant"
        else {"description": line(field.title)}
    )


def look(field: Field) -> str:
    """The class of what has a star behind its name, since the person has to give it."""
    return "mcp-needed" if field.required and field.role == "property" else "mcp-free"


def option(field: Field) -> str:
    """What stands where nothing is chosen."""
    return "choose…" if field.required else "not set"


def _note(problem: str, hint: str) -> Html | None:
    if problem:
        return h("div", excerpt(problem), cls="mcp-bad", role="alert")
    return h("div", excerpt(hint), cls="mcp-mute") if hint else None
