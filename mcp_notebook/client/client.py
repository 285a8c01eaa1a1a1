"""`Client`: everything one can ask of a server."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import MCPError, ProtocolError
from ..home import Home
from ..jsonrpc import INVALID_PARAMS, Notification
from ..protocol.revision import Profile
from ..protocol.tasks import TaskState, TaskWish
from ..types import (
    CompleteResult,
    Completion,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListTasksResult,
    ListToolsResult,
    LoggingLevel,
    Model,
    Prompt,
    PromptReference,
    Reference,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    Result,
    Tool,
)
from ..visible import quote
from .calls import CallHandle
from .known_tools import KnownTools
from .link import Link, State
from .listeners import tell
from .mapping import CallMap, as_rows
from .options import ClientOptions
from .requests import Requests
from .results import PromptResult, ReadResult, ToolResult
from .session import ClientSession
from .targets import Destination
from .task_requests import listed_task

if TYPE_CHECKING:  # these cost time to import, which many programs never need
    from .tools import Tools

M = TypeVar("M", bound=Model)


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
        self._known = KnownTools(lambda reason: self.session.on_fault(reason))
        self._link = Link(
            name,
            destination,
            home,
            options,
            on_new=self._known.forget,
            on_open=self._subscribe_again,
            on_notification=self._told,
            tool_headers=self._tool_headers,
        )
        self._requests = Requests(self._link, options)
        self._subscribed: set[str] = set()
        self._subscribing: asyncio.Task[None] | None = None
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
        return self._link.state

    @property
    def error(self) -> MCPError | None:
        """Why the connection was lost, where it was."""
        return self._link.error

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
        return self._link.session

    async def attached(self) -> ClientSession:
        """The connection at work, made anew where it was lost and can be. On the connection's loop.

        Raises:
            ConnectionLost: there is none, and none can be made: the server went with it.
            ConnectError: none could be made now.
        """
        return await self._link.attached()

    async def open(self) -> Client:
        """Connect. Raises ConnectError; an open client stays as it is."""
        await self.home.run(self._link.open())
        return self

    async def close(self) -> None:
        """End the connection, and the server's process where there is one. May be called again."""
        await self.home.run(self._link.close())

    async def reconnect(self) -> Client:
        """End the connection, and make it anew. Raises ConnectError."""
        await self.close()
        return await self.open()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        if self.state != "connected":
            return f"<Client {self.name!r}, {self.state}>"
        from ..render.letters import line  # not before there is something to show

        return f"<Client {self.name!r}, {line(self.profile.server_info.label)}, {self.profile.revision.name}>"

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
            call.belong_to(self, self.options.waits(None)[0])
            self._link.go_on_in(call.saved, call.revision)

    # Verbs

    async def ping(self) -> float:
        """Seconds that the server took to answer."""

        async def ping() -> float:
            began = time.perf_counter()
            # The modern revisions have no ping; what every server there must answer does as well.
            method = "ping" if "ping" in self.profile.revision.client_requests else "server/discover"
            await self._requests.request(method, {}, cached=False)
            return time.perf_counter() - began

        return await self.home.run(ping())

    async def list_tools(self) -> list[Tool]:
        """All tools; empty where the server has none."""

        async def listed() -> list[Tool]:
            tools = await self._requests.list_all("tools/list", ListToolsResult, lambda page: page.tools)
            headers = self.destination.has_headers and self.profile.revision.headers
            return self._known.take(tools, headers=headers)

        return await self.home.run(listed())

    async def list_resources(self) -> list[Resource]:
        """All resources that the server lists."""
        return await self.home.run(
            self._requests.list_all("resources/list", ListResourcesResult, lambda page: page.resources)
        )

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """All resource templates."""
        return await self.home.run(
            self._requests.list_all(
                "resources/templates/list", ListResourceTemplatesResult, lambda page: page.resource_templates
            )
        )

    async def list_prompts(self) -> list[Prompt]:
        """All prompts."""
        return await self.home.run(
            self._requests.list_all("prompts/list", ListPromptsResult, lambda page: page.prompts)
        )

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
        return await self.home.run(handle.run(self, *self.options.waits(timeout)))

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
        handle = self._aside(name, arguments, timeout, meta=meta, task=task, keep=keep, parent=parent)
        if self.home.begun is not None:
            self.home.begun(handle)
        return handle

    def _aside(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        timeout: float | None,
        *,
        meta: Mapping[str, Any] | None = None,
        task: bool = False,
        keep: float | None = None,
        parent: str | None = None,
    ) -> CallHandle:
        handle = self._handle(name, arguments, meta)
        if task:
            handle.wish = TaskWish(keep=None if keep is None else round(keep * 1000), parent=parent)
        return handle.begin(self, *self.options.waits(timeout))

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
            table = client.map("geocode", ["Oslo", "Rome"]).to_pandas()  # in a notebook; it waits for all of them

        Args:
            name: the tool's name.
            rows: the arguments of each call: dicts, the rows of a DataFrame (missing values are left out), or plain
                values for a tool that needs just one argument.
            concurrency: how many calls run at once.
            timeout, task: as of `begin_call`.
            common: arguments that all calls share.

        Returns:
            The calls, which have begun: await them, or ask them for `.result()`, `.progress`, `.to_pandas()`. In a
            notebook they show how far they are, as a cell's last line.

        Raises:
            ProtocolError: the server's tools are known, or can be asked for here, and there is none of that name.
            SchemaError: rows are plain values, and the tool does not say which argument they are.
            ValueError: fewer than one call at a time.
        """
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        tools = self.known_tools()
        if tools is not None and name not in tools:
            tools = self.known_tools(fresh=True)  # what has just come to be may not have been heard of
        if tools is not None and name not in tools:
            from .tools import unknown_name  # which costs time, and many programs never need

            raise ProtocolError(INVALID_PARAMS, unknown_name("tool", name, tools, self.name))
        found = as_rows(rows, (tools or {}).get(name))
        calls = [{**common, **row} for row in found]
        begun = CallMap(self.home, name, calls, lambda row: self._aside(name, row, timeout, task=task))
        return begun.start(concurrency)

    async def list_tasks(self) -> list[TaskState]:
        """The tasks of ours that the server has, at work or ended. Where the revision has no such list: none."""

        async def listed() -> list[TaskState]:
            entries = await self._requests.list_all("tasks/list", ListTasksResult, lambda page: page.tasks)
            states = [listed_task(entry, self.profile) for entry in entries]
            return [state for state in states if state is not None]

        return await self.home.run(listed())

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> ReadResult:
        """Read a resource. Raises ProtocolError where there is none."""
        return await self._ask("resources/read", {"uri": uri}, ReadResult, timeout)

    async def subscribe_resource(self, uri: str) -> None:
        """Be told (by `notifications/resources/updated`) when a resource changes; also on connections after this one.
        Raises MCPError where the server does not let us."""

        async def subscribe() -> None:
            await self._subscribe(uri)
            self._subscribed.add(uri)

        await self.home.run(subscribe())

    async def unsubscribe_resource(self, uri: str) -> None:
        """No longer be told."""
        self._subscribed.discard(uri)
        if self.profile.revision.changes == "listened":
            await self.home.run(self.session.unsubscribe(uri))
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
        await self.home.run(self.session.connection.notify("notifications/roots/list_changed"))

    # What is known without asking

    def known_tools(self, *, fresh: bool = False) -> dict[str, Tool] | None:
        """The tools by name. Lists them first, blocking, where that can be done here and they are not known, or have
        to be fresh; None where they are not known."""
        if (fresh or self._known.by_name is None) and self.state == "connected":
            listed = self.home.submit(self.list_tools())
            if self.home.may_wait:  # else they are known soon
                self.home.wait(listed, self.options.limits.request)
        return self._known.by_name

    def known_tool(self, name: str) -> Tool | None:
        """What is known of a tool without asking."""
        return self._known.get(name)

    def validated(self, name: str, raw: Any) -> ToolResult:
        """A tool's result, checked against its output schema where that is known.

        Raises:
            InvalidResult: it has not the form.
        """
        return self._known.validated(name, raw)

    # Within

    def _ask(
        self, method: str, params: dict[str, Any], form: type[M], timeout: float | None = None
    ) -> Coroutine[Any, Any, M]:
        return self.home.run(self._requests.ask(method, params, form, timeout))

    async def _subscribe(self, uri: str) -> None:
        if self.profile.revision.changes == "listened":
            await self.session.subscribe(uri)
        else:
            await self._requests.ask("resources/subscribe", {"uri": uri}, Result)

    def _subscribe_again(self) -> None:
        """A new connection hears of what the one before it heard of, as far as the server lets it."""

        async def subscribe() -> None:
            for uri in list(self._subscribed):
                try:
                    await self._subscribe(uri)
                except MCPError as error:
                    if self.state != "connected":
                        return
                    self.session.on_fault(f"changes of {quote(uri)} are no longer told: {error}")

        if self._subscribed:
            self._subscribing = asyncio.ensure_future(subscribe())

    async def _tool_headers(self, params: dict[str, Any], anew: bool) -> Mapping[str, str]:
        if anew:
            await self.list_tools()
        return self._known.headers_of(params)

    def _told(self, notification: Notification) -> None:
        if notification.method == "notifications/tools/list_changed":
            self._known.forget()
        tell(self._listeners, notification)

    def _handle(self, name: str, arguments: Mapping[str, Any] | None, meta: Mapping[str, Any] | None) -> CallHandle:
        self.session.profile.check_server("tools/call")
        return CallHandle(
            self.home,
            server=self.name,
            tool=name,
            arguments=dict(arguments or {}),
            limits=self.options.limits,
            meta=meta,
        )
