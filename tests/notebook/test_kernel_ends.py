"""A kernel that ends, in whichever way, leaves no process of a server's behind."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ..cache import Unavailable
from ..kernels import ROOT, Kernel, kernel_names, running_kernel

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX processes")

STUBBORN = """
import os, signal, subprocess, sys
from mcp_notebook import Server

signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(15, 1); time.sleep(600)"])
server = Server("stubborn")

@server.tool
def pids() -> list[int]:
    return [os.getpid(), child.pid]

server.serve_stdio()
import time
time.sleep(600)  # and it outlives the end of its stdin
"""


@pytest.fixture(params=kernel_names())
def kernel(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kernel]:
    """A kernel that is connected to a server which ignores every request to end, and has a child that does too."""
    script = tmp_path / "stubborn.py"
    script.write_text(textwrap.dedent(STUBBORN))
    try:
        with running_kernel(request.param) as kernel:
            kernel.run("%load_ext mcp_notebook")
            line = f"%mcp connect stubborn --trust --env PYTHONPATH={ROOT} -- {sys.executable} {script}"
            outcome = kernel.run(line, timeout=60)
            assert outcome.status == "ok", outcome
            kernel.run("pids = %mcp call stubborn.pids")
            yield kernel
    except Unavailable as why:
        pytest.skip(str(why))


def _kill(kernel: Kernel) -> None:
    os.kill(kernel.value("__import__('os').getpid()"), signal.SIGKILL)


@pytest.mark.parametrize("end", [_kill, Kernel.restart, Kernel.shut_down], ids=["killed", "restarted", "shut down"])
def test_a_stubborn_server_and_its_child_end_with_the_kernel(kernel: Kernel, end: Callable[[Kernel], None]) -> None:
    pids = kernel.value("pids.data")
    assert len(pids) == 2
    assert all(map(_alive, pids))
    end(kernel)
    deadline = time.monotonic() + 15
    while any(map(_alive, pids)):
        assert time.monotonic() < deadline, f"still there: {[pid for pid in pids if _alive(pid)]}"
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    """Whether a process is at work: one that has ended and was not collected yet is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"
