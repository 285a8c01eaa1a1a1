"""What all tests share.

Tests marked `node` or `browser` are skipped where there is no Node.js or Chromium. With `MCP_NOTEBOOK_REQUIRE_ALL=1`
(as `.ci/run` sets it) a skipped test is a failure, whatever the reason: nothing is left out unseen there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import pytest

from . import programs
from .cache import Unavailable

_NEEDS: dict[str, Callable[[], object]] = {"node": lambda: programs.find("npx"), "browser": programs.chromium}
"""Markers -> what must not raise Unavailable."""

_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)


@pytest.fixture(scope="session", autouse=True)
def state_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What notebooks remember between kernels: tests, and the kernels they start, leave the user's alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MCP_NOTEBOOK_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is remembered beyond a process goes where no other run finds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MCP_NOTEBOOK_STATE", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def everything_command() -> list[str]:
    """The command line of the npm package server-everything on stdio. Tests that use it are marked `node`."""
    try:
        return programs.everything_command()
    except Unavailable as why:
        pytest.skip(str(why))


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, find in _NEEDS.items():
        if item.get_closest_marker(marker):
            try:
                find()
            except Unavailable as why:
                pytest.skip(str(why))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _not_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _not_skipped((yield))


def _not_skipped(report: _Report) -> _Report:
    if os.environ.get("MCP_NOTEBOOK_REQUIRE_ALL") == "1" and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, where nothing may be (MCP_NOTEBOOK_REQUIRE_ALL=1): {report.longrepr}"
    return report
