"""What the tests of hostile servers share: a page that is watched, and what an output must not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .driver import Cell, Notebook

HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Characters that cannot be seen, or turn others around."""

FOREIGN = (
    "script, iframe, object, embed, link, a, img:not([src^='data:image/']), b[onclick], [onmouseover], [onerror], "
    "style:text-matches('display:none')"
)
"""Elements that no output of ours has."""

LINKED = ".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr'] a"
"""Where JupyterLab itself makes links of what looks like a path or an address."""

MARKUP = "<img src=x onerror=alert(1)>"
"""What is to be read wherever a hostile text is shown."""

ALL_TEXT = """output => {
    const texts = [], nodes = document.createNodeIterator(output, NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) texts.push(node.data);
    return texts.filter(text => text !== "\\u200b").join("");
}"""
"""All that stands in an output, also what is folded away; ipywidgets fills empty labels with a blank of no width."""


@contextmanager
def watched(notebook: Notebook) -> Iterator[list[str]]:
    """For the time of a `with`, a list of all that a page does which it should not; nothing may have come to it."""
    deeds: list[str] = []
    home = notebook.page.url.split("/lab")[0]

    def dismissed(dialog: Any) -> None:
        deeds.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def requested(request: Any) -> None:
        if not request.url.startswith((home, "data:image/", "blob:")):
            deeds.append(request.url)

    notebook.page.on("dialog", dismissed)
    notebook.page.on("request", requested)
    yield deeds
    assert deeds == []


def assert_harmless(cell: Cell) -> None:
    """There is nothing in a cell's output but text that can be seen."""
    foreign = cell.output.locator(FOREIGN).evaluate_all(
        "(found, linked) => found.filter(one => !one.matches(linked)).map(one => one.outerHTML)", LINKED
    )
    assert foreign == [], foreign
    text = cell.output.evaluate(ALL_TEXT)
    hidden = HIDDEN.search(text)
    assert hidden is None, repr(text[hidden.start() - 100 : hidden.end() + 100])
