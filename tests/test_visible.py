"""What hides or pretends in a command line is written out (CON-4)."""

import pytest

from mcp_notebook.visible import excerpt, quote, visible


@pytest.mark.parametrize(
    "text",
    [
        "npx -y @scope/pkg --port=80",
        "C:\\Users\\me\\server.exe",
        "/home/иван/сервер.py",
        "café naïve 日本語",
        "Καλημέρα",
        "a<b>c",
    ],
)
def test_ordinary_text_of_any_script_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("safe.py\n; rm -rf ~", "safe.py<U+000A>; rm -rf ~"),
        ("a\x1b[2Kb", "a<U+001B>[2Kb"),
        ("a\x7fb", "a<U+007F>b"),
        ("x\u202egnp.exe", "x<U+202E>gnp.exe"),  # right-to-left override
        ("x\u2066y\u2069", "x<U+2066>y<U+2069>"),  # isolates
        ("py\u200bthon", "py<U+200B>thon"),  # zero width space
        ("py\u00adthon", "py<U+00AD>thon"),  # soft hyphen
        ("\ufeffnpx", "<U+FEFF>npx"),
        ("a\u00a0b", "a<U+00A0>b"),
        ("a\u3164b", "a<U+3164>b"),  # drawn as nothing, though a letter
        ("a\ufe0fb", "a<U+FE0F>b"),  # variation selector
        ("a\u2028b", "a<U+2028>b"),
        ("a\ue000b", "a<U+E000>b"),  # private use
        ("a\udcffb", "a<U+DCFF>b"),  # a byte that was no UTF-8
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p\u0430ypal", "p<U+0430>ypal"),  # Cyrillic а among ASCII letters
        ("\u0440\u0430\u0443", "<U+0440><U+0430><U+0443>"),  # a whole word of look-alikes
        ("g\u03bf", "g<U+03BF>"),  # Greek omicron
        ("\uff52m", "<U+FF52>m"),  # full width
        ("\U0001d42bm", "<U+1D42B>m"),  # mathematical bold
        ("\u2013rf", "<U+2013>rf"),  # en dash for a hyphen
        ("etc\u2215passwd", "etc<U+2215>passwd"),  # division slash
        ("a\u037eb", "a<U+037E>b"),  # Greek question mark for a semicolon
        ("a\u0338b", "a<U+0338>b"),  # overlay
    ],
)
def test_what_looks_like_ascii_and_is_not_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_no_text_can_imitate_the_notation() -> None:
    assert visible("<U+202E>") == "<U+003C>U+202E>"


def test_a_quotation_is_one_line_of_bounded_length() -> None:
    assert quote(b"caf\xe9\r\n") == "'caf\ufffd'"
    assert quote("x" * 300, 10) == f"'{'x' * 10}…'"
    assert excerpt("  at line\n2", 9) == "  at line…"
