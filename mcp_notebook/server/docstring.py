"""What a docstring says about a function and its parameters: Google, NumPy and Sphinx styles."""

from __future__ import annotations

import functools
import inspect
import re
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Documentation:
    """A docstring, taken apart."""

    description: str | None = None
    """Its summary and body, and what it says of the returned value."""
    parameters: dict[str, str] = field(default_factory=dict)
    """What it says of each parameter, by name."""


@functools.lru_cache(maxsize=256)
def read_docstring(text: str | None) -> Documentation:
    """Take a docstring apart. One in no style that is known is a description as it stands."""
    text = inspect.cleandoc(text or "")
    if not text:
        return Documentation()
    import docstring_parser  # not before there is a docstring

    try:
        parsed = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return Documentation(text)
    returned = parsed.returns.description if parsed.returns else None
    parts = [parsed.description, f"Returns: {_unwrapped(returned)}" if returned else None]
    parameters = {each.arg_name.lstrip("*"): _unwrapped(each.description) for each in parsed.params if each.description}
    return Documentation("\n\n".join(part.strip() for part in parts if part) or None, parameters)


def _unwrapped(text: str) -> str:
    """Text without the line breaks that only keep source lines short; paragraphs and lists stay."""
    return re.sub(r"(?<!\n)\n(?![\n\s*-])", " ", text.strip())
