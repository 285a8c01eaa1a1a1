"""`Server`: what a program offers to MCP clients, and the clients that it serves."""

from __future__ import annotations

import asyncio
import functools
import logging
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..calls.tasks import Tasks
from ..errors import MCPError
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.extensions import extension_tasks
from ..protocol.metadata import SERVER_INFO
from ..protocol.negotiation import Agreements
from ..store.memory import MemoryStore
from ..transports.base import Channel
from ..types import Icon, Implementation, ServerCapabilities
from .delivery.kept import KeptCalls
from .delivery.round_trip import Parking
from .offering import Offering
from .session import ServerSession
from .url_elicitations import UrlElicitations

if TYPE_CHECKING:
    from ..jsonrpc import Notification
    from ..store.base import Store
    from ..transports.http.app import HttpApp
    from .listening import Listener
    from .serving import HttpServing


class Server(Offering):
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
        super().__init__(self._list_changed, limits.handler_threads)
        self.info = Implementation(
            name=name, version=version, title=title, description=description, icons=icons, website_url=website_url
        )
        self.instructions = instructions
        self.page_size = page_size
        self.limits = limits
        self.parking = Parking(limits)
        self.kept = KeptCalls(limits, store)
        self.task_listeners: defaultdict[str, set[tuple[ServerSession, Listener]]] = defaultdict(set)
        """Who listens to which task."""
        self.url_elicitations = UrlElicitations(limits)
        self._store = store
        self._sessions: set[ServerSession] = set()
        """Those that are served; cells look at it in other threads, and so at a copy."""

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

    # What changes while clients are connected

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

    def _task_changed(self, id: str, told: Notification) -> None:
        for session, listener in self.task_listeners.get(id, ()):
            session.connection.notify_soon(told.method, listener.marked(told.params or {}), about=listener.id)

    def _list_changed(self, kind: str) -> None:
        for session in self._sessions.copy():
            session.changed(kind)
