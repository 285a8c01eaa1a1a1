"""A notebook on a page, as a person sees and uses it."""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from .server import JupyterServer

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator

App: TypeAlias = Literal["lab", "notebook"]
"""JupyterLab, or Notebook 7."""

OUT = Path(__file__).parents[1] / "out"
"""Where screenshots go."""

EMPTY = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}

PANEL = "window.jupyterapp?.shell.currentWidget"
PATHS = {"lab": "/lab/workspaces/{name}/tree/{name}.ipynb", "notebook": "/notebooks/{name}.ipynb"}

LOAD = 60.0
CELL = 15.0
"""Seconds: how long a page may take to load, and a cell to do what is waited for."""


class Notebook:
    """A notebook that is open in a browser, with its kernel running.

    Args:
        browser: in which a page is opened.
        server: from which it comes.
        source: a notebook file to copy; None begins a new one, in which the front end puts one empty cell.
        kernel: one of the server's kernelspecs.
        app: in which it is opened.
    """

    def __init__(
        self,
        browser: BrowserContext,
        server: JupyterServer,
        source: Path | None = None,
        *,
        kernel: str = "ipykernel7",
        app: App = "lab",
    ) -> None:
        name = f"{source.stem if source else 'notebook'}-{secrets.token_hex(4)}"
        content = json.loads(source.read_text("utf-8")) if source else EMPTY
        kernelspec = {"name": kernel, "display_name": kernel, "language": "python"}
        content = content | {"metadata": content["metadata"] | {"kernelspec": kernelspec}}
        (server.root / f"{name}.ipynb").write_text(json.dumps(content), "utf-8")
        self.page = browser.new_page()
        self.page.set_default_timeout(CELL * 1000)
        self.page.goto(f"{server.url}{PATHS[app].format(name=name)}?token={server.token}", timeout=LOAD * 1000)
        self._wait_for_kernel()

    def _wait_for_kernel(self) -> None:
        self.page.wait_for_function(
            f"{PANEL}?.sessionContext?.session?.kernel?.info && {PANEL}.sessionContext.isReady", timeout=LOAD * 1000
        )
        self.page.wait_for_function(f"{PANEL}.sessionContext.session.kernel.status === 'idle'", timeout=LOAD * 1000)

    def cell(self, index: int) -> Cell:
        """The code or text cell at `index`, from 0."""
        return Cell(self, index)

    def add(self, code: str) -> Cell:
        """A new code cell at the end."""
        index = self.page.evaluate(
            f"""code => {{
                const cells = {PANEL}.content.model.sharedModel;
                cells.insertCell(cells.cells.length, {{cell_type: 'code', source: code}});
                return cells.cells.length - 1;
            }}""",
            code,
        )
        return self.cell(index)

    def delete(self, cell: Cell) -> None:
        """Delete a cell; those below it move up."""
        self.page.evaluate(f"index => {PANEL}.content.model.sharedModel.deleteCell(index)", cell.index)

    def start(self, code: str) -> Cell:
        """Run code in a new cell, without waiting for anything."""
        return self.add(code).start()

    def run(self, code: str) -> Cell:
        """Run code in a new cell, and wait until it has ended."""
        return self.start(code).wait_until_done()

    def run_from(self, cell: Cell) -> None:
        """Run a cell and all below it, without waiting for anything."""
        self.page.evaluate(
            f"""index => {{
                const cells = {PANEL}.content;
                cells.deselectAll();
                cells.activeCellIndex = index;
                window.jupyterapp.commands.execute('notebook:run-all-below');  // it resolves at the last reply
            }}""",
            cell.index,
        )

    def interrupt(self) -> None:
        self.page.evaluate(f"() => {PANEL}.sessionContext.session.kernel.interrupt()")

    def restart(self) -> None:
        self.page.evaluate(f"() => {PANEL}.sessionContext.session.kernel.restart()")
        self._wait_for_kernel()

    def reopen(self) -> None:
        """Save it, and open the page anew."""
        self.page.evaluate(f"() => {PANEL}.context.save()")
        self.page.reload(timeout=LOAD * 1000)
        self._wait_for_kernel()

    def theme(self, name: Literal["JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast"]) -> None:
        self.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        self.page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")

    def screenshot(self, name: str) -> Path:
        """A picture of the whole page, as `out/NAME.png`."""
        path = OUT / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    def close(self) -> None:
        """End the kernel and close the page."""
        try:
            self.page.evaluate(f"() => {PANEL}.sessionContext.shutdown()")
        finally:
            self.page.close()


class Cell:
    """One cell of a notebook."""

    def __init__(self, notebook: Notebook, index: int) -> None:
        self._notebook = notebook
        self.index = index
        panel = notebook.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.element: Locator = panel.locator(".jp-Cell").nth(index)
        self.output: Locator = self.element.locator(".jp-Cell-outputArea")
        """All that the cell has put out; look for what should be there from here."""

    @property
    def text(self) -> str:
        """What one can read in the output, without its prompts."""
        return "\n".join(self.output.locator(".jp-OutputArea-output").all_inner_texts())

    def start(self) -> Cell:
        """Run it, without waiting for anything."""
        self._notebook.page.evaluate(
            f"""index => {{
                const cells = {PANEL}.content;
                cells.deselectAll();
                cells.activeCellIndex = index;
                cells.activeCell.model.executionCount = null;
                window.jupyterapp.commands.execute('notebook:run-cell');  // it resolves at the reply
            }}""",
            self.index,
        )
        return self

    def run(self) -> Cell:
        """Run it, and wait until it has ended."""
        return self.start().wait_until_done()

    def wait_until_done(self, seconds: float = CELL) -> Cell:
        """Wait until it has ended, well or not."""
        from playwright.sync_api import expect

        prompt = self.element.locator(".jp-InputPrompt").first
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=seconds * 1000)
        return self

    def wait_for(self, text: str, seconds: float = CELL) -> Cell:
        """Wait until the output contains a text."""
        from playwright.sync_api import expect

        expect(self.output).to_contain_text(text, timeout=seconds * 1000)
        return self

    def button(self, label: str) -> Locator:
        """A button in the output."""
        return self.output.get_by_role("button", name=label, exact=True)

    def screenshot(self, name: str) -> Path:
        """A picture of the cell, as `out/NAME.png`."""
        path = OUT / f"{name}.png"
        self.element.screenshot(path=path)
        return path
