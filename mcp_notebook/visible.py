"""Foreign text made safe to judge by eye: what cannot be seen, or looks like something else, is written out.

A command line can hide what it does behind text direction marks, zero-width characters, line breaks or letters of
another script (CON-4). `visible` writes such a character as `<U+202E>`; everything else stays as it is.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["excerpt", "quote", "visible"]

# Letters of other scripts that most fonts draw like an ASCII letter or digit.
_LOOKALIKE_LETTERS = frozenset(
    "АВЕЅІЈКМНОРСТУХҮԌԚԜаеіјорсухѕүһԁԛԝѵ"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορτυχϲϳ"  # Greek
    "ՍՏՕհոսօցզ"  # Armenian
    "ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏆᏒᏚᏞᏟᏢᏦ"  # Cherokee
    "ıɑɡɩʋᴄᴏᴠᴡᴢ"  # Latin, but not a to z
)
# Signs that most fonts draw like one which a shell or a path gives a meaning.
_LOOKALIKE_SIGNS = frozenset("‐‑‒–—―−⁃˗‘’‛ʹʻʼʽ′“”″ˮ⁄∕⧸╱∖⧵⧹ǃ։׃∶꞉٪‚¸ˆ˜∼∣❘ǀ⁎∗ᐸ‹ᐳ›")
_OVERLAYS = frozenset("\u0334\u0335\u0336\u0337\u0338")
# Control, format, surrogate, private and unassigned characters; line and paragraph separators; odd spaces.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs", "Me"})
# Drawn as nothing or as a blank, though Unicode calls them letters, marks or symbols.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code)
    for start, end in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
    for code in range(start, end + 1)
}

_PLAIN = re.compile(r"[ -;=-~]*")
_WORD = re.compile(r"[^\W_]+")


def visible(text: str) -> str:
    """The same text with every character that hides or pretends written as `<U+XXXX>`.

    Hidden are control characters (line breaks and tabs too), direction marks, zero-width and blank characters, and
    spaces other than the plain one. Pretending are signs and letters drawn like ASCII ones: such letters where
    they stand in a word with ASCII letters or make up the whole word, so that a name in another script stays readable.
    A literal `<U+` is written `<U+003C>U+`, so that no text can imitate the notation.

    Args:
        text: any text; lone surrogates (undecodable bytes) are written out too.

    Source: CON-4.
    """
    if _PLAIN.fullmatch(text):
        return text
    text = text.replace("<U+", _escape("<") + "U+")
    text = _WORD.sub(_without_lookalikes, text)
    return "".join(_escape(char) if _deceives(char) else char for char in text)


def excerpt(text: str, length: int = 200) -> str:
    """The beginning of a foreign text, made visible, with an ellipsis where more than `length` characters follow."""
    return visible(text[:length]) + ("…" if len(text) > length else "")


def quote(text: str | bytes | bytearray, length: int = 200) -> str:
    """A foreign line in quotes for an error message: an excerpt without the blanks around it."""
    if not isinstance(text, str):
        text = bytes(text[: 4 * length + 4]).decode("utf-8", "replace")
    return f"'{excerpt(text.strip(), length)}'"


def _escape(char: str) -> str:
    return f"<U+{ord(char):04X}>"


def _deceives(char: str) -> bool:
    if char.isascii():
        return not char.isprintable()
    if char in _LOOKALIKE_SIGNS or char in _OVERLAYS or char in _BLANK or unicodedata.category(char) in _HIDDEN:
        return True
    # Full-width, mathematical and other forms of an ASCII character.
    return unicodedata.normalize("NFKC", char).isascii()


def _without_lookalikes(match: re.Match[str]) -> str:
    word = match[0]
    letters = [char for char in word if char.isalpha()]
    suspicious = [char for char in letters if char in _LOOKALIKE_LETTERS]
    if not suspicious:
        return word
    if len(suspicious) < len(letters) and not any(char.isascii() for char in letters):
        return word
    return "".join(_escape(char) if char in _LOOKALIKE_LETTERS else char for char in word)
