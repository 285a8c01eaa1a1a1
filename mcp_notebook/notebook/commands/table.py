"""What a command of `%mcp` is, and one use of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ...render.parts import Part
from ..brief import CommandError, hinted
from ..interpolation import Names
from ..words import Word

if TYPE_CHECKING:
    from ..workspace import Member, Workspace
    from .completing import Completing


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command.

    Attributes:
        name: with its dashes.
        summary: what it does.
        value: what its value is called; "" for an option that has none.
        read: makes the value of its text; a ValueError says what would be right.
        many: whether it can be given more than once; then its values come as a list.
        bare: its value where it is given without one; None: it needs one. Then a value is written `--name=value`.
    """

    name: str
    summary: str
    value: str = ""
    read: Callable[[str], Any] = str
    many: bool = False
    bare: Any = None

    @property
    def usage(self) -> str:
        """How it is written."""
        return f"{self.name}[={self.value}]" if self.bare is not None else f"{self.name} {self.value}".rstrip()

    @property
    def takes_next(self) -> bool:
        """Whether the next word is its value."""
        return bool(self.value) and self.bare is None

    @property
    def key(self) -> str:
        """Its name without dashes."""
        return self.name.lstrip("-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One use of a command.

    Attributes:
        command: which.
        workspace: the connections.
        names: what names in the line stand for.
        words: the words after the command, without its options.
        options: the options that were given, by their names without dashes.
        rest: the words after `--`; None where there is none.
        body: the rest of the cell, under `%%mcp`; else None.
        used: whether the code goes on with the value: then nothing needs to be shown.
    """

    command: Command
    workspace: Workspace
    names: Names
    words: Sequence[Word] = ()
    options: dict[str, Any] = field(default_factory=dict)
    rest: Sequence[Word] | None = None
    body: str | None = None
    used: bool = False

    def texts(self) -> list[str]:
        """The words as text, with Python values in them. Raises CommandError."""
        return [self.names.text(word) for word in self.words]

    def at_most(self, count: int) -> list[str]:
        """The same, where only so many make sense. Raises CommandError."""
        texts = self.texts()
        if len(texts) > count:
            raise CommandError(f"{texts[count]!r} is one word too many. {self.command.say_usage()}")
        return texts

    def chosen(self) -> Member | None:
        """The server that the only word names; None where there is no word. Raises CommandError."""
        return self.workspace.member(name) if (name := next(iter(self.at_most(1)), None)) else None

    def one(self) -> Member:
        """The server that the only word names, or else the only server there is. Raises CommandError."""
        if (member := self.chosen()) is not None:
            return member
        if len(self.workspace) != 1:
            if not len(self.workspace):
                raise CommandError(f"Which server (there is none yet)? {self.command.say_usage()}")
            raise CommandError(
                f"Which server ({', '.join(self.workspace.names)})? It can be left out only where there is just one: "
                f"%mcp {self.command.name} {self.workspace.names[0]}"
            )
        return next(iter(self.workspace))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command gives: a value for Python, and what to show where nobody takes the value."""

    value: Any = None
    parts: Sequence[Part] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command.

    Attributes:
        name: the word after `%mcp`.
        usage: what follows it, in the notation of help texts.
        summary: what it does, in a line.
        run: does it. Raises MCPError.
        about: more about it, for its help.
        examples: lines as one would write them.
        options: what can be given besides.
        complete: suggests the word that is being written.
        body: whether it takes the rest of a cell, under `%%mcp`.
    """

    name: str
    usage: str
    summary: str
    run: Callable[[Invocation], Reply]
    about: str = ""
    examples: Sequence[str] = ()
    options: Sequence[Option] = ()
    complete: Callable[[Completing], Iterable[str]] = lambda completing: ()
    body: Literal["never", "maybe", "always"] = "never"

    @property
    def line(self) -> str:
        """The command as it is written."""
        return f"{'%%' if self.body == 'always' else '%'}mcp {self.name} {self.usage}".rstrip()

    def say_usage(self) -> str:
        """A sentence for errors."""
        return f"It is written: {self.line}"


def parse(
    command: Command, words: Sequence[Word], names: Names
) -> tuple[list[Word], dict[str, Any], Sequence[Word] | None]:
    """Tell a command's options from its words.

    Returns:
        The words, the options by their names without dashes, and what came after `--`; None where nothing did.

    Raises:
        CommandError: there is no such option, or its value is missing or wrong.
    """
    known = {option.name: option for option in command.options}
    plain: list[Word] = []
    options: dict[str, Any] = {}
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.raw == "--":
            return plain, options, words[at:]
        if not word.raw.startswith("--"):
            plain.append(word)
            continue
        name, equals, text = names.text(word).partition("=")
        option = known.get(name) or _no_option(command, name)
        if option.takes_next and not equals:
            if at == len(words):
                raise CommandError(f"{name} needs a value: {option.usage}")
            text = names.text(words[at])
            at += 1
        elif equals and not option.value:
            raise CommandError(f"{name} takes no value.")
        value = _read(option, text) if option.takes_next or equals else option.bare or True
        if option.many:
            options.setdefault(option.key, []).append(value)
        else:
            options[option.key] = value
    return plain, options, None


def seconds(text: str) -> float:
    """A time limit."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


def _read(option: Option, text: str) -> Any:
    try:
        return option.read(text)
    except ValueError:
        raise CommandError(f"{text!r} is no value for {option.usage}: {option.summary}.") from None


def _no_option(command: Command, name: str) -> Option:
    known = [option.name for option in command.options]
    has = f"It has {', '.join(option.usage for option in command.options)}." if known else "It has none."
    missing = hinted(f"%mcp {command.name} has no option {name!r}", name, known)
    raise CommandError(f"{missing} {has} {command.say_usage()}")
