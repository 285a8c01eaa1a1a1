"""Keeping widgets alive while a cell waits. This is the one file that knows the inside of ipykernel.

What a person does with a widget comes to the kernel as comm messages, on the channel that brings the cells too, and
waits there until the running cell has ended. A cell that waits for such an answer would wait for ever. So while a cell
waits, comm messages are handled at once, and everything else takes its usual way: queued cells still run in order,
after this one. Front ends may also send comms over subshells (ipykernel 7); nothing here depends on it. ipykernel 7.4
handles comms itself while a cell awaits, but does not tell the front end when it is done with one, so that ipywidgets
sends only the first letter of what is typed; hence the pump there too.

Chosen by ipykernel's version. Where the inside is not as expected there is no pump: then a blocked cell's widgets
cannot be answered, and `answers_widgets` says so.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import selectors
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

COMM_MESSAGES = frozenset({"comm_open", "comm_msg", "comm_close"})

logger = logging.getLogger(__name__)


class Pump:
    """The pump where there is nothing to keep alive: no kernel, or one of an unknown make."""

    answers_widgets = False

    def attach(self) -> None:
        """Begin to handle comm messages at once. May be called again; `detach` ends as many."""

    def detach(self) -> None:
        """Leave everything to the kernel again."""

    def poll(self, wakeup: socket.socket, seconds: float) -> None:
        """Block until `wakeup` can be read, a message was handled, or the time is over."""
        with selectors.DefaultSelector() as selector:
            selector.register(wakeup, selectors.EVENT_READ)
            selector.select(seconds)


class ShellPump(Pump):
    """The pump of an ipykernel.

    Args:
        kernel: the kernel.
        stream: where its main thread receives messages from the shell channel (a pyzmq `ZMQStream`).

    Raises:
        AttributeError: something is not where it is expected.
    """

    answers_widgets = True

    def __init__(self, kernel: Any, stream: Any) -> None:
        for needed in ("dispatch_shell", "get_parent", "set_parent", "session", "_parent_ident"):
            getattr(kernel, needed)
        self._kernel = kernel
        self._stream = stream
        self._original: Callable[[list[Any]], Any] = stream._recv_callback
        self._attached = 0
        self._context = copy_context()
        self._tasks: set[asyncio.Future[Any]] = set()

    def attach(self) -> None:
        self._attached += 1
        if self._attached == 1:
            self._context = copy_context()
            self._original = self._stream._recv_callback
            self._stream.on_recv(self._received, copy=False)

    def detach(self) -> None:
        self._attached -= 1
        if self._attached == 0:
            # This also has the stream look again: its socket tells of a message only once, and `poll` has listened.
            self._stream.on_recv(self._original, copy=False)

    def poll(self, wakeup: socket.socket, seconds: float) -> None:
        import zmq

        poller = zmq.Poller()
        poller.register(self._stream.socket, zmq.POLLIN)
        poller.register(wakeup, zmq.POLLIN)
        if self._stream.socket not in dict(poller.poll(round(seconds * 1000))):
            return
        with uninterrupted():
            try:
                frames = self._stream.socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            is_comm = self._is_comm(frames)
            if not is_comm:
                self._leave_to_kernel(frames)
        if is_comm:
            self._handle_at_once(frames)

    def _received(self, frames: list[Any]) -> Any:
        """What stands in for the kernel's own callback while attached."""
        return self._handle_at_once(frames) if self._is_comm(frames) else self._original(frames)

    def _leave_to_kernel(self, frames: list[Any]) -> None:
        handling = self._original(frames)
        if inspect.isawaitable(handling):
            # The blocked loop comes to this once the cell has ended; ipykernel keeps the order by a lock.
            task = asyncio.ensure_future(handling, loop=self._stream.io_loop.asyncio_loop)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _handle_at_once(self, frames: list[Any]) -> None:
        # As the thread's outputs do, this follows the request that was last set, not the one that happens to be set
        # in the context of whoever called; and it leaves that context as it was. ipykernel 6 and 7.0 have none.
        context = getattr(self._kernel, "_shell_context", self._context)
        context.copy().run(self._handle, frames)

    def _is_comm(self, frames: list[Any]) -> bool:
        session = self._kernel.session
        try:
            _, rest = session.feed_identities(frames, copy=False)
            header = session.deserialize(rest, content=False, copy=False)["header"]
        except Exception:  # whatever is wrong with it, the kernel reports it; some are not messages at all
            return False
        return header.get("msg_type") in COMM_MESSAGES

    def _handle(self, frames: list[Any]) -> None:
        """Have the kernel handle a comm message here and now, and put back what that leaves behind."""
        kernel = self._kernel
        ident, parent = kernel._parent_ident["shell"], kernel.get_parent("shell")
        sigint = getattr(kernel, "saved_sigint_handler", None)
        try:
            drive(kernel.dispatch_shell(frames))
        finally:
            kernel.set_parent(ident, parent, channel="shell")
            # The kernel saves it for one handler at a time. Lost, the next interrupt between cells ends the kernel.
            kernel.saved_sigint_handler = sigint


class QueuePump(ShellPump):
    """The pump of ipykernel 6, which keeps messages in a queue of its own before it handles them."""

    def __init__(self, kernel: Any, stream: Any) -> None:
        super().__init__(kernel, stream)
        self._queue = kernel.msg_queue

    def attach(self) -> None:
        super().attach()
        if self._attached == 1:
            for frames in self._take_comms():
                self._handle_at_once(frames)

    def _take_comms(self) -> list[list[Any]]:
        comms = []
        with uninterrupted():
            for _ in range(self._queue.qsize()):
                item = self._queue.get_nowait()
                _, dispatch, arguments = item
                if dispatch == self._kernel.dispatch_shell and self._is_comm(arguments[0]):
                    comms.append(arguments[0])
                else:
                    self._queue.put_nowait(item)
        return comms


def _pump_6(kernel: Any) -> Pump:
    return QueuePump(kernel, kernel.shell_stream)


def _pump_7(kernel: Any) -> Pump:
    thread = kernel.shell_channel_thread
    if thread is None:
        return ShellPump(kernel, kernel.shell_stream)
    return ShellPump(kernel, thread.manager.get_shell_channel_to_subshell_pair(None).to_stream)


_PUMPS: dict[int, Callable[[Any], Pump]] = {6: _pump_6, 7: _pump_7}
"""By ipykernel's major version. Tested: 6.29 to 6.31, 7.0 to 7.4."""


def pump_for(kernel: Any) -> Pump:
    """The pump for a kernel (None: there is no kernel). Call it while a cell runs, when the kernel has started."""
    ipykernel = sys.modules.get("ipykernel")
    if kernel is None or ipykernel is None:
        return Pump()
    make = _PUMPS.get(ipykernel.version_info[0])
    try:
        return make(kernel) if make else Pump()
    except AttributeError as error:
        logger.warning("This kernel is not built as expected; widgets cannot be answered while a cell waits: %s", error)
        return Pump()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put an interrupt off to the end of a `with`: between taking a message and handing it on, it would lose it."""
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous):
        yield
        return
    interrupts: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *interrupt: interrupts.append(interrupt))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if interrupts:
            previous(*interrupts[-1])


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, without an event loop.

    Raises:
        RuntimeError: it did suspend.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise RuntimeError(f"{coroutine!r} should not wait for anything, but did")
