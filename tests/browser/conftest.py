"""One server and one browser for all browser tests, since starting them takes seconds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ..cache import Unavailable
from .driver import App, JupyterServer, Notebook, running_browser, running_server

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    try:
        with running_server(tmp_path_factory.mktemp("jupyter")) as server:
            yield server
    except Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture(scope="package")  # no longer than needed: Playwright keeps an event loop running in this thread
def browser() -> Iterator[BrowserContext]:
    try:
        with running_browser() as browser:
            yield browser
    except Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture(scope="module")
def open_notebook(server: JupyterServer, browser: BrowserContext) -> Iterator[Callable[..., Notebook]]:
    """`open_notebook(source, kernel=..., app=...)` gives a `Notebook`, which is closed after the module's tests."""
    opened: list[Notebook] = []

    def open_notebook(source: Path | None = None, *, kernel: str = "ipykernel7", app: App = "lab") -> Notebook:
        if kernel not in server.kernels:
            pytest.skip(f"{kernel} could not be installed")
        opened.append(Notebook(browser, server, source, kernel=kernel, app=app))
        return opened[-1]

    yield open_notebook
    for notebook in opened:
        notebook.close()


def once_for_each(open_notebook: Callable[..., Notebook], setup: str) -> Callable[[str], Notebook]:
    """Opens a notebook of each kind once, such as "ipykernel7" or "ipykernel7 in Notebook 7", with its set-up run."""

    @functools.cache
    def first(kind: str) -> Notebook:
        kernel, _, app = kind.partition(" in ")
        notebook = open_notebook(kernel=kernel, app="notebook" if app else "lab")
        notebook.run(setup).wait_for("ready")
        return notebook

    def opened(kind: str) -> Notebook:
        first(kind).page.bring_to_front()  # browsers take their time over pages that nobody sees
        return first(kind)

    return opened
