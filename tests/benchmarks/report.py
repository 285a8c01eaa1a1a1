"""What was measured, as tables of medians, with ratios to the official SDK and what became of the goals."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from .cases import Case, Way
from .implementations import BASE, OURS
from .scenarios import Numbers

Row: TypeAlias = "str | Case"
"""A case; or, for imports, what is imported."""
Results: TypeAlias = dict[Row, list[Numbers]]
"""What each round gave."""
FLOOR_IMPORT, OUR_IMPORT = "floor: httpx2 + anyio + pydantic", "mcp_notebook: connect"


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its head, the number, how many decimals it is written with."""

    head: str
    key: str
    decimals: int = 0
    compared: bool = False
    """Whether the ratio to the official SDK follows."""


CALLS = (
    Column("CPU µs", "cpu_us", compared=True),
    Column("p50 µs", "p50_us"),
    Column("p99 µs", "p99_us"),
    Column("64: CPU µs", "many_cpu_us", compared=True),
    Column("64: calls/s", "many_per_s"),
    Column("1 MB: MB/s", "text_mb_s"),
    Column("10 MB: MB/s", "picture_mb_s"),
    Column("connect ms", "connect_ms", 1),
)
TOOLS = (
    Column("register s", "register_s", 2),
    Column("list s", "list_s", 3),
    Column("client MB", "client_mb"),
    Column("server MB", "server_mb"),
)


def _coming_back(way: Way) -> tuple[Column, ...]:
    """Of what is open, and of a line, it is what it takes beside what is said."""
    return (
        Column("CPU µs", f"{way}_back_us", compared=True),
        Column("p50 ms", f"{way}_back_ms", 2),
        Column("among many: CPU µs", f"{way}_back_among_us"),
        Column("p50 ms", f"{way}_back_among_ms", 2),
        Column("open: CPU µs", f"{way}_open_us"),
        Column("KB", f"{way}_open_kb", 1, compared=True),
        Column("a line: bytes", f"{way}_line_bytes", compared=True),
    )


IMPORTS = (Column("CPU ms", "import_ms"), Column("MB", "import_mb"))


@dataclass(frozen=True, slots=True)
class Goal:
    """What one of our numbers should be: at most `bound`, or (`least`) at least; as a ratio to `base`, where given."""

    what: str
    key: str
    bound: float
    ours: Callable[[Row], bool]
    base: Callable[[Row], Row] | None = None
    least: bool = False


def _over(*transports: str) -> Callable[[Row], bool]:
    return lambda row: isinstance(row, Case) and row.implementation == OURS and row.transport in transports


def _base(row: Row) -> Row:
    assert isinstance(row, Case)
    return replace(row, implementation=BASE)


GOALS = (
    Goal("CPU of a call in memory, to the SDK's", "cpu_us", 0.1, _over("memory"), _base),
    Goal("CPU of a call over stdio, to the SDK's", "cpu_us", 0.2, _over("stdio"), _base),
    Goal("CPU of a call over HTTP, to the SDK's", "cpu_us", 0.5, _over("http-json", "http-sse"), _base),
    Goal("MB/s of 10 MB over stdio, to the SDK's", "picture_mb_s", 4.0, _over("stdio"), _base, least=True),
    Goal("seconds to register all tools", "register_s", 2.0, _over("memory")),
    Goal("seconds to list all tools", "list_s", 0.5, _over("memory", "stdio")),
    Goal("KB of an open resumable request", "request_open_kb", 10.0, _over("http-kept")),
    Goal("CPU of importing, to the floor's", "import_ms", 1.5, lambda row: row == OUR_IMPORT, lambda _: FLOOR_IMPORT),
)


def report(results: Results, *, markdown: bool) -> str:
    """All of it as text."""
    write = _markdown if markdown else _plain
    tables = [
        ("Calls", _table(results, CALLS)),
        ("Many tools", _table(results, TOOLS)),
        ("Coming back to a stream, by Last-Event-ID", _table(results, _coming_back("stream"))),
        ("Coming back to a request, by requests/resume", _table(results, _coming_back("request"))),
        ("Imports", _table(results, IMPORTS)),
        ("Goals", _goals(results)),
    ]
    return "\n\n".join(f"{title}\n\n{write(table)}" for title, table in tables if len(table) > 1)


def _table(results: Results, columns: Sequence[Column]) -> list[list[str]]:
    rows = {row: runs for row, runs in results.items() if any(column.key in run for column in columns for run in runs)}
    used = [column for column in columns if any(column.key in run for runs in rows.values() for run in runs)]
    head = ["transport", "who", "era"] if any(isinstance(row, Case) for row in rows) else ["what"]
    for column in used:
        head += [column.head, "to the SDK"] if column.compared else [column.head]
    return [head, *([*_names(row), *_cells(row, results, used)] for row in rows)]


def _names(row: Row) -> list[str]:
    return [row.transport, row.implementation, row.era or ""] if isinstance(row, Case) else [row]


def _cells(row: Row, results: Results, columns: Sequence[Column]) -> Iterator[str]:
    for column in columns:
        value = _median(results[row], column.key)
        yield "" if value is None else f"{value:,.{column.decimals}f}"
        if column.compared:
            base = _median(results.get(_base(row), []), column.key)
            yield "" if value is None or base is None else f"{value / base:.2f}"


def _goals(results: Results) -> list[list[str]]:
    table = [["goal", "", "bound", "median", "rounds", "met"]]
    for goal in GOALS:
        for row in filter(goal.ours, results):
            values = list(_values(goal, row, results))
            if values:
                value = statistics.median(values)
                met = value >= goal.bound if goal.least else value <= goal.bound
                bound = f"{'≥' if goal.least else '≤'} {goal.bound:g}"
                spread = f"{min(values):.2f} to {max(values):.2f}"
                table.append([goal.what, str(row), bound, f"{value:.2f}", spread, "yes" if met else "no"])
    return table


def _values(goal: Goal, row: Row, results: Results) -> Iterable[float]:
    """The number of each round, over that of the base in the same round."""
    ours = [run.get(goal.key) for run in results[row]]
    base = [run.get(goal.key) for run in results.get(goal.base(row), [])] if goal.base else [1.0] * len(ours)
    return [one / other for one, other in zip(ours, base, strict=False) if one is not None and other]


def _median(runs: list[Numbers], key: str) -> float | None:
    values = [run[key] for run in runs if key in run]
    return statistics.median(values) if values else None


def _markdown(table: list[list[str]]) -> str:
    head, *rows = table
    rule = ["---" if _is_text(table, index) else "---:" for index in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def _plain(table: list[list[str]]) -> str:
    widths = [max(len(row[index]) for row in table) for index in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [
            cell.ljust(width) if _is_text(table, index) else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _is_text(table: list[list[str]], index: int) -> bool:
    cells = [row[index] for row in table[1:] if row[index]]
    return not all(cell[0].isdigit() for cell in cells)
