"""The connection of a client to its server: made, lost, and made anew where what it led to is still there."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Literal

from ..errors import (
    ConnectionLost,
    ConsentDenied,
    MCPError,
    NegotiationError,
    ServerExited,
    TakenOver,
)
from ..home import Home, is_interactive
from ..journal import SavedSession
from ..jsonrpc import Notification
from ..limits import Limits
from ..protocol.negotiation import known_revision
from ..protocol.revision import Revision
from ..transports.base import Channel
from ..transports.relay import starts_nothing
from .call import ClientCall
from .options import ClientOptions, default_info
from .session import ClientSession, ToolHeaders
from .targets import Destination
from .ways import ways_to

State = Literal["new", "connected", "closed", "lost"]


class Link:
    """A connection that may come and go.

    Args:
        name: what the server is called.
        destination: where it leads.
        home: where it lives; all of it happens there.
        options: how the client behaves.
        on_new: told when there is a new one, before anything is asked on it.
        on_open: told when that is open.
        on_notification: told of each notification.
        tool_headers: as of `ClientSession`.
    """

    def __init__(
        self,
        name: str,
        destination: Destination,
        home: Home,
        options: ClientOptions,
        *,
        on_new: Callable[[], None],
        on_open: Callable[[], None],
        on_notification: Callable[[Notification], None],
        tool_headers: ToolHeaders,
    ) -> None:
        self.state: State = "new"
        self.error: MCPError | None = None
        """Why it was lost, where it was."""
        self._name = name
        self._destination = destination
        self._home = home
        self._options = options
        self._on_new = on_new
        self._on_open = on_open
        self._on_notification = on_notification
        self._tool_headers = tool_headers if destination.has_headers else None
        self._session: ClientSession | None = None
        self._found: Revision | None = None
        """What the server was found to speak, where it is at a URL."""
        self._attaching = asyncio.Lock()
        self._left: Iterable[ClientCall] = options.left
        """Calls of the connection before this one."""
        self._saved: SavedSession | None = None
        """The session of that, if something went on in it."""
        self._spoken: str | None = None
        """The revision that another process spoke, which has left something."""

    @property
    def session(self) -> ClientSession:
        """The connection at work.

        Raises:
            ConnectionLost: there is none.
        """
        if self._session is None or self.state != "connected":
            lost = self.error or ConnectionLost(
                f"{self._name} is not connected. Connect it, or `await client.reconnect()`."
            )
            raise lost.with_traceback(None)  # raised more than once, it shows where it was raised last
        return self._session

    async def open(self) -> None:
        """Connect; what is open stays as it is. Raises ConnectError."""
        if self.state == "connected":
            return
        options = self._options
        await self._consent()
        limits = options.limits
        if options.timeout is not None:
            limits = dataclasses.replace(limits, connect=options.timeout)
        await self._connect(limits)
        self.state, self._saved = "connected", None
        self._home.add_closer(self.close)
        self._on_open()

    async def close(self) -> None:
        """End it. May be called again."""
        self._home.remove_closer(self.close)
        session, self._session = self._session, None
        if session is not None:
            if any(call.lasts() and not call.done() for call in session.calls):
                self._saved = session.saved
            await session.close()
            self._left = session.calls.left
        self.state = "closed"

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

    def go_on_in(self, saved: SavedSession | None, revision: str | None) -> None:
        """The next connection goes on in a session that another process has left, in the revision that it spoke."""
        self._saved = saved or self._saved
        self._spoken = revision or self._spoken

    # Within

    def _may_come_back(self) -> bool:
        """Whether the connection was lost, and what it led to is still there, for us."""
        ended = isinstance(self.error, (ServerExited, TakenOver))
        return self.state == "lost" and self._destination.lasts and not ended

    async def _reopen(self) -> None:
        """Make the lost connection anew; where that fails, it is still lost, and may come back later."""
        lost = self._session
        self._home.remove_closer(self.close)
        if lost is not None:
            await lost.close()
        try:
            await self.open()
        except MCPError as error:
            self._session, self.state, self.error = lost, "lost", error
            raise

    async def _connect(self, limits: Limits) -> None:
        """In the revision that is wished, else in that in which something was left, where the server still has that."""
        if self._options.revision is not None:
            await self._try_ways(limits, known_revision(self._options.revision))
            return
        spoken, self._spoken = self._spoken, None
        if spoken is not None:
            with suppress(NegotiationError):
                await self._try_ways(limits, known_revision(spoken))
                return
        await self._try_ways(limits, None)

    async def _try_ways(self, limits: Limits, wanted: Revision | None) -> None:
        """Try one way after another; where none leads there, what the first one came to is told. What a URL is found to
        speak is remembered, so that it need not be found out again."""
        failures: list[MCPError] = []
        for way in ways_to(self._destination, self._found):
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
        options = self._options
        session = ClientSession(
            channel,
            options.answering,
            left=self._left,
            limits=limits,
            on_notification=self._on_notification,
            on_end=self._ended,
            tool_headers=self._tool_headers,
        )
        self.error, self._session = None, session
        self._on_new()
        try:
            await session.open(revision, options.info or default_info(), self._saved)
        except BaseException:
            await session.close()
            self._session, self.state = None, "closed"
            raise
        return session

    async def _consent(self) -> None:
        """Ask before a command starts, where there is somebody to ask (CON-3)."""
        command, host = self._destination.command, self._home.host
        if command is None or starts_nothing(command):
            return
        if host is not None:
            await host.consent(command, trust=self._options.trust)
        elif is_interactive():
            raise ConsentDenied(
                "Before a command starts here, a person has to allow it. Run `%load_ext mcp_notebook` first: it asks."
            )

    def _ended(self, error: MCPError | None) -> None:
        if self._session is not None:
            self._left = self._session.calls.left
        if error is not None and self.state == "connected":
            self.error, self.state = error, "lost"
