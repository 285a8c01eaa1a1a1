"""An IPython extension for tests: the runtime, and questions that a person answers in a widget.

Loaded into real kernels with `%load_ext tests.waits`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import ipywidgets
from IPython.display import display

from mcp_notebook.notebook.runtime import Runtime
from mcp_notebook.notebook.waiting import NobodyWaiting


class Question(ipywidgets.VBox):
    """A text field and a button; `answer` is what was written when the button was clicked."""

    def __init__(self) -> None:
        self.answer: Future[str] = Future()
        # Told whole when the field is left: letter by letter, the last ones would come after the click while a kernel
        # is busy, since front ends hold back what changes until the kernel has dealt with what changed before.
        self.field = ipywidgets.Text(placeholder="name", continuous_update=False)
        self.button = ipywidgets.Button(description="Submit")
        self.state = ipywidgets.Label("pending")
        super().__init__([self.field, self.button, self.state])
        self.button.on_click(self._submitted)

    def _submitted(self, _: Any) -> None:
        self.state.value = "answered"
        self.answer.set_result(self.field.value)


def load_ipython_extension(shell: Any) -> None:
    runtime = Runtime.of(shell)

    def ask() -> Future[str]:
        """Show a question; the future is of work on the background loop, which waits for the answer."""
        question = Question()
        display(question)

        async def work() -> str:
            return "hello " + await asyncio.wrap_future(question.answer)

        return runtime.submit(work())

    def ask_aside() -> None:
        """Show a question and go on; what comes of it stands in a widget."""
        result = ipywidgets.Label("waiting")
        future = ask()
        display(result)
        future.add_done_callback(lambda done: setattr(result, "value", done.result()))

    async def on_main(function: Callable[[], Any]) -> Any:
        """As `runtime.on_main`, once somebody waits there."""
        while True:
            try:
                return await runtime.on_main(function)
            except NobodyWaiting:
                await asyncio.sleep(0.01)

    async def asking() -> str:
        return "hello " + await on_main(lambda: input("Your name? "))

    cancelled = threading.Event()

    async def endless() -> None:
        """Say that somebody waits; then go on until cancelled."""
        try:
            await on_main(lambda: print("waits", flush=True))
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def trace_closing(path: str) -> None:
        """Have the file at `path` tell, by another word in it, that the runtime was closed."""

        def note() -> None:
            with open(path, "a") as file:
                file.write("closed ")

        async def close() -> None:
            await asyncio.sleep(0.1)
            note()

        runtime.add_closer(close)

    shell.push({"runtime": runtime, "on_main": on_main, "asking": asking, "cancelled": cancelled, "endless": endless})
    shell.push({"Question": Question, "ask": ask, "ask_aside": ask_aside, "trace_closing": trace_closing})


def unload_ipython_extension(shell: Any) -> None:
    Runtime.of(shell).release()
