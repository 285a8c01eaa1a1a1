"""One connection of a client: what was agreed on, what the server tells and asks, and the calls under way."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..calls.about_tasks import ABOUT, Asked, answer_about_tasks
from ..calls.carrying_out import carry_out, wishes
from ..calls.tasks import Tasks
from ..errors import InvalidResult, MCPError, ProtocolError, SessionExpired
from ..journal import SavedSession
from ..jsonrpc import METHOD_NOT_FOUND, Notification, Request, RequestId
from ..limits import Limits
from ..protocol.extensions.extension_tasks import RESULT_TYPE as TASK
from ..protocol.metadata import LOG_LEVEL, written
from ..protocol.negotiation import HEADER_MISMATCH, agreed
from ..protocol.revision import Profile, Revision
from ..store.memory import MemoryStore
from ..transports.base import Channel, InSession
from ..transports.connection import NO_ANSWER, Connection, OnProgress
from ..transports.relay import ATTACHED, Attached
from ..types import (
    Implementation,
    LoggingLevel,
    LogMessage,
    Result,
)
from .answering import QUESTIONS, Answering
from .cache import ResultCache
from .heard import HeardCalls, comes_early
from .listening import Listening, lists_of
from .opening import Opening
from .questions import Questions
from .related import relations
from .visits import Visits

if TYPE_CHECKING:
    from .call import ClientCall

logger = logging.getLogger("mcp_notebook.client")
LOG_LINES = 1000
"""How many of a server's log lines a client remembers."""
SERVER = "server"
"""The owner of the tasks that a client carries out: there is but one."""
RETRYABLE = frozenset({"tools/call", "prompts/get", "resources/read"})
"""The methods whose first answer may be a question (basic/patterns/mrtr)."""
ANNOUNCED = frozenset({"notifications/requests/resumePolicy", "notifications/stream/create"})
"""What tells that a call can be resumed."""

ToolHeaders = Callable[[dict[str, Any], bool], Awaitable[Mapping[str, str] | None]]


class ClientSession:
    """A connection at work.

    Args:
        channel: the way to the server.
        answering: what answers its questions.
        left: calls that were under way on the connection before this one.
        limits: the bounds to keep.
        on_notification: told of every notification that is no progress.
        on_end: told when the connection ends.
        tool_headers: what HTTP headers should say of a call: (its parameters, whether to look at the tool anew);
            None where the transport has no headers.
    """

    def __init__(
        self,
        channel: Channel,
        answering: Answering,
        *,
        left: Iterable[ClientCall] = (),
        limits: Limits,
        on_notification: Callable[[Notification], None],
        on_end: Callable[[MCPError | None], None],
        tool_headers: ToolHeaders | None,
    ) -> None:
        self.connection = Connection(channel, self, limits=limits, questions_stop_the_clock=True)
        self.calls = HeardCalls(left)
        self.attached: Attached | None = None
        """What the relay says, where there is one between."""
        self.log: deque[LogMessage] = deque(maxlen=LOG_LINES)
        self.faults: deque[str] = deque(maxlen=100)
        self._tool_headers = tool_headers
        self._renewing = asyncio.Lock()
        self._answering = answering
        self.limits = limits
        self._on_notification = on_notification
        self._on_end = on_end
        self._profile: Profile | None = None
        self._saved: SavedSession | None = None
        self._meta: dict[str, Any] | None = None
        self._cache = ResultCache()
        self._visits = Visits(answering.visiting, limits)
        self.questions = Questions(answering, self._visits, self.calls, limits.question)
        self._supplying: set[asyncio.Future[dict[str, Any]]] = set()
        self._listening = Listening(self._listen, self.on_fault, limits.request)

    @property
    def process(self) -> str | None:
        """Behind a relay, which process the server is: another name for each."""
        return self.attached.server if self.attached is not None else None

    @property
    def profile(self) -> Profile:
        """What was negotiated."""
        assert self._profile is not None, "the agreement comes first"
        return self._profile

    async def open(self, revision: Revision | None, info: Implementation, saved: SavedSession | None = None) -> None:
        """Connect, and agree on a revision: this one, or (None) what the server speaks; or go on in a session that
        another connection has left, where the server still has that.

        Raises:
            ConnectError: the server cannot be reached, or there is no agreement.
            ConnectionLost: it ended meanwhile.
        """
        capabilities = self._answering.capabilities()
        for call in self.calls.left:  # a relay delivers what it kept before anything is asked
            if call.process is not None and call.request_id is not None:
                self.connection.adopt(Request(call.request_id, "tools/call"))
        await self.connection.open()
        opening = Opening(self.connection, capabilities, info, self.limits)
        profile = None if saved is None else await opening.rejoin(saved)
        self._profile = profile = profile or await opening.agree(revision)
        self.connection.require()  # it may have ended behind the last word
        if profile.revision.era == "modern":
            self._meta = written(profile.revision.name, profile.client, info)
            self.set_log_level("info")
        if profile.revision.changes == "listened":
            self._listening.begin(lists_of(profile))

    @property
    def saved(self) -> SavedSession | None:
        """What it takes to go on in the same session on another connection; None where there is nothing like that."""
        channel = self.connection.channel
        if not isinstance(channel, InSession) or channel.session is None or self._profile is None:
            return None
        if self._saved is None or self._saved.id != channel.session:
            self._saved = SavedSession(channel.session, agreed(self._profile))
        return self._saved

    async def close(self) -> None:
        """End it. A session in which something goes on is left to whoever comes back to it."""
        self._listening.close()
        channel = self.connection.channel
        if isinstance(channel, InSession) and any(call.lasts() and not call.done() for call in self.calls):
            channel.leave_session()
        await self.connection.close()

    async def request(
        self,
        method: str,
        params: dict[str, Any],
        *,
        timeout: float | None,
        total: float | None,
        on_progress: OnProgress | None,
        call: ClientCall | None = None,
        cached: bool = True,
        sent: bool = False,
    ) -> Any:
        """Ask, answer what the server wants to know first, and give the complete result as JSON data.

        Args:
            method: the method.
            params: its parameters.
            timeout: seconds of silence, as of `Connection.request`.
            total: seconds in all, for each round.
            on_progress: told of progress.
            call: the call that questions belong to.
            cached: whether a result that the server let us keep will do.
            sent: whether the request was sent before, on another connection to the same process.

        Raises:
            MCPError: as `Connection.request`; InvalidResult also where the server asks without end.
        """
        revision = self.profile.revision
        keeps = method in revision.cacheable
        if keeps and cached:
            kept = self._cache.get(method, params)
            if kept is not None:
                return kept
        asked, age = params, self._cache.age
        for number in range(self.limits.rounds):
            try:
                raw = await self._once(
                    method, asked, timeout=timeout, total=total, on_progress=on_progress, call=call, sent=sent
                )
            except ProtocolError as error:
                if not await self._visits.satisfied(error, self.profile):
                    raise
                continue
            sent = False
            typed = isinstance(raw, dict) and len(revision.result_types) > 1
            kind = raw.get("resultType", "complete") if typed else "complete"
            if kind == "complete":
                if keeps and number == 0:
                    self._cache.put(method, params, raw, age)
                return raw
            if kind == TASK and call is not None and call.as_task is not None:
                return raw
            if kind != "input_required" or method not in RETRYABLE:
                raise InvalidResult(f"The server answered {method!r} with a result of type {str(kind)[:80]!r}.")
            if call is not None:
                call.process = None  # nothing works on it now
            asked = await self._supplied(params, raw, number, call)
        raise InvalidResult(f"The server asked {self.limits.rounds} times for more and gave no result (Limits.rounds).")

    async def call(self, call: ClientCall, timeout: float | None, total: float | None, *, sent: bool = False) -> Any:
        """Make a call of a tool. With `sent` it runs there already, and is only waited for. One that becomes a task is
        heard until it is left."""
        self.calls.enter(call)
        params, task = call.params, call.as_task
        if task is not None:
            params = task.form.declared_in(task.form.augmented(params, task.wish), self.profile)
        begun = False
        try:
            raw = await self.request(
                "tools/call",
                params,
                timeout=timeout,
                total=total,
                on_progress=call.progressed,
                call=call,
                sent=sent,
            )
            begun = task is not None and task.form.begun(raw) is not None
            return call.whole(raw)
        finally:
            if not begun:
                self.calls.leave(call)

    async def _supplied(self, params: dict[str, Any], raw: Any, number: int, call: ClientCall | None) -> dict[str, Any]:
        """See `Questions.supplied`. Where the answer could no longer be sent, nobody is asked for it any longer.

        Raises:
            ConnectionLost: the connection ended meanwhile.
        """
        supplying = asyncio.ensure_future(self.questions.supplied(self.profile, params, raw, number, call))
        if call is not None and call.lasts():
            return await supplying  # it can be sent on another connection
        self._supplying.add(supplying)
        try:
            return await supplying
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or not task.cancelling():
                self.connection.require()
            raise
        finally:
            self._supplying.discard(supplying)

    async def _once(
        self,
        method: str,
        params: dict[str, Any],
        *,
        timeout: float | None,
        total: float | None,
        on_progress: OnProgress | None,
        call: ClientCall | None,
        sent: bool,
    ) -> Any:
        """One request; sent a second time where the server has forgotten the session, or wants other headers. In both
        cases it said so before it did anything."""
        send = functools.partial(
            self.connection.request,
            method,
            self._with_meta(params),
            timeout=timeout,
            total=total,
            on_progress=on_progress,
            on_sent=functools.partial(self.calls.sent, call) if call is not None else None,
            lasts=call.lasts if call is not None else None,
            on_moved=call.way_moved if call is not None else None,
            id=call.request_id if call is not None and sent else None,
            sent=sent,
            lingers=call is not None and call.as_task is not None and call.as_task.form.pushes,
        )
        if call is not None:
            call.process = self.process
        agreed = self.profile
        headers = self._tool_headers if method == "tools/call" and agreed.revision.headers else None
        try:
            return await send(headers=await headers(params, False) if headers is not None else None)
        except SessionExpired:
            await self.renew(agreed)
            return await send()
        except ProtocolError as error:
            if headers is None or error.code != HEADER_MISMATCH:
                raise
            return await send(headers=await headers(params, True))

    async def renew(self, seen: Profile | None) -> None:
        """Open a new session in place of one that the server has forgotten, which began with this agreement."""
        async with self._renewing:
            if self._profile is not seen or seen is None:
                return  # another request did it meanwhile
            self.on_fault("it has forgotten the session; a new one was opened")
            opening = Opening(self.connection, self._answering.capabilities(), seen.client_info, self.limits)
            self._profile = await opening.agree(seen.revision)

    async def subscribe(self, uri: str) -> None:
        """Hear of a resource's changes, where the revision has listening for it."""
        await self._listening.subscribe(uri)

    async def unsubscribe(self, uri: str) -> None:
        """No longer hear of them."""
        await self._listening.unsubscribe(uri)

    def set_log_level(self, level: LoggingLevel) -> None:
        """Have every request ask for log lines of this level and above, where the revision has it there."""
        if self._meta is not None and self.profile.server.logging is not None:
            self._meta[LOG_LEVEL] = level

    # The connection's Handler

    async def on_request(self, request: Request) -> Any:
        if request.method == "ping":
            return Result()
        call = self.calls.of_message(request.params)
        if comes_early(request.params, call):
            return NO_ANSWER  # it is asked again when the call is resumed, in its turn
        profile = self._profile
        if profile is None or profile.revision.questions != "pushed":
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        if request.method in ABOUT and request.method in profile.revision.server_requests:
            return await answer_about_tasks(Asked(self.tasks, request, SERVER, self.connection), profile)
        if request.method not in QUESTIONS or not profile.client_has(request.method):
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        if call is not None:
            call.fresh(request.params)
        for form, wish in wishes(profile, request):
            return await carry_out(
                self.tasks,
                form,
                wish,
                owner=SERVER,
                request=request,
                connection=self.connection,
                work=lambda _: self.questions.answer(profile, request.method, request.params, call),
            )
        result = await self.questions.answer_once(profile, request, call)
        related = relations(request.params)
        return result.model_copy(update={"meta": {**(result.meta or {}), **related}}) if related else result

    @functools.cached_property
    def tasks(self) -> Tasks:
        """What the server asked for as tasks, which are carried out here."""
        return Tasks(self.limits, MemoryStore(), lambda id, told: None)

    def on_notification(self, notification: Notification) -> None:
        self._cache.overtaken(notification)
        match notification.method:
            case "notifications/message":
                if not self._logged(notification):
                    return
            case "notifications/subscriptions/acknowledged":
                self._listening.told(notification)
            case _ if notification.method == ATTACHED and self._profile is None:
                self._attached_to(notification.params or {})
            case "notifications/elicitation/complete":
                self._visits.told(notification)
            case method if method in ANNOUNCED:
                self.calls.announced(notification)
            case method if method.startswith("notifications/tasks"):
                self.calls.told_of_task(notification)
        self._on_notification(notification)

    def on_fault(self, reason: str) -> None:
        self.faults.append(reason)
        logger.warning("the server sent something wrong: %s", reason)

    def on_disconnected(self, error: MCPError | None) -> None:
        self._listening.close()
        for supplying in self._supplying:
            supplying.cancel()
        self.calls.drop()
        self._on_end(error)

    def told_of(self, call: ClientCall, notification: Notification) -> None:
        """What a call has said arrived otherwise than by itself."""
        if notification.method == "notifications/progress":
            call.progressed(notification.params or {})
        else:
            self.on_notification(notification)

    # Within

    def _with_meta(self, params: dict[str, Any]) -> dict[str, Any]:
        if self._meta is None:
            return params
        return {**params, "_meta": {**self._meta, **(params.get("_meta") or {})}}

    async def _listen(self, params: dict[str, Any], on_sent: Callable[[RequestId], None]) -> Any:
        return await self.connection.request("subscriptions/listen", self._with_meta(params), on_sent=on_sent)

    def _attached_to(self, params: dict[str, Any]) -> None:
        try:
            self.attached = Attached(**params)
        except TypeError:
            self.on_fault("a relay that says something else than ours")

    def _logged(self, notification: Notification) -> bool:
        """Take in a log line; whether it is to be told of."""
        params = notification.params or {}
        call = self.calls.of_message(params)
        if comes_early(params, call) or (call is not None and not call.fresh(params)):
            return False
        try:
            line = LogMessage.model_validate(params)
        except ValidationError:
            self.on_fault("a log message without a known level")
            return True
        if call is not None:
            call.logged(line)
        self.log.append(line)
        return True
