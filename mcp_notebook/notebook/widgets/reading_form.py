"""The card in which something is read: what has to be given for it, and below it what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from ...errors import MCPError
from ...render import parts_of
from ...render.as_html import write_all
from ...render.html import h
from ...render.letters import line
from ...render.parts import Part, Text
from ..actions import Choice
from ..forms import Form
from ..places import Place
from ..readings import Reading
from ..runtime import Runtime
from .card import Card, button, classed
from .form import FormView
from .keys import SEND, keys
from .kit import Kit, say
from .long_text import readable


class ReadingForm(Card):
    """A form for what is read. What needs nothing is read at once.

    Args:
        runtime: where it is read.
        server: whose it is.
        reading: what it is.
    """

    call = None

    def __init__(self, runtime: Runtime, server: str, reading: Reading) -> None:
        self._runtime, self._reading = runtime, reading
        self._work: Future[None] | None = None
        self.shown: Sequence[Part] = ()
        self._kit = Kit()
        self._below = self._kit.html(None, "mcp-result")
        form = Form(reading.schema)
        self.view = FormView(form) if form.fields else None
        if self.view is not None:
            self.view.on_submit(self._run)
        verb = Choice(reading.verb, f"{reading.verb} it, with this", "primary" if self.view else "")
        self._buttons = {
            verb.label: classed(button(verb, self.view.submit if self.view else self._run), SEND),
            "Close": button(Choice("Close", "Take this away"), lambda: self.leave_parts([])),
        }
        parts = [
            *readable(self._kit, reading.description, "mcp-message"),
            *([self.view] if self.view is not None else []),
        ]
        self._keys = keys()
        super().__init__(
            "",
            "",
            None,
            list(self._buttons.values()),
            *([self._kit.column(parts, "mcp-body")] if parts else []),
            self._keys,
            name=line(reading.name),
            about=f"on {line(server)}",
        )
        frame: Any = self.children[-1]
        frame.children = (*frame.children, self._below)

    @property
    def busy(self) -> bool:
        """Whether it is being read."""
        return self._work is not None and not self._work.done()

    async def stand_in(self, place: Place) -> None:
        self.take_focus()
        await super().stand_in(place)
        if self.view is None:
            self._run()

    def focus(self) -> None:
        """Put the cursor into its first field."""
        if self.view is not None:
            self.view.focus()

    def abandon(self) -> None:
        """Take it away."""
        self._close()

    def _run(self) -> None:
        if not self.busy:
            values = {} if self.view is None else self.view.value
            self._tell([Text(f"asking {self._reading.name}…", "note")])
            self._work = self._runtime.submit(self._read(values))

    async def _read(self, values: Mapping[str, Any]) -> None:
        try:
            self._tell(await self._reading.read(values))
        except MCPError as error:
            self._tell(parts_of(error))

    def _tell(self, parts: Sequence[Part]) -> None:
        self.shown = parts
        say(self._below, h("div", write_all(parts)))

    def _close(self) -> None:
        if self._work is not None:
            self._work.cancel()
        super()._close()
        self._kit.close()
