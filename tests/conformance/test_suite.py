"""The official conformance suite against our server and our client, at each revision (TIER-1).

What counts are the ids of checks that succeed, at least as many as `checks.json` has of each: a scenario that is
skipped, or that only informs, passes in the suite's own words.
"""

from __future__ import annotations

import functools
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from .. import programs
from ..cache import Unavailable

HERE = Path(__file__).parent
CHECKS: dict[str, dict[str, dict[str, dict[str, int]]]] = json.loads((HERE / "checks.json").read_text())
"""Role ("extension": a server, in scenarios that no revision holds) -> revision -> scenario -> check id -> how often it
succeeds."""
EXPECTED: dict[str, list[str]] = yaml.safe_load((HERE / "expected_failures.yml").read_text())
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
FINE = {"SUCCESS", "INFO", "SKIPPED"}

pytestmark = [pytest.mark.node, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def suite() -> list[str]:
    """The command line of the suite."""
    try:
        script = programs.node_modules() / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        return [programs.find("node"), str(script)]
    except Unavailable as why:
        pytest.skip(str(why))


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """The URL of the server under test, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(HERE / "everything.py"), "--port", str(port), *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, env=ENVIRONMENT) as process:
        try:
            _until_up(f"http://127.0.0.1:{port}/mcp", process)
            yield f"http://localhost:{port}/mcp"
        finally:
            process.terminate()
            process.wait(10)


def _until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=1)
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server under test did not start")


def run(suite: list[str], out: Path, *arguments: str) -> dict[str, list[dict[str, Any]]]:
    """Run the suite; scenario -> its checks."""
    subprocess.run(
        [*suite, *arguments, "-o", str(out)],
        stdin=subprocess.DEVNULL,
        env=ENVIRONMENT,
        capture_output=True,
        timeout=300,
        check=False,  # the checks tell
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for file in out.rglob("checks.json"):
        name = re.sub(r"-\d{4}-\d\d-\d\dT[\w-]*$", "", file.parent.name)
        found[name.removeprefix(f"{arguments[0]}-")] = json.loads(file.read_text())
    return found


def missing(wanted: dict[str, int], checks: list[dict[str, Any]]) -> list[str]:
    """What of the wanted checks did not succeed, and what failed besides."""
    succeeded = Counter(check["id"] for check in checks if check["status"] == "SUCCESS")
    short = [f"{id}: {succeeded[id]} of {count}" for id, count in wanted.items() if succeeded[id] < count]
    return short + [
        f"{check['id']} is a {check['status']}: {check.get('errorMessage', '')}"
        for check in checks
        if check["status"] not in FINE
    ]


def judge(role: str, wanted: dict[str, dict[str, int]], found: dict[str, list[dict[str, Any]]]) -> None:
    """Fail for what is missing beyond the expected, and for what is expected and not missing."""
    lacking = {name: missing(ids, found.get(name, [])) for name, ids in wanted.items()}
    unexpected = {name: why for name, why in lacking.items() if why and name not in EXPECTED[role]}
    stale = [name for name in EXPECTED[role] if name in wanted and not lacking[name]]
    assert not unexpected, json.dumps(unexpected, indent=2)
    assert not stale, f"no longer failing, to be taken out of expected_failures.yml: {stale}"


@pytest.mark.parametrize("revision", list(CHECKS["server"]))
def test_the_server_meets_the_checks_of_a_revision(revision: str, suite: list[str], tmp_path: Path) -> None:  # TIER-1
    with serving("--stream") as url:
        found = run(suite, tmp_path, "server", "--url", url, "--suite", "all", "--spec-version", revision)
    judge("server", CHECKS["server"][revision], found)


def test_the_server_meets_them_with_json_answers_too(suite: list[str], tmp_path: Path) -> None:
    revision = "2026-07-28"
    with serving() as url:
        found = run(suite, tmp_path, "server", "--url", url, "--suite", "all", "--spec-version", revision)
    judge("server", CHECKS["server"][revision], found)


def test_the_server_meets_the_checks_of_extensions(suite: list[str], tmp_path: Path) -> None:  # TEX-1 to TEX-3
    """No suite holds these scenarios; most of their time they wait, so several run at once."""

    def one(url: str, revision: str, scenario: str) -> dict[str, list[dict[str, Any]]]:
        options = ["--scenario", scenario, "--spec-version", revision, "--force"]
        return run(suite, tmp_path / scenario, "server", "--url", url, *options)

    for revision, scenarios in CHECKS["extension"].items():
        with serving() as url, ThreadPoolExecutor(4) as at_once:
            runs = at_once.map(functools.partial(one, url, revision), scenarios)
            found = {name: checks for checks_by_name in runs for name, checks in checks_by_name.items()}
        assert set(found) == set(scenarios)
        judge("server", scenarios, found)


@pytest.mark.parametrize(
    ("revision", "scenario"), [(revision, name) for revision, names in CHECKS["client"].items() for name in names]
)
def test_the_client_meets_the_checks_of_a_scenario(
    revision: str, scenario: str, suite: list[str], tmp_path: Path
) -> None:  # TIER-1
    command = f"{sys.executable} {HERE / 'client.py'}"
    options = ["--scenario", scenario, "--timeout", "60000", "--spec-version", revision]
    found = run(suite, tmp_path, "client", "--command", command, *options)
    judge("client", {scenario: CHECKS["client"][revision][scenario]}, found)


def test_the_simple_tools_of_the_tiers_are_there() -> None:  # TIER-3
    from .everything import server

    tools = set(server.registry.tools)
    assert {"say_hello", "show_image", "tool_with_logging", "tool_with_notifications"} <= tools
    assert "simple_prompt" in server.registry.prompts
    assert ("simple_prompt", "topic") in server.registry.completions
    assert "greeting://{name}" in server.registry.templates
