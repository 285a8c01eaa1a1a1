"""Watching: a resource, or the lists of a server, shown anew whenever the server says that they changed."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from ..errors import MCPError
from ..jsonrpc import Notification
from ..render import parts_of
from ..render.parts import Card, Part, Text
from .live import PERIOD, Live
from .workspace import Member, Workspace

CHANGES = 100
"""How many changes are remembered."""
_LISTS = {
    "notifications/tools/list_changed": "its tools changed",
    "notifications/resources/list_changed": "its resources changed",
    "notifications/prompts/list_changed": "its prompts changed",
}
_UPDATED = "notifications/resources/updated"


class Watch:
    """What watches one resource, or (without a URI) the lists of a server, until `stop()`.

    Attributes:
        server: the server's name.
        uri: the resource.
        changes: when it changed and what, the newest last.
        latest: the resource's contents as last read.
    """

    def __init__(self, workspace: Workspace, member: Member, uri: str | None, live: Live) -> None:
        self.server = member.name
        self.uri = uri
        self.changes: deque[tuple[datetime, str]] = deque(maxlen=CHANGES)
        self.latest: object = None
        self.stopped = False
        self._workspace = workspace
        self._client = member.client
        self._live = live
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Begin to watch, on the runtime's loop. Raises MCPError."""
        if self.uri is not None:
            await self._client.subscribe_resource(self.uri)
            self.latest = await self._client.read_resource(self.uri)
        self._client.add_listener(self._heard)
        self._task = asyncio.create_task(self._follow())

    def stop(self) -> None:
        """No longer watch. May be called again."""
        if not self.stopped:
            self.stopped = True
            with suppress(MCPError):
                self._workspace.wait(self._end())

    @property
    def in_place(self) -> bool:
        """Whether its output shows it anew by itself."""
        return self._live.in_place

    def draw(self) -> None:
        """Show how it stands."""
        self._live.draw(self.parts())

    def parts(self) -> Sequence[Part]:
        """How it stands."""
        times = f"changed {len(self.changes)} time{'s' if len(self.changes) != 1 else ''}"
        shown: list[Part] = list(parts_of(self.latest)) if self.latest is not None else []
        shown += [Text(f"{when:%H:%M:%S}  {what}") for when, what in list(self.changes)[-5:]]
        state = ("", "watched") if self.stopped else ("work", "watching")
        return [Card(*state, shown, name=self.uri or self.server, about=f"on {self.server}", aside=times)]

    def __repr__(self) -> str:
        state = "stopped" if self.stopped else "watching"
        return f"<Watch of {self.uri or 'the lists'} on {self.server}: {state}, {len(self.changes)} changes>"

    def _heard(self, notification: Notification) -> None:
        what = _LISTS.get(notification.method) if self.uri is None else None
        if notification.method == _UPDATED and (notification.params or {}).get("uri") == self.uri:
            what = "changed"
        if what is not None:
            self.changes.append((datetime.now(), what))
            self._news.set()

    async def _follow(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if self.uri is not None:
                try:
                    self.latest = await self._client.read_resource(self.uri)
                except MCPError as error:
                    self.latest = error
            if self.in_place:
                self.draw()
            await asyncio.sleep(PERIOD)  # however fast changes come

    async def _end(self) -> None:
        self._client.remove_listener(self._heard)
        if self._task is not None:
            self._task.cancel()
        if self.uri is not None:
            await self._client.unsubscribe_resource(self.uri)
        if self.in_place:
            self.draw()
