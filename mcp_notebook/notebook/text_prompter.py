"""Asking by lines of text, in the cell that waits."""

from __future__ import annotations

import _thread
import asyncio
import signal
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from ..client.urls import ExaminedUrl
from ..transports.command import Command
from ..types import ElicitParams, ElicitResult
from .prompter import Decision
from .runtime import Runtime
from .text_form import TextForm, ask_consent, ask_visit

T = TypeVar("T")


class TextPrompter:
    """The prompter for places where `input()` reaches a person: consoles, and JupyterLab too.

    Args:
        runtime: its cell asks.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def consent(self, command: Command) -> Decision:
        return await self._talk(lambda: ask_consent(command, input, print), Decision.REFUSED)

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        return await self._talk(TextForm(server, params, input, print).run, ElicitResult(action="cancel"))

    async def visit(
        self, server: str, params: ElicitParams, url: ExaminedUrl, done: asyncio.Event, wait: bool
    ) -> ElicitResult:
        result = await self._talk(
            lambda: ask_visit(server, params.message, url, input, print), ElicitResult(action="cancel")
        )
        if result.action == "accept" and wait:
            await self._until(server, done)
        return result

    async def _until(self, server: str, done: asyncio.Event) -> None:
        """Until the server says that the person is done, or they say so."""
        said = asyncio.create_task(self._talk(lambda: input("  Press Enter once you are done there: "), ""))
        told = asyncio.create_task(done.wait())
        try:
            await asyncio.wait({said, told}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (said, told):
                task.cancel()
            await asyncio.wait({said, told})

    async def _talk(self, ask: Callable[[], T], unanswered: T) -> T:
        def below() -> T:
            self._runtime.clear_line()
            return ask()

        talk = _Talk(below, unanswered)
        try:
            return await self._runtime.on_main(talk.run)
        except asyncio.CancelledError:
            talk.end()
            raise


class _Talk(Generic[T]):
    """A conversation in the main thread that `end` can end from another thread: nothing else ends an `input()`.

    Args:
        ask: holds it.
        unanswered: what comes of it where the person interrupts it, closes the input, or `end` was called.
    """

    def __init__(self, ask: Callable[[], T], unanswered: T) -> None:
        self._ask = ask
        self._unanswered = unanswered
        self._lock = threading.Lock()
        self._going_on = False
        self._ended = False

    def run(self) -> T:
        try:
            try:
                with self._lock:
                    if self._ended:
                        return self._unanswered
                    self._going_on = True
                return self._ask()
            finally:
                with self._lock:  # an interrupt of `end` has either come by now, or will not be sent
                    self._going_on = False
        except (KeyboardInterrupt, EOFError):
            print("  No answer was given.")
            return self._unanswered

    def end(self) -> None:
        with self._lock:
            self._ended = True
            if self._going_on:
                _interrupt_main_thread()


def _interrupt_main_thread() -> None:
    """As an interrupt by the person would, this also ends a system call that waits there (but not on Windows)."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
