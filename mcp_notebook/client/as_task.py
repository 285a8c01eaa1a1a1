"""`AsTask`: what makes a call one about a task."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from ..protocol.tasks import TaskForm, TaskState, TaskStatus, TaskWish


@dataclass(slots=True)
class AsTask:
    """What makes a call one about a task.

    Args:
        form: the form of the task.
        wish: what was asked of it.
        state: what is known of it; None until the server says that there is one.
    """

    form: TaskForm
    wish: TaskWish
    state: TaskState | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something is heard of it unasked."""

    @property
    def id(self) -> str | None:
        """The task's id, once it is known."""
        return self.state.id if self.state is not None else self.wish.id

    def heard(self, state: TaskState) -> None:
        """The server told how it stands."""
        state.result = state.result if self.state is None or state.result is not None else self.state.result
        self.state = state
        self.news.set()

    def ended(self, raw: Any) -> None:
        """Its result is there, perhaps before anybody said that it has ended."""
        if self.state is not None and not self.state.status.terminal:
            failed = self.form.errors_fail and isinstance(raw, dict) and raw.get("isError") is True
            self.state.status = TaskStatus.FAILED if failed else TaskStatus.COMPLETED
