"""What the tests of asking share: somebody who types, and a place to be asked in."""

from __future__ import annotations

import builtins
from collections.abc import Coroutine, Iterable
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from IPython.core.events import EventManager, available_events

from mcp_notebook.limits import DEFAULT_LIMITS, Limits
from mcp_notebook.notebook.consent import RememberedConsents
from mcp_notebook.notebook.frontend import Frontend
from mcp_notebook.notebook.host import NotebookHost
from mcp_notebook.notebook.runtime import Runtime
from mcp_notebook.types import ElicitParams

T = TypeVar("T")

CONSOLE = Frontend("console", widgets=False, stdin=True)
HEADLESS = Frontend("headless", widgets=False, stdin=False)


class Typist:
    """Answers prompts in order, and remembers all that was on the screen.

    Args:
        answers: what is typed; an exception is raised instead, as an interrupt would.
    """

    def __init__(self, answers: Iterable[str | BaseException]) -> None:
        self._answers = list(answers)
        self.screen = ""

    def ask(self, prompt: str = "") -> str:
        assert self._answers, f"one question too many:\n{self.screen}{prompt}"
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        self.screen += f"{prompt}{answer}\n"
        return answer

    def say(self, text: str) -> None:
        self.screen += f"{text}\n"

    @property
    def done(self) -> bool:
        """Whether everything was asked for."""
        return not self._answers


def question(message: str = "Which flight?", required: Iterable[str] = (), **properties: Any) -> ElicitParams:
    """What a server asks."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ElicitParams(message=message, requested_schema=schema)


class Place:
    """A notebook in this process: its runtime, its host, and cells that wait for work on the loop.

    Args:
        folder: for what is remembered.
        limits: the host's.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, limits: Limits = DEFAULT_LIMITS) -> None:
        self._patch = monkeypatch
        self._shell: Any = SimpleNamespace()
        self._shell.events = EventManager(self._shell, available_events)
        self.runtime = Runtime.of(self._shell)
        self.consents = RememberedConsents(folder / "state" / "consents")
        self.sits(CONSOLE)
        self.begin(limits)

    def begin(self, limits: Limits = DEFAULT_LIMITS) -> None:
        """Begin with a new host, as another kernel would."""
        self.runtime.host = self.host = NotebookHost(self.runtime, self._shell, limits)
        self.host.consents = self.consents

    def sits(self, frontend: Frontend, *answers: str | BaseException) -> Typist:
        """Have the next cells come from a front end, with somebody there."""
        typist = Typist(answers)
        self._patch.setattr(self.runtime, "frontend", lambda: frontend)
        self._patch.setattr(builtins, "input", typist.ask)
        return typist

    def cell(self, work: Coroutine[Any, Any, T] | Future[T] | None = None) -> T | None:
        """Run a cell that waits for work, or for nothing."""
        self._shell.events.trigger("pre_run_cell", None)
        try:
            if work is not None:
                return self.runtime.wait(work if isinstance(work, Future) else self.runtime.submit(work), 10)
        finally:
            self._shell.events.trigger("post_run_cell", None)
        return None

    def close(self) -> None:
        self.runtime.close()

    @property
    def callbacks(self) -> list[Any]:
        """What is registered with the shell."""
        return [one for registered in self._shell.events.callbacks.values() for one in registered]
