"""One client at a server: its requests, of whichever era."""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..calls.about_tasks import ABOUT, Asked, answer_about_tasks, check_declared
from ..calls.carrying_out import carry_out, wishes
from ..errors import MCPError, ProtocolError
from ..jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Notification, Request
from ..protocol.extensions import RESUMING as DIALECTS
from ..protocol.extensions import TASKS
from ..protocol.headers import check
from ..protocol.metadata import is_modern
from ..protocol.negotiation import accept
from ..protocol.peer import WITHOUT_ID
from ..protocol.resuming import Dialect, ResumeTerms
from ..protocol.revision import Profile
from ..protocol.shaping import shape
from ..protocol.tasks import Support, TaskForm, TaskWish, task_forbidden, task_required
from ..transports.base import Channel
from ..transports.connection import Connection
from ..types import InitializeResult, LoggingLevel, Result
from ..types.problems import first_problem
from ..types.requests import CallToolParams, Retryable
from . import following
from .context import Context
from .delivery import Current, Delivery
from .delivery.direct import Direct
from .delivery.round_trip import RoundTrip, binding
from .listening import Listener
from .methods import METHODS
from .registry import Entry

if TYPE_CHECKING:
    from .server import Server

logger = logging.getLogger("mcp_notebook.server")
MOMENT = 0.05
"""Seconds in which changes of a list are told together: many tools are often offered one after the other."""
FAREWELL = 0.5
"""Seconds in which subscriptions are ended in good order."""


class ServerSession:
    """One client, from its first message to its end.

    A client of the handshake revisions opens with `initialize`, and what was agreed on holds for the connection. A
    request that carries the metadata of a modern revision is served by that alone. Both may come on one connection.
    """

    def __init__(self, server: Server, channel: Channel, principal: str | None = None) -> None:
        self.server = server
        self.principal = principal
        self.connection = Connection(channel, self, limits=server.limits)
        self.level: LoggingLevel = "debug"
        """The least severe log line that a client of the handshake revisions wants."""
        self.subscriptions: set[str] = set()
        """The resources it subscribed to."""
        self.listeners: set[Listener] = set()
        """Its open `subscriptions/listen`."""
        self.ending = asyncio.Event()
        """Set when the session ends on the server's initiative."""
        self._profile: Profile | None = None
        self._initialized = False
        self._changed: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Serve the client until the connection ends."""
        try:
            await self.connection.open()
            await self._over.wait()
        finally:
            self.ending.set()
            if not self._over.is_set():
                await self._let_listeners_go()
            await self.connection.close()

    def changed(self, kind: str) -> None:
        """A list changed; the client hears of it, once for all changes of a moment. Callable from any thread."""
        self._soon(self._changed_here, kind)

    def updated(self, uri: str) -> None:
        """A resource changed; the client hears of it if it subscribed. Callable from any thread."""
        self._soon(self._updated_here, uri)

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Tell the client something that belongs to no request. Callable from any thread."""
        self._soon(self.connection.notify_soon, method, params)

    # The connection's Handler

    async def on_request(self, request: Request) -> Any:
        if is_modern(request.params):
            self._check_headers(request)
            profile = self.server.agreements.of_request(request.params)
        elif request.method == "initialize":
            return self._initialize(request)
        elif request.method == "ping":
            return Result()
        elif self._profile is None:
            raise ProtocolError(INVALID_REQUEST, "Nothing can be asked before 'initialize'.")
        else:
            profile = self._profile
        if request.method in following.RESUMING and following.resumes(request.method, profile):
            return await following.resume(self, request)
        if request.method in ABOUT and request.method in profile.revision.client_requests:
            asked = Asked(self.server.tasks, request, self.owner(profile), self.connection)
            return await answer_about_tasks(asked, profile)
        if request.method not in METHODS or request.method not in profile.revision.client_requests:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {request.method}")
        return await self._answer(request, profile)

    def on_notification(self, notification: Notification) -> None:
        if notification.method == "notifications/initialized":
            self._initialized = True
            self._flush_changes()
        elif notification.method in WITHOUT_ID and self._profile is not None:
            self._keep_task(following.resume_unasked(self, notification, self._profile))

    def on_fault(self, reason: str) -> None:
        logger.warning("the client sent something wrong: %s", reason)

    def on_disconnected(self, error: MCPError | None) -> None:
        self._over.set()
        for task in self._tasks:
            task.cancel()

    # Within

    async def _let_listeners_go(self) -> None:
        """Have the open subscriptions answered, so that the client knows that they end in good order."""
        tasks = {listener.task for listener in self.listeners if listener.task is not None}
        if tasks:
            await asyncio.wait(tasks, timeout=FAREWELL)

    def _initialize(self, request: Request) -> Any:
        self._profile = accept(request.params, self.server.capabilities, self.server.info)
        result = InitializeResult(
            protocol_version=self._profile.revision.name,
            capabilities=self._profile.server,
            server_info=self.server.info,
            instructions=self.server.instructions,
        )
        return shape(self._profile.revision, "initialize", result, {})

    def _answer(self, request: Request, profile: Profile) -> Awaitable[Any]:
        """Begin to answer. No coroutine of its own, since those of thousands of calls may wait."""
        form, answer = METHODS[request.method]
        try:
            params = form.model_validate(request.params or {})
        except ValidationError as error:
            raise ProtocolError(
                INVALID_PARAMS, f"Invalid params of {request.method!r}: {first_problem(error)}"
            ) from None
        current = Current(profile, request.id, getattr(params, "meta", None) or {})

        def work(delivery: Delivery) -> Coroutine[Any, Any, Result]:
            return answer(self, params, Context(self, current, delivery))

        tool = self.server.registry.tools.get(params.name) if isinstance(params, CallToolParams) else None
        wished = self._wished(request, params, tool, profile)
        if wished is not None:
            if wished[0].late and tool is not None and tool.late_task:
                current.late_task = True
                return self._answer_in_rounds(request, params, current, work, wished)
            return self._carry_out(request, profile, wished, work)
        kept = _terms(tool, profile)
        if kept is not None:
            call = self.server.kept.open(*kept, request.id, self.principal)
            return following.follow(self, call, request, lambda call: self._shaped(profile, request.method, work(call)))
        # A tool that takes no running call cannot ask anything, and needs no round trips.
        may_ask = isinstance(params, Retryable) and (tool is None or tool.asks)
        if may_ask and profile.revision.questions == "returned":
            return self._answer_in_rounds(request, params, current, work)
        return self._answer_directly(request, profile, work)

    async def _answer_directly(
        self, request: Request, profile: Profile, work: Callable[[Delivery], Coroutine[Any, Any, Result]]
    ) -> Any:
        direct = Direct(self.connection, request.id)
        try:
            return shape(profile.revision, request.method, await work(direct), self.server.about)
        finally:
            direct.end()

    async def _answer_in_rounds(
        self,
        request: Request,
        params: Any,
        current: Current,
        work: Callable[[Delivery], Coroutine[Any, Any, Result]],
        wished: tuple[TaskForm, TaskWish] | None = None,
    ) -> Any:
        """The result, or what must be known first; or, where its handler says so, the task that it has become."""
        call = self._round(request, params)
        if call.became is not None:
            return call.became  # the last answers came again
        direct = Direct(self.connection, request.id)
        try:
            result = await call.round(direct, current, work, params.input_responses)
        finally:
            direct.end()
        if result is not None:
            return shape(current.profile.revision, request.method, result, self.server.about)
        assert wished is not None, "only such calls become tasks"
        try:
            call.became = await self._carry_out(request, current.profile, wished, call.go_on_in)
        except ProtocolError:
            call.end()
            raise
        return call.became

    async def _shaped(self, profile: Profile, method: str, working: Coroutine[Any, Any, Result]) -> Any:
        return shape(profile.revision, method, await working, self.server.about)

    def _check_headers(self, request: Request) -> None:
        """Where a transport has headers, they must say what the body says (-32020)."""
        if request.headers is None:
            return
        params = request.params or {}
        entry = self.server.registry.tools.get(params.get("name", "")) if request.method == "tools/call" else None
        check(request.headers, request.method, params, entry.headers if entry is not None else {})

    # Tasks

    def _carry_out(
        self,
        request: Request,
        profile: Profile,
        wished: tuple[TaskForm, TaskWish],
        work: Callable[[Delivery], Coroutine[Any, Any, Result]],
    ) -> Coroutine[Any, Any, Any]:
        return carry_out(
            self.server.tasks,
            *wished,
            owner=self.owner(profile),
            request=request,
            connection=self.connection,
            work=lambda task: self._shaped(profile, request.method, work(task)),
        )

    def owner(self, profile: Profile) -> str:
        """Whose the tasks of a request are: the principal's, else the session's; where there are no sessions,
        everybody's who knows the id (TSK-9)."""
        if self.principal is not None:
            return f"principal:{self.principal}"
        return self._name if profile.revision.sessions else ""

    @functools.cached_property
    def _name(self) -> str:
        return f"session:{secrets.token_hex(8)}"

    def _wished(
        self, request: Request, params: Any, tool: Entry | None, profile: Profile
    ) -> tuple[TaskForm, TaskWish] | None:
        """The form in which a request becomes a task, and what it says of that; None where it does not.

        Raises:
            ProtocolError: the tool cannot be called so, or not otherwise (TCR-1, TEX-1).
        """
        support: Support = "forbidden" if tool is None else tool.task
        for form, wish in wishes(profile, request):
            if support != "forbidden" or not isinstance(params, CallToolParams):
                return form, wish
            if tool is not None and form.declares:
                raise task_forbidden(params.name)
        if support == "required":
            check_declared(profile)
            if any(TASKS[name].declares for name in profile.revision.tasks):
                raise task_required(params.name)
        return None

    def _keep_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _round(self, request: Request, params: Retryable) -> RoundTrip:
        """The call that a request begins, or goes on with."""
        bound = binding(self.principal, request.method, request.params or {})
        if params.request_state is not None:
            return self.server.parking.find(params.request_state, bound)
        return RoundTrip(self.server.parking, bound)

    def _soon(self, function: Any, *args: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            pass  # the loop is gone, and the client with it

    def _changed_here(self, kind: str) -> None:
        if not self._changed:
            self._loop.call_later(MOMENT, self._flush_changes)
        self._changed.add(kind)

    def _flush_changes(self) -> None:
        kinds, self._changed = self._changed, set()
        for kind in sorted(kinds):
            method = f"notifications/{kind}/list_changed"
            if self._initialized:  # before, the client has read no list yet
                self.connection.notify_soon(method)
            for listener in self.listeners:
                if listener.wants_list(kind):
                    self.connection.notify_soon(method, listener.marked({}), about=listener.id)

    def _updated_here(self, uri: str) -> None:
        method = "notifications/resources/updated"
        if uri in self.subscriptions:
            self.connection.notify_soon(method, {"uri": uri})
        for listener in self.listeners:
            if listener.wants_resource(uri):
                self.connection.notify_soon(method, listener.marked({"uri": uri}), about=listener.id)


def _terms(tool: Entry | None, profile: Profile) -> tuple[Dialect, ResumeTerms] | None:
    """The draft that the client speaks, and what the tool promises to clients that may go and come back, where both are
    there."""
    if tool is None or tool.resume is None:
        return None
    for dialect in DIALECTS:
        if getattr(profile.client, dialect.capability) is not None:
            return dialect, tool.resume
    return None
