"""A `Connection` drives one `Peer` over one `Channel` with the event loop: futures, time limits, handlers at work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, cast

from ..errors import ConnectionLost, InvalidResult, MCPError, ProtocolError, RequestTimeout
from ..jsonrpc import (
    INTERNAL_ERROR,
    ErrorResponse,
    InvalidMessage,
    Message,
    Notification,
    Request,
    RequestId,
    Response,
)
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.calls import Occurrence
from ..protocol.peer import (
    Answered,
    Asked,
    Event,
    Faulty,
    Ignored,
    Incoming,
    Outgoing,
    Peer,
    Progressed,
    Refused,
    Told,
    Withdrawn,
)
from .base import Channel, LetsGo, RequestWays
from .cancelled import let_go
from .eager import begin

logger = logging.getLogger(__name__)

OnProgress = Callable[[dict[str, Any]], None]
OnMoved = Callable[[Occurrence], float]
FLUSH = 1.0
"""Seconds that `close` gives to what is still being sent."""


NO_ANSWER = object()
"""What a handler gives where nothing is to be answered: somebody else has answered, or will."""


class Handler(Protocol):
    """Whoever answers for this end."""

    async def on_request(self, request: Request) -> Any:
        """Answer: a result, or a ProtocolError raised. Cancelled where the other side no longer wants it."""

    def on_notification(self, notification: Notification) -> None:
        """Take note. Never blocks."""

    def on_fault(self, reason: str) -> None:
        """The other side broke a rule of the protocol; nothing more than a warning."""

    def on_disconnected(self, error: MCPError | None) -> None:
        """The connection has ended; None where this end closed it."""


@dataclass(slots=True)
class _Waiting:
    """What the loop keeps for a request of ours. Times are the loop's, in seconds."""

    future: asyncio.Future[Any]
    silence: float | None
    total: float | None
    started: float
    heard: float
    on_progress: OnProgress | None
    lasts: Callable[[], bool] | None = None
    on_moved: OnMoved | None = None
    lingers: bool = False
    """Whether progress is still told once it is answered."""
    sender: asyncio.Task[Any] | None = None
    """The task that is still sending it: the other side may have stopped to read."""
    struck: bool = False
    """Whether a time limit ended that."""

    def due(self) -> float | None:
        """When this has waited too long."""
        silent = None if self.silence is None else self.heard + self.silence
        over = None if self.total is None else self.started + self.total
        if silent is None or over is None:
            return over if silent is None else silent
        return min(silent, over)

    def stood_still(self, began: float, now: float) -> None:
        """The clock did not run between these two."""
        self.started += now - max(began, self.started)
        self.heard += now - max(began, self.heard)


class Connection:
    """One end of a conversation at work. All of it happens on one event loop."""

    def __init__(
        self,
        channel: Channel,
        handler: Handler,
        *,
        limits: Limits = DEFAULT_LIMITS,
        questions_stop_the_clock: bool = False,
    ) -> None:
        self.channel = channel
        self.limits = limits
        # Python looks at a class once; at an object of it each time anew, for longer than many requests take.
        self._ways = cast(RequestWays, channel) if issubclass(type(channel), RequestWays) else None
        self._patient = questions_stop_the_clock
        self._handler = handler
        self._peer = Peer()
        self._adopted: dict[RequestId, Outgoing] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self._apart = 0
        self._timer: asyncio.TimerHandle | None = None
        """When to look for requests that have waited too long: not after the first of them is due."""
        self._questions = 0
        self._question_began = 0.0
        self._ended = False
        self._error: MCPError | None = None

    @property
    def ended(self) -> bool:
        """Whether the connection is over."""
        return self._ended

    def require(self) -> None:
        """Raise what ended the connection, if it has ended."""
        if self._ended:
            raise self._loss()

    async def open(self) -> None:
        """Begin. Raises ConnectError."""
        self._loop = asyncio.get_running_loop()
        await self.channel.open(self)

    async def close(self) -> None:
        """End it; what is still waiting gets a ConnectionLost."""
        at_work = {incoming.state for incoming in self._peer.incoming.values()}
        sending = self._background - at_work
        if sending:
            await asyncio.wait(sending, timeout=FLUSH)
        await self.channel.close()
        self.disconnected(None)

    # Asking

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        total: float | None = None,
        on_progress: OnProgress | None = None,
        on_sent: Callable[[RequestId], None] | None = None,
        headers: Mapping[str, str] | None = None,
        about: RequestId | None = None,
        id: RequestId | None = None,
        sent: bool = False,
        lasts: Callable[[], bool] | None = None,
        on_moved: OnMoved | None = None,
        lingers: bool = False,
    ) -> Any:
        """Ask, and wait for the answer. Cancelling the wait tells the other side.

        Args:
            method: the method.
            params: its parameters, as JSON data.
            timeout: seconds of silence that are borne; progress starts them anew. None: no limit.
            total: seconds in all. None: no limit.
            on_progress: called with the parameters of each progress notification; without it none is asked for.
            on_sent: called with the request's id just before it goes on its way.
            headers: what a transport with headers should say beside the message.
            about: the other side's request that this one belongs to.
            id: the id of a request that is gone on with; by default it is new.
            sent: whether the other side has it already, from another connection, so that only the answer is awaited.
            lasts: whether the request goes on when a time limit ends the wait for it, so that nothing is cancelled.
            on_moved: as `Receiver.moved`.
            lingers: whether to go on to hear of its progress after the answer, until `release`.

        Returns:
            The result, as JSON data.

        Raises:
            ProtocolError: the other side answered with an error.
            RequestTimeout: a time limit was reached; the other side was told.
            ConnectionLost: the connection ended first.
        """
        self.require()
        if sent and id is not None:
            outgoing = self.adopt(Request(id, method, params))
            del self._adopted[id]
        else:
            outgoing = self._peer.open(method, params, progress=on_progress is not None and id is None, id=id)
        now = self._loop.time()
        future = outgoing.state.future if sent else self._loop.create_future()
        waiting = outgoing.state = _Waiting(future, timeout, total, now, now, on_progress, lasts)
        waiting.on_moved, waiting.lingers = on_moved, lingers
        self._look_again(waiting.due())
        outgoing.request.headers = headers
        if on_sent is not None and not sent:
            on_sent(outgoing.id)
        try:
            waiting.sender = asyncio.current_task(self._loop)
            if not sent:
                await self.channel.send(outgoing.request, about=about)
            waiting.sender = None
            return await waiting.future
        except asyncio.CancelledError:
            if waiting.struck and waiting.sender is not None and not waiting.sender.uncancel():
                return await waiting.future  # which has the error by now
            self._tell_cancelled(outgoing, "no longer wanted")
            raise
        finally:
            self._peer.abandon(outgoing)
            if waiting.future.done():
                _seen(waiting.future)  # it was told, or is overtaken by the error that is

    def adopt(self, request: Request) -> Outgoing:
        """Expect the answer to a request that was sent on another connection, from now on: it may come before `request`
        (with `sent`) waits for it."""
        outgoing = self._adopted.get(request.id)
        if outgoing is None:
            outgoing = self._adopted[request.id] = self._peer.adopt(request)
            outgoing.state = _Waiting(asyncio.get_running_loop().create_future(), None, None, 0.0, 0.0, None)
            outgoing.state.future.add_done_callback(_seen)
        return outgoing

    def expect(
        self,
        request: Request,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        lasts: Callable[[], bool] | None = None,
        on_moved: OnMoved | None = None,
    ) -> asyncio.Future[Any]:
        """The future of the answer to a request that was sent before, on another connection, or whose answer is awaited
        here already. The arguments are those of `request`."""
        outgoing, now = self._peer.adopt(request), self._loop.time()
        self._adopted.pop(request.id, None)
        if outgoing.state is None or outgoing.state.future.done():
            future = self._loop.create_future()
            future.add_done_callback(_seen)  # whoever waits for it may have given up
        else:
            future = outgoing.state.future
        outgoing.state = _Waiting(future, timeout, None, now, now, on_progress, lasts, on_moved)
        self._look_again(outgoing.state.due())
        return future

    def linger(self, request: Request, on_progress: OnProgress | None) -> None:
        """Go on to hear of the progress of a request that has been answered, or was made on another connection."""
        self.expect(request, on_progress=on_progress)

    def let_go(self, id: RequestId) -> None:
        """Nobody waits for the answer to a request of ours any more; it goes on there, if it does."""
        self._peer.outgoing.pop(id, None)
        if isinstance(self.channel, LetsGo):
            self.channel.let_go(id)

    def release(self, id: RequestId) -> None:
        """No longer hear of a request that lingers."""
        outgoing = self._peer.outgoing.get(id)
        if outgoing is not None:
            self._peer.abandon(outgoing)

    def withdraw(self, id: RequestId, reason: str) -> None:
        """Tell the other side that what was asked by `ask` is no longer wanted, unless it was answered."""
        outgoing = self._peer.outgoing.get(id)
        told = self._peer.cancel(outgoing, reason) if outgoing is not None else None
        if told is not None:
            self.notify_soon(told.method, told.params)

    async def ask(
        self, request: Request, *, about: RequestId | None = None, on_moved: OnMoved | None = None
    ) -> asyncio.Future[Any]:
        """Send a request that keeps its own id, perhaps anew; give the future of its answer, which has no time limit.

        Raises:
            ConnectionLost: the connection has ended.
        """
        self.require()
        answer = self.expect(request, on_moved=on_moved)
        await self.channel.send(request, about=about)
        return answer

    async def notify(
        self, method: str, params: dict[str, Any] | None = None, *, about: RequestId | None = None
    ) -> None:
        """Tell. Raises ConnectionLost."""
        self.require()
        await self.channel.send(Notification(method, params), about=about)

    def notify_soon(self, method: str, params: dict[str, Any] | None = None, *, about: RequestId | None = None) -> None:
        """Tell, without waiting for it; on a connection that has ended, nothing happens."""
        if not self._ended:
            self._spawn(self._send_quietly(Notification(method, params), about))

    async def reply(self, reply: Response | ErrorResponse, *, about: RequestId) -> None:
        """Answer a request other than by its handler's return: one that was made on another connection, say."""
        if not self._ended:
            await self._send_reply(reply, about)

    def pause(self, about: RequestId, retry: int) -> None:
        """See `RequestWays.pause`; nothing happens where requests have no ways of their own."""
        if self._ways is not None:
            self._ways.pause(about, retry)

    def unheard(self, about: RequestId | None) -> float:
        """See `RequestWays.unheard`."""
        return self._ways.unheard(about) if self._ways is not None else 0.0

    def hurry(self, about: RequestId) -> None:
        """See `LetsGo.hurry`; nothing happens where requests have no ways of their own."""
        if isinstance(self.channel, LetsGo):
            self.channel.hurry(about)

    # Being told: the channel's Receiver

    def received(self, message: Message) -> None:
        try:
            self._take(self._peer.receive(message))
        except Exception:  # of a function that wanted to be told: the connection goes on
            logger.exception("a message could not be handled")

    def _take(self, event: Event) -> None:
        match event:
            case Answered():
                _settle(event.outgoing, event.result)
                if event.outgoing.state.lingers:
                    self.linger(event.outgoing.request, event.outgoing.state.on_progress)
            case Asked():
                self._begin_work(event.incoming)
            case Progressed():
                self._heard(event.outgoing, event.params)
            case Told():
                self._handler.on_notification(event.notification)
            case Refused():
                _fail(event.outgoing, event.error.as_error())
            case Withdrawn():
                if event.incoming.state is not None:
                    event.incoming.state.cancel()
            case Faulty():
                self._handler.on_fault(event.reason)
                if event.reply is not None:
                    self._spawn(self._send_quietly(event.reply))
            case Ignored():
                pass

    def received_invalid(self, error: InvalidMessage) -> None:
        self._handler.on_fault(str(error))
        outgoing = self._peer.outgoing.get(error.id) if error.id is not None else None
        if outgoing is not None:  # the answer that was waited for, and it cannot be read
            why = error.__cause__ if isinstance(error.__cause__, MCPError) else InvalidResult(str(error))
            _fail(outgoing, why)
        elif error.id is not None:
            self._spawn(self._send_quietly(ErrorResponse(error.id, error.code, f"Invalid request: {error}")))

    def faulty(self, reason: str) -> None:
        self._handler.on_fault(reason)

    def failed(self, id: RequestId, error: MCPError) -> None:
        outgoing = self._peer.outgoing.pop(id, None)
        if outgoing is not None:
            _fail(outgoing, error)

    def moved(self, id: RequestId, what: Occurrence) -> float:
        outgoing = self._peer.outgoing.get(id)
        if outgoing is None or outgoing.state.on_moved is None:
            return 0.0
        return outgoing.state.on_moved(what)

    def disconnected(self, error: MCPError | None) -> None:
        if self._ended:
            return
        self._ended, self._error = True, error
        if self._timer is not None:
            self._timer.cancel()
        outgoing, incoming = self._peer.close()
        for one in outgoing:
            _fail(one, self._loss())
        for one in incoming:
            if one.state is not None:
                one.state.cancel()
        self._handler.on_disconnected(error)

    def _loss(self) -> MCPError:
        lost = self._error or ConnectionLost("The connection is closed. Connect again to go on.")
        return lost.with_traceback(None)  # raised more than once, it shows where it was raised last

    # Requests of theirs

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Meanwhile one request of theirs does not count among `Limits.incoming_requests`, as another limit holds."""
        self._apart += 1
        try:
            yield
        finally:
            self._apart -= 1

    def _begin_work(self, incoming: Incoming) -> None:
        if len(self._peer.incoming) - self._apart > self.limits.incoming_requests:
            reply = self._peer.refuse(
                incoming,
                INTERNAL_ERROR,
                f"More than {self.limits.incoming_requests} requests at once; try again later.",
            )
            if reply is not None:
                self._spawn(self._send_quietly(reply))
            return
        task = begin(self._work(incoming), self._loop)
        if task is None:
            return
        incoming.state = task
        self._keep(task)
        if self._ended:  # it was the beginning of the work that ended it
            task.cancel()

    async def _work(self, incoming: Incoming) -> None:
        if self._patient:
            self._question_begins()
        try:
            result = await self._handler.on_request(incoming.request)
            if result is NO_ANSWER:
                if self._peer.drop(incoming) and self._ways is not None:
                    self._ways.finish(incoming.id)
                return
            reply = self._peer.answer(incoming, result)
        except ProtocolError as error:
            reply = self._peer.refuse(incoming, error.code, error.message, error.data)
        except MCPError as error:  # its text is our own
            logger.warning("the handler of %r failed: %s", incoming.request.method, error)
            reply = self._peer.refuse(incoming, INTERNAL_ERROR, str(error))
        except asyncio.CancelledError:
            reply = self._peer.refuse(incoming, INTERNAL_ERROR, "The work was cancelled.")
            if reply is None or _being_cancelled():
                raise
        except (Exception, SystemExit, KeyboardInterrupt):  # the last two would end the event loop
            logger.exception("the handler of %r failed", incoming.request.method)
            reply = self._peer.refuse(incoming, INTERNAL_ERROR, "Internal error")
        finally:
            if self._patient:
                self._question_ends()
        if reply is not None and not self._ended:
            await self._send_reply(reply, incoming.id)

    async def _send_reply(self, reply: Response | ErrorResponse, about: RequestId) -> None:
        try:
            await self.channel.send(reply, about=about)
        except ConnectionLost:
            pass
        except MCPError as error:  # too large, or no JSON: the one who asked must hear of it
            logger.warning("an answer could not be sent: %s", error)
            refusal = ErrorResponse(reply.id, INTERNAL_ERROR, str(error), last=reply.last)
            await self._send_quietly(refusal, about)

    async def _send_quietly(self, message: Message, about: RequestId | None = None) -> None:
        try:
            await self.channel.send(message, about=about)
        except MCPError as error:
            logger.debug("not sent: %s", error)

    # Time. While a client answers a server's question, its own clocks stand still: a person may need the time.

    def _question_begins(self) -> None:
        if self._questions == 0:
            self._question_began = self._loop.time()
        self._questions += 1

    def _question_ends(self) -> None:
        self._questions -= 1
        if self._questions or not self._peer.outgoing:
            return
        for outgoing in self._peer.outgoing.values():
            outgoing.state.stood_still(self._question_began, self._loop.time())

    def _look_again(self, due: float | None) -> None:
        """Look for requests that have waited too long no later than this. One timer serves them all: most are answered
        long before it, and then it was never touched."""
        if due is None:
            return
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._check_times)

    def _check_times(self) -> None:
        self._timer = None
        now = self._loop.time()
        for outgoing in list(self._peer.outgoing.values()):
            waiting: _Waiting = outgoing.state
            due = waiting.due()
            if due is None or waiting.future.done():
                continue
            if self._questions:
                self._look_again(now + 0.05 + (waiting.silence or 0) / 10)
            elif now < due - 0.001:
                self._look_again(due)
            else:
                self._time_out(outgoing, waiting, now)

    def _time_out(self, outgoing: Outgoing, waiting: _Waiting, now: float) -> None:
        over_all = waiting.total is not None and now - waiting.started >= waiting.total - 0.001
        seconds = (waiting.total if over_all else waiting.silence) or 0.0
        what = f"{seconds:g} s in all" if over_all else f"{seconds:g} s"
        lasts = waiting.lasts is not None and waiting.lasts()
        there = "it goes on there" if lasts else "the other side was told to stop"
        error = RequestTimeout(
            f"No answer to {outgoing.request.method!r} within {what}; {there}. Give it longer with timeout=SECONDS.",
            seconds=seconds,
        )
        if not lasts:
            self._tell_cancelled(outgoing, f"no answer within {what}")
        elif isinstance(self.channel, LetsGo):
            self.channel.let_go(outgoing.id)
        if not waiting.future.done():
            waiting.future.set_exception(error)
        if waiting.sender is not None:
            waiting.struck = True
            waiting.sender.cancel()

    def _heard(self, outgoing: Outgoing, params: dict[str, Any]) -> None:
        waiting: _Waiting = outgoing.state
        waiting.heard = self._loop.time()
        if waiting.on_progress is not None:
            waiting.on_progress(params)

    def _tell_cancelled(self, outgoing: Outgoing, reason: str) -> None:
        notification = self._peer.cancel(outgoing, reason)
        if notification is not None and not self._ended:
            self._spawn(self._send_quietly(notification))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._keep(self._loop.create_task(work))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._background.add(task)
        task.add_done_callback(self._is_done)

    def _is_done(self, task: asyncio.Task[None]) -> None:
        self._background.discard(task)
        let_go(task)


def _being_cancelled() -> bool:
    """Whether somebody cancels the task that runs, rather than something within it having been cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _seen(future: asyncio.Future[Any]) -> None:
    """Whoever made a future need not look at its error."""
    if not future.cancelled():
        future.exception()


def _settle(outgoing: Outgoing, result: Any) -> None:
    if not outgoing.state.future.done():
        outgoing.state.future.set_result(result)


def _fail(outgoing: Outgoing, error: MCPError) -> None:
    if not outgoing.state.future.done():
        outgoing.state.future.set_exception(error)
