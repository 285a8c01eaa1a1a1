"""The benchmarks run. What they measure is judged by nobody here."""

from __future__ import annotations

import pytest

from .__main__ import main

TINY = ["--rounds", "1", "--seconds", "0.01", "--tools", "20", "--scale", "0.001", "--implementation", "mcp_notebook"]


@pytest.mark.parametrize("transport", ["memory", "stdio", "http-json", "http-sse"])
def test_the_suite_measures_calls_payload_and_tools(transport: str, capsys: pytest.CaptureFixture[str]) -> None:
    scenarios = [word for name in ("connect", "calls", "payload", "tools") for word in ("--scenario", name)]
    main([*TINY, *scenarios, "--transport", transport, "--era", "modern", "--implementation", "floor", "--markdown"])
    output = capsys.readouterr()
    assert "failed" not in output.err
    assert f"| {transport} | mcp_notebook | modern |" in output.out
    assert "Many tools" in output.out


def test_the_suite_measures_clients_that_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    main([*TINY, "--scenario", "resuming", "--open", "20"])
    output = capsys.readouterr()
    assert "failed" not in output.err
    assert "Coming back to a request" in output.out


def test_the_suite_measures_tasks_and_compares_them(capsys: pytest.CaptureFixture[str]) -> None:
    main([*TINY, "--scenario", "tasks", "--tasks", "5", "--live", "20", "--implementation", "FastMCP"])
    output = capsys.readouterr()
    assert "failed" not in output.err
    for row in ("requestor", "receiver", "extension", "tasks/get, memory", "tasks/get, sqlite"):
        assert f"mcp_notebook: {row}" in output.out


def test_the_suite_measures_imports_and_compares_them(capsys: pytest.CaptureFixture[str]) -> None:
    main([*TINY, "--scenario", "import", "--implementation", "floor"])
    output = capsys.readouterr()
    assert "failed" not in output.err
    assert "CPU of importing" in output.out
