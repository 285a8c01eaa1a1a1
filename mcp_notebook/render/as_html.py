"""Parts as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

from ..types import encode_base64
from .html import Html, card, details, h, table
from .parts import Bar, Card, Fold, Media, Node, Part, Table, Text, Tree
from .style import CSS, ROOT

_OPEN_LEVELS = 2
_OPEN_CHILDREN = 20


def document(parts: Iterable[Part]) -> str:
    """Parts as one output, with its style sheet."""
    # The style sheet is the one thing that is not escaped, and it is a constant.
    return f"<style>{CSS}</style>" + h("div", write_all(parts), cls=ROOT).source


def write_all(parts: Iterable[Part]) -> list[Html]:
    """Parts, one below the other."""
    return [write(part) for part in parts]


@singledispatch
def write(part: Part) -> Html:
    """One part as HTML, to stand inside an element of class `mcp-nb`."""
    raise TypeError(f"no way to write {type(part).__name__} as HTML")


@write.register
def _(part: Text) -> Html:
    if part.look in ("mono", "code"):
        return h("pre", part.text, cls="mcp-text mcp-code" if part.look == "code" else "mcp-text")
    return h("div", part.text, cls="mcp-prose" if part.look == "prose" else f"mcp-{part.look} mcp-mute")


@write.register
def _(part: Bar) -> Html:
    bar = h("progress", max="1", value=f"{part.share:.4f}", label=part.words)
    return h("div", bar, h("span", part.words), cls="mcp-bar")


@write.register
def _(part: Table) -> Html:
    return table(part.columns, part.rows, cls="mcp-table mcp-names" if part.names else "mcp-table")


@write.register
def _(part: Tree) -> Html:
    return h("div", _inside(part.root, 0) or part.root.text, cls="mcp-tree")


@write.register
def _(part: Media) -> Html:
    source = f"data:{part.mime_type};base64,{encode_base64(part.data)}"
    if part.kind == "image":
        return h("img", src=source, alt=part.caption)
    return h("audio", part.caption, controls=True, preload="metadata", src=source)


@write.register
def _(part: Fold) -> Html:
    return details(part.summary, write_all(part.parts))


@write.register
def _(part: Card) -> Html:
    return card(part.state, part.title, *write_all(part.parts), name=part.name, about=part.about, aside=part.aside)


def _inside(node: Node, level: int) -> list[Html]:
    """What a tree's node holds."""
    lines = [write(child) if isinstance(child, Table) else _line(child, level + 1) for child in node.children]
    return [*lines, h("div", node.note, cls="mcp-mute")] if node.note else lines


def _line(node: Node, level: int) -> Html:
    label = [h("span", node.label, ":", cls="mcp-mute"), " ", node.text]
    inside = _inside(node, level)
    if not inside:
        return h("div", label)
    # A list, so that it is indented even where the style sheet was taken away.
    opened = level <= _OPEN_LEVELS and len(node.children) <= _OPEN_CHILDREN
    return details(label, h("ul", [h("li", line) for line in inside], cls="mcp-branch"), open=opened)
