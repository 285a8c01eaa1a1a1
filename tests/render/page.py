"""Reading what was rendered, the way a browser would."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from mcp_notebook import types
from mcp_notebook.render import mimebundle
from mcp_notebook.render.style import CSS

ALLOWED = {
    "style": set(),
    "div": {"class"},
    "span": {"class"},
    "b": {"class"},
    "pre": {"class"},
    "table": {"class"},
    "thead": set(),
    "tbody": set(),
    "tr": set(),
    "th": set(),
    "td": set(),
    "ul": {"class"},
    "li": set(),
    "details": {"class", "open"},
    "summary": set(),
    "img": {"src", "alt"},
    "audio": {"src", "controls", "preload"},
}


class Page(HTMLParser):
    """An HTML output, read: its elements, its sources, its text."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.sources: list[str] = []
        self.faults: list[str] = []
        self._style = False
        self._text: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        self.faults += [f"<{tag}> stays open" for tag in self._open]

    @property
    def text(self) -> str:
        return "".join(self._text)

    def classes(self) -> set[str]:
        return {name for _, attributes in self.elements for name in (attributes.get("class") or "").split()}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ALLOWED:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ALLOWED.get(tag, set()):
                self.faults.append(f"<{tag} {name}=>")
            if name == "src":
                self.sources.append(value or "")
                if not (value or "").startswith(("data:image/", "data:audio/")):
                    self.faults.append(f"src={value!r}")
        if tag != "img":
            self._open.append(tag)
        self._style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._style = False
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if not self._style:
            self._text.append(data)
        elif data != CSS:
            self.faults.append("foreign rules")

    def handle_comment(self, data: str) -> None:
        self.faults.append("a comment")

    def handle_decl(self, decl: str) -> None:
        self.faults.append("a declaration")

    def handle_pi(self, data: str) -> None:
        self.faults.append("an instruction")


def show(value: Any) -> tuple[Page, str]:
    """A value's HTML, read and found clean, and its plain text."""
    bundle = mimebundle(value)
    page = Page(bundle["text/html"])
    assert page.faults == []
    # What cannot be encoded would break the kernel's message.
    bundle["text/html"].encode()
    bundle["text/plain"].encode()
    return page, bundle["text/plain"]


def answer(*blocks: dict[str, Any], **more: Any) -> types.CallToolResult:
    """A tool's answer, as it comes over the wire."""
    return types.CallToolResult.model_validate({"content": list(blocks), **more})


def say(text: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": text}
