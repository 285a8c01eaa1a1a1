"""Controls for what has parts: objects, lists, and a choice of variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ipywidgets import Box, Button, Dropdown, Widget

from ...render.html import h
from ...render.letters import line
from ..forms import NOTHING, Entry, Group, Leaf, List, Union
from .control import Control, Desk, E, label, look, option
from .controls import how_many, leaf_control
from .kit import close_all


class Container(Control[E]):
    """Shows the parts of an entry, each by a control of its own, which is made when the part comes to be."""

    def __init__(self, entry: E, desk: Desk) -> None:
        super().__init__(entry, desk)
        self._controls: dict[Entry, Control[Any]] = {}
        self._rows: dict[Entry, Widget] = {}
        self._inside: Box = self.kit.column((), "mcp-all" if entry.field.plain else "mcp-inside")

    def update(self) -> None:
        parts = list(self.entry.parts)
        for gone in [part for part in self._controls if part not in parts]:
            self._controls.pop(gone).close()
            close_all(self._rows.pop(gone))
        for part in parts:
            if part not in self._controls:
                self._controls[part] = control_of(part, self.desk)
                self._rows[part] = self.row(part, self._controls[part].widget)
            self._controls[part].refresh()
        rows = tuple(self._rows[part] for part in parts)
        if rows != self._inside.children:
            self._inside.children = rows

    def row(self, part: Entry, widget: Widget) -> Widget:
        """How a part is shown."""
        return widget

    def close(self) -> None:
        for control in self._controls.values():
            control.close()
        super().close()

    def focus_wrong(self) -> bool:
        return any(control.focus_wrong() for control in self._controls.values()) or super().focus_wrong()

    def button(self, text: str, act: Callable[[], None], what: str = "") -> Button:
        """A small button. `what` is added for those who cannot see beside what it stands."""
        made = self.kit.make(Button, "mcp-small", description=text, tooltip=f"{text} {what or line(self._name)}")
        made.on_click(lambda _: act())
        return made

    def head(self, *buttons: Widget) -> Box:
        """The field's name, and what can be done with it."""
        field = self.entry.field
        return self.kit.row(
            [self.kit.html(h("div", line(field.title)), "mcp-label", look(field)), *buttons], "mcp-split"
        )

    @property
    def _name(self) -> str:
        return self.entry.field.title


class GroupControl(Container[Group]):
    """An object. One that is optional is added first."""

    def __init__(self, entry: Group, desk: Desk) -> None:
        super().__init__(entry, desk)
        self._head: Box | None = None
        self._button = self.button("Add", self._turn)
        if entry.field.plain:
            self.show(self._inside)
        else:
            self._head = self.head()
            self.show(self._head, self._inside)

    def update(self) -> None:
        super().update()
        if self._head is not None:
            text = "Remove" if self.entry.open else "Add"
            self._button.description, self._button.tooltip = text, f"{text} {line(self._name)}"
            stays = self.entry.field.required and self.entry.open
            children = self._head.children[:1] if stays else (self._head.children[0], self._button)
            if self._head.children != children:
                self._head.children = children

    @property
    def hint(self) -> str:
        more = self.entry.field.unnamed
        return f"{more:,} more, which can be given as JSON" if more and self.entry.open else ""

    @property
    def place(self) -> Any:
        return self._button

    def focus(self) -> None:
        first = next(iter(self._controls.values()), None)
        if first is not None:
            first.focus()
        elif self._head is not None:
            super().focus()

    def focus_wrong(self) -> bool:
        inside = any(control.focus_wrong() for control in self._controls.values())
        return inside or (self._head is not None and super().focus_wrong())

    def close(self) -> None:
        super().close()
        self._button.close()

    def _turn(self) -> None:
        if self.entry.open:
            self.entry.put(NOTHING)
        else:
            self.entry.fill()
        self.touched()


class ListControl(Container[List]):
    """A list, whose items are added and taken away."""

    def __init__(self, entry: List, desk: Desk) -> None:
        super().__init__(entry, desk)
        self._add = self.button("Add", self._more)
        self.show(self.head(self._add), self._inside)

    def row(self, part: Entry, widget: Widget) -> Widget:
        remove = self.button("Remove", lambda: self._less(part), f"this item of {line(self._name)}")
        return self.kit.row([widget, remove], "mcp-item")

    @property
    def hint(self) -> str:
        return how_many(self.entry.field) if self.entry.items is not None else ""

    @property
    def place(self) -> Any:
        return self._add

    def _more(self) -> None:
        self.entry.add()
        self.touched()

    def _less(self, part: Entry) -> None:
        self.entry.remove(part)
        self.touched()


class UnionControl(Container[Union]):
    """One of several variants: first which, then what."""

    def __init__(self, entry: Union, desk: Desk) -> None:
        super().__init__(entry, desk)
        field = entry.field
        options = [(option(field), -1), *((line(variant.title), at) for at, variant in enumerate(field.variants))]
        self._which = self.kit.make(Dropdown, "mcp-input", look(field), **label(field), options=options, value=self._at)
        self.observe(self._which, self._choose)
        self.show(self._which, self._inside)

    def update(self) -> None:
        super().update()
        if self._which.value != self._at:
            self._which.value = self._at

    @property
    def _at(self) -> int:
        return -1 if self.entry.at is None else self.entry.at

    def _choose(self, at: int) -> None:
        self.entry.choose(None if at < 0 else at)
        self.desk.changed()


def control_of(entry: Entry, desk: Desk) -> Control[Any]:
    """The control for an entry."""
    if isinstance(entry, Leaf):
        return leaf_control(entry, desk)
    return _CONTAINERS[type(entry)](entry, desk)


_CONTAINERS: dict[type[Entry], Callable[[Any, Desk], Control[Any]]] = {
    Group: GroupControl,
    List: ListControl,
    Union: UnionControl,
}
