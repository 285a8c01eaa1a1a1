"""What is huge is shortened before it is worked on, so it takes no time. The bounds are far above what it takes."""

from __future__ import annotations

import time
from typing import Any

import pytest

from mcp_notebook import types

from .page import answer, say, show

SCHEMA = {"properties": {f"argument_{i}": {"type": "string", "description": "d" * 50} for i in range(20)}}


def huge() -> dict[str, Any]:
    rows = [{"a": i, "b": "x" * 20, "c": i / 7} for i in range(100_000)]
    return {
        "10,000 tools": [
            types.Tool(name=f"tool-{i}", description="d" * 500, input_schema=SCHEMA) for i in range(10_000)
        ],
        "10 MB of text": answer(say("word " * 2_000_000)),
        "10 MB of control characters": answer(say("\x1b[\u202e" * 3_000_000)),
        "10 MB of names": answer(
            {"type": "resource_link", "uri": "x" * 2_000_000, "name": "y" * 8_000_000},
            {"type": "resource", "resource": {"uri": "x" * 2_000_000, "text": ""}},
            {"type": "z" * 10_000_000},
        ),
        "a tool of 10 MB": types.Tool(
            name="x" * 4_000_000,
            title="y" * 4_000_000,
            input_schema={"properties": {f"{i}" * 10: SCHEMA["properties"]["argument_1"] for i in range(100_000)}},
        ),
        "100,000 blocks": answer(*[say("x") for _ in range(100_000)]),
        "100,000 rows": answer(structuredContent={"result": rows}),
        "a wide tree": {"a": [[i, [i, [i]]] for i in range(300_000)]},
        "one long string in data": {"a": "x" * 10_000_000},
        "text in wide characters": answer(
            structuredContent={"result": [{str(i): "東" * 300 for i in range(30)}] * 200}
        ),
    }


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    return huge()


@pytest.mark.parametrize(
    "name",
    [
        "10,000 tools",
        "10 MB of text",
        "10 MB of control characters",
        "10 MB of names",
        "a tool of 10 MB",
        "100,000 blocks",
        "100,000 rows",
        "a wide tree",
        "one long string in data",
        "text in wide characters",
    ],
)
def test_what_is_huge_is_shown_at_once_and_small(values: dict[str, Any], name: str) -> None:
    start = time.perf_counter()
    page, plain = show(values[name])
    assert time.perf_counter() - start < 5
    assert len(page.text) < 2_500_000
    assert len(plain) < 1_500_000
