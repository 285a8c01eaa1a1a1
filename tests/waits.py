"""An IPython extension for tests: the runtime, and questions that a person answers in a widget.

Loaded into real kernels with `%load_ext tests.waits`.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import ipywidgets
from IPython.display import display

from mcp_notebook.notebook.runtime import Runtime


class Question(ipywidgets.VBox):
    """A text field and a button; `answer` is what was written when the button was clicked."""

    def __init__(self) -> None:
        self.answer: Future[str] = Future()
        self.field = ipywidgets.Text(placeholder="name")
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

    shell.push({"runtime": runtime, "Question": Question, "ask": ask, "ask_aside": ask_aside})


def unload_ipython_extension(shell: Any) -> None:
    Runtime.of(shell).release()
