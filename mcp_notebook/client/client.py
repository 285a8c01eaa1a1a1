"""`Client`: everything one can ask of a server."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import ValidationError

from ..errors import (
    ConnectionLost,
    ConsentDenied,
    InvalidResult,
    MCPError,
    NegotiationError,
    SchemaError,
    ServerExited,
    TakenOver,
)
from ..home import Home, is_interactive
from ..journal import SavedSession
from ..jsonrpc import Notification, much_data
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.extensions import TASKS
from ..protocol.headers import Annotated, annotated, of_arguments
from ..protocol.negotiation import known_revision
from ..protocol.revision import Profile, Revision
from ..protocol.tasks import TaskState, TaskWish
from ..transports.base import Channel
from ..transports.relay import starts_nothing
from ..types import (
    CompleteResult,
    Completion,
    Implementation,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListTasksResult,
    ListToolsResult,
    LoggingLevel,
    Model,
    PaginatedResult,
    Prompt,
    PromptReference,
    Reference,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    Result,
    Tool,
)
from ..types.base import FORGIVING
from ..types.problems import first_problem
from .answering import Answering
from .call import ClientCall
from .calls import CallHandle
from .listeners import tell
from .mapping import CallMap, as_rows
from .results import Listing, PromptResult, ReadResult, ToolResult
from .session import ClientSession
from .targets import Destination
from .ways import ways_to

if TYPE_CHECKING:  # these cost time to import, which many programs never need
    from ..protocol.json_schema import Validator
    from .tools import Tools

T = TypeVar("T")
M = TypeVar("M", bound=Model)
P = TypeVar("P", bound=PaginatedResult)

State = Literal["new", "connected", "closed", "lost"]


def package_version() -> str:
    """The version of this package; "0" where it runs from a folder."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mcp_notebook")
    except PackageNotFoundError:
        return "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """How a client behaves; `connect` documents each."""

    answering: Answering = field(default_factory=Answering)
    timeout: float | None = None
    revision: str | None = None
    limits: Limits = DEFAULT_LIMITS
    info: Implementation | None = None
    on_notification: Callable[[Notification], None] | None = None
    trust: bool = False
    remember_arguments: bool = False
    left: Sequence[CallHandle] = ()


class Client:
    """A connection to one server, and every verb of the protocol. `connect` makes it.

    It lives on the loop of its home; its methods can be awaited from any loop.

    Attributes:
        name: what the server is called here.
        destination: where it leads.
    """

    def __init__(self, name: str, destination: Destination, home: Home, options: ClientOptions) -> None:
        self.name = name
        self.destination = destination
        self.options = options
        self.home = home
        self.error: MCPError | None = None
        """Why the connection was lost, where it was."""
        self._state: State = "new"
        self._session: ClientSession | None = None
        self._found: Revision | None = None
        self._tools: dict[str, Tool] | None = None
        self._attaching = asyncio.Lock()
        self._left: Sequence[ClientCall] = options.left
        """Calls of the connection before this one."""
        self._saved: SavedSession | None = None
        """The session of that, if something went on in it."""
        self._spoken: str | None = None
        """The revision that another process spoke, which has left something."""
        self._headers: dict[str, Annotated] = {}
        self._validators: dict[str, Validator] = {}
        self._listeners = [options.on_notification] if options.on_notification is not None else []
        self.take_up(options.left)

    @functools.cached_property
    def tools(self) -> Tools:
        """The server's tools as functions."""
        from .tools import Tools

        return Tools(self)

    # The connection

    @property
    def state(self) -> State:
        """Where the connection stands."""
        return self._state

    @property
    def address(self) -> str | None:
        """Where the server is, if it outlives this process: what a journal knows it by."""
        return self.destination.address

    @property
    def remembers_arguments(self) -> bool:
        """Whether a journal may keep what its tools are called with."""
        return self.options.remember_arguments

    @property
    def profile(self) -> Profile:
        """What was negotiated: revision, capabilities, names, instructions."""
        return self.session.profile

    @property
    def session(self) -> ClientSession:
        """The connection at work.

        Raises:
            ConnectionLost: there is none.
        """
        if self._session is None or self._state != "connected":
            lost = self.error or ConnectionLost(
                f"{self.name} is not connected. Connect it, or `await client.reconnect()`."
            )
            raise lost.with_traceback(None)  # raised more than once, it shows where it was raised last
        return self._session

    async def open(self) -> Client:
        """Connect. Raises ConnectError; an open client stays as it is."""
        await self._run(self._open())
        return self

    async def close(self) -> None:
        """End the connection, and the server's process where there is one. May be called again."""
        await self._run(self._close())

    async def reconnect(self) -> Client:
        """End the connection, and make it anew. Raises ConnectError."""
        await self.close()
        return await self.open()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        if self._state != "connected" or self._session is None:
            return f"<Client {self.name!r}, {self._state}>"
        return f"<Client {self.name!r}, {self.profile.server_info.label}, {self.profile.revision.name}>"

    def add_listener(self, listener: Callable[[Notification], None]) -> None:
        """Have a function told of each notification of the server's, on the connection's loop. It must not block."""
        self._listeners.append(listener)

    def remove_listener(self, listener: Callable[[Notification], None]) -> None:
        """No longer tell it; one that was never added is no mistake."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    def take_up(self, calls: Sequence[CallHandle]) -> None:
        """Calls of another process can be resumed here, once this is connected. Best done before, since then a session
        in which they were begun is gone on with, too."""
        for call in calls:
            call.belong_to(self, self._limits(None)[0])
            self._saved = call.saved or self._saved
            self._spoken = call.revision or self._spoken

    # Verbs

    async def ping(self) -> float:
        """Seconds that the server took to answer."""

        async def ping() -> float:
            began = time.perf_counter()
            # The modern revisions have no ping; what every server there must answer does as well.
            method = "ping" if "ping" in self.profile.revision.client_requests else "server/discover"
            await self._request(method, {}, cached=False)
            return time.perf_counter() - began

        return await self._run(ping())

    async def list_tools(self) -> list[Tool]:
        """All tools; empty where the server has none."""

        async def listed() -> list[Tool]:
            tools = await self._list("tools/list", ListToolsResult, lambda page: page.tools)
            self._headers = self._annotated(tools)
            tools = Listing(tool for tool in tools if tool.name in self._headers)
            self._tools = {tool.name: tool for tool in tools}
            self._validators.clear()
            return tools

        return await self._run(listed())

    async def list_resources(self) -> list[Resource]:
        """All resources that the server lists."""
        return await self._run(self._list("resources/list", ListResourcesResult, lambda page: page.resources))

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """All resource templates."""
        return await self._run(
            self._list("resources/templates/list", ListResourceTemplatesResult, lambda page: page.resource_templates)
        )

    async def list_prompts(self) -> list[Prompt]:
        """All prompts."""
        return await self._run(self._list("prompts/list", ListPromptsResult, lambda page: page.prompts))

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        """Call a tool, and wait for its result.

        Args:
            name: the tool's name.
            arguments: its arguments, as JSON data.
            timeout: seconds of silence after which the call is given up and the server told; progress starts them
                anew. By default the client's own.
            meta: what its `_meta` should carry, such as a W3C trace context (`{"traceparent": …}`).

        Returns:
            The result. A tool that failed has `.is_error`.

        Raises:
            ProtocolError: the server knows no such tool, or is at fault.
            RequestTimeout: nothing was heard for `timeout` seconds.
            ConnectionLost: the connection ended first.
            InvalidResult: the answer has not the form that the protocol, or the tool's output schema, gives it.
        """
        handle = self._handle(name, arguments, meta)
        return await self._run(handle.run(self, *self._limits(timeout)))

    def begin_call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
        task: bool = False,
        keep: float | None = None,
        parent: str | None = None,
    ) -> CallHandle:
        """Begin to call a tool, and give its handle at once. Callable from any thread.

        Args:
            name, arguments, timeout, meta: as of `call_tool`.
            task: call it as a task, in the best form that the server has: it goes on there whatever becomes of the
                connection, until it is cancelled. A tool that can be called only so is, without being asked.
            keep: seconds for which the server should keep the task; its own choice by default.
            parent: the id of the task that it is a part of (TSK-16).

        Returns:
            The handle. UnsupportedFeature comes from it, where a task is wanted and the server has none.
        """
        handle = self._handle(name, arguments, meta)
        if task:
            handle.wish = TaskWish(keep=None if keep is None else round(keep * 1000), parent=parent)
        return handle.begin(self, *self._limits(timeout))

    def map(
        self,
        name: str,
        rows: Any,
        *,
        concurrency: int = 8,
        timeout: float | None = None,
        task: bool = False,
        **common: Any,
    ) -> CallMap:
        """Call a tool for each row of a list or a DataFrame, a few at a time. Callable from any thread.

            results = await client.map("geocode", frame[["city"]])
            table = client.map("geocode", ["Oslo", "Rome"]).to_pandas()

        Args:
            name: the tool's name.
            rows: the arguments of each call: dicts, the rows of a DataFrame (missing values are left out), or plain
                values for a tool that needs just one argument.
            concurrency: how many calls run at once.
            timeout, task: as of `begin_call`.
            common: arguments that all calls share.

        Returns:
            The calls, which have begun: await them, or ask them for `.result()`, `.progress`, `.to_pandas()`.

        Raises:
            SchemaError: rows are plain values, and the tool does not say which argument they are.
            ValueError: fewer than one call at a time.
        """
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        found = as_rows(rows, (self.known_tools() or {}).get(name))
        calls = [{**common, **row} for row in found]
        return CallMap(
            self.home, name, calls, lambda row: self.begin_call(name, row, timeout=timeout, task=task)
        ).start(concurrency)

    async def list_tasks(self) -> list[TaskState]:
        """The tasks of ours that the server has, at work or ended. Where the revision has no such list: none."""

        async def listed() -> list[TaskState]:
            if not self.profile.server_has("tasks/list"):
                return []
            forms = [TASKS[name] for name in self.profile.revision.tasks]
            found: list[TaskState] = []
            async for page in self._pages("tasks/list", ListTasksResult):
                for raw in page.tasks:
                    # The forms' states are told apart by what only one of them always has.
                    form = next((one for one in forms if one.declares == ("createdAt" in raw)), forms[0])
                    state = form.read(raw)
                    found += [] if state is None else [state]
            return found

        return await self._run(listed())

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> ReadResult:
        """Read a resource. Raises ProtocolError where there is none."""
        return await self._ask("resources/read", {"uri": uri}, ReadResult, timeout)

    async def subscribe_resource(self, uri: str) -> None:
        """Be told (by `notifications/resources/updated`) when a resource changes."""
        if self.profile.revision.changes == "listened":
            await self._run(self.session.subscribe(uri))
        else:
            await self._ask("resources/subscribe", {"uri": uri}, Result)

    async def unsubscribe_resource(self, uri: str) -> None:
        """No longer be told."""
        if self.profile.revision.changes == "listened":
            await self._run(self.session.unsubscribe(uri))
        else:
            await self._ask("resources/unsubscribe", {"uri": uri}, Result)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> PromptResult:
        """The messages of a prompt. Its arguments are text."""
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = {
                key: value if isinstance(value, str) else str(value) for key, value in arguments.items()
            }
        return await self._ask("prompts/get", params, PromptResult, timeout)

    async def complete(
        self, of: str | Reference, argument: str, value: str = "", *, others: Mapping[str, str] | None = None
    ) -> Completion:
        """Suggestions for an argument.

        Args:
            of: a prompt's name, a resource template (which has braces), or a reference.
            argument: the argument's name.
            value: what stands in it so far.
            others: the other arguments as far as they are known.
        """
        if isinstance(of, str):
            of = ResourceTemplateReference(uri=of) if "{" in of or "://" in of else PromptReference(name=of)
        params: dict[str, Any] = {"ref": of.wire(), "argument": {"name": argument, "value": value}}
        if others:
            params["context"] = {"arguments": dict(others)}
        return (await self._ask("completion/complete", params, CompleteResult)).completion

    async def set_logging_level(self, level: LoggingLevel) -> None:
        """Have the server send log lines of this level and above only."""
        if self.profile.revision.log_level == "request":
            self.session.set_log_level(level)
        else:
            await self._ask("logging/setLevel", {"level": level}, Result)

    async def notify_roots_changed(self) -> None:
        """Tell the server that the roots are others now, where the revision has that; else it asks anew anyway."""
        if self.profile.revision.questions == "returned":
            return
        await self._run(self.session.connection.notify("notifications/roots/list_changed"))

    # What is known without asking

    def known_tools(self) -> dict[str, Tool] | None:
        """The tools by name. Lists them first, blocking, where that can be done here; None where it cannot."""
        if self._tools is None and self._state == "connected":
            try:
                self.home.wait(self.home.submit(self.list_tools()), self.options.limits.request)
            except RuntimeError:
                return None  # on the connection's own loop nothing can be awaited here
        return self._tools

    def validated(self, name: str, raw: Any) -> ToolResult:
        """A tool's result, checked against its output schema where that is known.

        Raises:
            InvalidResult: it has not the form.
        """
        result = _parsed(ToolResult, raw, f"the tool {name!r}")
        tool = (self._tools or {}).get(name)
        if tool is None or tool.output_schema is None or result.is_error:
            return result  # an error is the tool's own word, and needs no schema
        if result.structured_content is None:
            raise InvalidResult(f"The tool {name!r} has an output schema, but its answer holds no structured content.")
        problems = self._validator(tool).errors(result.structured_content)
        if problems:
            told = "; ".join(map(str, problems))
            raise InvalidResult(f"The answer of the tool {name!r} does not fit its output schema: {told}")
        return result

    def _validator(self, tool: Tool) -> Validator:
        """What checks a tool's data; an unusable schema is reported, and then anything will do (JSC-1, JSC-3)."""
        validator = self._validators.get(tool.name)
        if validator is None:
            from ..protocol.json_schema import Validator

            try:
                validator = Validator(tool.output_schema)
            except SchemaError as error:
                self.session.on_fault(f"the output schema of the tool {tool.name!r} cannot be used: {error}")
                validator = Validator(True)
            self._validators[tool.name] = validator
        return validator

    # Within

    async def attached(self) -> ClientSession:
        """The connection at work, made anew where it was lost and can be.

        Raises:
            ConnectionLost: there is none, and none can be made: the server went with it.
            ConnectError: none could be made now.
        """
        if self._may_come_back():
            async with self._attaching:
                if self._may_come_back():
                    await self._reopen()
        return self.session

    def _may_come_back(self) -> bool:
        """Whether the connection was lost, and what it led to is still there, for us."""
        ended = isinstance(self.error, (ServerExited, TakenOver))
        return self._state == "lost" and self.destination.lasts and not ended

    async def _reopen(self) -> None:
        """Make the lost connection anew; where that fails, it is still lost, and may come back later."""
        lost = self._session
        self.home.remove_closer(self.close)
        if lost is not None:
            await lost.close()
        try:
            await self._open()
        except MCPError as error:
            self._session, self._state, self.error = lost, "lost", error
            raise

    def known_tool(self, name: str) -> Tool | None:
        """What is known of a tool without asking."""
        return (self._tools or {}).get(name)

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
        return self.home.run(coroutine)

    async def _open(self) -> None:
        if self._state == "connected":
            return
        options = self.options
        await self._consent()
        limits = options.limits
        if options.timeout is not None:
            limits = dataclasses.replace(limits, connect=options.timeout)
        await self._find_a_way(limits)
        self._state, self._saved = "connected", None
        self.home.add_closer(self.close)

    async def _find_a_way(self, limits: Limits) -> None:
        """In the revision that is wished, else in that in which something was left, where the server still has that."""
        if self.options.revision is not None:
            await self._find_way(limits, known_revision(self.options.revision))
            return
        spoken, self._spoken = self._spoken, None
        if spoken is not None:
            with suppress(NegotiationError):
                await self._find_way(limits, known_revision(spoken))
                return
        await self._find_way(limits, None)

    async def _find_way(self, limits: Limits, wanted: Revision | None) -> None:
        """Try one way after another; where none leads there, what the first one came to is told. What a URL is found to
        speak is remembered, so that it need not be found out again."""
        failures: list[MCPError] = []
        for way in ways_to(self.destination, self._found):
            if not failures or way.serves(failures[-1], wanted):
                try:
                    session = await self._try(way.channel(limits), limits, wanted or way.revision)
                except MCPError as error:
                    failures.append(error)
                    self._found = None
                else:
                    self._found = session.profile.revision if way.revision is None else self._found
                    return
        raise failures[0]

    async def _try(self, channel: Channel, limits: Limits, revision: Revision | None) -> ClientSession:
        options = self.options
        session = ClientSession(
            channel,
            options.answering,
            left=self._left,
            limits=limits,
            on_notification=self._told,
            on_end=self._ended,
            tool_headers=self._tool_headers if self.destination.has_headers else None,
        )
        self.error, self._tools, self._session = None, None, session
        try:
            await session.open(revision, options.info or default_info(), self._saved)
        except BaseException:
            await session.close()
            self._session, self._state = None, "closed"
            raise
        return session

    async def _consent(self) -> None:
        """Ask before a command starts, where there is somebody to ask (CON-3)."""
        command, host = self.destination.command, self.home.host
        if command is None or starts_nothing(command):
            return
        if host is not None:
            await host.consent(command, trust=self.options.trust)
        elif is_interactive():
            raise ConsentDenied(
                "Before a command starts here, a person has to allow it. Run `%load_ext mcp_notebook` first: it asks."
            )

    async def _close(self) -> None:
        self.home.remove_closer(self.close)
        session, self._session = self._session, None
        if session is not None:
            if any(call.lasts() and not call.done() for call in session.calls):
                self._saved = session.saved
            await session.close()
            self._left = session.calls.left
        self._state = "closed"

    def _annotated(self, tools: list[Tool]) -> dict[str, Annotated]:
        """Which arguments of each tool HTTP headers repeat; a tool whose schema says that wrongly must not be used."""
        if not (self.destination.has_headers and self.profile.revision.headers):
            return {tool.name: {} for tool in tools}
        found: dict[str, Annotated] = {}
        for tool in tools:
            try:
                found[tool.name] = annotated(tool.input_schema)
            except SchemaError as error:
                self.session.on_fault(f"the tool {tool.name!r} is left out: {error}")
        return found

    async def _tool_headers(self, params: dict[str, Any], anew: bool) -> Mapping[str, str]:
        if anew:
            await self.list_tools()
        return of_arguments(self._headers.get(params["name"], {}), params.get("arguments") or {})

    def _told(self, notification: Notification) -> None:
        if notification.method == "notifications/tools/list_changed":
            self._tools = None
        tell(self._listeners, notification)

    def _ended(self, error: MCPError | None) -> None:
        if self._session is not None:
            self._left = self._session.calls.left
        if error is not None and self._state == "connected":
            self.error, self._state = error, "lost"

    def _handle(self, name: str, arguments: Mapping[str, Any] | None, meta: Mapping[str, Any] | None) -> CallHandle:
        self.profile.check_server("tools/call")
        return CallHandle(
            self.home,
            server=self.name,
            tool=name,
            arguments=dict(arguments or {}),
            limits=self.options.limits,
            meta=meta,
        )

    def _limits(self, timeout: float | None) -> tuple[float, float]:
        silence = timeout if timeout is not None else self.options.timeout
        limits = self.options.limits
        if silence is None:
            silence = limits.request
        return silence, max(limits.request_total, silence)

    async def _ask(self, method: str, params: dict[str, Any], form: type[M], timeout: float | None = None) -> M:
        async def ask() -> M:
            self.profile.check_server(method)
            return _parsed(form, await self._request(method, params, timeout), repr(method))

        return await self._run(ask())

    async def _request(
        self, method: str, params: dict[str, Any], timeout: float | None = None, *, cached: bool = True
    ) -> Any:
        silence, total = self._limits(timeout)
        return await self.session.request(
            method, params, timeout=silence, total=total, on_progress=_ignore, cached=cached
        )

    async def _list(self, method: str, form: type[P], items: Callable[[P], list[T]]) -> list[T]:
        if not self.profile.server_has(method):
            return Listing()
        found: Listing[T] = Listing()
        async for page in self._pages(method, form):
            found += items(page)
        return found

    async def _pages(self, method: str, form: type[P]) -> AsyncIterator[P]:
        """All pages of a list. An empty cursor leads on like any other; one that comes again leads nowhere."""
        params: dict[str, Any] = {}
        seen: set[str] = set()
        for _ in range(self.options.limits.pages):
            raw = await self._request(method, params)
            with much_data():
                page = _parsed(form, raw, repr(method))
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return
            if cursor in seen:
                raise InvalidResult(f"The server's {method!r} goes in a circle: the cursor {cursor[:80]!r} came again.")
            seen.add(cursor)
            params = {"cursor": cursor}
        raise InvalidResult(f"The server's {method!r} has more than {self.options.limits.pages} pages (Limits.pages).")


def default_info() -> Implementation:
    """How this client introduces itself."""
    return Implementation(name="mcp_notebook", title="mcp_notebook", version=package_version())


def _ignore(params: dict[str, Any]) -> None:
    """Progress that nobody watches still shows that the work goes on."""


def _parsed(form: type[M], raw: Any, what: str) -> M:
    try:
        return form.model_validate(raw, context=FORGIVING)
    except ValidationError as error:
        raise InvalidResult(f"The server's answer to {what} is broken: {first_problem(error)}.") from None
