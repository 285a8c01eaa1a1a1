"""`Server`: what a program offers to MCP clients."""

from __future__ import annotations

import asyncio
import functools
import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

import anyio

from ..calls.tasks import Tasks
from ..errors import MCPError, SchemaError
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.extensions import extension_tasks
from ..protocol.metadata import SERVER_INFO
from ..protocol.negotiation import Agreements
from ..protocol.resuming import ResumeTerms
from ..protocol.tasks import SUPPORTS, Support
from ..store.memory import MemoryStore
from ..transports.base import Channel
from ..types import (
    Annotations,
    Icon,
    Implementation,
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
    ServerCapabilities,
    Tool,
    ToolAnnotations,
    ToolExecution,
)
from .completing import as_completer, from_schema
from .context import Context
from .delivery.kept import KeptCalls
from .delivery.round_trip import Parking
from .registry import Registry
from .running import Handler, run_prompt, run_resource, run_tool
from .session import ServerSession
from .signature import Signature
from .uri_template import UriTemplate
from .url_elicitations import UrlElicitations

if TYPE_CHECKING:
    from ..jsonrpc import Notification
    from ..store.base import Store
    from ..transports.http.app import HttpApp
    from .listening import Listener
    from .serving import HttpServing

F = TypeVar("F", bound=Callable[..., Any])


class Server:
    """A server: its tools, resources and prompts, and the clients it serves.

        server = Server("demo")

        @server.tool
        def add(a: int, b: int = 0) -> int:
            "Add two numbers."
            return a + b

    Args:
        name: the name for programs.
        version: the server's own version.
        title: the name for people.
        instructions: how to use the server, for the model or the person at the client.
        description: what the server is.
        icons: pictures for it.
        website_url: where more is to be read.
        page_size: how many items one page of a list holds.
        limits: the bounds it keeps.
        store: what remembers tasks and resumable calls beyond a restart (`open_store(path)`); by default they end with
            the process.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0",
        title: str | None = None,
        instructions: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        website_url: str | None = None,
        page_size: int = 1000,
        limits: Limits = DEFAULT_LIMITS,
        store: Store | None = None,
    ) -> None:
        self.info = Implementation(
            name=name, version=version, title=title, description=description, icons=icons, website_url=website_url
        )
        self.instructions = instructions
        self.page_size = page_size
        self.limits = limits
        self.registry = Registry(self._list_changed)
        self.parking = Parking(limits)
        self.kept = KeptCalls(limits, store)
        self.task_listeners: defaultdict[str, set[tuple[ServerSession, Listener]]] = defaultdict(set)
        """Who listens to which task."""
        self.url_elicitations = UrlElicitations(limits)
        self._store = store
        self._sessions: set[ServerSession] = set()
        """Those that are served; cells look at it in other threads, and so at a copy."""
        self._limiter = anyio.CapacityLimiter(limits.handler_threads)

    @property
    def name(self) -> str:
        """The name for programs."""
        return self.info.name

    @property
    def capabilities(self) -> ServerCapabilities:
        """What the server declares. Lists may fill while clients are connected, so all of them are declared."""
        return ServerCapabilities(
            tools={"listChanged": True},
            resources={"listChanged": True, "subscribe": True},
            prompts={"listChanged": True},
            completions={},
            logging={},
            tasks={"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
            extensions={extension_tasks.EXTENSION: {}},
        )

    @functools.cached_property
    def about(self) -> dict[str, Any]:
        """What the server says of itself in the `_meta` of results, in the revisions that have that."""
        return {SERVER_INFO: self.info.wire()}

    @functools.cached_property
    def tasks(self) -> Tasks:
        """The tasks that it carries out."""
        return Tasks(self.limits, self._store or MemoryStore(), self._task_changed)

    @functools.cached_property
    def agreements(self) -> Agreements:
        """What holds for the requests of modern clients."""
        return Agreements(self.capabilities, self.info)

    def __repr__(self) -> str:
        registry = self.registry
        counts = f"{len(registry.tools)} tools, {len(registry.resources) + len(registry.templates)} resources"
        return f"<Server {self.name!r}: {counts}, {len(registry.prompts)} prompts>"

    # Offering

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        input_schema: dict[str, Any] | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured: bool = True,
        task: Support = "forbidden",
        late_task: bool = False,
        resumable: bool = False,
        min_wait: int = 0,
        max_wait: int | None = None,
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        input_schema: dict[str, Any] | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured: bool = True,
        task: Support = "forbidden",
        late_task: bool = False,
        resumable: bool = False,
        min_wait: int = 0,
        max_wait: int | None = None,
    ) -> Any:
        """Offer a function as a tool: `@server.tool`, or `@server.tool(name=...)`.

        The input schema comes from the signature, the descriptions from the docstring, the output schema from the
        return annotation. A parameter annotated with `Context` receives the running call. A tool of the same name is
        replaced.

        Args:
            function: the function, synchronous (run in a thread) or asynchronous.
            name: the tool's name; the function's by default.
            title: the name for people.
            description: what it does; the docstring by default.
            annotations: hints such as `ToolAnnotations(read_only_hint=True)`.
            input_schema: a JSON Schema of your own in place of the generated one; arguments are checked against it
                and passed by keyword as they came.
            icons: pictures for it.
            meta: its `_meta`.
            structured: whether results are told as data, too.
            task: whether a client that can may ("optional") or must ("required") call it as a task, about which it may
                ask later, whatever becomes of its connection. A task belongs to the principal who began it; without
                one, to the session; where the revision has no sessions either (2026-07-28), to whoever knows its id,
                which cannot be guessed (TSK-9). How many there may be, how long they are kept at most, and how often
                one may ask about them, `Limits` says: `tasks`, `task_keep_most`, `task_rate` (TSK-8).
            late_task: where the server decides when a call becomes a task (TEX-1), it does so only when the handler
                calls `context.become_task()`: what it asks before is asked as in any other call. Elsewhere a task
                begins with the call.
            resumable: whether a client that can (capabilities `resumableRequests` and `streams`) may go away and come
                back while the tool runs; what it says meanwhile is kept.
            min_wait: seconds that such a client should stay away at least.
            max_wait: seconds after which a call whose client stays away is given up; `Limits.kept` by default.

        Raises:
            SchemaError: no schema can be made of the signature, or the given one is none (JSC-3).
            ValueError: `task` is another word, or the handler could never say when it becomes a task.
        """
        if task not in SUPPORTS:
            raise ValueError(f"task={task!r} is none of {', '.join(map(repr, SUPPORTS))}")
        if late_task and task == "forbidden":
            raise ValueError("late_task=True is for tools with task='optional' or task='required'")
        if function is None:
            return functools.partial(
                self.tool,
                name=name,
                title=title,
                description=description,
                annotations=annotations,
                input_schema=input_schema,
                icons=icons,
                meta=meta,
                structured=structured,
                task=task,
                late_task=late_task,
                resumable=resumable,
                min_wait=min_wait,
                max_wait=max_wait,
            )
        signature = self._signature(function, name, input_schema)
        if not structured:
            signature = signature.without_output()
        handler = Handler(function, signature, self._limiter)
        tool = Tool(
            name=name or signature.name,
            title=title,
            description=description or signature.description,
            input_schema=signature.input_schema,
            output_schema=signature.output_schema,
            annotations=annotations,
            icons=icons,
            meta=meta,
            execution=None if task == "forbidden" else ToolExecution(task_support=task),
        )
        asks = signature.context_parameter is not None
        if late_task and not asks:
            raise ValueError(f"late_task=True: {signature.name!r} needs a parameter of type Context, to become a task")
        resume = ResumeTerms(min_wait, max_wait) if resumable else None
        run = functools.partial(run_tool, handler)
        self.registry.add_tool(tool, run, asks=asks, resume=resume, task=task, late_task=late_task)
        return function

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        annotations: Annotations | None = None,
        icons: list[Icon] | None = None,
        size: int | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Callable[[F], F]:
        """Offer a function as a resource, or (with `{variables}` in the URI) as a family of them.

        It returns text, bytes, anything that can be told as JSON, or `ResourceContents`. The variables are its
        parameters.

        Args:
            uri: the URI, or an RFC 6570 template of it.
            name: the name for programs; the function's by default.
            title: the name for people.
            description: what it holds; the docstring by default.
            mime_type: of what it holds; guessed from what is returned by default.
            annotations: for whom it is, and how important.
            icons: pictures for it.
            size: in bytes (not for templates).
            meta: its `_meta`.

        Raises:
            SchemaError: the variables of the template are not the parameters of the function.
        """

        def offer(function: F) -> F:
            signature = self._signature(function, name)
            variables = UriTemplate(uri).variables
            _check_variables(uri, variables, signature)
            handler = Handler(function, signature, self._limiter)
            common: dict[str, Any] = {
                "name": name or signature.name,
                "title": title,
                "description": description or signature.description,
                "mime_type": mime_type,
                "annotations": annotations,
                "icons": icons,
                "meta": meta,
            }

            async def run(target: tuple[str, dict[str, str]], context: Context) -> Any:
                return await run_resource(handler, *target, mime_type, context)

            if variables:
                self.registry.add_template(ResourceTemplate(uri_template=uri, **common), run)
            else:
                self.registry.add_resource(Resource(uri=uri, size=size, **common), run)
            self._complete_from_schema(uri, signature)
            return function

        return offer

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Callable[[F], F]: ...
    def prompt(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
    ) -> Any:
        """Offer a function as a prompt: `@server.prompt`, or `@server.prompt(name=...)`.

        It returns a string (one message of the user), a `PromptMessage`, or a list of both.

        Args:
            function: the function; its parameters are the prompt's arguments.
            name: the prompt's name; the function's by default.
            title: the name for people.
            description: what it is for; the docstring by default.
            icons: pictures for it.
            meta: its `_meta`.

        Raises:
            SchemaError: the signature cannot be used.
        """
        if function is None:
            return functools.partial(
                self.prompt, name=name, title=title, description=description, icons=icons, meta=meta
            )
        signature = self._signature(function, name)
        handler = Handler(function, signature, self._limiter)
        about = description or signature.description
        required = signature.input_schema.get("required", [])
        arguments = [
            PromptArgument(name=key, description=schema.get("description"), required=key in required)
            for key, schema in signature.input_schema.get("properties", {}).items()
        ]
        prompt = Prompt(
            name=name or signature.name, title=title, description=about, arguments=arguments, icons=icons, meta=meta
        )

        async def run(given: dict[str, str], context: Context) -> Any:
            return await run_prompt(handler, given, about, context)

        self.registry.add_prompt(prompt, run)
        self._complete_from_schema(prompt.name, signature)
        return function

    def completion(self, of: str, argument: str) -> Callable[[F], F]:
        """Offer suggestions for an argument of a prompt, or a variable of a resource template.

        The function takes what stands there so far, and (if it has a second parameter) the other arguments as a dict;
        it returns the suggestions.

        Args:
            of: the prompt's name, or the URI template.
            argument: the argument's name.
        """

        def offer(function: F) -> F:
            self.registry.completions[of, argument] = as_completer(function, self._limiter)
            return function

        return offer

    def remove_tool(self, name: str) -> None:
        """No longer offer a tool. Raises KeyError."""
        self.registry.remove("tools", name)

    def remove_resource(self, uri: str) -> None:
        """No longer offer a resource or template. Raises KeyError."""
        self.registry.remove("resources", uri)

    def remove_prompt(self, name: str) -> None:
        """No longer offer a prompt. Raises KeyError."""
        self.registry.remove("prompts", name)

    def take_over(self, other: Server) -> None:
        """Offer what another server offers, in place of all that was offered so far; clients hear of it once.

        The other server is not to be used any more.
        """
        self.info, self.instructions = other.info, other.instructions
        for name in ("about", "agreements"):  # they say who it was
            self.__dict__.pop(name, None)
        self.registry.take_over(other.registry)

    def notify_resource_updated(self, uri: str) -> None:
        """Tell those who subscribed to a resource that it changed. Callable from any thread."""
        for session in self._sessions.copy():
            session.updated(uri)

    def complete_elicitation(self, id: str, principal: str | None = None) -> bool:
        """A visit to a URL (`Context.elicit_url`, `URLElicitationRequired`) is done: the client that was asked is told.

        Args:
            id: the elicitation's id.
            principal: who completed it, as the server's own login knows them, never as a client says (URL-6).

        Returns:
            False where it is over already, or never was.

        Raises:
            MCPError: somebody else was asked.
        """
        return self.url_elicitations.complete(id, principal)

    def forget_listener(self, session: ServerSession, listener: Listener) -> None:
        """It no longer listens to any task."""
        for id in listener.wanted.task_ids or ():
            self.task_listeners[id].discard((session, listener))
            if not self.task_listeners[id]:
                del self.task_listeners[id]

    # Serving

    async def serve(self, channel: Channel, *, principal: str | None = None) -> None:
        """Serve one client over a channel, until it goes.

        Args:
            channel: the way to the client.
            principal: who the client is, where that is known; what is kept for it is given to no other.
        """
        session = ServerSession(self, channel, principal)
        self._sessions.add(session)
        try:
            await session.run()
        finally:
            self._sessions.discard(session)

    def asgi_app(
        self,
        *,
        path: str = "/mcp",
        token: str | Iterable[str] | None = None,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        stream: bool = False,
    ) -> HttpApp:
        """The server as an ASGI application, to be run by uvicorn or mounted into another application.

        Args:
            path: where the endpoint is.
            token: a secret that every request must bear as `Authorization: Bearer …`, or several, of which each opens
                what was begun with it.
            allowed_hosts: names that may stand in Host beside loopback's, for servers behind a proxy; "*" for any.
            allowed_origins: origins whose pages may ask, beside pages from loopback; "*" for any.
            stream: answer every request by SSE; by default only where there is more to say than a prompt response.

        Raises:
            ValueError: a token is empty.
        """
        from ..transports.http.app import HttpApp
        from ..transports.http.guard import Guard

        tokens = (token,) if isinstance(token, str) else tuple(token or ())
        guard = Guard(hosts=frozenset(allowed_hosts), origins=frozenset(allowed_origins), tokens=tokens)
        return HttpApp(self.serve, path=path, guard=guard, stream=stream, limits=self.limits)

    def serve_http(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        path: str = "/mcp",
        *,
        token: bool | str | None = True,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        stream: bool = False,
    ) -> HttpServing | None:
        """Serve over HTTP: in a notebook beside the cells, in a script until Ctrl-C or SIGTERM.

        Args:
            host: the address to listen at; by default only this machine reaches it.
            port: the port; 0 for any that is free.
            path: where the endpoint is.
            token: the secret that clients must bear; True makes one, None wants none.
            allowed_hosts: names beside `host` that clients may call the server by; "*" for any.
            allowed_origins: origins whose pages may ask, beside pages from loopback; "*" for any.
            stream: answer every request by SSE; by default only where there is more to say than a prompt response.

        Returns:
            In a notebook (`%load_ext mcp_notebook`) at once: where it is served, and how to stop it. In a script, None
            in the end.

        Raises:
            MCPError: nothing can listen there, or an event loop runs here that this would block.
            ValueError: the token is empty.
        """
        from .serving import HttpServing, place_to_serve

        home = place_to_serve()
        serving = HttpServing(
            self,
            host=host,
            port=port,
            path=path,
            token=token,
            allowed_hosts=allowed_hosts,
            allowed_origins=allowed_origins,
            stream=stream,
        )
        return serving.block() if home is None else serving.begin(home)

    def serve_stdio(self) -> None:
        """Serve the client that started this process, over stdin and stdout, until it closes them.

        Raises:
            MCPError: an event loop runs here already, as in a notebook.
        """
        from ..transports.stdio_server import StdioServerChannel

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise MCPError(
                "serve_stdio() takes over the stdin and stdout of a process of its own. In a notebook, connect to the "
                "server object itself: %mcp connect NAME server, or connect(server)."
            )

        logging.basicConfig()  # to stderr, which is where a client looks for what went wrong

        async def serve() -> None:
            await self.serve(StdioServerChannel(limits=self.limits))

        try:
            asyncio.run(serve())
        except KeyboardInterrupt:
            sys.exit(130)

    # Within

    def _signature(self, function: Any, name: str | None, input_schema: dict[str, Any] | None = None) -> Signature:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "") in (__name__, "functools"):
            frame = frame.f_back
        return Signature.of(function, context=Context, localns=frame.f_locals, name=name, input_schema=input_schema)

    def _complete_from_schema(self, of: str, signature: Signature) -> None:
        for argument, completer in from_schema(signature.input_schema):
            self.registry.completions.setdefault((of, argument), completer)

    def _task_changed(self, id: str, told: Notification) -> None:
        for session, listener in self.task_listeners.get(id, ()):
            session.connection.notify_soon(told.method, listener.marked(told.params or {}), about=listener.id)

    def _list_changed(self, kind: str) -> None:
        for session in self._sessions.copy():
            session.changed(kind)


def _check_variables(uri: str, variables: list[str], signature: Signature) -> None:
    parameters = signature.input_schema.get("properties", {})
    missing = [name for name in variables if name not in parameters]
    left = [name for name in signature.input_schema.get("required", []) if name not in variables]
    if missing:
        raise SchemaError(
            f"The URI {uri!r} has the variable {missing[0]!r}, but {signature.name}() has no such parameter. "
            "Name the parameters as the variables."
        )
    if left:
        raise SchemaError(
            f"{signature.name}() needs {left[0]!r}, which the URI {uri!r} does not have. "
            f"Write it into the URI as {{{left[0]}}}, or give the parameter a default."
        )
