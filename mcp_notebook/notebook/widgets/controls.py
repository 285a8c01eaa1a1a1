"""Controls for values that are given whole: typed, picked, chosen, searched for."""

from __future__ import annotations

import datetime
from typing import Any

from ipywidgets import Button, Checkbox, Combobox, DatePicker, Dropdown, Text, Textarea, Widget

from ...limits import DISPLAY_LIMITS
from ...render.html import h
from ...render.letters import hides, legible, line, one_line
from ..forms import NOTHING, Field, Leaf
from .control import Control, Desk, label, look, option
from .kit import close_all
from .long_text import shortened

SUGGESTIONS = 50
"""How many values are suggested to somebody who searches."""
_LONG = 200


class LineControl(Control[Leaf]):
    """Typed text: one line; several where it may be long; only to be read, or replaced, where it is very long."""

    def __init__(self, entry: Leaf, desk: Desk) -> None:
        super().__init__(entry, desk)
        self._input: Text | Textarea | None = None
        self._kind: type[Widget] | None = None

    def update(self) -> None:
        text = self.entry.text
        if (kind := self._fitting(text)) is not self._kind:
            self._kind = kind
            for widget in self.widget.children:
                if widget is not self.note:
                    close_all(widget)
            self.show(self._make(kind, text))
        elif self._input is not None:
            if self._input.value != text:
                self._input.value = text
            self._input.placeholder = self._placeholder()

    @property
    def hint(self) -> str:
        if len(text := self.entry.text) <= DISPLAY_LIMITS.text and hides(text):
            return f"with what cannot be seen: {one_line(legible(text))}"
        expected = self.entry.field.expected
        return "" if expected == "text" else f"{expected}, as JSON" if self.entry.field.kind == "json" else expected

    def _fitting(self, text: str) -> type[Widget]:
        if len(text) > DISPLAY_LIMITS.text:
            return Button
        field = self.entry.field
        longest = field.schema.get("maxLength")
        several = field.kind == "json" or "\n" in text or (isinstance(longest, int) and longest > _LONG)
        return Textarea if several and not field.format else Text

    def _make(self, kind: type[Widget], text: str) -> Widget:
        field = self.entry.field
        if kind is Button:
            self._input = None
            replace = self.kit.make(Button, "mcp-link", description="Write something else")
            replace.on_click(lambda _: self._typed(""))
            head = self.kit.html(h("div", line(field.title)), "mcp-label", look(field))
            return self.kit.column([head, shortened(self.kit, text), replace], "mcp-wide")
        made: Any = self.kit.make(
            kind,
            "mcp-input",
            look(field),
            *(("mcp-mono",) if field.kind == "json" else ()),
            **label(field),
            value=text,
            placeholder=self._placeholder(),
        )
        self.observe(made, self._typed)
        if kind is Text:
            made.on_msg(lambda _, content, __: self.desk.submit() if content.get("event") == "submit" else None)
        self._input = made
        return made

    def _placeholder(self) -> str:
        value = self.entry.value
        return "null" if value is None else "empty text" if value == "" else ""

    def _typed(self, text: str) -> None:
        self.entry.type(text)
        self.desk.changed()


class FixedControl(Control[Leaf]):
    """What can only be one value."""

    def __init__(self, entry: Leaf, desk: Desk) -> None:
        super().__init__(entry, desk)
        if entry.field.role != "variant":
            head = self.kit.html(h("div", line(entry.field.title)), "mcp-label", look(entry.field))
            self.show(self.kit.row([head, self.kit.html(h("div", entry.field.show(entry.value)))], "mcp-split"))


class DateControl(Control[Leaf]):
    """A day. It is kept as three numbers all the way, so no time zone can shift it."""

    def __init__(self, entry: Leaf, desk: Desk) -> None:
        super().__init__(entry, desk)
        self._input = self.kit.make(DatePicker, "mcp-input", look(entry.field), **label(entry.field), value=self._date)
        self.observe(self._input, self._picked)
        self.show(self._input)

    def update(self) -> None:
        if self._input.value != self._date:
            self._input.value = self._date

    @property
    def _date(self) -> datetime.date | None:
        try:
            return datetime.date.fromisoformat(self.entry.value)
        except (TypeError, ValueError):
            return None

    def _picked(self, date: datetime.date | None) -> None:
        self.entry.put(NOTHING if date is None else date.isoformat())
        self.touched()


class ChoiceControl(Control[Leaf]):
    """One of a few values."""

    def __init__(self, entry: Leaf, desk: Desk) -> None:
        super().__init__(entry, desk)
        field = entry.field
        labels = field.choices.labels if field.choices else []
        options = [(option(field), -1), *((text, at) for at, text in enumerate(labels))]
        self._input = self.kit.make(
            Dropdown, "mcp-input", look(field), **label(field), options=options, value=self._index
        )
        self.observe(self._input, self._chosen)
        self.show(self._input)

    def update(self) -> None:
        if self._input.value != self._index:
            self._input.value = self._index

    @property
    def _index(self) -> int:
        return -1 if self.entry.index is None else self.entry.index

    def _chosen(self, at: int) -> None:
        choices = self.entry.field.choices
        self.entry.put(choices[at].value if choices and at >= 0 else NOTHING)
        self.touched()


class SearchControl(Control[Leaf]):
    """One of very many values: what contains the typed letters is suggested."""

    def __init__(self, entry: Leaf, desk: Desk) -> None:
        super().__init__(entry, desk)
        self._input = search_box(self, self._typed)
        self.show(self._input)

    def update(self) -> None:
        if self._input.value != self.entry.text:
            self._input.value = self.entry.text
            suggest(self, self._input, self.entry.text)

    def _typed(self, text: str) -> None:
        self.entry.type(text)
        suggest(self, self._input, text)
        self.desk.changed()


class BoxesControl(Control[Leaf]):
    """Some of a few values: a check box for each."""

    def __init__(self, entry: Leaf, desk: Desk) -> None:
        super().__init__(entry, desk)
        choices = entry.field.choices
        self._boxes = [
            self.kit.make(Checkbox, "mcp-box", description=text, indent=False)
            for text in (choices.labels if choices else ())
        ]
        for box in self._boxes:
            self.observe(box, lambda _: self._ticked())
        head = self.kit.html(h("div", line(entry.field.title)), "mcp-label", look(entry.field))
        self.show(self.kit.row([head, self.kit.row(self._boxes, "mcp-boxes")], "mcp-split"))

    def update(self) -> None:
        values = chosen(self.entry)
        for box, choice in zip(self._boxes, self.entry.field.choices or (), strict=True):
            ticked = any(value == choice.value and type(value) is type(choice.value) for value in values)
            if box.value != ticked:
                box.value = ticked

    @property
    def hint(self) -> str:
        return how_many(self.entry.field)

    @property
    def place(self) -> Any:
        return self._boxes[0]

    def _ticked(self) -> None:
        choices = self.entry.field.choices or ()
        self.entry.put([choice.value for box, choice in zip(self._boxes, choices, strict=True) if box.value])
        self.touched()


class PicksControl(Control[Leaf]):
    """Some of very many values: they are searched for, and added one by one."""

    def __init__(self, entry: Leaf, desk: Desk) -> None:
        super().__init__(entry, desk)
        self._input = search_box(self, self._typed)
        self._picked = self.kit.row((), "mcp-picks")
        self._shown: list[Any] | None = None
        self.show(self._input, self._picked)

    def update(self) -> None:
        values = chosen(self.entry)
        if values == self._shown:
            return
        self._shown = list(values)
        old, self._picked.children = self._picked.children, tuple(map(self._pick, values))
        for widget in old:
            widget.close()

    @property
    def hint(self) -> str:
        return how_many(self.entry.field)

    def _pick(self, value: Any) -> Widget:
        field = self.entry.field
        at = field.choices.index(value) if field.choices and not field.strange([value]) else None
        text = field.show(value) if at is None or not field.choices else field.choices.labels[at]
        made = self.kit.make(Button, "mcp-pick", description=f"{text} ×", tooltip=f"Take away {text}")
        made.on_click(lambda _: self._put([one for one in chosen(self.entry) if one != value]))
        return made

    def _typed(self, text: str) -> None:
        choices = self.entry.field.choices
        found = choices.labelled(text) if choices else None
        if found is not None:
            values = chosen(self.entry)
            self._put(values if found.value in values else [*values, found.value])
            self._input.value = ""
        suggest(self, self._input, self._input.value)

    def _put(self, values: list[Any]) -> None:
        self.entry.put(values)
        self.touched()


def chosen(entry: Leaf) -> list[Any]:
    """Which values are chosen, where it is several."""
    return entry.value if isinstance(entry.value, list) else []


def how_many(field: Field) -> str:
    """How many may be given, in words; "" where it is any number."""
    return f"{field.how_many} of them" if field.how_many else ""


def search_box(control: Control[Leaf], act: Any) -> Combobox:
    """A line in which one of very many values is searched for."""
    made = control.kit.make(
        Combobox,
        "mcp-input",
        look(control.entry.field),
        **label(control.entry.field),
        value=control.entry.text if control.entry.field.kind == "choice" else "",
        placeholder=f"search {len(control.entry.field.choices or ()):,} values",
    )
    suggest(control, made, made.value)
    control.observe(made, act)
    made.on_msg(lambda _, content, __: control.desk.submit() if content.get("event") == "submit" else None)
    return made


def suggest(control: Control[Leaf], box: Combobox, text: str) -> None:
    """Suggest the values that contain what was typed."""
    choices = control.entry.field.choices
    box.options = tuple(choices.search(text, SUGGESTIONS)) if choices else ()


def leaf_control(entry: Leaf, desk: Desk) -> Control[Any]:
    """The control for a value that is given whole."""
    field = entry.field
    count = len(field.choices or ())
    if field.fixed and field.choices:
        kind = FixedControl
    elif field.kind == "choice":
        kind = ChoiceControl if count <= DISPLAY_LIMITS.choices else SearchControl
    elif field.kind == "many":
        kind = BoxesControl if count <= DISPLAY_LIMITS.boxes else PicksControl
    else:
        kind = DateControl if field.format == "date" else LineControl
    return kind(entry, desk)
