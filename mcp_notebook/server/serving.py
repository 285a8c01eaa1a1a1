"""Serving over HTTP from this process: in a notebook beside the cells, in a script until it is stopped."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import MCPError
from ..home import Home, permanent_home, running_loop

if TYPE_CHECKING:
    from .server import Server


class HttpServing:
    """A server that is served over HTTP from this notebook, until `close()` or the kernel's end.

    Attributes:
        url: where.
        token: the secret that clients must bear; None where none is needed.
    """

    def __init__(
        self,
        server: Server,
        *,
        host: str,
        port: int,
        path: str,
        token: bool | str | None,
        allowed_hosts: Iterable[str],
        allowed_origins: Iterable[str],
        stream: bool,
    ) -> None:
        from ..transports.http.listener import Listener

        path = f"/{path.strip('/')}"
        self._made_token = token is True
        self.token = secrets.token_urlsafe(32) if token is True else token if isinstance(token, str) else None
        hosts = _hosts(host, set(allowed_hosts))
        app = server.asgi_app(
            path=path, token=self.token, allowed_hosts=hosts, allowed_origins=allowed_origins, stream=stream
        )
        self._listener = Listener(app, host, port, server.limits)
        self._name = server.name
        self._home: Home | None = None
        self._limits = server.limits
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._listener.port}{path}"

    @property
    def headers(self) -> dict[str, str]:
        """The HTTP headers that clients must send."""
        return {"Authorization": f"Bearer {self.token}"} if self.token is not None else {}

    def close(self) -> None:
        """Stop serving. May be called again, and from any thread; where it can, it waits until that is done."""
        home = self._home
        if home is None or not home.loop.is_running():
            self._home = None
            return
        home.remove_closer(self._end)
        future = home.submit(self._end())
        if running_loop() is not home.loop:
            home.wait(future, 2 * self._limits.shutdown)

    def __repr__(self) -> str:
        if self._home is None:
            return f"<{self._name!r}, no longer served at {self.url}>"
        headers = ", headers=serving.headers" if self.token is not None else ""
        return f"<{self._name!r}, served at {self.url}: connect(serving.url{headers}), or serving.close()>"

    def begin(self, home: Home) -> HttpServing:
        """Serve on the loop of a home, and return at once."""
        home.wait(home.submit(self._listener.start()), self._limits.connect)
        self._home = home
        home.add_closer(self._end)
        return self

    def block(self) -> None:
        """Serve in this thread until the process is told to stop (Ctrl-C, SIGTERM)."""
        with suppress(KeyboardInterrupt):
            asyncio.run(self._until_stopped())

    async def _end(self) -> None:
        self._home = None
        await self._listener.close()

    async def _until_stopped(self) -> None:
        stopped = asyncio.Event()
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not on Windows, nor outside the main thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        await self._listener.start()
        try:
            self._announce()
            await stopped.wait()
        finally:
            await self._listener.close()

    def _announce(self) -> None:
        """Say on the terminal how to connect."""
        print(f"{self._name} is served at {self.url}. Stop it with Ctrl-C.", file=sys.stderr, flush=True)
        if self._made_token:
            print(f"Clients send the header Authorization: Bearer {self.token}", file=sys.stderr, flush=True)


def place_to_serve() -> Home | None:
    """The home on whose loop to serve; None where the thread itself may be taken for it.

    Raises:
        MCPError: there is none, and the thread has an event loop that must not be blocked.
    """
    home = permanent_home()
    if home is None and running_loop() is not None:
        raise MCPError(
            "serve_http() blocks, and an event loop runs here already. In a notebook, run `%load_ext mcp_notebook` "
            "first; in a program, give server.asgi_app() to an ASGI server such as uvicorn."
        )
    return home


def _hosts(host: str, allowed: set[str]) -> set[str]:
    """The names that clients may call the server by.

    Raises:
        MCPError: it listens at all addresses, and nobody said which names it has.
    """
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_unspecified:
            if not allowed:
                raise MCPError(
                    f"At {host} this server can be reached under every name of this machine. Say which ones it answers "
                    "to: allowed_hosts=['name.example']."
                )
            return allowed
    return {*allowed, host}
