"""One connection of a client: what was agreed on, what the server tells and asks, and the calls under way."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from ..calls.about_tasks import ABOUT, Asked, answer_about_tasks
from ..calls.carrying_out import carry_out, wishes
from ..calls.tasks import Tasks
from ..errors import InvalidResult, MCPError, ProtocolError, SessionExpired, UnsupportedFeature
from ..journal import SavedSession
from ..jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND, Notification, Request, RequestId
from ..limits import Limits
from ..protocol.calls import CallState
from ..protocol.extensions import RESUMING as DIALECTS
from ..protocol.extensions.extension_tasks import RESULT_TYPE as TASK
from ..protocol.metadata import LOG_LEVEL, written
from ..protocol.negotiation import HEADER_MISMATCH, agreed
from ..protocol.resuming import WorkStatus, mark, read_mark
from ..protocol.revision import Profile, Revision
from ..store.memory import MemoryStore
from ..transports.base import Channel, InSession
from ..transports.connection import NO_ANSWER, Connection, OnProgress
from ..transports.relay import ATTACHED, Attached
from ..types import (
    Implementation,
    InputRequest,
    InputRequiredResult,
    LoggingLevel,
    LogMessage,
    Result,
    SubscriptionFilter,
)
from ..types.problems import first_problem
from . import task_requests
from .answering import QUESTIONS, Answering, answer
from .cache import ResultCache
from .listening import Listening
from .opening import Opening
from .questions import Given, answer_once, asking
from .visits import Visits

if TYPE_CHECKING:
    from .call import ClientCall
    from .calls import CallHandle
    from .results import ToolResult

logger = logging.getLogger("mcp_notebook.client")
LOG_LINES = 1000
"""How many of a server's log lines a client remembers."""
LEFT = 1000
"""How many calls of lost connections a client remembers, to go on with them."""
SERVER = "server"
"""The owner of the tasks that a client carries out: there is but one."""
LINGER = 0.1
"""Seconds that the request which resumed a stream is given to be answered, once the call's own answer is there."""
RETRYABLE = frozenset({"tools/call", "prompts/get", "resources/read"})
"""The methods whose first answer may be a question (basic/patterns/mrtr)."""


ANNOUNCED = frozenset({"notifications/requests/resumePolicy", "notifications/stream/create"})

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
        validate: makes a tool's result of JSON data: (the tool's name, the data) -> the result.
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
        validate: Callable[[str, Any], ToolResult],
        tool_headers: ToolHeaders | None,
    ) -> None:
        self.connection = Connection(channel, self, limits=limits, questions_stop_the_clock=True)
        self.calls: set[ClientCall] = set()
        self._by_id: dict[RequestId, ClientCall] = {}
        self._given: Given = {}
        self.by_task: dict[str, ClientCall] = {}
        """The calls that have become tasks, by the ids of these."""
        self.attached: Attached | None = None
        """What the relay says, where there is one between."""
        self.left = [call for call in left if call.outlives_its_connection]
        """What was under way when the connection ended, or before it began."""
        self.log: deque[LogMessage] = deque(maxlen=LOG_LINES)
        self.faults: deque[str] = deque(maxlen=100)
        self.tool_result = validate
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
        for call in self.left:  # a relay delivers what it kept before anything is asked
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
            self._listen_to_lists(profile)

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
        self.enter(call)
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
                self.leave(call)

    async def resume(self, call: ClientCall, timeout: float | None) -> Any:
        """Go on with a call that was announced to be resumable; the raw result.

        Raises:
            ProtocolError: the server no longer has it, or it failed.
            ConnectionLost: the connection was lost again.
        """
        assert call.dialect is not None
        assert call.policy is not None
        assert call.request_id is not None
        method, params = call.dialect.resume(call.policy)
        params = {**params, "_meta": mark(None, call.request_id, call.last_number)}
        self.enter(call)
        try:
            if not call.dialect.same_id:
                resume = Request(f"{call.request_id}/{token_hex(4)}", method, params)
                return call.whole(await self._resume_stream(call, resume, timeout))
            return call.whole(
                await self.connection.request(
                    method,
                    params,
                    timeout=timeout,
                    on_progress=call.progressed,
                    id=call.request_id,
                    lasts=call.lasts,
                    on_moved=call.way_moved,
                )
            )
        finally:
            self.leave(call)

    async def _resume_stream(self, call: ClientCall, resume: Request, timeout: float | None) -> Any:
        """Go on under another id than the call's: the call's own answer comes, and then that of the resume (ST-9)."""
        connection = self.connection
        assert call.request_id is not None
        original = Request(call.request_id, "tools/call")
        outcome = connection.expect(original, timeout=timeout, on_progress=call.progressed, lasts=call.lasts)
        try:
            ended = await connection.ask(resume, on_moved=call.way_moved)
            await asyncio.wait({outcome, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not outcome.done():
                await ended  # it was refused, or the connection is lost; else the answer is still to come
            result = await outcome
            await asyncio.wait({ended}, timeout=LINGER)
            return result
        except asyncio.CancelledError:
            connection.notify_soon("notifications/cancelled", {"requestId": resume.id, "reason": "no longer wanted"})
            raise
        finally:
            connection.let_go(call.request_id)
            connection.let_go(resume.id)

    async def cancel_resumed(self, call: ClientCall) -> None:
        """Resume a call, and cancel it at once."""
        if call.policy is None:
            if call.process == self.process:
                params = {"requestId": call.request_id, "reason": "no longer wanted"}
                await self.connection.notify("notifications/cancelled", params)
            return
        resumed = asyncio.ensure_future(self.resume(call, None))
        await asyncio.sleep(0)  # it is on its way before its cancellation is
        resumed.cancel()
        await asyncio.wait([resumed])

    async def status(self, call: ClientCall) -> WorkStatus | None:
        """How a resumable call stands there; None where the answer cannot be read.

        Raises:
            UnsupportedFeature: it is not resumable.
            ProtocolError: the server no longer has it.
        """
        if call.dialect is None or call.policy is None:
            raise UnsupportedFeature(f"The server did not announce that {call.tool!r} can be resumed.")
        method, params = call.dialect.ask_status(call.policy)
        return call.dialect.read_status(await self.connection.request(method, params, timeout=self.limits.request))

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
            on_sent=functools.partial(self._sent, call) if call is not None else None,
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

    def enter(self, call: ClientCall) -> None:
        """What belongs to a call is heard from here on; may be said again."""
        self.calls.add(call)
        if call.request_id is not None:
            self._by_id[call.request_id] = call
        if call.as_task is not None and call.as_task.id is not None:
            self.by_task[call.as_task.id] = call

    def leave(self, call: ClientCall) -> None:
        """It is no longer heard."""
        self.calls.discard(call)
        if not self.calls:
            self._given = {}  # an id that comes later is another question's
        if call.request_id is not None and self._by_id.get(call.request_id) is call:
            del self._by_id[call.request_id]
        if call.as_task is not None and call.as_task.id is not None:
            self.by_task.pop(call.as_task.id, None)

    # The connection's Handler

    async def on_request(self, request: Request) -> Any:
        if request.method == "ping":
            return Result()
        call = self._call_of(request.params)
        if self._misses(request.params, call):
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
                work=lambda _: self._answer(request.method, request.params, call),
            )
        result = await answer_once(request, call, self._given if self.calls else {}, self._answer)
        related = task_requests.relations(request.params)
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
                self._announced(notification)
            case method if method.startswith("notifications/tasks"):
                task_requests.told(self, notification)
        self._on_notification(notification)

    def on_fault(self, reason: str) -> None:
        self.faults.append(reason)
        logger.warning("the server sent something wrong: %s", reason)

    def on_disconnected(self, error: MCPError | None) -> None:
        self._listening.close()
        for call in self.calls:
            if call.status is CallState.INPUT_REQUIRED:
                call.process = None  # whoever is connected next does not hear its question
        self.left = [call for call in {*self.left, *self.calls} if call.outlives_its_connection][-LEFT:]
        self._on_end(error)

    # Within

    def _sent(self, call: ClientCall, id: RequestId) -> None:
        """A call goes on its way under an id, perhaps not its first."""
        if call.request_id is not None:
            self._by_id.pop(call.request_id, None)
        call.sent(id)
        self._by_id[id] = call

    def _with_meta(self, params: dict[str, Any]) -> dict[str, Any]:
        if self._meta is None:
            return params
        return {**params, "_meta": {**self._meta, **(params.get("_meta") or {})}}

    async def _supplied(self, params: dict[str, Any], raw: Any, number: int, call: ClientCall | None) -> dict[str, Any]:
        """The request anew, with what the server asked for; its state goes back as it came, byte for byte."""
        try:
            wanted = InputRequiredResult.model_validate(raw)
        except ValidationError as error:
            raise InvalidResult(f"The server's question is broken: {first_problem(error)}.") from None
        if wanted.input_requests is None and wanted.request_state is None:
            raise InvalidResult("The server's question is broken: it has neither 'inputRequests' nor 'requestState'.")
        if not wanted.input_requests:
            await asyncio.sleep(min(0.1 * 2**number, 2.0))  # "not yet": there is nothing to answer
        asked = wanted.input_requests or {}
        answers = await asyncio.gather(*(self.answer_input(one, call) for one in asked.values()))
        supplied = {**params}
        if asked:
            supplied["inputResponses"] = dict(zip(asked, answers, strict=True))
        if wanted.request_state is not None:
            supplied["requestState"] = wanted.request_state
        return supplied

    def told_of(self, call: ClientCall, notification: Notification) -> None:
        """What a call has said arrived otherwise than by itself."""
        if notification.method == "notifications/progress":
            call.progressed(notification.params or {})
        else:
            self.on_notification(notification)

    async def answer_input(self, asked: InputRequest, call: ClientCall | None) -> Any:
        """The answer to a question inside a result, as JSON data.

        Raises:
            InvalidResult: the server asks for what was not declared.
        """
        if asked.method not in QUESTIONS or not self.profile.client_has(asked.method):
            raise InvalidResult(f"The server asks for {asked.method[:80]!r}, which this client did not declare.")
        return (await self._answer(asked.method, asked.params, call)).wire()

    async def _answer(self, method: str, params: dict[str, Any] | None, call: ClientCall | None) -> Result:
        if call is None:
            return await self._answer_in_time(method, params)
        call.asked(params)
        asking.set(cast("CallHandle", call))  # which is what people know it by
        try:
            result = await self._answer_in_time(method, params)
        except BaseException as error:
            call.answered(error, params)
            raise
        call.answered(result, params)
        return result

    async def _answer_in_time(self, method: str, params: dict[str, Any] | None) -> Result:
        try:
            async with asyncio.timeout(self.limits.question):
                return await answer(self._answering, self._visits, self.profile, method, params)
        except TimeoutError:
            raise ProtocolError(INTERNAL_ERROR, f"No answer within {self.limits.question:g} s.") from None

    async def _listen(self, params: dict[str, Any], on_sent: Callable[[RequestId], None]) -> Any:
        return await self.connection.request("subscriptions/listen", self._with_meta(params), on_sent=on_sent)

    def _listen_to_lists(self, profile: Profile) -> None:
        lists = {
            f"{kind}_list_changed": True
            for kind in ("tools", "prompts", "resources")
            if (getattr(profile.server, kind) or {}).get("listChanged")
        }
        if lists:
            self._listening.begin(SubscriptionFilter.model_validate(lists))

    def _attached_to(self, params: dict[str, Any]) -> None:
        try:
            self.attached = Attached(**params)
        except TypeError:
            self.on_fault("a relay that says something else than ours")

    def _logged(self, notification: Notification) -> bool:
        """Take in a log line; whether it is to be told of."""
        params = notification.params or {}
        call = self._call_of(params)
        if self._misses(params, call) or (call is not None and not call.fresh(params)):
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

    def _misses(self, params: dict[str, Any] | None, call: ClientCall | None) -> bool:
        """Whether a message comes too early to be taken: it belongs to a call that is still to be resumed here, or is
        just being, and comes again in its turn."""
        if call is not None:
            return call.misses(params)
        return read_mark(params).number > 0 and task_requests.related_task(params) is None

    def _announced(self, notification: Notification) -> None:
        """A call can be resumed."""
        for dialect in DIALECTS:
            policy = dialect.read_policy(notification)
            if policy is None:
                continue
            # A relay may deliver it before the call is gone on with here.
            left = (one for one in self.left if one.request_id == policy.request_id)
            call = self._by_id.get(policy.request_id) or next(left, None)
            if call is not None:
                call.resumable(dialect, policy)

    def _call_of(self, params: dict[str, Any] | None) -> ClientCall | None:
        """The call that a message belongs to: the one it names, else the only one there is, if so."""
        id = read_mark(params).request_id
        if id is not None:
            return self._by_id.get(id)
        task = task_requests.related_task(params)
        if task is not None:
            return self.by_task.get(task)
        return next(iter(self.calls)) if len(self.calls) == 1 else None
