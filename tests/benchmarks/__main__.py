"""`python -m tests.benchmarks`: measure, and print tables.

Each (round, case) is a fresh process, the cases of a round follow one another, and each round begins with another one,
so that what else the machine does falls on all alike. On a busy machine trust CPU time and the ratios of one run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from unittest.mock import patch

from ..cache import Unavailable
from . import imports, tasks
from .cases import ERAS, TRANSPORTS, Case, Transport
from .implementations import IMPLEMENTATIONS
from .report import Results, report
from .scenarios import Numbers
from .worker import Job, run_job

SCENARIOS = ("import", "connect", "calls", "payload", "tools", "resuming", "tasks")
TOOLS_OVER = ("memory", "stdio")
"""The transports over which many tools are listed: one without a wire, and one with."""
KEPT: Transport = "http-kept"
"""The transport over which clients come back to requests, and nothing else is measured."""
LONGEST = 600.0
"""Seconds that one measurement may take."""
IMPORTS = {
    "python alone": "pass",
    "floor: httpx2 + anyio + pydantic": IMPLEMENTATIONS["floor"].imports,
    "mcp_notebook": "import mcp_notebook",
    "mcp_notebook: connect": IMPLEMENTATIONS["mcp_notebook"].imports,
    "mcp_notebook: Server": "from mcp_notebook import Server",
    "official SDK: Client": IMPLEMENTATIONS["official SDK"].imports,
    "FastMCP: Client": IMPLEMENTATIONS["FastMCP"].imports,
}


def main(arguments: list[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    # Bytecode for all of them, ours too, wherever they are installed and whatever this process may write.
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {"PYTHONPYCACHEPREFIX": folder}):
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        results = _measure(options)
    print(report(results, markdown=options.markdown))


def _measure(options: argparse.Namespace) -> Results:
    results: Results = {}
    measures = [*_imports(options), *_tasks(options), *_cases(options)]
    for number in range(options.rounds):
        start = number * max(1, len(measures) // options.rounds)
        for name, measure in measures[start:] + measures[:start]:
            try:
                results.setdefault(name, []).append(measure())
            except Unavailable as why:
                print(f"{name} is left out: {why}", file=sys.stderr)
            except Exception as error:
                print(f"failed: {error}", file=sys.stderr)
        load = os.getloadavg()[0]
        print(f"round {number + 1} of {options.rounds} is done; load {load:.1f}", file=sys.stderr, flush=True)
    if options.json:
        told = [{"row": name if isinstance(name, str) else str(name), "rounds": runs} for name, runs in results.items()]
        Path(options.json).write_text(json.dumps(told, indent=1))
    return results


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often everything is measured (5)")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each kind of call is made (1)")
    for option, choices in (
        ("scenario", SCENARIOS),
        ("transport", TRANSPORTS),
        ("era", ERAS),
        ("implementation", tuple(IMPLEMENTATIONS)),
    ):
        parser.add_argument(f"--{option}", action="append", choices=choices, help="may be repeated; all by default")
    parser.add_argument("--in-thread", action="store_true", help="call a synchronous tool, not an asynchronous one")
    parser.add_argument("--tools", type=int, default=10_000, help="how many tools are registered and listed (10000)")
    parser.add_argument("--open", type=int, default=2_000, help="how many requests are open, to come back to (2000)")
    parser.add_argument("--tasks", type=int, default=1_000, help="how many tasks are made and fetched at once (1000)")
    parser.add_argument("--live", type=int, default=10_000, help="how many tasks are at work, to ask about one (10000)")
    parser.add_argument("--scale", type=float, default=1.0, help="what part of the full size large results have (1)")
    parser.add_argument("--markdown", action="store_true", help="print tables for the README")
    parser.add_argument("--json", metavar="FILE", help="write what each round gave")
    return parser


Measure = tuple[str | Case, Callable[[], Numbers]]


def _imports(options: argparse.Namespace) -> Iterable[Measure]:
    if options.scenario and "import" not in options.scenario:
        return
    for name, statement in IMPORTS.items():
        implementation = IMPLEMENTATIONS.get(name.partition(":")[0])
        if _wanted(name, options) and (implementation is None or _installed(implementation.package)):
            yield name, lambda statement=statement: imports.measure(statement)


def _tasks(options: argparse.Namespace) -> Iterable[Measure]:
    if options.scenario and "tasks" not in options.scenario:
        return
    for rows, number in ((tasks.AT_ONCE_ROWS, options.tasks), (tasks.LIVE_ROWS, options.live)):
        for row in rows:
            if _wanted(row, options):
                yield row, lambda row=row, number=number: tasks.measure(row, number, LONGEST)


def _wanted(row: str, options: argparse.Namespace) -> bool:
    """Whether a row that is no case is of an implementation that was chosen."""
    return options.implementation is None or row.partition(":")[0] in options.implementation


def _cases(options: argparse.Namespace) -> Iterable[Measure]:
    chosen = set(options.scenario or SCENARIOS) - {"import", "tasks"}
    for transport in options.transport or TRANSPORTS:
        scenarios = chosen & {"resuming"} if transport == KEPT else chosen - {"resuming"}
        if transport not in TOOLS_OVER and not options.scenario:
            scenarios -= {"tools"}
        for name in options.implementation or IMPLEMENTATIONS:
            implementation = IMPLEMENTATIONS[name]
            if transport not in implementation.transports or not scenarios:
                continue
            if not _installed(implementation.package):
                print(f"{name} is left out: {implementation.package} is not installed.", file=sys.stderr)
                continue
            for era in implementation.eras:
                if transport == KEPT and era != "handshake":
                    continue  # in the other, a client that goes over HTTP has cancelled its request
                if era is None or options.era is None or era in options.era:
                    job = Job(
                        case=Case(name, transport, era),
                        scenarios=tuple(sorted(scenarios)),
                        seconds=options.seconds,
                        tool="echo_in_thread" if options.in_thread else "echo",
                        tools=options.tools,
                        scale=options.scale,
                        open=options.open,
                    )
                    yield job.case, lambda job=job: run_job(job, LONGEST)


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


if __name__ == "__main__":
    main()
