"""Errors of the magics, as IPython shows them: what happened, where, what to do next, and no traceback of ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from ..errors import MCPError
from ..limits import DISPLAY_LIMITS
from ..protocol.json_schema.words import did_you_mean
from ..render import parts_of
from ..render.as_text import document
from ..render.letters import excerpt
from ..render.parts import Card, Fold, Part

E = TypeVar("E", bound=BaseException)


class CommandError(MCPError):
    """A line of `%mcp` that cannot be carried out as it stands; the text says what would be right, and has an end,
    however much a server offers."""

    def __init__(self, message: str) -> None:
        super().__init__(excerpt(message, DISPLAY_LIMITS.text))


def hinted(sentence: str, given: str, known: Iterable[str]) -> str:
    """A sentence about a name that is not there, with the name that may have been meant."""
    return f"{sentence}{did_you_mean(given, list(known)) or '.'}"


def brief(error: E, lines: list[str]) -> E:
    """The same exception, which IPython shows as these lines in place of a traceback.

    It keeps its class, so that `except` clauses, nbclient and Run All see what it is.
    """
    error._render_traceback_ = lambda: lines  # pyright: ignore[reportAttributeAccessIssue]
    return error


def brief_error(error: MCPError, *hints: str) -> MCPError:
    """An error that IPython shows as its card in plain text, with hints; what that leaves out is in `folded`."""
    lines = [*document(_split(error)[0]).splitlines(), *(f"  {hint}" for hint in hints)]
    return brief(error, lines)


def folded(error: MCPError) -> list[Part]:
    """What the text of an error leaves out: stderr of a server that ended, details of an answer."""
    return _split(error)[1]


def _split(error: MCPError) -> tuple[list[Part], list[Part]]:
    card, *_ = parts_of(error)
    assert isinstance(card, Card)
    # Text writers leave out what repeats; the error's own text quotes the end of it.
    folds: list[Part] = [replace(part, repeats=True) for part in card.parts if isinstance(part, Fold)]
    rest: list[Any] = [part for part in card.parts if not isinstance(part, Fold)]
    return [replace(card, parts=rest)], folds
