"""HTML that cannot be wrong: text is escaped, elements and attributes are from a short list, media are data URIs.

Whatever is a `str` is text. Only `h` (and what is built on it) makes `Html`.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from .letters import legible

ELEMENTS = frozenset(
    {
        "div",
        "span",
        "b",
        "pre",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "ul",
        "li",
        "img",
        "audio",
        "progress",
    }
)
ATTRIBUTES = frozenset({"class", "src", "alt", "controls", "preload", "open", "max", "value", "aria-label", "role"})
_EMPTY = frozenset({"img"})


class Html:
    """A piece of finished HTML. Not a `str`, so that text cannot slip in unescaped."""

    __slots__ = ("source",)

    def __init__(self, source: str) -> None:
        self.source = source

    def __repr__(self) -> str:
        return f"Html({self.source[:60]!r})"


Child: TypeAlias = "Html | str | Iterable[Child] | None"


def h(tag: str, *children: Child, **attributes: str | bool | None) -> Html:
    """An element.

    Args:
        tag: one of `ELEMENTS`.
        children: text (is escaped), `Html`, nested lists of those; None is left out.
        attributes: from `ATTRIBUTES`, with `cls` for `class` and `label` for `aria-label`; None and False are left out,
            True has no value.

    Raises:
        ValueError: an element, an attribute or an address that we do not use.
    """
    if tag not in ELEMENTS:
        raise ValueError(f"<{tag}> is not among the elements used here")
    opening = tag + "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _EMPTY:
        return Html(f"<{opening}>")
    pieces: list[str] = []
    _gather(children, pieces)
    return Html(f"<{opening}>{''.join(pieces)}</{tag}>")


def _attribute(name: str, value: str | bool | None) -> str:
    name = {"cls": "class", "label": "aria-label"}.get(name, name)
    if name not in ATTRIBUTES:
        raise ValueError(f"{name}= is not among the attributes used here")
    if value is None or value is False:
        return ""
    if value is True:
        return f" {name}"
    if name == "src" and not value.startswith(("data:image/", "data:audio/")):
        raise ValueError("src must be a data URI of a picture or a sound")
    return f' {name}="{html.escape(value if name == "src" else legible(value))}"'


def _gather(children: Iterable[Child], pieces: list[str]) -> None:
    for child in children:
        if isinstance(child, Html):
            pieces.append(child.source)
        elif isinstance(child, str):
            pieces.append(html.escape(legible(child), quote=False))
        elif child is not None:
            _gather(child, pieces)


def table(columns: Sequence[str], rows: Iterable[Sequence[Child]], *, cls: str = "mcp-table") -> Html:
    """A table with a head."""
    return h(
        "table",
        h("thead", h("tr", [h("th", column) for column in columns])),
        h("tbody", [h("tr", [h("td", cell) for cell in row]) for row in rows]),
        cls=cls,
    )


def details(summary: Child, *children: Child, open: bool = False, cls: str = "mcp-fold") -> Html:
    """Something folded away under its summary."""
    return h("details", h("summary", summary), *children, open=open, cls=cls)


def card(state: str, title: str, *body: Child, name: str = "", about: str = "", aside: str = "") -> Html:
    """A thin frame with a coloured edge.

    Args:
        state: the colour: `work`, `ask`, `done`, `drop`, `fail`, or "" for none.
        title: the state in a word or two; colour never speaks alone.
        body: what stands below the first line.
        name: what the card is about, such as a tool's name.
        about: more on that, such as the server's name.
        aside: what stands at the right end, such as a time.
    """
    inside = card_inside(title, *body, name=name, about=about, aside=aside)
    return h("div", inside, cls=f"mcp-card mcp-{state}" if state else "mcp-card")


def card_inside(title: str, *body: Child, name: str = "", about: str = "", aside: str = "") -> list[Html]:
    """What stands in a card's frame: its first line, and its body if it has one. See `card`."""
    # The blanks between the spans keep the line readable where a notebook is shown without its style sheet.
    head = [
        h("b", "● " + title, cls="mcp-state") if title else None,
        [" ", h("b", name, cls="mcp-name")] if name else None,
        [" ", h("span", about, cls="mcp-mute")] if about else None,
        [" ", h("span", aside, cls="mcp-aside mcp-mute")] if aside else None,
    ]
    return [h("div", head, cls="mcp-row"), *([h("div", body, cls="mcp-body")] if body else [])]
