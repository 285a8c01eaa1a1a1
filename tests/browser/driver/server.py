"""A Jupyter server with a configuration of its own."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...cache import Unavailable
from ...kernels import kernel_names, write_kernelspec

SETTINGS: dict[str, dict[str, Any]] = {
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}
"""JupyterLab's settings: nothing is fetched from elsewhere, and every cell is there, seen or not."""

START = 60.0
"""Seconds that a server may take until it answers."""
STOP = 15.0
"""Seconds that it may take to end."""


@dataclass(frozen=True)
class JupyterServer:
    """A running server: it offers JupyterLab and Notebook 7, and the kernels that could be made.

    Attributes:
        url: where it listens, without a slash at the end.
        token: what lets one in.
        root: the folder of its notebooks.
        kernels: the kernelspecs it has.
    """

    url: str
    token: str
    root: Path
    kernels: tuple[str, ...]


@contextmanager
def running_server(folder: Path) -> Iterator[JupyterServer]:
    """A server that runs for the time of a `with`.

    Args:
        folder: an empty folder for everything that it reads and writes.

    Raises:
        Unavailable: JupyterLab or Notebook 7 is not installed.
    """
    for package in ("jupyterlab", "notebook"):
        if find_spec(package) is None:
            raise Unavailable(f"{package} is not installed")
    root = folder / "notebooks"
    root.mkdir()
    _write_settings(folder / "settings")
    server = JupyterServer(
        f"http://127.0.0.1:{_free_port()}",
        secrets.token_hex(16),
        root,
        tuple(_write_kernels(folder / "data" / "kernels")),
    )
    log = folder / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            _command(server), env=_environment(folder), stdout=output, stderr=output, start_new_session=True
        )
    try:
        _wait_until_it_answers(server, process, log)
        yield server
    finally:
        _stop(process)


def _write_settings(folder: Path) -> None:
    for plugin, values in SETTINGS.items():
        file = folder / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), "utf-8")


def _write_kernels(folder: Path) -> Iterator[str]:
    for name in kernel_names():
        try:
            write_kernelspec(name, folder)
        except Unavailable:
            continue
        yield name


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _command(server: JupyterServer) -> list[str]:
    return [
        *(sys.executable, "-m", "jupyterlab"),
        *("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={server.url.rpartition(':')[2]}"),
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={server.root}",
        f"--IdentityProvider.token={server.token}",
        "--KernelSpecManager.ensure_native_kernel=False",
        # This is what gives pages `window.jupyterapp`, through which they are driven.
        "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "IPYTHONDIR": str(folder / "ipython"),
    }


def _wait_until_it_answers(server: JupyterServer, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while True:
        try:
            with urllib.request.urlopen(f"{server.url}/api/status?token={server.token}", timeout=2):
                return
        except (OSError, urllib.error.URLError):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"The server did not start:\n{log.read_text('utf-8')}") from None
            time.sleep(0.1)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM has the server end its kernels first."""
    process.terminate()
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP)
