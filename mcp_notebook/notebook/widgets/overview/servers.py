"""The servers as a table; one that was lost has a button that connects it again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from ipywidgets import HTML, Box, Button

from ....render.html import Html, h
from ....render.letters import line
from ...overview.rows import Row
from ...workspace import KINDS
from ..kit import Kit, close_all, say


class ServersTable:
    """Shows rows.

    Args:
        kit: makes the widgets.
        reconnect: connects the server of that name again.

    Attributes:
        widget: what is shown.
    """

    def __init__(self, kit: Kit, reconnect: Callable[[str], None]) -> None:
        self._kit, self._reconnect = kit, reconnect
        self._head: Box = kit.row([kit.html(_head(), "mcp-flat")], "mcp-tr")
        self._lines: dict[str, tuple[Box, HTML, Button]] = {}
        self._rows: Sequence[Row] = ()
        self.widget: Box = kit.column([self._head], "mcp-grid", "mcp-servers")

    def show(self, rows: Sequence[Row]) -> None:
        """Show them, unless they are shown already."""
        if rows == self._rows:
            return
        self._rows = rows
        for name in self._lines.keys() - {row.name for row in rows}:
            self._forget(name)
        lines = [self._head, *map(self._line, rows)]
        if self.widget.children != tuple(lines):
            self.widget.children = tuple(lines)

    def close(self) -> None:
        """Close its widgets, also those that are not shown."""
        for name in list(self._lines):
            self._forget(name)
        close_all(self.widget)

    def _line(self, row: Row) -> Box:
        if row.name not in self._lines:
            again = self._kit.make(Button, description="Reconnect", tooltip=f"Connect {line(row.name)} again")
            again.on_click(lambda _: self._reconnect(row.name))
            self._lines[row.name] = self._kit.row((), "mcp-tr"), self._kit.html(None, "mcp-flat"), again
        whole, said, again = self._lines[row.name]
        say(said, _said(row))
        children = (said, again) if _can_be_connected(row) else (said,)
        if whole.children != children:
            whole.children = children
        return whole

    def _forget(self, name: str) -> None:
        for widget in self._lines.pop(name):
            close_all(widget)


def _can_be_connected(row: Row) -> bool:
    return row.colour in ("fail", "drop")


def _head() -> Html:
    titles = ("state", "server", "revision", *KINDS, "latency")
    return h(
        "div",
        [h("div", title, cls="mcp-cell mcp-mute", role="columnheader") for title in titles],
        cls="mcp-cells",
        role="row",
    )


def _said(row: Row) -> Html:
    state = h("div", h("span", f"● {row.state}", cls="mcp-state"), cls=f"mcp-cell mcp-{row.colour}", role="cell")
    name = h("div", h("b", row.name), cls="mcp-cell", role="cell")
    dim = functools.partial(h, "div", cls="mcp-cell mcp-mute", role="cell")
    if not row.revision:
        return h(
            "div",
            state,
            name,
            h("div", row.why, cls="mcp-cell mcp-mute mcp-wide", role="cell"),
            None if _can_be_connected(row) else dim(),
            cls="mcp-cells",
            role="row",
        )
    counts = [h("div", row.count(kind), cls="mcp-cell", role="cell") for kind in KINDS]
    return h(
        "div",
        state,
        name,
        dim(f"{row.revision} · {row.transport}"),
        counts,
        dim(row.latency),
        cls="mcp-cells",
        role="row",
    )
