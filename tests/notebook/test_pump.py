"""Where a kernel is not built as the pump expects, cells wait all the same."""

import asyncio
import logging
from types import SimpleNamespace

import ipykernel
import pytest

from mcp_notebook.notebook.pump import Pump, pump_for
from mcp_notebook.notebook.runtime import Runtime

from ..kernels import Kernel


def test_without_a_kernel_there_is_nothing_to_pump() -> None:
    assert type(pump_for(None)) is Pump


def test_a_kernel_of_an_unknown_version_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipykernel, "version_info", (99, 0, 0))
    assert type(pump_for(SimpleNamespace())) is Pump


@pytest.mark.parametrize("major", [6, 7])
def test_a_kernel_that_is_not_built_as_expected_is_left_alone_and_logged(
    major: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ipykernel, "version_info", (major, 0, 0))
    shell = SimpleNamespace(kernel=SimpleNamespace(shell_channel_thread=None, shell_stream=None))
    runtime = Runtime.of(shell)
    try:
        with caplog.at_level(logging.WARNING):
            assert runtime.wait(runtime.submit(asyncio.sleep(0.05, "result")), 5) == "result"
        assert not runtime.answers_widgets
        assert "widgets cannot be answered while a cell waits" in caplog.text
    finally:
        runtime.close()


def test_without_a_pump_a_blocked_cell_is_interrupted_and_asked_as_ever(own_kernel: Kernel) -> None:
    own_kernel.run("%reset -f\nimport ipykernel\nipykernel.version_info = (99, 0, 0)\n%reload_ext tests.waits")
    assert own_kernel.value("runtime.answers_widgets") is False
    assert own_kernel.run("print(runtime.wait(runtime.submit(asking())))", answers=["Ada"]).text == "hello Ada\n"
    request = own_kernel.send("runtime.wait(runtime.submit(endless()))")
    own_kernel.until(request, "waits")
    own_kernel.interrupt()
    assert own_kernel.outcome(request).error.startswith("KeyboardInterrupt")
    assert own_kernel.value("cancelled.wait(5)") is True
