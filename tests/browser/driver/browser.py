"""A browser that reaches loopback only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...cache import Unavailable
from ...programs import chromium

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

ARGUMENTS = [
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@contextmanager
def running_browser() -> Iterator[BrowserContext]:
    """A Chromium that runs for the time of a `with`.

    Raises:
        Unavailable: there is none, or no Playwright.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise Unavailable("playwright is not installed") from None
    program = chromium()
    # Chromium refuses to run as root inside its sandbox, as containers do.
    arguments = [*ARGUMENTS, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else ARGUMENTS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield browser.new_context(viewport={"width": 1280, "height": 1400})
        finally:
            browser.close()
