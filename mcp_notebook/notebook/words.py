"""A magic's line, split into words as a POSIX shell does it, with the places where Python values go.

What differs from a shell: `{expression}` and `$name` stand for Python values (outside of single quotes); after `key=`
a JSON or Python list or dict is one word with its blanks and quotes, and so is an object or dict alone; after `key:=`
stands JSON; a backslash is one unless it stands before something that has a meaning here, so that Windows paths need no
care; a comment begins with a `#` that stands alone.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .brief import CommandError

_KEY = re.compile(r"([A-Za-z_][\w.\-]*)(:?=)")
_NAME = re.compile(r"\$([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_ESCAPABLE = frozenset("'\"\\{}$ \t\n")
_CLOSINGS = 200
"""How many closing brackets are tried as the end of an expression."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A Python expression, whose value stands here. With `name` it was written `$name` or `$name.attribute`."""

    source: str
    name: bool = False

    def __str__(self) -> str:
        return f"${self.source}" if self.name else f"{{{self.source}}}"


Piece: TypeAlias = str | Expression


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a line.

    Attributes:
        raw: how it was typed.
        start: where it begins in the line.
        key: the name in `name=value`; "" where the word is none of these.
        operator: `=`, `:=`, or "".
        pieces: the text after the operator (all of it where there is none), and the expressions in it.
        open_brace: whether a brace in it is neither JSON nor an expression.
    """

    raw: str
    start: int
    key: str = ""
    operator: str = ""
    pieces: tuple[Piece, ...] = ()
    open_brace: bool = False

    @property
    def expression(self) -> Expression | None:
        """The expression, where the value is nothing else: its value is passed as it is."""
        only = self.pieces[0] if len(self.pieces) == 1 else None
        return only if isinstance(only, Expression) else None


def split(line: str, *, partial: bool = False) -> list[Word]:
    """The words of a line.

    Args:
        line: the line.
        partial: it is still being written: a quotation may be open.

    Raises:
        CommandError: a quotation is not closed.
    """
    return list(_Scanner(line, partial).words())


class _Scanner:
    def __init__(self, line: str, partial: bool) -> None:
        self.line = line
        self.at = 0
        self.partial = partial

    def words(self) -> Iterator[Word]:
        while self._skip_blanks() and (self.partial or not self._is_comment()):
            yield self._word()

    def _is_comment(self) -> bool:
        return self.line[self.at] == "#" and self._ends_word(self.at + 1)

    def _skip_blanks(self) -> bool:
        while self.at < len(self.line) and self.line[self.at].isspace():
            self.at += 1
        return self.at < len(self.line)

    def _word(self) -> Word:
        start = self.at
        key, operator = "", ""
        if found := _KEY.match(self.line, self.at):
            key, operator = found.groups()
            self.at = found.end()
        literal = self._literal(operator)
        pieces, open_brace = ((literal,), False) if literal is not None else self._pieces()
        return Word(self.line[start : self.at], start, key, operator, pieces, open_brace)

    # A list or object after `key=`, any JSON after `key:=`, an object alone

    def _literal(self, operator: str) -> Piece | None:
        opening = self.line[self.at : self.at + 1]
        if not opening or (operator != ":=" and opening not in ("[{" if operator else "{")):
            return None
        return self._json() or self._python(opening)

    def _json(self) -> str | None:
        try:
            _, end = json.JSONDecoder().raw_decode(self.line, self.at)
        except (ValueError, RecursionError):
            return None
        return self._take(end) if self._ends_word(end) else None

    def _python(self, opening: str) -> Expression | None:
        """A list or dict as Python writes it, without names in it: `['a', 'b']`."""
        closing, kind = {"[": ("]", list), "{": ("}", dict)}.get(opening, ("", type(None)))
        for end in self._closings(closing) if closing else ():
            source = self.line[self.at : end]
            if self._ends_word(end) and _is_literal(source, kind):
                return Expression(self._take(end))
        return None

    # Everything else

    def _pieces(self) -> tuple[tuple[Piece, ...], bool]:
        pieces: list[Piece] = []
        text: list[str] = []
        quote, quoted, open_brace = "", False, False
        while self.at < len(self.line):
            char = self.line[self.at]
            if not quote and char.isspace():
                break
            if char == quote:
                quote = ""
                self.at += 1
            elif not quote and char == "'":
                quoted = True
                text.append(self._single_quoted())
            elif not quote and char == '"':
                quote, quoted = char, True
                self.at += 1
            elif expression := self._expression():
                if text:
                    pieces.append("".join(text))
                    text.clear()
                pieces.append(expression)
            else:
                open_brace |= char == "{"
                text.append(self._character())
        if quote and not self.partial:
            raise _open_quotation(quote, self.line)
        if text or quoted:  # what was quoted is text, even where it is nothing but an expression
            pieces.append("".join(text))
        return tuple(pieces), open_brace

    def _single_quoted(self) -> str:
        end = self.line.find("'", self.at + 1)
        if end < 0:
            if not self.partial:
                raise _open_quotation("'", self.line)
            end = len(self.line)
        return self._take(end + 1)[1:].removesuffix("'")

    def _character(self) -> str:
        following = self.line[self.at + 1 : self.at + 2]
        if self.line[self.at] == "\\" and following in _ESCAPABLE and following:
            self.at += 1
        return self._take(self.at + 1)

    def _expression(self) -> Expression | None:
        """The expression that begins here, if one does."""
        if found := _NAME.match(self.line, self.at):
            self.at = found.end()
            return Expression(found[1], name=True)
        if self.line[self.at] != "{":
            return None
        for end in self._closings("}"):
            source = self.line[self.at + 1 : end - 1].strip()
            if _is_expression(source):
                self.at = end
                return Expression(source)
        return None

    # Helpers

    def _closings(self, closing: str) -> Iterator[int]:
        """Where an expression that begins here may end."""
        end = self.at
        for _ in range(_CLOSINGS):
            end = self.line.find(closing, end) + 1
            if not end:
                return
            yield end

    def _ends_word(self, at: int) -> bool:
        return at >= len(self.line) or self.line[at].isspace()

    def _take(self, end: int) -> str:
        start, self.at = self.at, min(end, len(self.line))
        return self.line[start : self.at]


def _is_expression(source: str) -> bool:
    try:
        ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_literal(source: str, kind: type) -> bool:
    try:
        return isinstance(ast.literal_eval(source), kind)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return False


def _open_quotation(quote: str, line: str) -> CommandError:
    return CommandError(
        f"A quotation is not closed: there is no second {quote} in the rest of the line. Close it, or write \\{quote} "
        f"for the sign itself."
    )
