"""Real kernels for tests: which there are, how to get them, and how to talk to one as a front end does."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from .cache import kept

ROOT = Path(__file__).parents[1]

KERNELS = {"ipykernel7": None, "ipykernel6": "ipykernel==6.31.*"}
"""Kernelspec names -> what is installed for it in an environment of its own (None: the tests' own environment)."""

EXTRA_KERNELS = {
    "ipykernel629": "ipykernel==6.29.*",
    "ipykernel630": "ipykernel==6.30.*",
    "ipykernel70": "ipykernel==7.0.*",
    "ipykernel71": "ipykernel==7.1.*",
    "ipykernel72": "ipykernel==7.2.*",
    "ipykernel73": "ipykernel==7.3.*",
}
"""Tested too where `MCP_NOTEBOOK_TEST_KERNELS=all` is set."""


def kernel_names() -> list[str]:
    """The kernelspecs that tests run with."""
    extra = EXTRA_KERNELS if os.environ.get("MCP_NOTEBOOK_TEST_KERNELS") == "all" else {}
    return [*KERNELS, *extra]


def python_of(name: str) -> Path:
    """The Python that runs a kernel, whose environment is made the first time and kept.

    Raises:
        Unavailable: the environment could not be made.
    """
    kernel = (KERNELS | EXTRA_KERNELS)[name]
    if kernel is None:
        return Path(sys.executable)
    requirements = [kernel, *_dependencies()]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:12]
    return _python_in(kept(f"{name}-{version}-{digest}", lambda folder: _install(requirements, folder)))


def _python_in(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _install(requirements: list[str], folder: Path) -> None:
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(_python_in(folder)), "-m", "pip", "install", "--quiet", *requirements],
    ):
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)


def _dependencies() -> list[str]:
    """What the package needs besides the kernel; the package itself is found through PYTHONPATH, as it is now."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [requirement for requirement in project["dependencies"] if not requirement.startswith("ipykernel")]


def write_kernelspec(name: str, folder: Path, package: Path = ROOT) -> None:
    """Put a kernelspec into `folder`, so that Jupyter finds it there.

    Args:
        name: one of `kernel_names()`.
        folder: a folder of kernelspecs (`…/kernels`).
        package: the folder that holds the `mcp_notebook` the kernel imports.

    Raises:
        Unavailable: see `python_of`.
    """
    spec = {
        "argv": [str(python_of(name)), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": name,
        "language": "python",
        "interrupt_mode": "signal",
        "env": {"PYTHONPATH": os.pathsep.join({str(package): 0, str(ROOT): 0})},
    }
    place = folder / name
    place.mkdir(parents=True)
    (place / "kernel.json").write_text(json.dumps(spec), "utf-8")


@dataclass
class Outcome:
    """What came of running code."""

    status: str = ""
    """ok, error or aborted; empty until the kernel has answered."""
    text: str = ""
    """What it printed."""
    data: list[dict[str, Any]] = field(default_factory=list)
    """What it displayed, and its result: MIME bundles."""
    updates: list[dict[str, Any]] = field(default_factory=list)
    """What was displayed in the place of something, in order: MIME bundles."""
    error: str = ""
    """The exception's name, a colon, its text."""
    traceback: list[str] = field(default_factory=list)
    """How the exception is shown."""
    idle: bool = False
    """Whether the kernel says that it is done with it."""


class Kernel:
    """A running kernel, and the only client it has."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager = manager
        self.client = client
        self._outcomes: dict[str, Outcome] = {}
        self._displays: dict[str, Outcome] = {}
        self._answers: list[str] = []

    @property
    def name(self) -> str:
        """One of `kernel_names()`."""
        return self.manager.kernel_name

    def run(self, code: str, *, timeout: float = 15, **how: Any) -> Outcome:
        """Run code and wait for what comes of it. For `how` see `send`."""
        return self.outcome(self.send(code, **how), timeout=timeout)

    def value(self, expression: str) -> Any:
        """What an expression is, read from its repr."""
        outcome = self.run(f"print(repr({expression}))")
        assert outcome.status == "ok", outcome
        return eval(outcome.text)

    def send(self, code: str, *, cell: str | None = None, answers: list[str] | None = None) -> str:
        """Send code, as a cell.

        Args:
            code: the cell.
            cell: a cell's id, as JupyterLab and Notebook 7 send it.
            answers: what `input()` shall give, which waits where they do not suffice; None where the front end has no
                stdin.

        Returns:
            The request's id, for `outcome`.
        """
        self._answers = list(answers or [])
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": answers is not None,
            "stop_on_error": True,
        }
        return self._send("execute_request", content, {"cellId": cell} if cell else {})

    def comm(self, comm_id: str, data: dict[str, Any]) -> str:
        """Say something about a widget, as a front end does when somebody touches it."""
        return self._send("comm_msg", {"comm_id": comm_id, "data": data})

    def click(self, comm_id: str) -> str:
        """Click on a button."""
        return self.comm(comm_id, {"method": "custom", "content": {"event": "click"}})

    def _send(self, kind: str, content: dict[str, Any], metadata: dict[str, Any] | None = None) -> str:
        message = self.client.session.msg(kind, content, metadata=metadata)
        self._outcomes[message["header"]["msg_id"]] = Outcome()
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def outcome(self, request: str, *, timeout: float = 15) -> Outcome:
        """Wait until a request is done with, however it ended."""
        return self.until(request, lambda outcome: bool(outcome.idle and outcome.status), timeout=timeout)

    def until(self, request: str, condition: Any, *, timeout: float = 15) -> Outcome:
        """Wait until the outcome so far is as wanted.

        Args:
            request: its id.
            condition: what says so: a function of an `Outcome`, or a text that must have been printed.
            timeout: seconds.
        """
        outcome = self._outcomes[request]
        if isinstance(condition, str):
            text, condition = condition, lambda outcome: text in outcome.text
        end = time.monotonic() + timeout
        while not condition(outcome):
            left = end - time.monotonic()
            assert left > 0, f"not within {timeout} seconds: {outcome}"
            assert not (outcome.idle and outcome.status), f"it ended otherwise: {outcome}"
            self._read(left)
        return outcome

    def hear(self, seconds: float) -> None:
        """Take in what comes within the time, whatever asked for it."""
        self._read(seconds)

    def _read(self, seconds: float) -> None:
        """Take in what has come on any channel, or comes within the time."""
        channels = [self.client.iopub_channel, self.client.shell_channel, self.client.stdin_channel]
        poller = zmq.Poller()
        for channel in channels:
            poller.register(channel.socket, zmq.POLLIN)
        ready = dict(poller.poll(round(seconds * 1000)))
        for channel in channels:
            if channel.socket in ready:
                self._take(channel.get_msg(timeout=1))

    def _take(self, message: dict[str, Any]) -> None:
        content = message["content"]
        if message["msg_type"] == "input_request" and self._answers:
            self.client.input(self._answers.pop(0))
        display = content.get("transient", {}).get("display_id", "")
        if message["msg_type"] == "update_display_data" and display in self._displays:
            self._displays[display].updates.append(content["data"])  # whatever runs meanwhile
            return
        outcome = self._outcomes.get(message["parent_header"].get("msg_id", ""))
        if outcome is None:
            return
        match message["msg_type"]:
            case "stream":
                outcome.text += content["text"]
            case "display_data" | "execute_result":
                outcome.data.append(content["data"])
                self._displays[display] = outcome
            case "error":
                outcome.error = f"{content['ename']}: {content['evalue']}"
                outcome.traceback = content["traceback"]
            case "execute_reply":
                outcome.status = content["status"]
            case "status":
                outcome.idle = content["execution_state"] == "idle"

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    def restart(self) -> None:
        """Restart it, as the front end's menu does."""
        self.manager.restart_kernel()
        self.client.wait_for_ready(timeout=30)

    def shut_down(self) -> None:
        """End it, as the front end's menu does."""
        self.manager.shutdown_kernel()


@contextmanager
def running_kernel(name: str, package: Path = ROOT) -> Iterator[Kernel]:
    """A kernel that runs for the time of a `with`.

    Args:
        name: one of `kernel_names()`.
        package: the folder that holds the `mcp_notebook` the kernel imports.

    Raises:
        Unavailable: see `python_of`.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_kernelspec(name, Path(folder), package)
        specs = KernelSpecManager(kernel_dirs=[folder], ensure_native_kernel=False)
        manager = KernelManager(kernel_name=name, kernel_spec_manager=specs)
        manager.start_kernel(cwd=folder)
        client = manager.client()
        try:
            client.start_channels()
            client.wait_for_ready(timeout=60)
            yield Kernel(manager, client)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
