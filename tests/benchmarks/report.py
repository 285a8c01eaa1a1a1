"""What was measured, as tables of medians, with ratios to others and what became of the goals."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from . import tasks
from .cases import Case, Way
from .implementations import BASE, OURS
from .scenarios import Numbers

Row: TypeAlias = "str | Case"
"""A case; or, for imports, what is imported; or one of `tasks`."""
Results: TypeAlias = dict[Row, list[Numbers]]
"""What each round gave."""
FLOOR_IMPORT, OUR_IMPORT = "floor: httpx2 + anyio + pydantic", "mcp_notebook: connect"


@dataclass(frozen=True, slots=True)
class Base:
    """What numbers are compared with: its name, and which row has its number."""

    name: str
    row: Callable[[Row], Row]


def _official(row: Row) -> Row:
    assert isinstance(row, Case)
    return replace(row, implementation=BASE)


SDK = Base("the SDK", _official)
FASTMCP = Base("FastMCP", lambda _: tasks.FASTMCP)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its head, the number, how many decimals it is written with."""

    head: str
    key: str
    decimals: int = 0
    compared: Base | None = None
    """To what the ratio follows."""


CALLS = (
    Column("CPU µs", "cpu_us", compared=SDK),
    Column("p50 µs", "p50_us"),
    Column("p99 µs", "p99_us"),
    Column("64: CPU µs", "many_cpu_us", compared=SDK),
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
        Column("CPU µs", f"{way}_back_us", compared=SDK),
        Column("p50 ms", f"{way}_back_ms", 2),
        Column("among many: CPU µs", f"{way}_back_among_us"),
        Column("p50 ms", f"{way}_back_among_ms", 2),
        Column("open: CPU µs", f"{way}_open_us"),
        Column("KB", f"{way}_open_kb", 1, compared=SDK),
        Column("a line: bytes", f"{way}_line_bytes", compared=SDK),
    )


TASKS = (
    Column("s", "tasks_s", 2, compared=FASTMCP),
    Column("CPU s", "tasks_cpu_s", 2, compared=FASTMCP),
)
LIVE = (
    Column("at work, few: CPU µs", "get_few_us"),
    Column("many", "get_many_us"),
    Column("ended, few: CPU µs", "get_ended_few_us"),
    Column("many", "get_ended_many_us"),
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


def _is_ours(row: Row) -> bool:
    return isinstance(row, str) and row.startswith(OURS)


GOALS = (
    Goal("CPU of a call in memory, to the SDK's", "cpu_us", 0.1, _over("memory"), SDK.row),
    Goal("CPU of a call over stdio, to the SDK's", "cpu_us", 0.2, _over("stdio"), SDK.row),
    Goal("CPU of a call over HTTP, to the SDK's", "cpu_us", 0.5, _over("http-json", "http-sse"), SDK.row),
    Goal("MB/s of 10 MB over stdio, to the SDK's", "picture_mb_s", 4.0, _over("stdio"), SDK.row, least=True),
    Goal("seconds to register all tools", "register_s", 2.0, _over("memory")),
    Goal("seconds to list all tools", "list_s", 0.5, _over("memory", "stdio")),
    Goal("KB of an open resumable request", "request_open_kb", 10.0, _over("http-kept")),
    Goal("seconds of tasks at once, to FastMCP's", "tasks_s", 0.1, _is_ours, FASTMCP.row),
    Goal("CPU of tasks at once, to FastMCP's", "tasks_cpu_s", 0.1, _is_ours, FASTMCP.row),
    Goal("CPU of tasks/get with many at work, to few", "get_ratio", 1.2, _is_ours),
    Goal("the same of one that has ended", "get_ended_ratio", 1.2, _is_ours),
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
        ("Tasks at once: made, asked about, fetched", _table(results, TASKS)),
        ("Asking about a task (tasks/get) while few or many are at work", _table(results, LIVE)),
        ("Imports", _table(results, IMPORTS)),
        ("Goals", _goals(results)),
    ]
    return "\n\n".join(f"{title}\n\n{write(table)}" for title, table in tables if len(table) > 1)


def _table(results: Results, columns: Sequence[Column]) -> list[list[str]]:
    rows = {row: runs for row, runs in results.items() if any(column.key in run for column in columns for run in runs)}
    used = [column for column in columns if any(column.key in run for runs in rows.values() for run in runs)]
    head = ["transport", "who", "era"] if any(isinstance(row, Case) for row in rows) else ["what"]
    for column in used:
        head += [column.head, f"to {column.compared.name}"] if column.compared else [column.head]
    return [head, *([*_names(row), *_cells(row, results, used)] for row in rows)]


def _names(row: Row) -> list[str]:
    return [row.transport, row.implementation, row.era or ""] if isinstance(row, Case) else [row]


def _cells(row: Row, results: Results, columns: Sequence[Column]) -> Iterator[str]:
    for column in columns:
        value = _median(results[row], column.key)
        yield "" if value is None else f"{value:,.{column.decimals}f}"
        if column.compared:
            base = _median(results.get(column.compared.row(row), []), column.key)
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
