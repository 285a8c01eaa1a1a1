"""The servers that this kernel is connected to, by name, and what is known of what they offer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from ..client import CallHandle, Client, connect
from ..client.pages import restored
from ..client.targets import Destination, destination
from ..errors import ConnectionLost, MCPError, RequestTimeout, TakenOver
from ..jsonrpc import Notification
from ..limits import DEFAULT_LIMITS
from ..protocol.calls import Occurrence
from ..transports.http.options import HttpOptions
from ..transports.relay import behind, name_of
from ..types import Prompt, Resource, ResourceTemplate, Tool
from ..visible import visible
from .brief import CommandError, hinted
from .changed_tools import UsedTools
from .journal import NotebookJournal
from .kept import place_of
from .runtime import Runtime

T = TypeVar("T")

ATTRIBUTE = "_mcp_workspace"
"""Where the shell object keeps its workspace: it outlives `%reset`, `%autoreload 2` and `%reload_ext`."""

CALLS = 200
"""How many calls are remembered; what has ended gives way first."""
COUNTING = 5.0
"""Seconds after which what looks at all servers goes on without one."""

Kind: TypeAlias = Literal["tools", "resources", "templates", "prompts"]


@dataclass(frozen=True, slots=True)
class _Offer:
    """What one of a kind is and is called, how all are asked for, and which notification says that they are others."""

    noun: str
    form: type[Any]
    ask: Callable[[Client], Coroutine[Any, Any, list[Any]]]
    changed_by: str


OFFERS: dict[Kind, _Offer] = {
    "tools": _Offer("tool", Tool, Client.list_tools, "notifications/tools/list_changed"),
    "resources": _Offer("resource", Resource, Client.list_resources, "notifications/resources/list_changed"),
    "templates": _Offer(
        "template", ResourceTemplate, Client.list_resource_templates, "notifications/resources/list_changed"
    ),
    "prompts": _Offer("prompt", Prompt, Client.list_prompts, "notifications/prompts/list_changed"),
}
KINDS: tuple[Kind, ...] = tuple(OFFERS)
"""All kinds of things that servers offer, in the order in which they are shown."""


class Overview(Protocol):
    """What shows how all of it stands, until there is a newer one."""

    def end(self) -> None:
        """Leave what is to be seen now, for good. May be called from any thread but that of the runtime's loop."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """What a person asked to be connected to, and the options of `connect` that they gave."""

    where: Destination
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def relay(self) -> str | None:
        """The name of the relay behind which it is kept running, if it is."""
        return name_of(self.where.command) if self.where.command is not None else None

    def __str__(self) -> str:
        if self.where.command is not None:
            return str(behind(self.where.command))
        if self.where.url is not None:
            return visible(self.where.url)
        return f"the Server object {self.where.name!r}"


class Member:
    """One connection of the workspace, and the lists of its server, kept until they change."""

    def __init__(self, name: str, target: Target, client: Client) -> None:
        self.name = name
        self.target = target
        self.client = client
        self.process: str | None = None
        """The process of a kept server that the person was told of."""
        self._session: Any = None
        self._lists: dict[Kind, list[Any]] = {}
        self._changes = 0
        client.add_listener(self._heard)

    @property
    def connected(self) -> bool:
        """Whether the connection is at work."""
        return self.client.state == "connected"

    @property
    def relay(self) -> str | None:
        """The name of the relay behind which it is kept running, if it is."""
        return self.target.relay

    def check(self) -> None:
        """Raise ConnectionLost where the connection has ended."""
        if not self.connected:
            error = self.client.error
            kind = TakenOver if isinstance(error, TakenOver) else ConnectionLost
            why = f": {error}" if error is not None else f". %mcp reconnect {self.name} connects it again."
            raise kind(f"{self.name} is not connected{why}") from error

    def known(self, kind: Kind) -> list[Any] | None:
        """A list as far as it is known without asking."""
        return self._lists.get(kind) if self.connected and self._session is self.client.session else None

    def last(self, kind: Kind) -> list[Any]:
        """A list as it was known last, also where the connection has ended since."""
        return self._lists.get(kind, [])

    async def offered(self, kind: Kind, *, fresh: bool = False) -> list[Any]:
        """A list, asked for where it is not known (or has to be fresh); on the runtime's loop. Raises MCPError."""
        known = None if fresh else self.known(kind)
        if known is not None:
            return known
        self.check()
        session = self.client.session
        if self._session is not session:
            self._session = session
            self._lists.clear()
        changes = self._changes
        found = await OFFERS[kind].ask(self.client)
        if changes == self._changes:
            self._lists[kind] = found
        return found

    async def counts(self) -> dict[Kind, int | None]:
        """How much of each kind there is; None where the server does not say so in good time. On the runtime's loop."""

        async def count(kind: Kind) -> int | None:
            with suppress(MCPError, TimeoutError):
                async with asyncio.timeout(COUNTING):
                    return len(await self.offered(kind))
            return None

        return dict(zip(OFFERS, await asyncio.gather(*map(count, OFFERS)), strict=True))

    async def latency(self) -> float | None:
        """Seconds that the server takes to answer; None where it does not in good time. On the runtime's loop."""
        with suppress(MCPError, TimeoutError):
            async with asyncio.timeout(COUNTING):
                return await self.client.ping()
        return None

    def _heard(self, notification: Notification) -> None:
        for kind, offer in OFFERS.items():
            if offer.changed_by == notification.method:
                self._changes += 1
                self._lists.pop(kind, None)


class Workspace:
    """The connections of one kernel. Use `Workspace.of(shell)`.

    Attributes:
        shell: the IPython shell.
        runtime: where the connections live.
    """

    def __init__(self, shell: Any, runtime: Runtime) -> None:
        self.shell = shell
        self.runtime = runtime
        self._calls: dict[str, CallHandle] = {}
        self._others: WeakValueDictionary[str, CallHandle] = WeakValueDictionary()
        self._lock = threading.Lock()
        runtime.begun = self._begun
        self.used = UsedTools()
        """What tools were when they were last called."""
        self.place = place_of(shell)
        """Where servers are kept for: see `kept`."""
        self.journal = NotebookJournal(self.place)
        """What remembers calls beyond this kernel."""
        self.overview: Overview | None = None
        """The overview that is live."""
        self._members: dict[str, Member] = {}
        self._left: dict[str, list[CallHandle]] = {}
        self._open_journal()

    @classmethod
    def of(cls, shell: Any) -> Workspace:
        """The shell's workspace: the one it has, or (where its runtime has ended) a new one."""
        runtime = Runtime.of(shell)
        workspace = getattr(shell, ATTRIBUTE, None)
        if workspace is None or workspace.runtime is not runtime:
            workspace = cls(shell, runtime)
            setattr(shell, ATTRIBUTE, workspace)
        return workspace

    @property
    def calls(self) -> dict[str, CallHandle]:
        """The calls that were begun, by id, the newest last: the last ones of magics, and those of Python code that are
        under way."""
        with self._lock:
            under_way = {id: call for id, call in self._others.items() if not call.done() or call.can_resume}
            known = {**under_way, **self._calls}
        return dict(sorted(known.items(), key=lambda item: item[1].started))

    def remember(self, call: CallHandle) -> None:
        """Keep a call among the last ones."""
        with self._lock:
            self._calls[call.id] = call
            if len(self._calls) > CALLS:
                ended = next((id for id, old in self._calls.items() if old.done()), next(iter(self._calls)))
                del self._calls[ended]

    def _begun(self, call: CallHandle) -> None:
        with self._lock:
            self._others[call.id] = call

    def forget(self, call: CallHandle) -> None:
        """No longer know of a call."""
        with self._lock:
            self._calls.pop(call.id, None)
            self._others.pop(call.id, None)
        if call.page is not None:
            self.runtime.loop.call_soon_threadsafe(call.page.close)
        for address, calls in self._left.items():
            if call in calls:
                self.journal.forget(address, call.id)

    # What kernels before this one have left

    def left_at(self, name: str, where: Destination) -> list[CallHandle]:
        """The calls of the server of that name, at the same address, that wait to be resumed."""
        calls = self._left.get(where.address or "", ())
        return [call for call in calls if call.server == name and call.can_resume and call.is_left]

    def address_of(self, call: CallHandle) -> str | None:
        """Where the server is of a call that was left; None for any other."""
        return next((address for address, calls in self._left.items() if call in calls and call.is_left), None)

    def _open_journal(self) -> None:
        self.runtime.journal = self.journal
        self.runtime.add_closer(self.journal.close)
        left, expired = self.journal.left()
        for entry in sorted([*left, *expired], key=lambda entry: entry.began):
            call = restored(self.runtime, entry, DEFAULT_LIMITS)
            call.written = {}  # nobody knows any more how they were written
            self.remember(call)
            if entry in expired:
                call.moved(Occurrence.EXPIRE)
            else:
                self._left.setdefault(entry.address, []).append(call)

    # Looking up

    def __iter__(self) -> Iterator[Member]:
        return iter(list(self._members.values()))

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """The servers' names, connected or not."""
        return list(self._members)

    def connected(self) -> list[Member]:
        """Those that are connected."""
        return [member for member in self if member.connected]

    def get(self, name: str) -> Member | None:
        """The connection of that name, if there is one."""
        return self._members.get(name)

    def member(self, name: str) -> Member:
        """The connection of that name.

        Raises:
            CommandError: there is none.
        """
        if name not in self._members:
            if not self._members:
                raise CommandError(f"There is no server {name!r}: {NOTHING_YET}")
            missing = hinted(f"There is no server {name!r}", name, self.names)
            raise CommandError(f"{missing} There are: {', '.join(self.names)}.")
        return self._members[name]

    # Waiting

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Have a coroutine run on the background loop, and wait for it in the cell."""
        return self.runtime.wait(self.runtime.submit(coroutine))

    def soon(self, coroutine: Coroutine[Any, Any, T], seconds: float) -> T | None:
        """The same between cells and for a short time only: None where there is no result in time, or an error."""
        future: Future[T] = self.runtime.submit(coroutine)
        with suppress(MCPError, TimeoutError):
            return future.result(seconds)
        future.cancel()
        return None

    # Changing

    async def connect(self, name: str, target: Target) -> Member:
        """Connect, on the background loop. A connection of that name is made anew; one that leads elsewhere gives way.

        Raises:
            MCPError: it failed; what was connected before still is, if it led elsewhere.
        """
        old = self._members.get(name)
        if old is not None and old.target == target:
            await old.client.reconnect()
            return old
        client = await connect(target.where, name=name, left=self.left_at(name, target.where), **target.options)
        self._members[name] = Member(name, target, client)
        if old is not None:
            await old.client.close()
        return self._members[name]

    async def adopt(self, name: str, client: Client) -> Member:
        """Take in a client that was connected otherwise. Raises MCPError."""
        await client.open()
        client.take_up(self.left_at(name, client.destination))
        old = self._members.get(name)
        if old is None or old.client is not client:
            self._members[name] = Member(name, Target(client.destination), client)
            if old is not None:
                await old.client.close()
        return self._members[name]


def target_of(
    value: Any,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    headers: Mapping[str, str] | None = None,
    keep: str | None = None,
    keep_for: float | None = None,
    **options: Any,
) -> Target:
    """What a value leads to: a command, a URL, a Server, an entry of an mcp.json file.

    Args: see `mcp_notebook.connect`, and `destination`.

    Raises:
        MCPError: it leads nowhere.
    """
    try:
        http = HttpOptions(headers=headers or {})
        return Target(destination(value, env=env, cwd=cwd, http=http, keep=keep, keep_for=keep_for), options)
    except ValueError as error:  # a command without a program
        raise CommandError(str(error)) from None


async def each(
    members: Iterable[Member], *kinds: Kind, seconds: float | None = None, fresh: bool = False
) -> list[tuple[Member, list[list[Any]] | MCPError]]:
    """Ask several servers for lists, side by side; an error stands in the place of a server's lists.

    Args:
        members: whom to ask.
        kinds: for what.
        seconds: how long to wait for each; None for as long as its requests may take.
        fresh: ask also for what is known.
    """

    async def ask(member: Member) -> tuple[Member, list[list[Any]] | MCPError]:
        try:
            async with asyncio.timeout(seconds):
                return member, [await member.offered(kind, fresh=fresh) for kind in kinds]
        except MCPError as error:
            return member, error
        except TimeoutError:
            return member, RequestTimeout(f"{member.name} did not answer within {seconds:g} s.", seconds=seconds or 0)

    return await asyncio.gather(*map(ask, members))


NOTHING_YET = "nothing is connected yet. Begin with: %mcp connect NAME -- command arguments…"
