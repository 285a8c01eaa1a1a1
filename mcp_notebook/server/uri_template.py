"""RFC 6570 templates read backwards: which values of its variables make this URI?

Levels 1 to 3 as far as that can be done: `{name}`, `{+path}`, `{#part}`, `{/a,b}`, `{.x}`, `{?q,limit}`, `{&more}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import parse_qsl, unquote

from ..errors import SchemaError

LONGEST = 8192
"""Characters of a URI that is still matched."""

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\*?$")
_CHARACTER = {"": "[^/?#&]", "+": ".", "#": ".", ".": "[^./?#]", "/": "[^/?#]", ";": "[^;/?#]"}
_FIRST = {"": "", "+": "", "#": "#", ".": ".", "/": "/", ";": ";"}
"""What stands before the first variable of an expression."""
_NEXT = {".": ".", "/": "/", ";": ";"}
"""What stands between two; else a comma."""


@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable that stands in the path, so that a pattern finds it."""

    name: str
    operator: str

    def pattern(self, until: str | None) -> str:
        """What it can be. `until` is the text between it and another variable behind it: where it could hold that text
        itself, it ends at the first one, so that there is one way to read a URI and reading takes linear time."""
        one = _CHARACTER[self.operator]
        if until is not None and one != ".":
            one = f"(?:(?!{re.escape(until)}){one})"
        return f"({one}{'*' if self.operator == ';' else '+'})"


class UriTemplate:
    """One template.

    Raises:
        SchemaError: it is no template that can be read back.
    """

    def __init__(self, template: str) -> None:
        self.template = template
        self.variables: list[str] = []
        """All of them, in order."""
        self._query: list[str] = []
        pieces = self._joined(self._pieces())
        self._in_path = [piece.name for piece in pieces if isinstance(piece, _Variable)]
        pattern = "".join(self._pattern_of(pieces))
        self._pattern = re.compile(pattern + (r"(?:[?&](.*))?" if self._query else ""))

    def match(self, uri: str) -> dict[str, str] | None:
        """The variables' values where this is a URI of the template, decoded; else None."""
        found = self._pattern.fullmatch(uri) if len(uri) <= LONGEST else None
        if found is None:
            return None
        values = {name: unquote(value) for name, value in zip(self._in_path, found.groups(), strict=False)}
        if self._query:
            given = dict(parse_qsl(found.groups()[-1] or "", keep_blank_values=True))
            values.update({name: given[name] for name in self._query if name in given})
        return values

    def _pieces(self) -> Iterator[str | _Variable]:
        """The template as texts and variables, in order."""
        position = 0
        for found in _EXPRESSION.finditer(self.template):
            yield self._text(self.template[position : found.start()])
            yield from self._expression(found.group(1), found.group(2))
            position = found.end()
        yield self._text(self.template[position:])

    def _text(self, text: str) -> str:
        if "{" in text or "}" in text:
            raise SchemaError(f"The URI template {self.template!r} has a brace without its partner.")
        if text and self._query:
            raise SchemaError(f"The query must come last in the URI template {self.template!r}.")
        return text

    def _expression(self, operator: str, names: str) -> Iterator[str | _Variable]:
        for position, name in enumerate(names.split(",")):
            if not _NAME.match(name):
                raise SchemaError(f"{name!r} is no variable of a URI template (in {self.template!r}).")
            name = name.removesuffix("*")
            if name in self.variables:
                raise SchemaError(f"The variable {name!r} stands twice in the URI template {self.template!r}.")
            self.variables.append(name)
            if operator in ("?", "&"):
                self._query.append(name)
                continue
            yield self._text(_FIRST[operator] if position == 0 else _NEXT.get(operator, ","))
            if operator == ";":
                yield f"{name}="
            if self._query:
                raise SchemaError(f"The query must come last in the URI template {self.template!r}.")
            yield _Variable(name, operator)

    def _joined(self, pieces: Iterator[str | _Variable]) -> list[str | _Variable]:
        """Texts and variables in turn: it begins and ends with a text, which may be empty."""
        joined: list[str | _Variable] = [""]
        for piece in pieces:
            last = joined[-1]
            if isinstance(piece, str) and isinstance(last, str):
                joined[-1] = last + piece
            else:
                joined.append(piece)
        for before, text in pairwise(joined[1:-1]):
            if isinstance(before, _Variable) and not text:
                raise SchemaError(
                    f"In the URI template {self.template!r} nothing stands between {before.name!r} and what follows, "
                    "so that it cannot be read back. Write something between them, such as '/'."
                )
        return joined

    def _pattern_of(self, pieces: list[str | _Variable]) -> Iterator[str]:
        last = max((at for at, piece in enumerate(pieces) if isinstance(piece, _Variable)), default=-1)
        for at, piece in enumerate(pieces):
            if isinstance(piece, str):
                yield re.escape(piece)
            else:
                following = pieces[at + 1]
                yield piece.pattern(following if at < last and isinstance(following, str) else None)
