"""Making the widgets of one form: what they share is shared, since a front end makes an object of each style."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ipywidgets import HTML, Box, HBox, Layout, VBox, Widget

from ...render.html import Html

W = TypeVar("W", bound=Widget)


class Kit:
    """Makes widgets, and closes all that it made."""

    def __init__(self) -> None:
        self._shared: dict[Any, Widget] = {}

    def make(self, kind: type[W], *classes: str, **traits: Any) -> W:
        """A widget with CSS classes; its layout and style are those of all others of its kind."""
        known: Any = kind.class_traits()
        for name in ("layout", "style"):
            if name in known:
                shared = Layout if name == "layout" else known[name].klass
                if shared not in self._shared:
                    self._shared[shared] = shared()
                traits[name] = self._shared[shared]
        return kind(_dom_classes=classes, **traits)

    def html(self, content: Html | None = None, *classes: str) -> HTML:
        """Something to read."""
        return self.make(HTML, *classes, value="" if content is None else content.source)

    def column(self, children: Iterable[Widget], *classes: str) -> Box:
        """Widgets below each other."""
        return self.make(VBox, *classes, children=tuple(children))

    def row(self, children: Iterable[Widget], *classes: str) -> Box:
        """Widgets beside each other."""
        return self.make(HBox, *classes, children=tuple(children))

    def close(self) -> None:
        """Close what is shared. Call it last."""
        for widget in self._shared.values():
            widget.close()
        self._shared.clear()


def say(widget: HTML, content: Html | None) -> None:
    """Have a widget say something, unless it does already."""
    source = "" if content is None else content.source
    if widget.value != source:
        widget.value = source


def close_all(widget: Widget) -> None:
    """Close a widget and what is in it, but not what it shares with others."""
    for child in getattr(widget, "children", ()):
        close_all(child)
    widget.close()


def all_of(widget: Widget) -> list[Widget]:
    """A widget, what it is made with, and what is in it."""
    made_with = [part for name in ("layout", "style") if isinstance(part := getattr(widget, name, None), Widget)]
    return [widget, *made_with, *(inner for child in getattr(widget, "children", ()) for inner in all_of(child))]
