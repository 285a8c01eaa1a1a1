"""Completion of `%mcp` lines, as one of IPython's matchers: the same in JupyterLab, the console and terminals."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)

from ..errors import MCPError
from .commands import COMMANDS
from .commands.completing import Completing
from .commands.table import Command, Option
from .interpolation import Names
from .words import Word, split
from .workspace import Workspace

_LINE = re.compile(r"\s*(?:[^%#'\"]*=\s*)?(%{1,2})mcp(?:\s+(.*))?$", re.DOTALL)
PRIORITY = 2000
"""More than any of IPython's own matchers, so that none of them is asked about such a line."""


def matcher_for(shell: Any) -> Any:
    """A matcher for `shell.Completer.custom_matchers`."""

    def complete(context: CompletionContext) -> SimpleMatcherResult:
        found = _LINE.match(context.text_until_cursor)
        if found is None or found[2] is None:
            return SimpleMatcherResult(completions=[], suppress=False)
        cell = found[1] == "%%"
        if cell and context.cursor_line > 0:
            return SimpleMatcherResult(completions=[], suppress=False)
        try:
            texts = suggestions(Workspace.of(shell), Names(shell.user_ns), found[2], cell=cell)
        except MCPError:
            texts = []
        return SimpleMatcherResult(
            completions=[SimpleCompletion(text, type="mcp") for text in _behind(texts, found[2], context.token)],
            suppress=True,
            ordered=True,
        )

    return context_matcher(priority=PRIORITY, identifier="mcp_notebook")(complete)  # pyright: ignore[reportArgumentType]


def suggestions(workspace: Workspace, names: Names, line: str, *, cell: bool = False) -> list[str]:
    """What the word at the end of a line may become; whole words, in a good order, each once.

    Args:
        workspace: the connections.
        names: the variables of the notebook.
        line: what stands after `%mcp`, up to the cursor.
        cell: it begins a cell (`%%mcp`).

    Raises:
        MCPError: the line makes no sense so far.
    """
    *words, current = _words(line)
    if not words:
        found: Iterable[str] = [each.name for each in COMMANDS.values() if not cell or each.body != "never"]
    elif words[0].raw in COMMANDS:
        found = _of_command(COMMANDS[words[0].raw], workspace, names, words[1:], current.raw)
    else:
        found = []
    return [text for text in dict.fromkeys(found) if text.startswith(current.raw)]


def _of_command(command: Command, workspace: Workspace, names: Names, words: list[Word], current: str) -> Iterable[str]:
    options = {option.name: option for option in command.options}
    plain = _plain(words, options)
    if plain is None:
        return []
    if current.startswith("-"):
        given = {word.raw for word in words}
        return [option.name for option in command.options if option.many or option.name not in given]
    return command.complete(Completing(workspace=workspace, names=names, words=plain, current=current))


def _plain(words: list[Word], options: dict[str, Option]) -> list[Word] | None:
    """The words without options; None where an option's value is being written, or another program's line."""
    plain: list[Word] = []
    waiting = False
    for word in words:
        if word.raw == "--":
            return None
        option = options.get(word.raw)
        if option is not None:
            waiting = option.takes_next
        elif waiting:
            waiting = False
        elif not word.raw.startswith("--"):
            plain.append(word)
    return None if waiting else plain


def _words(line: str) -> list[Word]:
    """The words of a line that is being written; the last one is the one at the cursor, which may be empty."""
    words = split(line, partial=True)
    ended = not words or words[-1].start + len(words[-1].raw) < len(line)
    return [*words, Word("", len(line))] if ended else words


def _behind(texts: list[str], line: str, token: str) -> Iterable[str]:
    """What IPython shall put in the place of its token, which is only the end of the word at the cursor."""
    current = _words(line)[-1].raw
    if not current.endswith(token):
        return []
    return [text[len(current) - len(token) :] for text in texts]
