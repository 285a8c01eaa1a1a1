"""The notebook as a client's host: whoever sits there is asked for consent, and what servers want to know."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ..client import CallHandle
from ..client.questions import asking_call
from ..client.urls import examine
from ..errors import ConsentDenied, ProtocolError, SchemaError
from ..jsonrpc import INVALID_PARAMS
from ..limits import DEFAULT_LIMITS, Limits
from ..render.letters import excerpt, line
from ..transports.command import Command
from ..types import ElicitParams, ElicitResult
from .consent import TRUST, RememberedConsents, trusted_from_outside
from .frontend import wants_widgets
from .nobody import Nobody, Policy
from .open_questions import OpenQuestion
from .places import Place
from .prompter import Decision, Prompter, in_short
from .runtime import Runtime
from .text_prompter import TextPrompter
from .waiting import NobodyWaiting
from .widgets.prompter import WidgetPrompter

T = TypeVar("T")

TICK = 0.2
"""Seconds after which a question that no cell could show looks for one again."""
LINES = 100
"""How many lines wait for a cell that ends, to be shown below it; the oldest give way."""


class NotebookHost:
    """Asks the person in the cell that waits, by the means that its front end has. Use `NotebookHost.of`.

    What is asked while no cell waits (a call with `--bg`) is asked in the next one that does; until then a line below
    each cell says that something waits. Where nobody can answer, a policy does.

    Args:
        runtime: its cells ask.
        shell: the IPython shell.
        limits: `question` bounds each question.

    Attributes:
        consents: what is remembered between kernels.
        places: the cards in which the questions of calls can be asked, by the calls' ids, the newest last.
    """

    def __init__(self, runtime: Runtime, shell: Any, limits: Limits = DEFAULT_LIMITS) -> None:
        self.consents = RememberedConsents()
        self.places: dict[str, list[Place]] = {}
        self._runtime = runtime
        self._shell = shell
        self._limits = limits
        self._trusted = trusted_from_outside()
        self._allowed: set[str] = set()
        self._nobody = Nobody(self.tell)
        self._text = TextPrompter(runtime)
        self._waiting: list[OpenQuestion] = []
        self._lines: deque[str] = deque(maxlen=LINES)
        self._frontend = runtime.frontend()
        shell.events.register("pre_run_cell", self._cell_begins)
        shell.events.register("post_run_cell", self._cell_ends)
        runtime.add_closer(self._leave_shell)

    @classmethod
    def of(cls, runtime: Runtime, shell: Any) -> NotebookHost:
        """The runtime's host: the one it has, or a new one. Call it while a cell runs."""
        if runtime.host is None:
            runtime.host = cls(runtime, shell)
        return runtime.host  # pyright: ignore[reportReturnType]

    @property
    def policy(self) -> Policy | None:
        """What becomes of servers' questions where nobody can answer (DEF-3).

        None, as it is by default: what the environment variable `MCP_NOTEBOOK_ELICITATION` says (`accept-defaults`,
        `decline` or `cancel`), and where it says nothing, they are cancelled.
        """
        return self._nobody.policy

    @policy.setter
    def policy(self, policy: Policy | None) -> None:
        self._nobody.policy = policy

    @property
    def open_questions(self) -> tuple[OpenQuestion, ...]:
        """The questions that wait for a cell that waits, or for a place."""
        return tuple(one for one in self._waiting if one.place is None and self._place_of(one.call) is None)

    @property
    def unheard(self) -> tuple[str, ...]:
        """The same, a line each."""
        return tuple(one.about for one in self.open_questions)

    # The client's Host

    async def consent(self, command: Command, *, trust: bool = False) -> None:
        """Let a command start, or not (CON-1 to CON-3).

        It may without a question if the person allowed it before, in this kernel or for ever, with the same arguments,
        environment and directory; or if the kernel was started with `MCP_NOTEBOOK_TRUST=1`.

        Args:
            command: what would start.
            trust: it may start where nobody can be asked. Where somebody can, they are asked all the same.

        Raises:
            ConsentDenied: nobody allowed it.
        """
        digest = command.digest()
        if digest in self._allowed or await self._remembers(command):
            return
        if self._trusted:
            await self.tell(f"● Starting without a question, as {TRUST}=1 says: {in_short(command)}")
            return
        await self._decided(command, await self._decision(command), trust)
        self._allowed.add(digest)

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        """Ask what a server wants to know; cancelled where there is no answer within `Limits.question`.

        Raises:
            ProtocolError: what it asks for is no valid JSON Schema.
        """
        about = f"{line(server)} asks: {line(params.message)}"
        try:
            return await self._answered(about, lambda prompter: prompter.elicit(server, params))
        except SchemaError as error:
            raise ProtocolError(INVALID_PARAMS, f"requestedSchema cannot be used: {error}") from None

    async def visit(self, server: str, params: ElicitParams, done: asyncio.Event, wait: bool) -> ElicitResult:
        """Ask whether a URL may be opened, and let the person open it; cancelled without an answer in time.

        Raises:
            ProtocolError: the URL is not one to open.
        """
        try:
            url = examine(params.url, loopback=True)
        except ValueError as error:
            raise ProtocolError(INVALID_PARAMS, f"This URL is not opened: {error}.") from None
        about = f"{line(server)} wants you to open a page: {line(params.message)}"
        return await self._answered(about, lambda prompter: prompter.visit(server, params, url, done, wait))

    async def tell(self, text: str) -> None:
        """Show a line in the cell that waits, or else below the next one that ends."""

        def say() -> None:
            self._runtime.clear_line()
            print(text)

        try:
            await self._runtime.on_main(say)
        except NobodyWaiting:
            self._lines.append(text)

    # Within, on the background loop

    async def _remembers(self, command: Command) -> bool:
        try:
            return self.consents.has(command)
        except OSError as error:
            await self.tell(f"● The remembered consents are not used: {error}")
            return False

    async def _decision(self, command: Command) -> Decision:
        try:
            return await self._ask(f"may this program start? {excerpt(str(command))}", lambda one: one.consent(command))
        except TimeoutError:
            raise ConsentDenied(
                f"Nobody answered within {self._limits.question:g} s, so nothing was started: {excerpt(str(command))}"
            ) from None

    async def _decided(self, command: Command, decision: Decision, trust: bool) -> None:
        """Do what was decided. Raises ConsentDenied."""
        if decision is Decision.REMEMBER:
            try:
                self.consents.add(command)
            except OSError as error:
                await self.tell(f"● It starts, but this could not be remembered: {error}")
        elif decision is Decision.REFUSED:
            raise ConsentDenied(f"Not started: {excerpt(str(command))}. Connect again to be asked again.")
        elif decision is Decision.NOBODY and trust:
            await self.tell(f"● Starting without a question, as nobody can be asked here: {in_short(command)}")
        elif decision is Decision.NOBODY:
            raise ConsentDenied(
                "Before a command starts, a person has to allow it, and nobody can be asked here. To allow it, start "
                f"the kernel with {TRUST}=1 in its environment (set outside of the notebook), or connect with --trust "
                f"(in Python: trust=True), which counts only where nobody can be asked. Not started: "
                f"{excerpt(str(command))}"
            )

    async def _answered(self, about: str, ask: Callable[[Prompter], Awaitable[ElicitResult]]) -> ElicitResult:
        try:
            return await self._ask(about, ask)
        except TimeoutError:
            await self.tell(f"● {about}\n  There was no answer within {self._limits.question:g} s: cancelled.")
            return ElicitResult(action="cancel")

    async def _ask(self, about: str, ask: Callable[[Prompter], Awaitable[T]]) -> T:
        """Have a question asked by what can ask it. Raises TimeoutError after `Limits.question`."""
        async with asyncio.timeout(self._limits.question):
            while True:
                prompter = await self._prompter(about)
                try:
                    return await ask(prompter)
                except NobodyWaiting:
                    await asyncio.sleep(TICK)  # the cell ended just now: there may be another

    async def _prompter(self, about: str) -> Prompter:
        """What can ask: in the call's own card, where it has one; else in the cell that waits, as soon as one does."""
        if (prompter := await self._at_hand()) is not None:
            return prompter
        question = OpenQuestion(about, asking_call.get())
        self._waiting.append(question)
        try:
            while True:
                await question.pause(TICK)
                if question.place is not None:
                    return WidgetPrompter(self._runtime, question.place)
                if (prompter := await self._at_hand()) is not None:
                    return prompter
        finally:
            self._waiting.remove(question)

    async def _at_hand(self) -> Prompter | None:
        """What can ask now; None where a person has yet to come to a cell that waits."""
        if (place := self._place_of(asking_call.get())) is not None:
            return WidgetPrompter(self._runtime, place)
        try:
            return await self._runtime.on_main(self._choose)
        except NobodyWaiting:
            return self._nobody if self._frontend.kind == "headless" else None

    def _place_of(self, call: CallHandle | None) -> Place | None:
        places = None if call is None else self.places.get(call.id)
        return places[-1] if places else None

    async def _leave_shell(self) -> None:
        self._shell.events.unregister("pre_run_cell", self._cell_begins)
        self._shell.events.unregister("post_run_cell", self._cell_ends)

    # In the main thread

    def _choose(self) -> Prompter:
        """By the front end of the code that runs, and waits."""
        frontend = self._runtime.frontend()
        if self._runtime.answers_widgets and wants_widgets(frontend):
            return WidgetPrompter(self._runtime)
        return self._text if frontend.stdin else self._nobody

    def _cell_begins(self, _info: Any) -> None:
        self._frontend = self._runtime.frontend()

    def _cell_ends(self, _result: Any) -> None:
        while self._lines:
            print(self._lines.popleft())
        for about in self.unheard:
            where = "in the next cell that waits for the result; %mcp shows it, too"
            print(f"● Waiting for you: {about}\n  It is asked {where}.")


@contextmanager
def asking_in(runtime: Runtime, place: Place | None, call: CallHandle) -> Iterator[None]:
    """Have a call's questions asked in a place for a while, if there is one; also what is being asked in another."""
    host = runtime.host
    if place is None or not isinstance(host, NotebookHost):
        yield
        return
    ask_here(runtime, call, place)
    try:
        yield
    finally:
        _leave(host, call.id, place)


def ask_here(runtime: Runtime, call: CallHandle, place: Place) -> None:
    """Have what a call asks asked in a place, also what a card of it asks elsewhere."""
    if isinstance(host := runtime.host, NotebookHost):
        places = [other for other in host.places.get(call.id, ()) if other is not place]
        host.places[call.id] = [*places, place]
        for other in places:
            other.withdraw()


def no_longer_in(runtime: Runtime, place: Place) -> None:
    """Ask no more questions in a place, as it is taken away. On the background loop."""
    if isinstance(host := runtime.host, NotebookHost):
        for id in [id for id, places in list(host.places.items()) if place in places]:  # cells that wait change it
            _leave(host, id, place)


def _leave(host: NotebookHost, id: str, place: Place) -> None:
    places = [other for other in host.places.get(id, ()) if other is not place]
    if places:
        host.places[id] = places
    else:
        host.places.pop(id, None)
