"""The pieces below: HTML that cannot be wrong, aligned text, rows, the style sheet."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mcp_notebook.render import mimebundle, parts_of, to_rows
from mcp_notebook.render.html import Html, card, details, h, table
from mcp_notebook.render.parts import Card, Fold, Part, Table, Text
from mcp_notebook.render.style import CSS, ROOT

from .page import Page, show


def test_text_is_escaped_and_html_is_not() -> None:
    assert h("b", "<&>", h("span", '"')).source == '<b>&lt;&amp;&gt;<span>"</span></b>'
    assert h("b", None, ["a", ["b"]], cls='x"y', open=None).source == '<b class="x&quot;y">ab</b>'


def test_html_is_no_string_that_could_be_joined_to_one() -> None:
    assert not isinstance(h("b"), str)
    with pytest.raises(TypeError):
        "<i>" + h("b")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("tag", "attributes"),
    [
        ("script", {}),
        ("iframe", {}),
        ("a", {}),
        ("b", {"onclick": "x"}),
        ("b", {"style": "x"}),
        ("img", {"src": "https://example.com/x.png"}),
        ("img", {"src": "javascript:alert(1)"}),
        ("img", {"src": "data:text/html,x"}),
        ("img", {"src": " data:image/png,x"}),
    ],
)
def test_elements_attributes_and_addresses_beyond_the_list_are_refused(tag: str, attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"used here|data URI"):
        h(tag, **attributes)


def test_tables_details_and_cards_hold_text_and_html() -> None:
    for piece in (
        table(["<a>", "b"], [["<c>", h("b", "d")]]),
        details("<more>", "x", h("b", "y"), open=True),
        card("done", "<completed>", "body", name="<n>", about="on <s>", aside="1.2 s"),
        card("", "", name="only"),
    ):
        assert isinstance(piece, Html)
        assert Page(piece.source).faults == []


def test_a_card_reads_well_without_its_style_sheet() -> None:
    piece = card("done", "completed", name="get_forecast", about="on weather", aside="1.2 s")
    assert Page(piece.source).text == "● completed get_forecast on weather 1.2 s"


def test_every_output_brings_its_style_sheet_which_is_small_and_scoped() -> None:
    source = mimebundle("x")["text/html"]
    assert source.startswith(f"<style>{CSS}</style>")
    assert len(CSS) < 3 * 1024
    selectors = [one.strip() for rule in CSS.split("}")[:-1] for one in rule.split("{")[0].split(",")]
    assert selectors
    assert all(selector.split()[0].partition(":")[0] == f".{ROOT}" for selector in selectors)


def test_the_style_sheet_follows_the_theme_and_has_something_for_pages_without_one() -> None:
    for variable in ("--jp-ui-font-color1", "--jp-border-color2", "--jp-error-color1", "--jp-success-color1"):
        assert re.search(re.escape(f"var({variable}, ") + "[^)]", CSS)
    assert "url(" not in CSS
    assert "@import" not in CSS


def test_plain_tables_are_aligned_also_for_wide_and_combining_characters() -> None:
    _, plain = show(Table(["a", "b"], [["東京", "x"], ["e\u0301", "y"], ["plain", "z"]]))
    assert plain.splitlines() == ["a      b", "─────  ─", "東京   x", "e\u0301      y", "plain  z"]


def test_long_cells_and_lines_in_cells_do_not_break_a_plain_table() -> None:
    page, plain = show(Table(["a", "b"], [["one\ntwo " + "東" * 200, "x"]]))
    assert len(plain.splitlines()) == 3
    assert plain.splitlines()[2].startswith("one two 東")
    assert plain.splitlines()[2].endswith("…  x")
    assert page.text.count("東") == 200


def test_what_is_folded_is_in_plain_text_unless_it_repeats() -> None:
    assert show(Fold("more", [Text("x")]))[1] == "more:\n  x"
    page, plain = show([Text("y"), Fold("again", [Text("y")], repeats=True)])
    assert plain == "y"
    assert "again" in page.text


def test_a_card_is_a_few_lines_of_plain_text() -> None:
    assert show(Card("work", "working", [Text("a\nb")], "crunch", "on x", "0:42"))[1] == (
        "● working crunch on x 0:42\n  a\n  b"
    )


def test_a_class_of_ones_own_can_be_given_a_display() -> None:
    class Thing:
        pass

    @parts_of.register(Thing)
    def _(value: Any) -> list[Part]:
        return [Text("a thing")]

    assert mimebundle(Thing())["text/plain"] == "a thing"


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"result": rows}])
def test_flat_objects_are_rows_with_none_for_what_is_missing(wrap: Any) -> None:
    assert to_rows(wrap([{"a": 1, "b": "x"}, {"b": None, "c": 2.5}])) == (
        ["a", "b", "c"],
        [[1, "x", None], [None, None, 2.5]],
    )


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x",
        3,
        [],
        {},
        {"result": []},
        {"rows": [{"a": 1}]},
        [1, 2],
        [{"a": [1]}],
        [{"a": {}}],
        [{"a": 1}, 2],
        [{}],
    ],
)
def test_anything_else_is_no_table(value: Any) -> None:
    assert to_rows(value) is None


def test_objects_that_share_no_keys_are_no_table() -> None:
    assert to_rows([{str(i): i} for i in range(50_000)]) is None
